//! Regular expressions with the semantics of JMeter's two engines.
//!
//! A pattern is translated once, by [`oro`] or [`java`], into the syntax of the `regex` family. Regular patterns run on
//! `regex-automata` in linear time. Patterns with look-around, back-references or atomic groups, and some with `$`, run on
//! `fancy-regex`.

mod classes;
mod java;
mod oro;
mod pattern;

pub use pattern::{Captures, CapturesIter, Pattern, Spans, keep_compiled};

/// The rules that a pattern follows; JMeter chooses by the property `jmeter.regex.engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Jakarta ORO 2.0.8 (`Perl5Compiler`, `Perl5Matcher`): JMeter's default.
    Oro,
    /// `java.util.regex.Pattern` as of Java 17.
    Java,
}

/// The masks that JMeter's classes pass in addition to `READ_ONLY_MASK`; all off for extractors, assertions and functions.
///
/// `URLRewritingModifier` sets `multiline`; `HtmlParsingUtils` sets `case_insensitive` and `single_line`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegexOptions {
    /// `CASE_INSENSITIVE_MASK`, like `(?i)`.
    pub case_insensitive: bool,
    /// `MULTILINE_MASK`, like `(?m)`: `^` and `$` match at every line.
    pub multiline: bool,
    /// `SINGLELINE_MASK`, like `(?s)`: the dot also matches line ends.
    pub single_line: bool,
    /// `EXTENDED_MASK`, like `(?x)`: white space and `#` comments in the pattern are skipped.
    pub extended: bool,
}

/// Why a pattern cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatternError {
    /// The engine's own message, e.g. ORO's `Unmatched parentheses.`
    pub message: String,
    /// Byte offset in the pattern.
    pub offset: usize,
}

impl PatternError {
    /// The text of the exception that JMeter's pattern cache throws and that `ResponseAssertion` shows after
    /// `Bad test configuration `: `MalformedCachePatternException` for ORO, `PatternSyntaxException` for Java.
    pub fn exception_text(&self, pattern: &str, dialect: Dialect) -> String {
        match dialect {
            Dialect::Oro => format!(
                "org.apache.oro.text.MalformedCachePatternException: Invalid expression: {pattern}\n{}",
                self.message
            ),
            Dialect::Java => {
                let index = pattern[..self.offset.min(pattern.len())]
                    .encode_utf16()
                    .count();
                let mut text = format!(
                    "java.util.regex.PatternSyntaxException: {} near index {index}\n{pattern}",
                    self.message
                );
                if index < pattern.encode_utf16().count() {
                    text.push('\n');
                    text.extend(std::iter::repeat_n(' ', index));
                    text.push('^');
                }
                text
            }
        }
    }
}

/// A pattern rewritten in the syntax of the `regex` family.
#[derive(Debug, Default)]
struct Translated {
    /// The text, with a gap for every `$` that is not in multiline mode.
    text: String,
    /// The gaps' offsets in `text`.
    ends: Vec<usize>,
    /// Whether the text uses look-around, back-references or atomic groups.
    backtracks: bool,
    /// Number of capturing groups, excluding the whole match.
    groups: usize,
    /// The literal characters, if the pattern consists only of these.
    literal: Option<String>,
}

impl Translated {
    /// The text with `end` in place of every `$`.
    fn render(&self, end: &str) -> String {
        let mut out = String::with_capacity(self.text.len() + self.ends.len() * end.len());
        let mut from = 0;
        for &at in &self.ends {
            out.push_str(&self.text[from..at]);
            out.push_str(end);
            from = at;
        }
        out.push_str(&self.text[from..]);
        out
    }
}
