//! Elements at the start of a scenario: defaults, managers, data sources.

use drumfire_elements::config::{
    auth_manager, cache_manager, cookie_manager, csv_data_set, dns_cache_manager, header_manager,
    http_defaults, keystore_configuration, random_csv_data_set, user_defined_variables,
};
use drumfire_elements::items;
use drumfire_elements::samplers::set_variables_action;
use drumfire_elements::shared::http;
use drumfire_jmx::{Element, Node, Prop, Value};

use crate::amount::milliseconds;
use crate::error::TaurusError;
use crate::files::Files;
use crate::value::{Table, flag, has_variable, is_true, list, table, text, text_or};

const COOKIES: &str = "org.apache.jmeter.protocol.http.control.HC4CookieHandler";

/// The elements at the start of a scenario that is made from requests.
pub(crate) fn head(scenario: &Table, files: &Files) -> Result<Vec<Node>, TaurusError> {
    let mut head = vec![defaults(scenario)];
    if flag(scenario, "store-cache", true) {
        head.insert(
            0,
            cache_manager::FACTS
                .node("Cache")
                .with(cache_manager::CLEAR_EACH_ITERATION.name, true)
                .with(cache_manager::USE_EXPIRES.name, true),
        );
    }
    let before_defaults = head.len() - 1;
    let mut managers = Vec::new();
    if flag(scenario, "store-cookie", true) {
        managers.push(cookies(scenario)?);
    }
    if flag(scenario, "use-dns-cache-mgr", true) {
        managers.push(
            dns_cache_manager::FACTS
                .node("DNS Cache Manager")
                .with(dns_cache_manager::SERVERS.name, Vec::<Prop>::new())
                .with(dns_cache_manager::CLEAR_EACH_ITERATION.name, false)
                .with(dns_cache_manager::IS_CUSTOM_RESOLVER.name, false),
        );
    }
    head.splice(before_defaults..before_defaults, managers);
    head.extend(authorization(scenario)?);
    head.extend(keystore(scenario));
    for source in list(scenario, "data-sources") {
        head.push(data_source(source, files)?);
    }
    Ok(head)
}

fn defaults(scenario: &Table) -> Node {
    let mut node = http_defaults::FACTS.node("Defaults");
    if flag(scenario, "retrieve-resources", true) {
        node = node
            .with(http::EMBEDDED_RESOURCES.name, true)
            .with(http::PARALLEL.name, true);
        let pool = scenario
            .get("concurrent-pool-size")
            .cloned()
            .unwrap_or_else(|| 4.into());
        if is_true(Some(&pool)) {
            node = node.with(http::PARALLEL_NUMBER.name, text(&pool));
        }
    }
    let arguments =
        Element::new(user_defined_variables::CLASS).shown("HTTPArgumentsPanel", "user_defined");
    node = node.with(http::ARGUMENTS.name, arguments);
    let address = text_or(scenario, "default-address", "");
    let (scheme, rest) = scheme_of(&address);
    if let Some(scheme) = scheme {
        node = node.with(http::PROTOCOL.name, scheme);
    }
    if let Some(rest) = rest.strip_prefix("//") {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let mut host = &rest[..end];
        if let Some((name, port)) = host.rsplit_once(':') {
            node = node.with(http::PORT.name, port);
            host = name;
        }
        if !rest[..end].is_empty() {
            node = node.with(http::DOMAIN.name, host);
        }
    }
    let timeout = scenario.get("timeout").cloned();
    let timeout = milliseconds(&timeout.unwrap_or_else(|| "30s".into()));
    if is_true(Some(&timeout)) {
        node = node
            .with(http::CONNECT_TIMEOUT.name, text(&timeout))
            .with(http::RESPONSE_TIMEOUT.name, text(&timeout));
    }
    for (key, property) in [
        ("content-encoding", http::CONTENT_ENCODING.name),
        ("retrieve-resources-regex", http::EMBEDDED_MATCH.name),
    ] {
        if is_true(scenario.get(key)) {
            node = node.with(property, text_or(scenario, key, ""));
        }
    }
    node
}

/// Splits off the scheme of a URL, if it has one; the rest follows its colon.
pub(crate) fn scheme_of(url: &str) -> (Option<&str>, &str) {
    match url.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
        _ => (None, url),
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && text
            .chars()
            .all(|sign| sign.is_ascii_alphanumeric() || "+-.".contains(sign))
}

