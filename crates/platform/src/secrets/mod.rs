//! Decides what is secret, by its name or by its place in a text, and masks it wherever settings and texts are shown.
//!
//! A name is split into words, so that `proxyPass`, `proxy.pass` and `PROXY_PASS` are alike, and neither `monkey` nor
//! `tokenizer` is a secret. [`WORDS`], [`PARTS`], [`ENDINGS`], [`KEYS`] and [`ABOUT`] are the whole rule; `docs/reference/secrets.md`
//! is generated from them.

mod addresses;
mod fields;

use std::borrow::Cow;

pub use addresses::addresses;
use addresses::bare_login;
use fields::fields;

/// The replacement for a secret.
pub const MASK: &str = "***";

/// Words that make a name secret.
pub const WORDS: &[&str] = &[
    "auth token",
    "authorization",
    "basic auth",
    "bearer",
    "contraseña",
    "cookie",
    "cookies",
    "cred",
    "creds",
    "csrf",
    "jsessionid",
    "jwt",
    "kennwort",
    "motdepasse",
    "otp",
    "pass",
    "passes",
    "passwort",
    "phpsessid",
    "pswd",
    "pw",
    "pwd",
    "secret",
    "secrets",
    "senha",
    "session id",
    "sessionid",
    "sid",
    "sig",
    "signature",
    "token",
    "tokens",
    "totp",
    "x auth",
    "xsrf",
];

/// Texts that make a word secret wherever they stand in it, as in `dbpassword2`.
pub const PARTS: &[&str] = &[
    "accesskey",
    "apikey",
    "contrasena",
    "credential",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secretkey",
];

/// Texts that make a word secret at its end, as in `mytoken`; `compass` and the like are no secrets.
pub const ENDINGS: &[&str] = &["authorization", "cookie", "pass", "pwd", "secret", "token"];

/// English words that end like a secret.
const ORDINARY: &[&str] = &[
    "bypass",
    "compass",
    "encompass",
    "overpass",
    "surpass",
    "trespass",
    "underpass",
];

/// Words before `key` that keep it from being a secret, as in `publicKey`.
pub const KEYS: &[&str] = &[
    "arrow",
    "cache",
    "foreign",
    "group",
    "map",
    "object",
    "partition",
    "primary",
    "public",
    "row",
    "sort",
    "unique",
];

/// Words before `key` that make it a secret even if more words follow, as in `apiKeyProd`.
const SECRET_KEYS: &[&str] = &[
    "access",
    "account",
    "api",
    "auth",
    "client",
    "encryption",
    "license",
    "master",
    "private",
    "secret",
    "service",
    "session",
    "shared",
    "signing",
    "storage",
    "subscription",
];

/// Last words of names that say something about a secret without holding it, as in `passwordFile`.
pub const ABOUT: &[&str] = &[
    "alg",
    "algorithm",
    "alias",
    "attempts",
    "class",
    "count",
    "dir",
    "directory",
    "domain",
    "email",
    "enabled",
    "encoding",
    "endpoint",
    "expiration",
    "expires",
    "expiry",
    "factory",
    "field",
    "file",
    "files",
    "folder",
    "format",
    "header",
    "host",
    "implementation",
    "in",
    "index",
    "issuer",
    "length",
    "limit",
    "login",
    "manager",
    "max",
    "mechanism",
    "method",
    "min",
    "mode",
    "name",
    "names",
    "path",
    "pattern",
    "policy",
    "port",
    "prefix",
    "provider",
    "rate",
    "realm",
    "regex",
    "required",
    "scope",
    "separator",
    "size",
    "store",
    "suffix",
    "through",
    "timeout",
    "ttl",
    "type",
    "types",
    "uri",
    "url",
    "user",
    "username",
    "version",
];

/// Whether a setting, a variable, a header or a field of this name holds a secret.
pub fn is_secret(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.last() else {
        return false;
    };
    let holds = (0..words.len()).any(|at| is_secret_word(&words, at));
    holds && !(words.len() > 1 && ABOUT.contains(&last.as_str()))
}

