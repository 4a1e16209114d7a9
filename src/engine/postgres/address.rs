//! Where the server is, from a URL: hosts, user, table, and how the line is secured. The password stays in here.

use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::tls::Security;
use crate::error::{Error, Result};

/// What a URL of this engine begins with.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// The table of a URL that names none.
const TABLE: &str = "caretdb";
/// Longer names would not be told apart from those of the tables beside them.
const LONGEST_NAME: usize = 40;

/// Whether this is a URL of a server rather than the path of a folder.
///
/// ```
/// assert!(caretdb::engine::postgres::is_url("postgresql://db.example/app"));
/// assert!(!caretdb::engine::postgres::is_url("./postgres"));
/// ```
#[must_use]
pub fn is_url(text: &str) -> bool {
    SCHEMES.iter().any(|scheme| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// A server, and the table there.
pub struct Address {
    /// How to reach each of its hosts, in the order of the URL.
    pub hosts: Vec<Config>,
    /// How the line to it is secured.
    pub security: Security,
    /// The table's name, quoted for SQL; those beside it add to it.
    pub table: Table,
    /// The address without its secrets: what messages, figures and programs may show.
    pub shown: String,
    /// What no message may show.
    secrets: Vec<String>,
}

/// The name of the table of a store.
#[derive(Clone, Debug)]
pub struct Table {
    schema: Option<String>,
    name: String,
}

impl Table {
    /// Reads `name` or `schema.name`.
    fn read(text: &str) -> Result<Table> {
        let is_name = |name: &str| {
            let mut bytes = name.bytes();
            name.len() <= LONGEST_NAME
                && bytes.next().is_some_and(|first| first.is_ascii_lowercase() || first == b'_')
                && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        };
        let (schema, name) = match text.split_once('.') {
            Some((schema, name)) => (Some(schema), name),
            None => (None, text),
        };
        if !is_name(name) || !schema.is_none_or(is_name) {
            return Err(Error::Argument(format!(
                "{text:?} is no table: use small letters, digits and '_', at most {LONGEST_NAME}, and a schema and a dot in \
                 front if need be"
            )));
        }
        Ok(Table { schema: schema.map(str::to_owned), name: name.to_owned() })
    }

    /// The name of this table, or of the one beside it whose name goes on with `more`, for SQL.
    #[must_use]
    pub fn quoted(&self, more: &str) -> String {
        match &self.schema {
            Some(schema) => format!("\"{schema}\".\"{}{more}\"", self.name),
            None => format!("\"{}{more}\"", self.name),
        }
    }

    fn shown(&self) -> String {
        self.schema.as_ref().map_or_else(|| self.name.clone(), |schema| format!("{schema}.{}", self.name))
    }
}

impl Address {
    /// Reads a URL.
    ///
    /// # Errors
    /// [`Error::Argument`], without anything secret in it.
    pub fn read(url: &str) -> Result<Address> {
        let Split { bare, table, sslmode, root, names_session } = split(url)?;
        let config: Config = bare.parse().map_err(|error: tokio_postgres::Error| {
            // What the parser says may quote the URL.
            let what = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            let secret = ["password", "://", "@"].iter().any(|sign| what.contains(sign));
            wrong(if secret { "it does not follow the form" } else { &what })
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(wrong("it names no host"));
        }
        let mut config = config;
        if config.get_password().is_none()
            && let Some(password) = std::env::var("PGPASSWORD").ok().filter(|password| !password.is_empty())
        {
            config.password(password);
        }
        let hosts = one_by_one(&config, names_session, sslmode.ssl_mode());
        let shown = shown(&config, &table);
        Ok(Address { hosts, security: Security::new(sslmode, root)?, table, shown, secrets: secrets(url, &config) })
    }

    /// A message without what is secret.
    #[must_use]
    pub fn without_secrets(&self, message: String) -> String {
        self.secrets.iter().fold(message, |message, secret| message.replace(secret.as_str(), "***"))
    }
}

/// What a URL says beside what the library reads of it.
struct Split {
    bare: String,
    table: Table,
    sslmode: Mode,
    root: Option<PathBuf>,
    /// Whether it says which servers will do.
    names_session: bool,
}

/// The values of `sslmode`, with the meaning that PostgreSQL's own programs give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the clear.
    Disable,
    /// Encrypted where the server can; nobody's identity is checked.
    Prefer,
    /// Encrypted; nobody's identity is checked.
    Require,
    /// The server's certificate must come from a trusted authority.
    VerifyCa,
    /// And it must be for the host of the URL.
    VerifyFull,
}

impl Mode {
    fn named(name: &str) -> Result<Mode> {
        match name {
            "disable" => Ok(Mode::Disable),
            "prefer" => Ok(Mode::Prefer),
            "require" => Ok(Mode::Require),
            "verify-ca" => Ok(Mode::VerifyCa),
            "verify-full" => Ok(Mode::VerifyFull),
            _ => Err(wrong("sslmode is one of disable, prefer, require, verify-ca and verify-full")),
        }
    }

    fn ssl_mode(self) -> SslMode {
        match self {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            _ => SslMode::Require,
        }
    }
}

fn wrong(what: &str) -> Error {
    Error::Argument(format!(
        "the URL of the server cannot be used: {what}. It is written \
         postgres://user:password@host:5432/database?sslmode=verify-full&table=caretdb"
    ))
}

/// Takes out of a URL what only this engine understands.
fn split(url: &str) -> Result<Split> {
    if !is_url(url) {
        return Err(wrong("it does not begin with postgres://"));
    }
    let (front, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut table, mut sslmode, mut root, mut names_session) = (Table::read(TABLE)?, Mode::Prefer, None, false);
    let mut left = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or_else(|| wrong("an option behind the '?' has no value"))?;
        match name {
            "table" => table = Table::read(&decoded(value)?)?,
            "sslmode" => sslmode = Mode::named(value)?,
            "sslrootcert" => root = Some(PathBuf::from(decoded(value)?)),
            _ => {
                names_session |= name == "target_session_attrs";
                left.push(pair);
            }
        }
    }
    if root.is_some() && !matches!(sslmode, Mode::VerifyCa | Mode::VerifyFull) {
        return Err(wrong("sslrootcert needs sslmode=verify-full or verify-ca: nothing is verified otherwise"));
    }
    let bare = if left.is_empty() { front.to_owned() } else { format!("{front}?{}", left.join("&")) };
    Ok(Split { bare, table, sslmode, root, names_session })
}

/// Undoes percent-encoding.
fn decoded(text: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        let (Some(high), Some(low)) = (digit(), digit()) else { return Err(wrong("a % has no two digits behind it")) };
        #[allow(clippy::cast_possible_truncation)] // two hexadecimal digits
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| wrong("a % stands for what is no text"))
}