fn cookies(scenario: &Table) -> Result<Node, TaurusError> {
    let mut node = cookie_manager::FACTS
        .node("Cookies")
        .with(cookie_manager::CLEAR_EACH_ITERATION.name, false)
        .with(cookie_manager::IMPLEMENTATION.name, COOKIES);
    let mut cookies = Vec::new();
    for cookie in list(scenario, "cookies") {
        let fields = cookie.as_object();
        let field = |name: &str| {
            let value = fields.and_then(|fields| fields.get(name));
            value.map(text).ok_or_else(|| {
                TaurusError::new(format!("a cookie lacks `{name}`: {cookie}"))
                    .hint("write `name`, `value` and `domain`")
            })
        };
        let name = field("name")?;
        let is_secure = fields.is_some_and(|fields| flag(fields, "secure", false));
        let element = Element {
            name: name.as_str().into(),
            ..Element::new("Cookie")
        }
        .with(items::COOKIE_VALUE.name, field("value")?)
        .with(items::COOKIE_DOMAIN.name, field("domain")?)
        .with(items::COOKIE_PATH.name, field("path").unwrap_or_default())
        .with(items::COOKIE_SECURE.name, is_secure)
        .with(items::COOKIE_EXPIRES.name, 0_i64)
        .with(items::COOKIE_PATH_SPECIFIED.name, true)
        .with(items::COOKIE_DOMAIN_SPECIFIED.name, true);
        cookies.push(Prop::new(&name, element));
    }
    if !cookies.is_empty() {
        node = node.with(cookie_manager::COOKIES.name, cookies);
    }
    Ok(node)
}

fn authorization(scenario: &Table) -> Result<Option<Node>, TaurusError> {
    let Some(given) = scenario
        .get("authorization")
        .filter(|given| is_true(Some(given)))
    else {
        return Ok(None);
    };
    let (clears, entries) = match given {
        serde_json::Value::Object(full)
            if full.contains_key("clear") || full.contains_key("list") =>
        {
            (flag(full, "clear", false), list(full, "list"))
        }
        serde_json::Value::Array(entries) => (false, entries.iter().collect()),
        one @ serde_json::Value::Object(_) => (false, vec![one]),
        other => {
            return Err(TaurusError::new(format!(
                "`authorization` must be a table or a list, and `{other}` is neither"
            )));
        }
    };
    let mut node = auth_manager::FACTS.node("HTTP Authorization Manager");
    if clears {
        node = node.with(auth_manager::CLEAR_EACH_ITERATION.name, true);
    }
    let mut all = Vec::new();
    for entry in entries {
        let empty = Table::new();
        let entry = entry.as_object().unwrap_or(&empty);
        let field = |name: &str| text_or(entry, name, "");
        if field("name").is_empty()
            || field("password").is_empty()
            || field("url").is_empty() && field("domain").is_empty()
        {
            let fault = TaurusError::new(
                "an `authorization` lacks its name, its password, or both url and domain",
            );
            return Err(fault.hint("write `url`, `name` and `password`"));
        }
        let mut element = Element::new("Authorization")
            .with(items::AUTHORIZATION_URL.name, field("url"))
            .with(items::AUTHORIZATION_USER.name, field("name"))
            .with(items::AUTHORIZATION_PASSWORD.name, field("password"))
            .with(items::AUTHORIZATION_DOMAIN.name, field("domain"))
            .with(items::AUTHORIZATION_REALM.name, field("realm"));
        if field("mechanism").eq_ignore_ascii_case("kerberos") {
            element = element.with(items::AUTHORIZATION_MECHANISM.name, "KERBEROS");
        }
        all.push(Prop::new("", element));
    }
    Ok(Some(node.with(auth_manager::AUTHORIZATIONS.name, all)))
}

fn keystore(scenario: &Table) -> Option<Node> {
    let config = table(scenario, "keystore-config")?;
    if !is_true(config.get("variable-name")) {
        return None;
    }
    let field = |name: &str| text_or(config, name, "None");
    let node = keystore_configuration::FACTS
        .node("Taurus-Keystore-Configuration")
        .with(
            keystore_configuration::ALIAS_VARIABLE.name,
            field("variable-name"),
        )
        .with(
            keystore_configuration::START_INDEX.name,
            field("start-index"),
        )
        .with(keystore_configuration::END_INDEX.name, field("end-index"))
        .with(
            keystore_configuration::PRELOAD.name,
            field(keystore_configuration::PRELOAD.name),
        );
    Some(node)
}

