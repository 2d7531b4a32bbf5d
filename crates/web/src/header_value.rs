//! The grammar of structured header values as HttpCore reads and writes it (`TokenParser`, `BasicHeaderValueParser`,
//! `BasicHeaderValueFormatter`).

/// One element of a header value: `name=value; param=value; param`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub name: String,
    pub value: Option<String>,
    pub params: Vec<(String, Option<String>)>,
}

impl Element {
    /// `HeaderElement.getParameterByName`.
    pub fn has_param(&self, name: &str) -> bool {
        self.params
            .iter()
            .any(|(n, _)| n.eq_ignore_ascii_case(name))
    }
}

/// A position in a header value.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    pos: usize,
}

fn is_whitespace(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n')
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, pos: 0 }
    }

    pub fn at_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    /// Consumes the delimiter under the cursor.
    pub fn take(&mut self) -> Option<u8> {
        let b = self.text.as_bytes().get(self.pos).copied();
        self.pos += usize::from(b.is_some());
        b
    }

    fn previous(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos.wrapping_sub(1)).copied()
    }

    fn skip_whitespace(&mut self) {
        let rest = &self.text.as_bytes()[self.pos..];
        self.pos += rest.iter().take_while(|b| is_whitespace(**b)).count();
    }

    /// `TokenParser.parseToken`: up to a delimiter; collapses inner white space to one space.
    pub fn token(&mut self, delimiters: &[u8]) -> String {
        self.parse(delimiters, false)
    }

    /// `TokenParser.parseValue`: like a token, but quoted parts lose their quotes and may contain delimiters.
    pub fn value(&mut self, delimiters: &[u8]) -> String {
        self.parse(delimiters, true)
    }

    fn parse(&mut self, delimiters: &[u8], quoted: bool) -> String {
        let bytes = self.text.as_bytes();
        let mut out = String::new();
        let mut whitespace = false;
        while let Some(b) = bytes.get(self.pos).copied() {
            if delimiters.contains(&b) {
                break;
            }
            if is_whitespace(b) {
                self.skip_whitespace();
                whitespace = true;
                continue;
            }
            if whitespace && !out.is_empty() {
                out.push(' ');
            }
            whitespace = false;
            if quoted && b == b'"' {
                self.quoted(&mut out);
            } else {
                let stops =
                    |b: &u8| delimiters.contains(b) || is_whitespace(*b) || (quoted && *b == b'"');
                let len = bytes[self.pos..].iter().take_while(|b| !stops(b)).count();
                out.push_str(&self.text[self.pos..self.pos + len]);
                self.pos += len;
            }
        }
        out
    }

    fn quoted(&mut self, out: &mut String) {
        self.pos += 1;
        let mut escaped = false;
        let rest = &self.text[self.pos..];
        for (i, c) in rest.char_indices() {
            if escaped {
                if c != '"' && c != '\\' {
                    out.push('\\');
                }
                out.push(c);
                escaped = false;
            } else if c == '"' {
                self.pos += i + 1;
                return;
            } else if c == '\\' {
                escaped = true;
            } else if c != '\r' && c != '\n' {
                out.push(c);
            }
        }
        self.pos = self.text.len();
    }

    fn name_value(&mut self) -> (String, Option<String>) {
        let name = self.token(b"=;,");
        if self.take() != Some(b'=') {
            return (name, None);
        }
        let value = self.value(b";,");
        self.take();
        (name, Some(value))
    }
}

/// `BasicHeaderValueParser.parseElements`.
pub(crate) fn parse_elements(text: &str) -> Vec<Element> {
    let mut cursor = Cursor::new(text);
    let mut elements = Vec::new();
    while !cursor.at_end() {
        let (name, value) = cursor.name_value();
        let mut params = Vec::new();
        if !cursor.at_end() && cursor.previous() != Some(b',') {
            cursor.skip_whitespace();
            while !cursor.at_end() {
                params.push(cursor.name_value());
                if cursor.previous() == Some(b',') {
                    break;
                }
            }
        }
        if !(name.is_empty() && value.is_none()) {
            elements.push(Element {
                name,
                value,
                params,
            });
        }
    }
    elements
}

/// `NetscapeDraftHeaderParser.parseHeader`: one element without quoting; commas are ordinary characters.
pub(crate) fn parse_netscape_element(text: &str) -> Element {
    let mut cursor = Cursor::new(text);
    let pair = |cursor: &mut Cursor<'_>| {
        let name = cursor.token(b"=;");
        if cursor.take() != Some(b'=') {
            return (name, None);
        }
        let value = cursor.token(b";");
        cursor.take();
        (name, Some(value))
    };
    let (name, value) = pair(&mut cursor);
    let mut params = Vec::new();
    while !cursor.at_end() {
        params.push(pair(&mut cursor));
    }
    Element {
        name,
        value,
        params,
    }
}

/// `BasicHeaderValueFormatter.formatNameValuePair`: quoted if requested or if the value contains a separator.
pub(crate) fn append_parameter(name: &str, value: Option<&str>, quote: bool, out: &mut String) {
    out.push_str(name);
    let Some(value) = value else { return };
    out.push('=');
    let quote = quote || value.contains(|c| " ;,:@()<>\\\"/[]?={}\t".contains(c));
    if quote {
        out.push('"');
    }
    for c in value.chars() {
        if c == '"' || c == '\\' {
            out.push('\\');
        }
        out.push(c);
    }
    if quote {
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_split_at_commas_outside_quotes() {
        let elements = parse_elements("a=\"x,y\"; p = 1 ;q, b ; r=\"s\\\"t\\u\"");
        assert_eq!(elements.len(), 2);
        assert_eq!(elements[0].name, "a");
        assert_eq!(elements[0].value.as_deref(), Some("x,y"));
        assert_eq!(
            elements[0].params,
            [("p".into(), Some("1".into())), ("q".into(), None)]
        );
        assert_eq!(elements[1].params, [("r".into(), Some("s\"t\\u".into()))]);
    }

    #[test]
    fn netscape_values_keep_quotes_and_commas() {
        let element =
            parse_netscape_element("a=\"x\"; expires=Thu, 01-Jan-70 00:00:00 GMT; secure");
        assert_eq!(element.value.as_deref(), Some("\"x\""));
        assert_eq!(
            element.params[0].1.as_deref(),
            Some("Thu, 01-Jan-70 00:00:00 GMT")
        );
        assert_eq!(element.params[1], ("secure".into(), None));
    }

    #[test]
    fn parameters_are_quoted_where_needed() {
        let mut out = String::new();
        append_parameter("a", Some("u\"\\"), true, &mut out);
        append_parameter("b", Some("x/y"), false, &mut out);
        assert_eq!(out, "a=\"u\\\"\\\\\"b=\"x/y\"");
    }
}
