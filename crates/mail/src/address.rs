//! Addresses (RFC 822), as `InternetAddress` reads and writes them.

use std::fmt;

use crate::latin::units;
use crate::words;

/// An address, or a group of addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The address without a name, or the whole group.
    pub address: String,
    /// The name in front of it, encoded.
    pub name: Option<String>,
}

/// Why a text is not an address. It is written as `AddressException` writes itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressError {
    why: &'static str,
    text: String,
    position: Option<usize>,
}

impl AddressError {
    fn new(why: &'static str, text: &str) -> Self {
        let (text, position) = (text.to_owned(), None);
        AddressError {
            why,
            text,
            position,
        }
    }

    fn at(why: &'static str, text: &str, position: usize) -> Self {
        AddressError {
            position: Some(position),
            ..AddressError::new(why, text)
        }
    }

    /// The message without the text (`getMessage`).
    pub fn message(&self) -> &'static str {
        self.why
    }
}

/// `AddressException#toString`.
impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = "javax.mail.internet.AddressException";
        write!(f, "{class}: {} in string ``{}''", self.why, self.text)?;
        match self.position {
            Some(position) => write!(f, " at position {position}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for AddressError {}

impl Address {
    /// The only address of a text.
    ///
    /// # Errors
    /// The text is not exactly one address.
    pub fn parse(text: &str) -> Result<Address, AddressError> {
        let mut all = parse_list(text)?;
        match all.len() {
            1 => Ok(all.remove(0)),
            _ => Err(AddressError::new("Illegal address", text)),
        }
    }

    /// The addresses of a group; `None` if it is none. A group that is malformed has itself as its only address, as in
    /// `SMTPTransport#expandGroups`.
    pub fn group(&self) -> Option<Vec<Address>> {
        let list = self.address.strip_suffix(';')?;
        let (name, list) = list.split_once(':')?;
        if name.is_empty() {
            return None;
        }
        Some(parse_list(list).unwrap_or_else(|_| vec![self.clone()]))
    }

    fn is_group(&self) -> bool {
        self.address.ends_with(';') && self.address.find(':').is_some_and(|at| at > 0)
    }
}

/// `InternetAddress#toString`.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = &self.address;
        match &self.name {
            Some(name) => write!(f, "{} <{address}>", quote_phrase(name)),
            None if self.is_group() || !address.contains(SPECIALS_NO_DOT_NO_AT) => {
                f.write_str(address)
            }
            None => write!(f, "<{address}>"),
        }
    }
}

const SPECIALS_NO_DOT_NO_AT: [char; 10] = ['(', ')', '<', '>', ',', ';', ':', '\\', '"', '['];

/// A name, in quotes if it needs them.
fn quote_phrase(name: &str) -> String {
    if name.contains(['"', '\\']) {
        let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
        return format!("\"{escaped}\"");
    }
    let is_special = |c: char| {
        (c < ' ' && !matches!(c, '\r' | '\n' | '\t')) || c >= '\u{7f}' || "()<>@,;:.[]".contains(c)
    };
    if name.contains(is_special) {
        format!("\"{name}\"")
    } else {
        name.to_owned()
    }
}

/// A list for a header, in lines of 76 characters (`InternetAddress#toString(Address[])`). `None` if it is empty.
pub fn join(addresses: &[Address]) -> Option<String> {
    if addresses.is_empty() {
        return None;
    }
    let mut out = String::new();
    let mut used = 0;
    for (index, address) in addresses.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
            used += 2;
        }
        let text = address.to_string();
        let first_line = text.split("\r\n").next().unwrap_or_default();
        if used + units(first_line) > 76 {
            out.push_str("\r\n\t");
            used = 8;
        }
        out.push_str(&text);
        used = match text.rfind("\r\n") {
            Some(at) => units(&text[at + 2..]),
            None => units(&text) + used,
        };
    }
    Some(out)
}

