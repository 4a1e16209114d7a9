//! What stands at a node before a document is merged into it.

use super::subscript::{Form, encoded_form};
use crate::error::Result;
use crate::key;
use crate::store::Connection;
use crate::value::{EMPTY_OBJECT, OBJECT};

/// What stands at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Neither a value nor children.
    Nothing,
    /// An object with members.
    Object {
        /// The node has a value of its own too.
        value: bool,
    },
    /// An array, as far as its first and its last child tell.
    Array,
    /// A value alone.
    Other,
}

/// Looks at the value and the children of a node.
pub fn look(connection: &mut Connection, node: &[u8]) -> Result<Standing> {
    let mut stored = Vec::new();
    let has_value = connection.session.get(node, &mut stored)?;
    let mut child = Vec::new();
    if !connection.next(node, None, &mut child)? {
        return Ok(if has_value { Standing::Other } else { Standing::Nothing });
    }
    let object = Standing::Object { value: has_value && stored.first() != Some(&EMPTY_OBJECT) };
    if stored.first() == Some(&OBJECT) || encoded_form(&child) == Form::Name {
        return Ok(object);
    }
    connection.previous(node, None, &mut child)?;
    Ok(if encoded_form(&child) == Form::Name { object } else { Standing::Array })
}

/// Whether the document at a node is an array, and not only looks like one at both ends.
pub fn is_array(connection: &mut Connection, node: &[u8]) -> Result<bool> {
    let mut json = Vec::new();
    connection.document(node, &mut json)?;
    Ok(json.first() == Some(&b'['))
}

/// A node as a person would write it, `^Person(1,"city")`, without its middle where it is long.
pub fn spell(node: &[u8]) -> String {
    const SHOWN: usize = 100;
    let Some((name, subscripts)) = key::split(node) else { return "the document".to_owned() };
    let mut text = format!("^{name}");
    let mut before = '(';
    for subscript in key::subscripts(subscripts) {
        let mut spelt = Vec::new();
        // Only damage could have no spelling, and this is for a message.
        let _ = key::write_text(subscript, &mut spelt);
        let spelt = String::from_utf8_lossy(&spelt);
        text.push(before);
        text.push_str(&if key::is_string(subscript) { format!("{spelt:?}") } else { spelt.into_owned() });
        before = ',';
    }
    if before == ',' {
        text.push(')');
    }
    let count = text.chars().count();
    if count <= 2 * SHOWN {
        return text;
    }
    let start: String = text.chars().take(SHOWN).collect();
    let end: String = text.chars().skip(count - SHOWN).collect();
    format!("{start} … {end}")
}