/// The value of a setting as outputs show it. A reference such as `${password}` is no secret, and neither is `true`.
pub fn shown<'v>(name: &str, value: &'v str) -> Cow<'v, str> {
    if is_secret(name) {
        return secret(value);
    }
    match bare_login(value) {
        Some(end) => Cow::Owned(format!("{MASK}{}", &value[end..])),
        None => text(value),
    }
}

/// The value of a secret as outputs show it: masked, unless it is a reference or tells nothing.
pub fn secret(value: &str) -> Cow<'_, str> {
    if tells_nothing(value) {
        Cow::Borrowed(value)
    } else {
        Cow::Borrowed(MASK)
    }
}

/// A text with the secrets in it masked: user and password of addresses, and the values of secret fields in queries and
/// forms (`password=…&`), JSON (`"password": "…"`), XML (`<password>…<`), HTML, options (`--password …`) and header lines.
pub fn text(text: &str) -> Cow<'_, str> {
    match addresses(text) {
        Cow::Borrowed(text) => fields(text),
        Cow::Owned(masked) => Cow::Owned(fields(&masked).into_owned()),
    }
}

/// Header lines with the secrets in them masked.
pub fn headers(lines: &str) -> Cow<'_, str> {
    let masked = lines.split_inclusive('\n').map(|line| {
        let (content, end) = line.split_at(line.trim_end_matches(['\r', '\n']).len());
        match content.split_once(':') {
            Some((name, value)) if is_secret(name) && !value.trim().is_empty() => {
                Cow::Owned(format!("{name}: {MASK}{end}"))
            }
            _ => text(line),
        }
    });
    let masked: Vec<Cow<'_, str>> = masked.collect();
    if masked.iter().all(|line| matches!(line, Cow::Borrowed(_))) {
        Cow::Borrowed(lines)
    } else {
        Cow::Owned(masked.concat())
    }
}

/// Whether a value gives nothing away: none, a flag, the mask itself, or a reference to where the secret is.
fn tells_nothing(value: &str) -> bool {
    let value = value.trim();
    let flags = ["", "true", "false", "null", "none", MASK];
    flags.iter().any(|flag| value.eq_ignore_ascii_case(flag)) || is_reference(value)
}

/// Whether the value is `${name}`, `${__P(name)}` or the like: a name, and no default.
fn is_reference(value: &str) -> bool {
    let Some(inner) = value
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
    else {
        return false;
    };
    let argument = ["__P(", "__property(", "__V(", "__env("]
        .iter()
        .find_map(|call| inner.strip_prefix(call)?.strip_suffix(')'));
    is_name(argument.unwrap_or(inner))
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_.-".contains(c);
    !name.is_empty() && !name.starts_with("__") && name.chars().all(is_part)
}

/// The words of a name in small letters, without trailing digits: `HTTPSampler.proxyPass2` has the words http, sampler, proxy
/// and pass.
fn words(name: &str) -> Vec<String> {
    let name = ["-J", "-D", "-G", "-S"]
        .iter()
        .find_map(|option| name.strip_prefix(option))
        .unwrap_or(name);
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &c) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let begins = c.is_uppercase()
            && before.is_some_and(|before| !before.is_uppercase() || is_lower(letters.get(at + 1)));
        if !c.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words
        .iter()
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn is_lower(c: Option<&char>) -> bool {
    c.is_some_and(|c| c.is_lowercase())
}