/// The addresses of a header or of a text, separated by commas (`InternetAddress#parse`, strict).
///
/// # Errors
/// One of them is malformed.
pub fn parse_list(text: &str) -> Result<Vec<Address>, AddressError> {
    let chars: Vec<char> = text.chars().collect();
    let mut parser = Parser {
        text,
        chars: &chars,
        at: 0,
        start: None,
        end: None,
        name: None,
        in_group: false,
        is_route: false,
        found: Vec::new(),
    };
    parser.run()?;
    Ok(parser.found)
}

struct Parser<'t> {
    text: &'t str,
    chars: &'t [char],
    at: usize,
    start: Option<usize>,
    end: Option<usize>,
    /// The start and end of the name.
    name: Option<(usize, usize)>,
    in_group: bool,
    is_route: bool,
    found: Vec<Address>,
}

impl Parser<'_> {
    fn run(&mut self) -> Result<(), AddressError> {
        while let Some(&c) = self.chars.get(self.at) {
            match c {
                '(' => self.comment()?,
                ')' => return self.fail("Missing '('"),
                '<' => self.route()?,
                '>' => return self.fail("Missing '<'"),
                '"' => {
                    self.begin();
                    self.skip_to('"', "Missing '\"'")?;
                }
                '[' => self.skip_to(']', "Missing ']'")?,
                ';' => self.semicolon()?,
                ',' if self.start.is_none() => self.reset_address(),
                ',' if self.in_group => self.is_route = false,
                ',' => self.finish(self.at)?,
                ':' if self.in_group => return self.fail("Nested group"),
                ':' => {
                    self.begin();
                    self.in_group = true;
                }
                ' ' | '\t' | '\r' | '\n' => {}
                _ => self.begin(),
            }
            self.at += 1;
        }
        if self.start.is_some() {
            self.finish(self.chars.len())?;
        }
        Ok(())
    }

    fn fail<T>(&self, why: &'static str) -> Result<T, AddressError> {
        let position = self.at.min(self.chars.len());
        Err(AddressError::at(why, self.text, position))
    }

    fn begin(&mut self) {
        self.start.get_or_insert(self.at);
    }

    fn reset_address(&mut self) {
        self.is_route = false;
        self.start = None;
        self.end = None;
    }

    /// Skips to a closing sign; a backslash escapes the character after it.
    fn skip_to(&mut self, closing: char, missing: &'static str) -> Result<(), AddressError> {
        self.at += 1;
        while let Some(&c) = self.chars.get(self.at) {
            match c {
                '\\' => self.at += 1,
                c if c == closing => return Ok(()),
                _ => {}
            }
            self.at += 1;
        }
        self.fail(missing)
    }

    /// A comment, which is the name if there is no other.
    fn comment(&mut self) -> Result<(), AddressError> {
        if self.start.is_some() && self.end.is_none() {
            self.end = Some(self.at);
        }
        let begin = self.at + 1;
        let mut nesting = 1;
        self.at = begin;
        while nesting > 0 {
            match self.chars.get(self.at) {
                None => return self.fail("Missing ')'"),
                Some('\\') => self.at += 1,
                Some('(') => nesting += 1,
                Some(')') => nesting -= 1,
                Some(_) => {}
            }
            self.at += 1;
        }
        self.at -= 1;
        self.name.get_or_insert((begin, self.at));
        Ok(())
    }

    /// An address in angle brackets.
    fn route(&mut self) -> Result<(), AddressError> {
        if self.is_route {
            return self.fail("Extra route-addr");
        }
        let open = self.at;
        let mut in_quotes = false;
        self.at += 1;
        loop {
            match self.chars.get(self.at) {
                None if in_quotes => return self.fail("Missing '\"'"),
                None => return self.fail("Missing '>'"),
                Some('\\') => self.at += 1,
                Some('"') => in_quotes = !in_quotes,
                Some('>') if !in_quotes => break,
                Some(_) => {}
            }
            self.at += 1;
        }
        if !self.in_group {
            if let Some(start) = self.start {
                self.name = Some((start, open));
            }
            self.start = Some(open + 1);
        }
        self.is_route = true;
        self.end = Some(self.at);
        Ok(())
    }

    fn semicolon(&mut self) -> Result<(), AddressError> {
        let Some(start) = self.start else {
            self.reset_address();
            return Ok(());
        };
        if !self.in_group {
            return self.fail("Illegal semicolon, not in group");
        }
        self.in_group = false;
        self.found.push(Address {
            address: self.slice(start, self.at + 1),
            name: None,
        });
        self.reset_address();
        self.name = None;
        Ok(())
    }

    /// Ends an address.
    fn finish(&mut self, at: usize) -> Result<(), AddressError> {
        let start = self.start.unwrap_or(at);
        let address = self.slice(start, self.end.unwrap_or(at));
        let name = self
            .name
            .take()
            .map(|(start, end)| unquote(&self.slice(start, end)));
        check(&address, self.is_route)?;
        self.found.push(Address {
            address,
            name: name.filter(|name| !name.trim().is_empty()),
        });
        self.reset_address();
        Ok(())
    }

    fn slice(&self, start: usize, end: usize) -> String {
        let text: String = self.chars[start..end].iter().collect();
        drumfire_java::text::trim(&text).to_owned()
    }
}