/// A configuration for each host alone, so that one that accepts a connection and then says nothing keeps nobody from the
/// others.
fn one_by_one(all: &Config, names_session: bool, mode: SslMode) -> Vec<Config> {
    let count = all.get_hosts().len().max(all.get_hostaddrs().len());
    (0..count)
        .map(|number| {
            let mut one = Config::new();
            if let Some(user) = all.get_user() {
                one.user(user);
            }
            if let Some(password) = all.get_password() {
                one.password(password);
            }
            if let Some(name) = all.get_dbname() {
                one.dbname(name);
            }
            if let Some(options) = all.get_options() {
                one.options(options);
            }
            one.application_name(all.get_application_name().unwrap_or("caretdb"));
            one.ssl_mode(mode).ssl_negotiation(all.get_ssl_negotiation()).channel_binding(all.get_channel_binding());
            if let Some(wait) = all.get_connect_timeout() {
                one.connect_timeout(*wait);
            }
            // A machine that went away without a word is noticed by what it does not acknowledge.
            one.tcp_user_timeout(all.get_tcp_user_timeout().copied().unwrap_or(Duration::from_secs(15)));
            one.keepalives(all.get_keepalives()).keepalives_idle(Duration::from_secs(15));
            one.keepalives_interval(all.get_keepalives_interval().unwrap_or(Duration::from_secs(5)));
            one.keepalives_retries(all.get_keepalives_retries().unwrap_or(3));
            one.target_session_attrs(match all.get_target_session_attrs() {
                // Of several hosts the one that takes writes is meant.
                TargetSessionAttrs::Any if count > 1 && !names_session => TargetSessionAttrs::ReadWrite,
                given => given,
            });
            match all.get_hosts().get(number) {
                Some(Host::Tcp(name)) => drop(one.host(name.as_str())),
                #[cfg(unix)]
                Some(Host::Unix(path)) => drop(one.host_path(path)),
                None => {}
            }
            if let Some(address) = all.get_hostaddrs().get(number) {
                one.hostaddr(*address);
            }
            one.port(port(all, number));
            one
        })
        .collect()
}