fn is_secret_word(words: &[String], at: usize) -> bool {
    let word = words[at].as_str();
    let before = at
        .checked_sub(1)
        .map_or("", |before| words[before].as_str());
    if word == "key" {
        let is_last = at + 1 == words.len();
        return SECRET_KEYS.contains(&before) || (is_last && !KEYS.contains(&before));
    }
    let is_one = WORDS.iter().any(|known| match known.split_once(' ') {
        Some((first, second)) => first == before && second == word,
        None => *known == word,
    });
    let has_part = || {
        // Preparing a search costs more than the search, and most words are shorter than any part.
        let mut parts = PARTS.iter().filter(|part| part.len() <= word.len());
        let after = parts.find_map(|part| Some(word.split_once(part)?.1));
        after.is_some_and(|after| !ABOUT.contains(&after.trim_start_matches('s')))
    };
    let ends = || !ORDINARY.contains(&word) && ENDINGS.iter().any(|end| word.ends_with(end));
    is_one || has_part() || ends()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_secret_by_their_words() {
        let secret = [
            "password",
            "PASSWORD",
            "Password1",
            "userPassword",
            "dbpassword",
            "password_confirmation",
            "http.proxyPass",
            "HTTPSampler.proxyPass",
            "-Dhttp.proxyPass",
            "PGPASSWORD",
            "MYSQL_PWD",
            "DBPASS",
            "storepass",
            "keystore.pass",
            "javax.net.ssl.keyStorePassword",
            "user_pw",
            "secret",
            "clientSecret",
            "client_secret",
            "aws.secretAccessKey",
            "AWS_SECRET_ACCESS_KEY",
            "token",
            "access_token",
            "refreshToken2",
            "mytoken",
            "X-CSRF-Token",
            "tokens",
            "key",
            "api.key",
            "apiKey",
            "API_KEY",
            "X-API-Key",
            "apikey",
            "apiKeyProd",
            "-Jkey",
            "authorization",
            "Proxy-Authorization",
            "Authorization",
            "Cookie",
            "Set-Cookie",
            "set-cookie2",
            "JSESSIONID",
            "sessionId",
            "jms.security_credentials",
            "basic_auth",
            "X-Auth",
            "Kennwort",
            "jwt",
            "passphrase",
            "uploadToken",
            "influxdbToken",
            "X-Amz-Signature",
            "keyPassword",
        ];
        for name in secret {
            assert!(is_secret(name), "{name}");
        }
        let open = [
            "",
            "user",
            "monkey",
            "keyboard",
            "turnkey",
            "keystore",
            "keyStore",
            "keystore.path",
            "javax.net.ssl.keyStore",
            "javax.net.ssl.keyStoreType",
            "javax.net.ssl.trustStore",
            "tokenizer",
            "tokenize",
            "tokenUrl",
            "token_type",
            "passwordFile",
            "password_file",
            "passwordfile",
            "compass",
            "bypass",
            "passenger",
            "passed",
            "pass_rate",
            "secretary",
            "secretariat",
            "author",
            "authority",
            "auth",
            "authenticated",
            "publicKey",
            "primary_key",
            "sortKey",
            "key.serializer",
            "key_column",
            "CookieManager.policy",
            "cookie_domain",
            "Authorization.url",
            "Authorization.mechanism",
            "keep-alive",
            "hotkeys",
            "session",
            "sessionTimeout",
            "spinning",
            "signed",
            "credentialsFile",
        ];
        for name in open {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn a_value_is_shown_unless_it_is_a_secret() {
        let cases = [
            ("http.proxyPass", "s3cret", MASK),
            ("password", "", ""),
            ("password", "${password}", "${password}"),
            ("password", "${__P(db.pass)}", "${__P(db.pass)}"),
            ("password", "${__P(db.pass,s3cret)}", MASK),
            ("password", "${__base64Encode(s3cret)}", MASK),
            ("save_password", "true", "true"),
            ("host", "h", "h"),
            ("proxy", "ann:s3cret@h:1", "***@h:1"),
            ("mail", "mailto:ann@h", "mailto:ann@h"),
            (
                "args",
                "--password s3cret --user ann",
                "--password *** --user ann",
            ),
            (
                "url",
                "jdbc:mysql://h/d?user=a&password=s",
                "jdbc:mysql://h/d?user=a&password=***",
            ),
        ];
        for (name, value, expected) in cases {
            assert_eq!(shown(name, value), expected, "{name}={value}");
        }
    }

    #[test]
    fn secret_headers_are_masked_and_others_stay() {
        let text =
            "Host: a\r\nAuthorization: Bearer abc\r\nX-Api-Key: 7\r\nAccept: */*\r\ncookie: s=1";
        assert_eq!(
            headers(text),
            "Host: a\r\nAuthorization: ***\r\nX-Api-Key: ***\r\nAccept: */*\r\ncookie: ***"
        );
        assert_eq!(
            headers("Referer: http://a:b@h/?token=1"),
            "Referer: http://***@h/?token=***"
        );
        assert!(matches!(headers("Host: a"), Cow::Borrowed(_)));
    }
}