/// Removes the quotes around a name, and its backslashes.
fn unquote(name: &str) -> String {
    let inner = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'));
    let Some(inner) = inner else {
        return name.to_owned();
    };
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(chars.next().unwrap_or(c)),
            _ => out.push(c),
        }
    }
    out
}

/// `InternetAddress#checkAddress`, not validating.
fn check(address: &str, is_route: bool) -> Result<(), AddressError> {
    let fail = |why| Err(AddressError::new(why, address));
    if address.is_empty() {
        return fail("Empty address");
    }
    let mut rest = address;
    if is_route && address.starts_with('@') {
        while let Some(at) = rest.find([',', ':']) {
            if !rest.starts_with('@') {
                return fail("Illegal route-addr");
            }
            let is_end = rest.as_bytes()[at] == b':';
            rest = &rest[at + 1..];
            if is_end {
                break;
            }
        }
    }
    let mut last = '\0';
    let mut in_quotes = false;
    let mut domain = None;
    for (at, c) in rest.char_indices() {
        let is_escaped = std::mem::replace(&mut last, c) == '\\';
        if c == '\\' || is_escaped {
            continue;
        }
        match c {
            '"' => in_quotes = !in_quotes,
            _ if in_quotes => {}
            '@' if at == 0 => return fail("Missing local name"),
            '@' => {
                domain = Some(&rest[at + 1..]);
                break;
            }
            _ if c <= ' ' || c >= '\u{7f}' => {
                return fail("Local address contains control or whitespace");
            }
            _ if SPECIALS_NO_DOT_NO_AT.contains(&c) || c == ']' => {
                return fail("Local address contains illegal character");
            }
            _ => {}
        }
    }
    if in_quotes {
        return fail("Unterminated quote");
    }
    match domain {
        Some(domain) => check_domain(domain).or_else(fail),
        None => Ok(()),
    }
}

fn check_domain(domain: &str) -> Result<(), &'static str> {
    if domain.is_empty() {
        return Err("Missing domain");
    }
    if domain.starts_with('.') {
        return Err("Domain starts with dot");
    }
    let mut last = '\0';
    for c in domain.chars() {
        match c {
            '[' => return Ok(()),
            _ if c <= ' ' || c >= '\u{7f}' => {
                return Err("Domain contains control or whitespace");
            }
            _ if !c.is_ascii_alphanumeric() && !matches!(c, '-' | '.') => {
                return Err("Domain contains illegal character");
            }
            '.' if last == '.' => return Err("Domain contains dot-dot"),
            _ => last = c,
        }
    }
    match last {
        '.' => Err("Domain ends with dot"),
        _ => Ok(()),
    }
}