fn port(config: &Config, number: usize) -> u16 {
    let ports = config.get_ports();
    ports.get(number).or_else(|| ports.first().filter(|_| ports.len() == 1)).copied().unwrap_or(5432)
}

/// The address without its secrets.
fn shown(config: &Config, table: &Table) -> String {
    let count = config.get_hosts().len().max(config.get_hostaddrs().len());
    let hosts: Vec<String> = (0..count)
        .map(|number| {
            let host = match config.get_hosts().get(number) {
                Some(Host::Tcp(name)) if name.contains(':') => format!("[{name}]"),
                Some(Host::Tcp(name)) => name.clone(),
                #[cfg(unix)]
                Some(Host::Unix(path)) => path.display().to_string().replace('/', "%2F"),
                None => config.get_hostaddrs()[number].to_string(),
            };
            format!("{host}:{}", port(config, number))
        })
        .collect();
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let name = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgres://{user}{}/{name}?table={}", hosts.join(","), table.shown())
}

/// The password, as it is and as the URL spells it: before the host or among the options.
fn secrets(url: &str, config: &Config) -> Vec<String> {
    let (front, query) = url.split_once('?').unwrap_or((url, ""));
    let before_host = front
        .split_once("://")
        .and_then(|(_, rest)| rest.rsplit_once('@'))
        .and_then(|(user, _)| user.split_once(':'))
        .map(|(_, password)| password);
    let among_options = query.split('&').filter_map(|pair| pair.strip_prefix("password="));
    let spelt: Vec<&str> = before_host.into_iter().chain(among_options).collect();
    let plain = config.get_password().map(|password| String::from_utf8_lossy(password).into_owned());
    let mut secrets: Vec<String> = spelt.iter().map(|secret| (*secret).to_owned()).collect();
    secrets.extend(spelt.iter().filter_map(|secret| decoded(secret).ok()).chain(plain));
    // Something very short would take innocent letters out of every message. The longest first: one may be a part of another.
    secrets.retain(|secret| secret.len() > 3);
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets.dedup();
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str) -> String {
        match Address::read(url) {
            Ok(_) => panic!("{url} was taken"),
            Err(error) => {
                assert_eq!(error.code(), "ERR_ARG");
                error.to_string()
            }
        }
    }

    #[test]
    fn what_is_shown_has_hosts_and_table_and_no_password() {
        let address = Address::read("postgres://rob:s%40cret@a.example,b.example:6000/app?table=shop.data").unwrap();
        assert_eq!(address.shown, "postgres://rob@a.example:5432,b.example:6000/app?table=shop.data");
        assert_eq!(address.table.quoted("_locks"), "\"shop\".\"data_locks\"");
        assert_eq!(address.without_secrets("s@cret or s%40cret".to_owned()), "*** or ***");
        assert_eq!(address.hosts.len(), 2);
        assert_eq!(address.hosts[1].get_ports(), [6000]);
        assert_eq!(address.hosts[0].get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
    }

    #[test]
    fn a_password_is_secret_however_it_is_spelt() {
        for url in [
            "postgres://rob:s%40cret@a/b",
            "postgres://rob@a/b?password=s%40cret",
            "postgres://a/b?user=rob&password=s%40%63ret&table=t",
        ] {
            let address = Address::read(url).unwrap();
            let shown = address.without_secrets(format!("{} s@cret {url}", address.shown));
            assert!(!shown.contains("cret") && !shown.contains("%63ret"), "{shown}");
        }
    }

    #[test]
    fn a_wrong_url_is_refused_without_its_password() {
        for url in [
            "mysql://rob:hidden@a/b",
            "postgres://rob:hidden@",
            "postgres://rob:hidden@a:port/b",
            "postgres://rob:hidden@a/b?sslmode=maybe",
            "postgres://rob:hidden@a/b?sslmode",
            "postgres://rob:hidden@a/b?nonsense=1",
            "postgres://rob:hidden@a/b?sslrootcert=x.pem",
            "postgres://a/b?password=hidden&port=x",
        ] {
            assert!(!refused(url).contains("hid"), "{}", refused(url));
        }
    }

    #[test]
    fn a_table_is_a_plain_name() {
        for name in ["Data", "1a", "", "a-b", "a b", "a\"", "a;drop", "a.b.c", "a.", ".a", "%C3%A9", &"a".repeat(41)] {
            assert!(refused(&format!("postgres://a/b?table={name}")).contains("table"), "{name}");
        }
        assert!(Address::read("postgres://a/b?table=_a1").is_ok());
    }
}
