//! How a Response Assertion shows two texts that should have been equal (`ResponseAssertion#equalsComparisonText`).

use std::sync::Arc;

use drumfire_expr::Properties;

/// Lengths and marks of the display (`assertion.equals_…` properties).
pub struct EqualsDisplay {
    /// Characters shown of each section.
    section: usize,
    start: Arc<str>,
    end: Arc<str>,
}

impl EqualsDisplay {
    pub fn new(properties: &Properties) -> EqualsDisplay {
        let mark = |name: &str, default: &str| {
            properties
                .get_trimmed(name)
                .unwrap_or_else(|| default.into())
        };
        EqualsDisplay {
            section: usize::try_from(properties.get_long("assertion.equals_section_diff_len", 100))
                .unwrap_or(0),
            start: mark("assertion.equals_diff_delta_start", "[[["),
            end: mark("assertion.equals_diff_delta_end", "]]]"),
        }
    }

    /// Shows the part in which the texts differ, between their common start and their common end. Characters are
    /// Java's UTF-16 units.
    pub fn text(&self, received: &str, expected: &str) -> String {
        let received: Vec<u16> = received.encode_utf16().collect();
        let expected: Vec<u16> = expected.encode_utf16().collect();
        let first = received
            .iter()
            .zip(&expected)
            .take_while(|(a, b)| a == b)
            .count();
        let (mut last_received, mut last_expected) =
            (received.len() as isize - 1, expected.len() as isize - 1);
        let start = first as isize;
        while last_received > start
            && last_expected > start
            && received[last_received as usize] == expected[last_expected as usize]
        {
            last_received -= 1;
            last_expected -= 1;
        }
        let before = self.tail(&received[..first]);
        let after = self.head(&received[(last_received + 1) as usize..]);
        let (received_end, expected_end) = if after.is_empty() {
            (received.len(), expected.len())
        } else {
            ((last_received + 1) as usize, (last_expected + 1) as usize)
        };
        let mut delta = self.head(&received[first..received_end]);
        let mut expected_delta = self.head(&expected[first..expected_end]);
        let width = delta.len().max(expected_delta.len());
        delta.resize(width, u16::from(b' '));
        expected_delta.resize(width, u16::from(b' '));
        let line = |delta: &[u16]| {
            let text = String::from_utf16_lossy;
            format!(
                "{}{}{}{}{}\n\n",
                text(&before),
                self.start,
                text(delta),
                self.end,
                text(&after)
            )
        };
        format!(
            "\n\n****** received  : {}****** comparison: {}",
            line(&delta),
            line(&expected_delta)
        )
    }

    fn head(&self, text: &[u16]) -> Vec<u16> {
        let mut out = text[..text.len().min(self.section)].to_vec();
        if text.len() > self.section {
            out.extend("...".encode_utf16());
        }
        out
    }

    fn tail(&self, text: &[u16]) -> Vec<u16> {
        if text.len() <= self.section {
            return text.to_vec();
        }
        let mut out: Vec<u16> = "...".encode_utf16().collect();
        out.extend(&text[text.len() - self.section..]);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two lines, recorded from `ResponseAssertion`.
    fn lines(received: &str, expected: &str) -> [String; 2] {
        let text = EqualsDisplay::new(&Properties::new()).text(received, expected);
        let text = text
            .strip_prefix("\n\n****** received  : ")
            .expect("the first line");
        let text = text.strip_suffix("\n\n").expect("the end");
        let (first, second) = text
            .split_once("\n\n****** comparison: ")
            .expect("two lines");
        [first.to_owned(), second.to_owned()]
    }

    #[test]
    fn the_difference_is_marked_and_padded() {
        assert_eq!(lines("abc", "abcabc"), ["abc[[[   ]]]", "abc[[[abc]]]"]);
        assert_eq!(lines("abcabc", "abc"), ["abc[[[abc]]]", "abc[[[   ]]]"]);
        assert_eq!(lines("abc", ""), ["[[[abc]]]", "[[[   ]]]"]);
        assert_eq!(
            lines("héllo wörld", "héllo wurld"),
            ["héllo w[[[ö]]]rld", "héllo w[[[u]]]rld"]
        );
        assert_eq!(lines("aXa", "aa"), ["a[[[Xa]]]", "a[[[a ]]]"]);
        assert_eq!(lines("aa", "aXa"), ["a[[[a ]]]", "a[[[Xa]]]"]);
        assert_eq!(lines("a[b", "a]b"), ["a[[[[]]]b", "a[[[]]]]b"]);
        assert_eq!(lines("xabc", "abc"), ["[[[xa]]]bc", "[[[a ]]]bc"]);
    }

    #[test]
    fn long_sections_are_cut() {
        let (a, b) = ("a".repeat(150), "b".repeat(150));
        let (tail, head) = ("a".repeat(100), "b".repeat(100));
        assert_eq!(
            lines(&format!("{a}X{b}"), &format!("{a}YZ{b}")),
            [
                format!("...{tail}[[[X ]]]{head}..."),
                format!("...{tail}[[[YZ]]]{head}...")
            ]
        );
        let shown = |c: &str| format!("[[[{}...]]]", c.repeat(100));
        assert_eq!(
            lines(&"x".repeat(130), &"y".repeat(105)),
            [shown("x"), shown("y")]
        );
    }

    #[test]
    fn properties_set_length_and_marks() {
        let properties = Properties::new();
        properties.set("assertion.equals_section_diff_len", "2");
        properties.set("assertion.equals_diff_delta_start", "<");
        properties.set("assertion.equals_diff_delta_end", ">");
        let text = EqualsDisplay::new(&properties).text("abcdX", "abcdY");
        assert_eq!(
            text,
            "\n\n****** received  : ...cd<X>\n\n****** comparison: ...cd<Y>\n\n"
        );
    }
}
