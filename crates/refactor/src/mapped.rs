//! Decoded XML text that maps each of its bytes to its position in the file.

use drumfire_jmx::Span;

/// Text between tags or in an attribute, decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MappedText {
    /// The text as JMeter sees it.
    pub text: String,
    /// Pairs of an offset in the text and an offset in the file. From each pair to the next, both advance in
    /// step.
    anchors: Vec<(usize, usize)>,
}

impl MappedText {
    /// Decodes text that starts at `offset` of its file: references, CDATA sections, comments and line ends.
    pub fn decode(raw: &str, offset: usize) -> MappedText {
        let mut mapped = MappedText {
            text: String::with_capacity(raw.len()),
            anchors: vec![(0, offset)],
        };
        let mut at = 0;
        while at < raw.len() {
            let rest = &raw[at..];
            let special = rest.find(['&', '<', '\r']).unwrap_or(rest.len());
            mapped.text.push_str(&rest[..special]);
            at += special;
            let rest = &raw[at..];
            if rest.is_empty() {
                break;
            }
            let (decoded, length) = special_at(rest);
            mapped.anchor(offset + at);
            if let Some(inner) = decoded.cdata {
                mapped.anchor(offset + at + "<![CDATA[".len());
                mapped.text.push_str(inner);
                mapped.anchor(offset + at + "<![CDATA[".len() + inner.len());
            } else {
                mapped.text.push_str(&decoded.text);
            }
            at += length;
            mapped.anchor(offset + at);
        }
        mapped
    }

    fn anchor(&mut self, in_file: usize) {
        self.anchors.push((self.text.len(), in_file));
    }

    /// The position in the file of a range of the text.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let next = self.anchors.partition_point(|(text, _)| *text <= start);
        let (text, file) = self.anchors[next.saturating_sub(1)];
        let first = file + (start - text);
        if start == end {
            return Span::new(first, first);
        }
        // A CDATA section or a comment that follows is not part of it.
        let next = self.anchors.partition_point(|(text, _)| *text < end);
        let last = match self.anchors.get(next) {
            Some((text, file)) if *text == end => *file,
            _ => {
                let (text, file) = self.anchors[next.saturating_sub(1)];
                file + (end - text)
            }
        };
        Span::new(first, last)
    }
}

/// A special sequence, decoded.
#[derive(Default)]
struct Special<'t> {
    text: String,
    cdata: Option<&'t str>,
}

/// Decodes a sequence that begins with `&`, `<` or a carriage return; returns it with its length in the file.
fn special_at(rest: &str) -> (Special<'_>, usize) {
    let plain = |text: &str, length: usize| {
        let special = Special {
            text: text.to_owned(),
            cdata: None,
        };
        (special, length)
    };
    if let Some(inside) = rest.strip_prefix("<![CDATA[") {
        let end = inside.find("]]>").unwrap_or(inside.len());
        let special = Special {
            text: String::new(),
            cdata: Some(&inside[..end]),
        };
        return (special, ("<![CDATA[".len() + end + 3).min(rest.len()));
    }
    if rest.starts_with("<!--") {
        let end = rest.find("-->").map(|end| end + 3).unwrap_or(rest.len());
        return plain("", end);
    }
    if rest.starts_with('\r') {
        return plain("\n", if rest.starts_with("\r\n") { 2 } else { 1 });
    }
    let end = rest
        .find(';')
        .filter(|end| rest.starts_with('&') && *end < 12);
    let Some(end) = end else {
        return plain(&rest[..1], 1);
    };
    let name = &rest[1..end];
    let number = match name.strip_prefix("#x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => name
            .strip_prefix('#')
            .and_then(|digits| digits.parse().ok()),
    };
    let decoded = match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => number.map(|code| char::from_u32(code).unwrap_or('?')),
    };
    match decoded {
        Some(decoded) => plain(decoded.encode_utf8(&mut [0; 4]), end + 1),
        None => plain("&", 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_survive_references_sections_and_comments() {
        let raw = "a&lt;b<![CDATA[c<d]]>e<!-- x -->f\r\ng&#x41;h";
        let mapped = MappedText::decode(raw, 100);
        assert_eq!(mapped.text, "a<bc<def\ngAh");
        for sign in ["b", "d", "e", "f", "g", "h"] {
            let at = mapped.text.rfind(sign).expect("it is there");
            let span = mapped.span(at, at + 1);
            assert_eq!(&raw[span.start - 100..span.end - 100], sign);
        }
        let span = mapped.span(0, 3);
        assert_eq!(&raw[span.start - 100..span.end - 100], "a&lt;b");
    }
}