fn data_source(source: &serde_json::Value, files: &Files) -> Result<Node, TaurusError> {
    let source = crate::value::as_table(source, "path");
    let written = text_or(&source, "path", "");
    if written.is_empty() {
        return Err(TaurusError::new("an entry of `data-sources` has no path")
            .hint("write `path: users.csv`"));
    }
    let given = text_or(&source, "delimiter", "");
    let given = match given.to_ascii_lowercase().as_str() {
        "tab" => "\t".to_owned(),
        _ => given.replace("\\t", "\t"),
    };
    let (path, delimiter) = match has_variable(&written) {
        true if given.is_empty() => (written, ",".to_owned()),
        true => (written, given),
        false => {
            let file = files.find(&written);
            if !file.is_file() {
                return Err(files.missing(&written));
            }
            let delimiter = if given.is_empty() {
                guessed_delimiter(&file)
            } else {
                given
            };
            (file.to_string_lossy().into_owned(), delimiter)
        }
    };
    let loops = flag(&source, "loop", true);
    let names = text_or(&source, "variable-names", "");
    let base = std::path::Path::new(&path)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    if flag(&source, "random-order", false) {
        const CLASS: &str = random_csv_data_set::CLASS;
        let first_line_names = names.is_empty();
        return Ok(Node::new(
            CLASS,
            &format!("{CLASS}Gui"),
            "bzm - Random CSV Data Set Config",
        )
        .with("filename", path)
        .with("fileEncoding", "UTF-8")
        .with("delimiter", delimiter)
        .with("variableNames", names)
        .with("randomOrder", true)
        .with("ignoreFirstLine", first_line_names)
        .with("rewindOnTheEndOfList", loops)
        .with("independentListPerThread", false));
    }
    Ok(csv_data_set::FACTS
        .node(&format!("CSV {base}"))
        .with("filename", path)
        .with("delimiter", delimiter)
        .with("quotedData", flag(&source, "quoted", false))
        .with("recycle", loops)
        .with("stopThread", !loops)
        .with("variableNames", names))
}

/// Guesses the delimiter: the character that occurs equally often in each of the first lines, or
/// else a comma.
fn guessed_delimiter(file: &std::path::Path) -> String {
    let text = drumfire_platform::files::read_regular(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text[..text.len().min(4096)]).into_owned();
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    if lines.len() > 1 && !text.ends_with('\n') {
        lines.pop();
    }
    let is_regular = |sign: &&&str| {
        let counts: Vec<usize> = lines
            .iter()
            .map(|line| line.matches(**sign).count())
            .collect();
        counts
            .first()
            .is_some_and(|first| *first > 0 && counts.iter().all(|count| count == first))
    };
    let delimiters = [",", "\t", ";", "|", ":"];
    delimiters
        .iter()
        .find(is_regular)
        .unwrap_or(&",")
        .to_string()
}

/// User Defined Variables, sorted by name.
pub(crate) fn variables(of: &Table) -> Node {
    let arguments: Vec<Prop> = sorted(of)
        .into_iter()
        .map(|(name, value)| {
            let argument = Element::new("Argument")
                .with(items::NAME.name, name.as_str())
                .with(items::VALUE.name, text(value))
                .with(items::DESCRIPTION.name, "")
                .with(items::METADATA.name, "=");
            Prop::new(name, argument)
        })
        .collect();
    user_defined_variables::FACTS
        .node("Variables from Taurus")
        .with(user_defined_variables::VARIABLES.name, arguments)
}

/// The action that sets variables during the test.
pub(crate) fn set_variables(of: &Table) -> Node {
    const CLASS: &str = set_variables_action::CLASS;
    let arguments: Vec<Prop> = sorted(of)
        .into_iter()
        .map(|(name, value)| {
            let argument = Element::new("Argument")
                .with(items::NAME.name, name.as_str())
                .with(items::VALUE.name, text(value))
                .with(items::METADATA.name, "=");
            Prop::new(name, argument)
        })
        .collect();
    let list = Element::new(user_defined_variables::CLASS)
        .shown("ArgumentsPanel", "User Defined Variables")
        .with(user_defined_variables::VARIABLES.name, arguments);
    Node::new(CLASS, &format!("{CLASS}Gui"), "Variables from Taurus")
        .with("SetVariablesAction", list)
}

fn sorted(of: &Table) -> Vec<(&String, &serde_json::Value)> {
    let mut all: Vec<_> = of.iter().collect();
    all.sort_by_key(|(name, _)| (*name).clone());
    all
}

/// A Header Manager.
pub(crate) fn headers(of: &Table) -> Node {
    let fields: Vec<Prop> = of
        .iter()
        .map(|(name, value)| {
            let header = Element::new("Header")
                .with(items::HEADER_NAME.name, name.as_str())
                .with(items::HEADER_VALUE.name, text(value));
            Prop::new("", header)
        })
        .collect();
    header_manager::FACTS
        .node("Headers")
        .with(header_manager::HEADERS.name, Value::List(fields))
}