/// The name of an address as a reader sees it.
pub fn decoded_name(address: &Address) -> Option<String> {
    let name = address.name.as_deref()?;
    Some(words::decode(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of JavaMail 1.5.0-b01.
    #[test]
    fn addresses_are_read_and_written_as_javamail_does() {
        for (text, written, address) in [
            ("a@b.c", "a@b.c", "a@b.c"),
            ("Ann <a@b.c>", "Ann <a@b.c>", "a@b.c"),
            ("\"Ann, B\" <a@b.c>", "\"Ann, B\" <a@b.c>", "a@b.c"),
            ("Ann B. <a@b.c>", "\"Ann B.\" <a@b.c>", "a@b.c"),
            ("<a@b.c>", "a@b.c", "a@b.c"),
            ("nobody", "nobody", "nobody"),
            ("(comment) a@b.c", "comment <a@b.c>", "a@b.c"),
            (
                "grp: a@b.c, d@e.f;",
                "grp: a@b.c, d@e.f;",
                "grp: a@b.c, d@e.f;",
            ),
            (
                "=?UTF-8?Q?J=C3=BCrgen?= <j@x.test>",
                "=?UTF-8?Q?J=C3=BCrgen?= <j@x.test>",
                "j@x.test",
            ),
            ("a@[1.2.3.4]", "<a@[1.2.3.4]>", "a@[1.2.3.4]"),
            ("\"a b\"@c.d", "<\"a b\"@c.d>", "\"a b\"@c.d"),
            ("a..b@c.d", "a..b@c.d", "a..b@c.d"),
        ] {
            let read = Address::parse(text).expect(text);
            assert_eq!(
                (read.to_string().as_str(), read.address.as_str()),
                (written, address)
            );
        }
    }

    #[test]
    fn faults_have_the_words_of_javamail() {
        let fault = |text: &str| {
            let fault = Address::parse(text).expect_err(text).to_string();
            fault.replace("javax.mail.internet.AddressException: ", "")
        };
        for (text, why) in [
            (
                "a b@c",
                "Local address contains control or whitespace in string ``a b@c''",
            ),
            ("a@", "Missing domain in string ``a@''"),
            ("@b", "Missing local name in string ``@b''"),
            ("a@b..c", "Domain contains dot-dot in string ``a@b..c''"),
            ("a@b.c,d@e.f", "Illegal address in string ``a@b.c,d@e.f''"),
            ("a@b.c.", "Domain ends with dot in string ``a@b.c.''"),
            (
                "a@b_c",
                "Domain contains illegal character in string ``a@b_c''",
            ),
            ("", "Illegal address in string ``''"),
            (
                "Ann <a@b.c",
                "Missing '>' in string ``Ann <a@b.c'' at position 10",
            ),
            ("a@b.c>", "Missing '<' in string ``a@b.c>'' at position 5"),
        ] {
            assert_eq!(fault(text), why);
        }
    }

    #[test]
    fn lists_are_folded_and_groups_have_members() {
        let one =
            |n: usize| Address::parse(&format!("recipient{n}@mail.example.com")).expect("one");
        let all: Vec<Address> = (0..6).map(one).collect();
        assert_eq!(
            join(&all).expect("it is not empty"),
            "recipient0@mail.example.com, recipient1@mail.example.com, \r\n\trecipient2@mail.example.com, \
             recipient3@mail.example.com, \r\n\trecipient4@mail.example.com, recipient5@mail.example.com"
        );
        let group = Address::parse("grp: a@b.c, d@e.f;").expect("a group");
        let members = group.group().expect("it has members");
        assert_eq!(
            members
                .iter()
                .map(|one| one.address.as_str())
                .collect::<Vec<_>>(),
            ["a@b.c", "d@e.f"]
        );
        assert_eq!(one(1).group(), None);
    }
}
