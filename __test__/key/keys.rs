//! What `docs/keys.md` promises of keys, against models that share no code with the encoder.

use std::path::Path;

use caretdb::error::Error;
use caretdb::key::{
    CHILDREN, Key, MAX_KEY, MAX_NAME, Subscript, first_subscript, is_string, split, subscript_len, subscripts,
    subtree_end, to_number, write_text,
};
use caretdb::number::Decimal;
use caretdb::value::Value;
use proptest::prelude::*;

const FOREVER_SAFE: f64 = 9_007_199_254_740_991.0;

fn encoded(append: impl FnOnce(&mut Key) -> Result<(), Error>) -> Vec<u8> {
    let mut key = Key::new();
    append(&mut key).unwrap();
    key.as_bytes().to_vec()
}

fn text(subscript: &str) -> Vec<u8> {
    encoded(|key| key.text(subscript))
}

fn spelt(subscript: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_text(subscript, &mut out).unwrap();
    out
}

fn node(path: &[String]) -> Vec<u8> {
    let mut key = Key::new();
    key.global("g").unwrap();
    for subscript in path {
        key.text(subscript).unwrap();
    }
    key.as_bytes().to_vec()
}

/// Where M collates a subscript: numbers by value, then strings by bytes. Values are compared digit by digit, as text.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    Below([u8; 96]),
    Zero,
    Above([u8; 96]),
    String(Vec<u8>),
}

fn place(subscript: &str) -> Place {
    let negative = subscript.starts_with('-');
    let magnitude = subscript.strip_prefix('-').unwrap_or(subscript);
    let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
    let both = format!("{whole}{fraction}");
    let significant = both.trim_matches('0');
    let only_digits = both.bytes().all(|byte| byte.is_ascii_digit());
    let no_padding = !whole.starts_with('0') && !magnitude.ends_with('.') && !fraction.ends_with('0');
    let not_too_large = whole.len() <= 47 || magnitude == format!("1{}", "0".repeat(47));
    let not_too_small = !whole.is_empty() || fraction.len() - fraction.trim_start_matches('0').len() < 43;
    if subscript == "0" {
        return Place::Zero;
    }
    let has_digits = (1..=18).contains(&significant.len());
    if !(only_digits && no_padding && not_too_large && not_too_small && has_digits) {
        return Place::String(subscript.as_bytes().to_vec());
    }
    let mut digits = [b'0'; 96];
    digits[48 - whole.len()..48].copy_from_slice(whole.as_bytes());
    let kept = fraction.len().min(48);
    digits[48..48 + kept].copy_from_slice(&fraction.as_bytes()[..kept]);
    if negative {
        digits.iter_mut().for_each(|digit| *digit = b'9' - *digit);
        Place::Below(digits)
    } else {
        Place::Above(digits)
    }
}

