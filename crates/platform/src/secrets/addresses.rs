//! User and password in addresses.

use std::borrow::Cow;
use std::ops::Range;

use super::{MASK, is_reference};

/// Characters that end an address in a text.
const ENDS: [char; 6] = ['"', '\'', '<', '>', '`', '\\'];
/// The beginning of the addresses in which Oracle's driver takes `user/password@`.
const ORACLE: &str = "jdbc:oracle:";

/// How far from its beginning the end of user and password is looked for, in bytes.
const NEAR: usize = 1 << 10;

/// A text with user and password of all addresses in it masked: `http://ann:s3cret@host/` becomes `http://***@host/`.
pub fn addresses(text: &str) -> Cow<'_, str> {
    if text.contains(ORACLE) {
        let text = masked(text, ORACLE, of_oracle);
        Cow::Owned(masked(&text, "//", of_url).into_owned())
    } else {
        masked(text, "//", of_url)
    }
}

/// Masks what `login` finds in the text after each `sign`.
fn masked<'t>(text: &'t str, sign: &str, login: fn(&str) -> Option<Range<usize>>) -> Cow<'t, str> {
    let mut masked = String::new();
    let mut done = 0;
    let mut from = 0;
    while let Some(start) = text[from..].find(sign).map(|at| from + at + sign.len()) {
        from = start;
        let whole = first_word(&text[start..]);
        if let Some(found) = login(whole).filter(|found| !is_told(&whole[found.clone()])) {
            masked.push_str(&text[done..start + found.start]);
            masked.push_str(MASK);
            done = start + found.end;
            from = done;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    masked.push_str(&text[done..]);
    Cow::Owned(masked)
}

/// The length of user and password of an address without a scheme, which is the whole value: `ann:s3cret@host:80`.
pub fn bare_login(value: &str) -> Option<usize> {
    let value = value.trim_end();
    let is_whole = first_word(value).len() == value.len() && !value.contains("://");
    let authority = value.split(['/', '?', '#']).next().filter(|_| is_whole)?;
    let end = authority.rfind('@')?;
    let (user, _) = authority[..end].split_once(':')?;
    (user != "mailto" && !is_told(&value[..end])).then_some(end)
}

/// User and password after `jdbc:oracle:` and the driver's name.
fn of_oracle(whole: &str) -> Option<Range<usize>> {
    let start = whole.find(':')? + 1;
    Some(start..start + whole[start..].find('@')?)
}

/// User and password after `//`.
fn of_url(whole: &str) -> Option<Range<usize>> {
    let authority = whole.split(['/', '?', '#']).next()?;
    let end = authority.rfind('@').or_else(|| {
        // A password may hold `/`, `?` or `#`, although it should not. A port is no password.
        let (user, port) = authority.split_once(':')?;
        let is_port = port.chars().all(|c| c.is_ascii_digit());
        let is_host = user.starts_with('[') || user.contains('$') || port.contains(['$', '{']);
        (!is_port && !is_host).then(|| whole.find('@'))?
    });
    Some(0..end?)
}

fn first_word(text: &str) -> &str {
    let text = &text[..text.floor_char_boundary(text.len().min(NEAR))];
    let length = text.find(|c: char| c.is_whitespace() || ENDS.contains(&c));
    &text[..length.unwrap_or(text.len())]
}

/// Whether user and password give nothing away.
fn is_told(login: &str) -> bool {
    login == MASK
        || login
            .split(':')
            .all(|part| part.is_empty() || is_reference(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_password_of_addresses_are_masked() {
        let cases = [
            ("http://ann:s3cret@host/", "http://***@host/"),
            (
                "GET https://token@host:1/a@b failed",
                "GET https://***@host:1/a@b failed",
            ),
            (
                "`ws://ann:p@ss@h/x`, `nats://a:b@c`",
                "`ws://***@h/x`, `nats://***@c`",
            ),
            ("//ann:s3cret@host", "//***@host"),
            ("http://ann:s3/cre?t@host/x", "http://***@host/x"),
            ("jdbc:mysql://a:b@h/d?x=1", "jdbc:mysql://***@h/d?x=1"),
            (
                "jdbc:oracle:thin:ann/s3cret@//h:1521/x",
                "jdbc:oracle:thin:***@//h:1521/x",
            ),
            ("mongodb+srv://a:%40b@h", "mongodb+srv://***@h"),
            ("http://${u}:s3cret@h", "http://***@h"),
        ];
        for (text, masked) in cases {
            assert_eq!(addresses(text), masked);
            assert_eq!(addresses(masked), masked);
        }
        let others = [
            "",
            "http://h/x?mail=a@b",
            "http://h:80/a:b@c",
            "h:1",
            "ann@example.org",
            "// see a@b",
            "http://${u}:${__P(p)}@h/",
            "http://${host}:${port}/x?a@b",
            "http://[::1]:80/a@b",
            "jdbc:oracle:thin:@h:1521:x",
            "//",
            "http://",
        ];
        for text in others {
            assert_eq!(addresses(text), text);
        }
        assert!(matches!(addresses("http://h/"), Cow::Borrowed(_)));
    }

    #[test]
    fn many_addresses_take_linear_time() {
        for text in ["//", "//a:b", "jdbc:oracle:", "http://a:b@h "] {
            let text = text.repeat(10_000);
            assert!(!addresses(&text).contains("a:b@"));
        }
    }

    #[test]
    fn an_address_may_be_without_a_scheme() {
        assert_eq!(bare_login("ann:s3cret@h:80"), Some(10));
        for value in [
            "ann@h",
            "mailto:ann@h",
            "h:80",
            "see ann:x@h",
            "http://a:b@h",
            "a/b:c@d",
        ] {
            assert_eq!(bare_login(value), None, "{value}");
        }
    }
}
