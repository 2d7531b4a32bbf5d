//! Makes labels, messages and names harmless in the media of this crate: there is one function for each. All of them replace
//! control characters and shorten long texts.

use std::fmt::Write as _;

use drumfire_platform::words::shortened;

/// The longest text in characters. Longer ones are cut in the middle: nobody reads them, and a label may have megabytes.
const LONGEST: usize = 2_000;
/// The longest name in characters where it is one of many words.
const LONGEST_NAME: usize = 200;

/// The name of a label, a run or a file, as one of the words of a line for people.
pub fn name(text: &str) -> String {
    clean(text, LONGEST_NAME)
}

/// Escapes a text for Markdown, and for HTML in it.
pub fn markdown(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text, LONGEST).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '!' | '~' | '#' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Escapes a text for the content and the attributes of XML and HTML.
pub fn xml(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text, LONGEST).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Escapes the message of a workflow command of GitHub.
pub fn github(text: &str) -> String {
    clean(text, LONGEST).replace('%', "%25")
}

/// Escapes a property of a workflow command of GitHub.
pub fn github_property(text: &str) -> String {
    github(text).replace(':', "%3A").replace(',', "%2C")
}

/// Escapes a text of a logging command of Azure Pipelines.
pub fn azure(text: &str) -> String {
    clean(text, LONGEST).replace('%', "%AZP25")
}

/// Escapes a value of a service message for TeamCity.
pub fn teamcity(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text, LONGEST).chars() {
        match c {
            '|' | '\'' | '[' | ']' => {
                out.push('|');
                out.push(c);
            }
            c if c.is_ascii() => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "|0x{unit:04X}");
                }
            }
        }
    }
    out
}

/// One line without control characters, nor characters that turn the direction of writing.
fn clean(text: &str, most: usize) -> String {
    shortened(text, most).replace(
        |c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'),
        "\u{fffd}",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [fn(&str) -> String; 7] = [
        name,
        markdown,
        xml,
        github,
        github_property,
        azure,
        teamcity,
    ];

    #[test]
    fn no_medium_gets_control_sequences_line_ends_or_megabytes() {
        for escape in ALL {
            let told = escape("a\n::error::b\r\x1b[31mred\u{9b}2J\u{202e}\0");
            assert!(!told.contains(char::is_control), "{told:?}");
            assert!(!told.contains('\u{202e}'), "{told:?}");
            let long = escape(&"é".repeat(10 << 20));
            assert!(long.len() < 8 * LONGEST, "{}", long.len());
        }
    }

    #[test]
    fn every_medium_has_its_own_rules() {
        let text = "<b> & \"c\" 'd' | 50% [e]: f, g";
        assert_eq!(name(text), text);
        assert_eq!(
            markdown(text),
            "&lt;b&gt; &amp; \"c\" 'd' \\| 50% \\[e\\]: f, g"
        );
        assert_eq!(
            xml(text),
            "&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39; | 50% [e]: f, g"
        );
        assert_eq!(github(text), "<b> & \"c\" 'd' | 50%25 [e]: f, g");
        assert_eq!(
            github_property(text),
            "<b> & \"c\" 'd' | 50%25 [e]%3A f%2C g"
        );
        assert_eq!(azure(text), "<b> & \"c\" 'd' | 50%AZP25 [e]: f, g");
        assert_eq!(teamcity("a[é]'|"), "a|[|0x00E9|]|'||");
    }
}