/// Subscripts of every kind, many of them nearly numbers and nearly alike.
fn any_subscript() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{1,12}",
        "[\\x00-\\x03a]{1,6}",
        "[a-cé]{13,19}[\\x00-\\x02]?[a-cé]{0,20}",
        "[-+.0-9E]{1,8}",
        "-?[1-9][0-9]{0,18}",
        "-?[0-9]{0,3}\\.0{0,3}[0-9]{1,17}",
        "-?\\.0{38,46}[0-9]{1,3}",
        "-?[1-9][0-9]?0{40,48}",
        (-120_i32..120).prop_map(|n| n.to_string()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn byte_order_is_the_order_of_m(a in any_subscript(), b in any_subscript()) {
        prop_assert_eq!(text(&a).cmp(&text(&b)), place(&a).cmp(&place(&b)), "{:?} {:?}", a, b);
    }

    #[test]
    fn text_comes_back_and_only_numbers_are_numbers(s in any_subscript()) {
        let bytes = text(&s);
        prop_assert_eq!(String::from_utf8(spelt(&bytes)).unwrap(), s.clone());
        prop_assert_eq!(is_string(&bytes), matches!(place(&s), Place::String(_)));
        prop_assert_eq!(subscript_len(&bytes), Some(bytes.len()));
        match first_subscript(&bytes) {
            Some((len, Subscript::Text(text))) => prop_assert_eq!((len, text.as_ref()), (bytes.len(), s.as_str())),
            Some((len, Subscript::Number(number))) => {
                prop_assert_eq!(len, bytes.len());
                prop_assert_eq!(encoded(|key| key.decimal(&number)), bytes);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn doubles_keep_their_order_and_come_back(a in number_in_range(), b in number_in_range()) {
        let (left, right) = (encoded(|key| key.number(a)), encoded(|key| key.number(b)));
        prop_assert_eq!(left.cmp(&right), a.partial_cmp(&b).unwrap());
        prop_assert_eq!(to_number(&left), (a.abs() <= FOREVER_SAFE).then_some(a));
        prop_assert_eq!(text(std::str::from_utf8(&spelt(&left)).unwrap()), left);
    }

    #[test]
    fn a_number_comes_out_where_it_says_the_same_as_its_text(s in any_subscript()) {
        let bytes = text(&s);
        let parsed = s.parse::<f64>().ok().filter(|n| !is_string(&bytes) && n.abs() <= FOREVER_SAFE);
        let same = parsed.filter(|n| encoded(|key| key.number(*n)) == bytes);
        prop_assert_eq!(to_number(&bytes), same);
    }

    #[test]
    fn bytes_are_a_string_as_they_are(a in any_bytes(), b in any_bytes()) {
        let (left, right) = (encoded(|key| key.raw(&a)), encoded(|key| key.raw(&b)));
        prop_assert_eq!(left.cmp(&right), a.cmp(&b));
        prop_assert!(is_string(&left));
        prop_assert_eq!(spelt(&left), a.clone());
        prop_assert_eq!(to_number(&left), None);
        // What comes out as text goes in as the same subscript; bytes that would become another one come out as bytes.
        match first_subscript(&left).unwrap().1 {
            Subscript::Text(out) => prop_assert_eq!(text(&out), left),
            Subscript::Bytes(out) => {
                prop_assert_eq!(out.as_ref(), a.as_slice());
                prop_assert!(std::str::from_utf8(&a).map_or(true, |a| text(a) != left));
            }
            Subscript::Number(_) => prop_assert!(false),
        }
    }

    #[test]
    fn a_subtree_is_what_begins_with_its_node(
        root in prop::collection::vec(any_subscript(), 0..3),
        below in prop::collection::vec(any_subscript(), 0..3),
        other in prop::collection::vec(any_subscript(), 0..4),
    ) {
        let top = node(&root);
        let mut end = Vec::new();
        subtree_end(&top, &mut end);
        let inside = |key: &[u8]| (top.as_slice()..end.as_slice()).contains(&key);
        let descendant = node(&[root.clone(), below.clone()].concat());
        prop_assert!(inside(&descendant) && descendant.starts_with(&top));
        let path = node(&other);
        prop_assert_eq!(inside(&path), other.starts_with(&root));
        prop_assert_eq!(path.starts_with(&top), other.starts_with(&root));
        let children = [top.as_slice(), &[CHILDREN]].concat();
        prop_assert_eq!(below.is_empty(), descendant < children);
    }

    #[test]
    fn a_key_splits_into_what_it_was_made_of(path in prop::collection::vec(any_subscript(), 0..6)) {
        let key = node(&path);
        let (name, rest) = split(&key).unwrap();
        prop_assert_eq!(name, "g");
        let mut parts = subscripts(rest);
        let out: Vec<String> = parts.by_ref().map(|part| String::from_utf8(spelt(part)).unwrap()).collect();
        prop_assert_eq!(out, path);
        prop_assert!(parts.rest().is_empty());
    }

    #[test]
    fn damage_never_panics_and_is_never_read_as_something_else(bytes in damaged_bytes()) {
        let _ = (split(&bytes), to_number(&bytes), write_text(&bytes, &mut Vec::new()), subscripts(&bytes).count());
        if let Some((len, subscript)) = first_subscript(&bytes) {
            let again = match subscript {
                Subscript::Number(number) => encoded(|key| key.decimal(&number)),
                Subscript::Text(text) => encoded(|key| key.text(&text)),
                Subscript::Bytes(string) => encoded(|key| key.raw(&string)),
            };
            prop_assert_eq!(&again, &bytes[..len]);
            prop_assert_eq!(Some(len), subscript_len(&bytes));
            prop_assert!(write_text(&bytes[..len], &mut Vec::new()).is_ok());
        } else if let Some(len) = subscript_len(&bytes) {
            prop_assert!(write_text(&bytes[..len], &mut Vec::new()).is_err());
            prop_assert_eq!(to_number(&bytes[..len]), None);
        }
    }
}

fn number_in_range() -> impl Strategy<Value = f64> {
    let double = (-2.0..2.0_f64, -143_i32..=156).prop_map(|(n, power)| n * 2_f64.powi(power));
    let near = (-1000_i32..1000, -6_i32..6).prop_map(|(n, scale)| f64::from(n) * 10_f64.powi(scale));
    prop_oneof![double, near, any::<i32>().prop_map(f64::from), (-FOREVER_SAFE..FOREVER_SAFE)]
        .prop_filter_map("in M's range", |n| {
            ((1e-43..=1e47).contains(&n.abs()) || n == 0.0).then_some(if n == 0.0 { 0.0 } else { n })
        })
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 1..8),
        prop::collection::vec(any::<u8>(), 14..40),
        prop::collection::vec(0..3_u8, 1..6),
        any_subscript().prop_map(String::into_bytes),
    ]
}

/// Arbitrary bytes, and good encodings with one byte changed.
fn damaged_bytes() -> impl Strategy<Value = Vec<u8>> {
    let changed = (any_subscript(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(subscript, at, byte)| {
        let mut bytes = text(&subscript);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes
    });
    prop_oneof![prop::collection::vec(any::<u8>(), 0..20), changed]
}

#[test]
fn siblings_that_look_alike_stay_outside_a_subtree() {
    let mut end = Vec::new();
    for (root, others) in [
        ("a", ["a1", "a\0b", "a\0", "a\u{1}", "aa"]),
        ("1", ["10", "11", "1.1", "1.01", "100"]),
        ("-1", ["-10", "-11", "-1.1", "-1.01", "-.1"]),
        ("0", ["-1", ".1", "00", "1", "-.1"]),
    ] {
        let top = node(&[root.into()]);
        subtree_end(&top, &mut end);
        assert!((&top..&end).contains(&&node(&[root.into(), "x".into()])));
        for other in others {
            let key = node(&[other.into(), "x".into()]);
            assert!(!(&top..&end).contains(&&key) && !key.starts_with(&top), "{other:?} is inside {root:?}");
        }
    }
}

#[test]
fn the_end_of_everything_is_above_every_global() {
    let mut end = vec![1, 2, 3];
    subtree_end(&[], &mut end);
    assert!(end > node(&["\u{10FFFF}".into()]));
    let mut last = Key::new();
    last.global(&"z".repeat(MAX_NAME)).unwrap();
    assert!(end.as_slice() > last.as_bytes());
}

#[test]
fn names_follow_the_rules() {
    let mut key = Key::new();
    for (name, bytes) in [("^Person", "Person\0"), ("Person", "Person\0"), ("%a", "%a\0"), ("a_b.c-d9", "a_b.c-d9\0")] {
        key.global(name).unwrap();
        assert_eq!(key.as_bytes(), bytes.as_bytes());
    }
    key.global(&"n".repeat(MAX_NAME)).unwrap();
    let before = key.clone();
    let long = "n".repeat(MAX_NAME + 1);
    for name in ["", "^", "^^a", "1a", "_a", "a b", "a_", "a.", "a-", "a%", "é", "aé", "a\0", long.as_str()] {
        assert_eq!(key.global(name).unwrap_err().code(), "ERR_BAD_NAME", "{name:?}");
        assert_eq!(key, before);
    }
}

#[test]
fn what_is_no_subscript_leaves_the_key_alone() {
    let mut key = Key::new();
    key.global("g").unwrap();
    key.text("a").unwrap();
    let before = key.clone();
    assert_eq!(key.text("").unwrap_err().code(), "ERR_BAD_KEY");
    assert_eq!(key.raw(b"").unwrap_err().code(), "ERR_BAD_KEY");
    for n in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.1e47, -1e48, 9e-44, -5e-324, f64::MAX] {
        assert_eq!(key.number(n).unwrap_err().code(), "ERR_BAD_KEY", "{n:e}");
    }
    assert_eq!(key, before);
    for n in [1e47, -1e47, 9.999e46, 1e-43, -1e-43] {
        key.number(n).unwrap();
    }
}

#[test]
fn negative_zero_is_zero() {
    assert_eq!(encoded(|key| key.number(-0.0)), text("0"));
}

#[test]
fn a_key_may_be_as_long_as_the_limit_and_no_longer() {
    let mut key = Key::new();
    key.global("g").unwrap();
    let room = MAX_KEY - key.len() - 2;
    key.text(&"x".repeat(room)).unwrap();
    assert_eq!(key.len(), MAX_KEY);
    let full = key.clone();
    for (result, length) in [
        (key.number(0.0), MAX_KEY + 1),
        (key.number(1.0), MAX_KEY + 3),
        (key.text("a"), MAX_KEY + 3),
        (key.text("\0"), MAX_KEY + 4),
        (key.raw(&[0; 5000]), MAX_KEY + 10_002),
        (key.encoded(b"\x60\x60"), MAX_KEY + 2),
    ] {
        assert!(matches!(result, Err(Error::KeyTooLong(len)) if len == length), "{result:?} is not {length}");
    }
    assert_eq!(key, full);
}

#[test]
fn a_key_is_cut_back_and_taken_over() {
    let mut key = Key::new();
    key.global("g").unwrap();
    let parent = key.len();
    key.text("a").unwrap();
    let child = key.clone();
    key.truncate(parent);
    assert_eq!(key.as_bytes(), b"g\0");
    key.copy_from(child.as_bytes());
    assert_eq!(key, child);
    key.clear();
    assert!(key.is_empty());
}

#[test]
fn the_bytes_of_engines_are_no_subscripts() {
    for engine in 0..CHILDREN {
        assert_eq!(subscript_len(&[engine, 0, 0xFF]), None);
    }
    for child in ["-1E47", "-1", "0", "1", "\0"] {
        assert!(text(child)[0] >= CHILDREN);
    }
    assert_eq!(encoded(|key| key.number(-1e47))[0], CHILDREN);
}

#[test]
fn text_of_another_charset_may_spell_numbers_and_bytes_may_not() {
    assert_eq!(encoded(|key| key.text_bytes(b"10")), encoded(|key| key.number(10.0)));
    assert_eq!(encoded(|key| key.text_bytes(b"\xE9")), b"\xC0\xE9\0");
    assert_eq!(encoded(|key| key.raw(b"10")), b"\xC010\0");
    assert_eq!(first_subscript(b"\xC010\0"), Some((4, Subscript::Bytes(b"10".into()))));
}

/// Small whole numbers have a way of their own in and out; its bytes must be those of every other number.
#[test]
fn small_whole_numbers_are_spelt_as_all_numbers_are() {
    let around = |n: u64| n.saturating_sub(120)..n + 120;
    let powers = (0..10).flat_map(|power| around(10_u64.pow(power)));
    let spread = (0..5_000).map(|n: u64| n * n * n % 100_000_000);
    let rounded = (1..2_000).flat_map(|n| [n * 10, n * 1_000, n * 100_000]);
    for n in (0..12_000).chain(powers).chain(spread).chain(rounded).chain(around(99_999_999)) {
        let spelt = n.to_string();
        let expected = encoded(|key| key.decimal(&Decimal::from_canonical(spelt.as_bytes()).unwrap()));
        assert_eq!(text(&spelt), expected, "{n} as text");
        assert_eq!(encoded(|key| key.number(n as f64)), expected, "{n} as a number");
        let mut written = Vec::new();
        write_text(&expected, &mut written).unwrap();
        assert_eq!(written, spelt.as_bytes());
        assert_eq!(to_number(&expected), Some(n as f64));
    }
    for fraction in ["1.5", "12.25", "1234567.5", "99999999.5"] {
        let mut written = Vec::new();
        write_text(&encoded(|key| key.number(fraction.parse().unwrap())), &mut written).unwrap();
        assert_eq!(written, fraction.as_bytes());
    }
}

/// The worked examples of the document are the bytes that come out.
#[test]
fn the_document_tells_the_truth() {
    let document = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/keys.md")).unwrap();
    let mut seen = 0;
    for table in document.split("| subscript | bytes | why |\n| --- | --- | --- |\n").skip(1) {
        for line in table.lines().take_while(|line| line.starts_with('|')) {
            let mut cells = line.split('|').map(|cell| cell.trim().trim_matches('`')).skip(1);
            let (subscript, bytes) = (cells.next().unwrap(), cells.next().unwrap());
            let key = match serde_json::from_str(subscript).unwrap() {
                serde_json::Value::String(string) => text(&string),
                number => encoded(|key| key.number(number.as_f64().unwrap())),
            };
            let hex: Vec<String> = key.iter().map(|byte| format!("{byte:02X}")).collect();
            assert_eq!(hex.join(" "), bytes, "{line}");
            seen += 1;
        }
    }
    assert!(seen >= 28, "only {seen} examples were found");
}

/// So are the key and the value that the page about the design shows.
#[test]
fn the_design_tells_the_truth() {
    let document = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/design.md")).unwrap();
    let row = document.lines().find(|line| line.starts_with("| `^Person(1,\"city\")=\"Redhill\"`")).unwrap();
    let bytes = |cell: usize| -> Vec<u8> {
        let hex = row.split('|').nth(cell).unwrap().replace('`', "");
        hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    };
    let mut key = Key::new();
    key.global("Person").unwrap();
    key.number(1.0).unwrap();
    key.text("city").unwrap();
    assert_eq!(bytes(2), key.as_bytes());
    let mut value = Vec::new();
    Value::Text("Redhill").write(&mut value);
    assert_eq!(bytes(3), value);
}
