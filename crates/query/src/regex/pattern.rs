//! The compiled pattern and its matches.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::OnceLock;

use memchr::memmem;
use regex_automata::nfa::thompson;
use regex_automata::util::captures::Captures as LinearCaptures;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, meta};

use crate::cost::{self, Matches};

use super::{Dialect, PatternError, RegexOptions, Translated, java, oro};

/// Limit of steps for one search on the backtracking engine; beyond it, the text does not match. ORO and Java have no limit and
/// would hang or overflow their stack.
const BACKTRACK_LIMIT: usize = 20_000_000;
/// Limit of a pattern's compiled size; larger patterns fail to compile.
const SIZE_LIMIT_BYTES: usize = 64 << 20;
/// A regular expression, compiled once; `Send + Sync`.
#[derive(Debug)]
pub struct Pattern {
    source: String,
    dialect: Dialect,
    translated: Translated,
    literal: Option<memmem::Finder<'static>>,
    /// Correct for every text, unless there is a `$` and the text ends with a line end.
    linear: Option<meta::Regex>,
    /// Correct for every text.
    backtracking: OnceLock<Option<fancy_regex::Regex>>,
    /// ORO: must not end where the search began.
    variant: OnceLock<Option<fancy_regex::Regex>>,
    /// ORO: anchored at the start. Java: matches the whole text.
    anchored: OnceLock<Option<fancy_regex::Regex>>,
    /// Java: matches the whole text; correct under the same condition as `linear`.
    whole: OnceLock<Option<meta::Regex>>,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// With the engine's own message if `Perl5Compiler` or `java.util.regex.Pattern` refuses the pattern.
    pub fn compile(
        text: &str,
        dialect: Dialect,
        options: RegexOptions,
    ) -> Result<Pattern, PatternError> {
        let translated = match dialect {
            Dialect::Oro => oro::translate(text, options)?,
            Dialect::Java => java::translate(text, options)?,
        };
        let literal = translated
            .literal
            .as_ref()
            .map(|literal| memmem::Finder::new(literal.as_bytes()).into_owned());
        let linear = if translated.backtracks {
            check_size(&translated.text).map_err(refuse)?;
            None
        } else {
            Some(linear(&translated.render(r"\z")).map_err(refuse)?)
        };
        let pattern = Pattern {
            source: text.to_owned(),
            dialect,
            translated,
            literal,
            linear,
            backtracking: OnceLock::new(),
            variant: OnceLock::new(),
            anchored: OnceLock::new(),
            whole: OnceLock::new(),
        };
        if pattern.linear.is_none() {
            let compiled =
                backtracking(&pattern.translated.render(pattern.end_look())).map_err(refuse)?;
            pattern
                .backtracking
                .set(Some(compiled))
                .expect("just made, so still empty");
        }
        Ok(pattern)
    }

    /// The pattern as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The text to search for, if the pattern consists only of literal characters.
    pub fn literal(&self) -> Option<&str> {
        self.translated.literal.as_deref()
    }

    /// Number of capturing groups, excluding the whole match (`match.groups() - 1` in ORO).
    pub fn group_count(&self) -> usize {
        self.translated.groups
    }

    /// Whether searching a text of this size may take long enough to delay other users of a worker.
    pub fn is_long(&self, bytes: usize, matches: Matches) -> bool {
        let most = match (matches, &self.literal, &self.linear) {
            (_, Some(_), _) => cost::LINEAR_BYTES,
            (_, _, None) => cost::BACKTRACKING_BYTES,
            // If the text ends with a line end, a `$` needs the backtracking engine.
            _ if !self.translated.ends.is_empty() => cost::BACKTRACKING_BYTES,
            (Matches::First, ..) => cost::LINEAR_BYTES,
            // Finding each match may require reading the rest of the text.
            (Matches::All, ..) => cost::REPEATED_BYTES,
        };
        bytes > most
    }

    /// Whether the pattern matches anywhere (`Perl5Matcher.contains`, `Matcher.find`).
    pub fn is_match(&self, text: &str) -> bool {
        if let Some(literal) = &self.literal {
            return literal.find(text.as_bytes()).is_some();
        }
        match self.linear_for(text) {
            Some(regex) => regex.is_match(text),
            None => self
                .backtracking()
                .is_some_and(|regex| regex.is_match(text).unwrap_or(false)),
        }
    }

    /// Whether the pattern matches the whole text, for JMeter's "Matches".
    ///
    /// `Perl5Matcher.matches` takes the first way to match at the start, and only then checks whether it reached the end: `a|ab`
    /// does not match `ab`. `java.util.regex.Matcher.matches` tries every way.
    pub fn full_match(&self, text: &str) -> bool {
        if let Some(literal) = self.literal() {
            return literal == text;
        }
        match self.dialect {
            Dialect::Oro => self.end_of_match_at_start(text) == Some(text.len()),
            Dialect::Java if self.linear_for(text).is_some() => {
                let whole = self.whole.get_or_init(|| {
                    let text = self.translated.render(r"\z");
                    linear(&format!(r"\A(?:{text})\z")).ok()
                });
                whole.as_ref().is_some_and(|regex| regex.is_match(text))
            }
            Dialect::Java => {
                let whole = self.anchored.get_or_init(|| {
                    let text = self.translated.render(self.end_look());
                    backtracking(&format!(r"\A(?:{text})\z")).ok()
                });
                whole
                    .as_ref()
                    .is_some_and(|regex| regex.is_match(text).unwrap_or(false))
            }
        }
    }

    fn end_of_match_at_start(&self, text: &str) -> Option<usize> {
        if let Some(regex) = self.linear_for(text) {
            return regex
                .find(Input::new(text).anchored(Anchored::Yes))
                .map(|found| found.end());
        }
        let anchored = self.anchored.get_or_init(|| {
            let text = self.translated.render(self.end_look());
            backtracking(&format!(r"\A(?:{text})")).ok()
        });
        let span = anchored.as_ref()?.find(text).ok()??;
        Some(span.end())
    }

    /// The first match.
    pub fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.captures_iter(text).next()
    }

    /// All matches in order, as in a loop over `Perl5Matcher.contains(input, pattern)` or `Matcher.find()`.
    pub fn captures_iter<'p, 't>(&'p self, text: &'t str) -> CapturesIter<'p, 't> {
        CapturesIter {
            pattern: self,
            text,
            from: 0,
            last_end: None,
            slots: None,
        }
    }

    /// The linear engine, if it is correct for this text.
    fn linear_for(&self, text: &str) -> Option<&meta::Regex> {
        let regex = self.linear.as_ref()?;
        (self.translated.ends.is_empty() || !self.ends_line(text)).then_some(regex)
    }

    fn ends_line(&self, text: &str) -> bool {
        match self.dialect {
            Dialect::Oro => text.ends_with('\n'),
            Dialect::Java => text.ends_with(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']),
        }
    }

    /// The equivalent of `$` if the text may end with a line end: at the end, or before that last line end.
    fn end_look(&self) -> &'static str {
        match self.dialect {
            Dialect::Oro => r"(?=\n?\z)",
            Dialect::Java => r"(?=(?:\r\n|[\r\x{85}\x{2028}\x{2029}]|(?<!\r)\n)?\z)",
        }
    }

    fn backtracking(&self) -> Option<&fancy_regex::Regex> {
        self.backtracking
            .get_or_init(|| backtracking(&self.translated.render(self.end_look())).ok())
            .as_ref()
    }

    fn not_ending_at_start(&self) -> Option<&fancy_regex::Regex> {
        self.variant
            .get_or_init(|| {
                let text = self.translated.render(self.end_look());
                backtracking(&format!(r"(?:{text})(?!\G)")).ok()
            })
            .as_ref()
    }
}

fn refuse(message: String) -> PatternError {
    PatternError { message, offset: 0 }
}

thread_local! {
    /// This thread's cache of compiled patterns by text, and its capacity, which is 0 by default.
    static KEPT: RefCell<(usize, HashMap<String, meta::Regex>)> = RefCell::default();
}

/// Sets the capacity of this thread's cache of compiled patterns. An editor compiles a plan after every change, and most patterns
/// stay the same. A run compiles each pattern once and needs no cache.
pub fn keep_compiled(count: usize) {
    KEPT.with_borrow_mut(|(limit, _)| *limit = count);
}

fn linear(text: &str) -> Result<meta::Regex, String> {
    let cached = KEPT.with_borrow(|(_, patterns)| patterns.get(text).cloned());
    if let Some(regex) = cached {
        return Ok(regex);
    }
    let regex = compiled(text)?;
    KEPT.with_borrow_mut(|(limit, patterns)| {
        if *limit > 0 {
            if patterns.len() >= *limit {
                patterns.clear();
            }
            patterns.insert(text.to_owned(), regex.clone());
        }
    });
    Ok(regex)
}

fn compiled(text: &str) -> Result<meta::Regex, String> {
    let config = meta::Config::new()
        .nfa_size_limit(Some(SIZE_LIMIT_BYTES))
        .hybrid_cache_capacity(2 << 20);
    meta::Regex::builder()
        .configure(config)
        .syntax(syntax::Config::new().nest_limit(1000))
        .build(text)
        .map_err(|error| match error.syntax_error() {
            _ if error.size_limit().is_some() => too_large(),
            Some(syntax) => syntax.to_string(),
            None => error.to_string(),
        })
}

fn backtracking(text: &str) -> Result<fancy_regex::Regex, String> {
    fancy_regex::RegexBuilder::new(text)
        .backtrack_limit(BACKTRACK_LIMIT)
        .delegate_size_limit(SIZE_LIMIT_BYTES)
        .build()
        .map_err(|error| error.to_string())
}

/// Refuses a pattern for the backtracking engine whose parts are too large together, because that engine compiles each part
/// between look-arounds separately and limits only the size of each.
fn check_size(text: &str) -> Result<(), String> {
    let config = thompson::Config::new().nfa_size_limit(Some(SIZE_LIMIT_BYTES));
    let built = thompson::Compiler::new()
        .configure(config)
        .syntax(syntax::Config::new().nest_limit(1000))
        .build(&without_looks(text));
    match built {
        Err(error) if error.size_limit().is_some() => Err(too_large()),
        // The backtracking engine has the last word on syntax.
        _ => Ok(()),
    }
}

/// The text of a pattern with plain groups instead of look-arounds and atomic groups, and without back-references and `\G`.
fn without_looks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '(']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let looks = ["(?=", "(?!", "(?<=", "(?<!", "(?>"];
        if let Some(after) = looks.iter().find_map(|look| rest.strip_prefix(look)) {
            out.push_str("(?:");
            rest = after;
        } else if let Some(after) = rest.strip_prefix('\\') {
            let is_digit = |c: char| c.is_ascii_digit();
            let escaped = after.chars().next().map(char::len_utf8).unwrap_or(0);
            if after.starts_with(is_digit) {
                rest = after.trim_start_matches(is_digit);
            } else if let Some(after) = after.strip_prefix('G') {
                rest = after;
            } else {
                out.push_str(&rest[..1 + escaped]);
                rest = &after[escaped..];
            }
        } else {
            out.push('(');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

fn too_large() -> String {
    let mib = SIZE_LIMIT_BYTES >> 20;
    format!(
        "The compiled pattern needs more than {mib} MiB; repeat fewer times, or classes with fewer characters"
    )
}

/// One match: the text of its groups. Group 0 is the whole match.
#[derive(Clone, Debug)]
pub struct Captures<'t> {
    text: &'t str,
    spans: Spans,
}

/// Start and end of each group of a match, in bytes; `None` for groups that did not participate in it.
pub type Spans = Box<[Option<(usize, usize)>]>;

impl<'t> Captures<'t> {
    /// A match with these groups, given as byte ranges of the text.
    pub fn new(text: &'t str, spans: Spans) -> Self {
        Self { text, spans }
    }

    /// The byte ranges of all groups.
    pub fn into_spans(self) -> Spans {
        self.spans
    }

    /// Number of groups, including the whole match (`MatchResult.groups()` in ORO).
    #[allow(clippy::len_without_is_empty)] // there always is group 0
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// The text of a group; `None` if it did not participate in the match or does not exist.
    pub fn get(&self, group: usize) -> Option<&'t str> {
        let (start, end) = self.span(group)?;
        Some(&self.text[start..end])
    }

    /// The byte range of a group.
    pub fn span(&self, group: usize) -> Option<(usize, usize)> {
        self.spans.get(group).copied().flatten()
    }

    /// All groups in order, starting with the whole match.
    pub fn groups(&self) -> impl Iterator<Item = Option<&'t str>> + '_ {
        (0..self.len()).map(|group| self.get(group))
    }
}

/// Iterator over the matches of a pattern in a text.
#[derive(Debug)]
pub struct CapturesIter<'p, 't> {
    pattern: &'p Pattern,
    text: &'t str,
    from: usize,
    last_end: Option<usize>,
    slots: Option<LinearCaptures>,
}

impl<'t> Iterator for CapturesIter<'_, 't> {
    type Item = Captures<'t>;

    fn next(&mut self) -> Option<Captures<'t>> {
        if self.from > self.text.len() {
            return None;
        }
        let next_captures = match self.pattern.dialect {
            Dialect::Oro => self.next_oro(),
            Dialect::Java => self.search(),
        };
        let Some(captures) = next_captures else {
            self.from = self.text.len() + 1;
            return None;
        };
        let (start, end) = captures.span(0)?;
        self.last_end = Some(end);
        self.from = end;
        // Matcher.find skips one character after an empty match.
        if self.pattern.dialect == Dialect::Java && start == end {
            self.from += self.text[end..]
                .chars()
                .next()
                .map(char::len_utf8)
                .unwrap_or(1);
        }
        Some(captures)
    }
}

impl<'t> CapturesIter<'_, 't> {
    /// `Perl5Matcher` does not let a match end where the previous one ended, and tries other ways to match.
    fn next_oro(&mut self) -> Option<Captures<'t>> {
        let captures = self.search()?;
        let (_, end) = captures.span(0)?;
        if self.last_end != Some(end) {
            return Some(captures);
        }
        let regex = self.pattern.not_ending_at_start()?;
        let groups = regex.captures_from_pos(self.text, self.from).ok()??;
        Some(self.backtracked(&groups))
    }

    fn search(&mut self) -> Option<Captures<'t>> {
        let Some(regex) = self.pattern.linear_for(self.text) else {
            let groups = self
                .pattern
                .backtracking()?
                .captures_from_pos(self.text, self.from)
                .ok()??;
            return Some(self.backtracked(&groups));
        };
        let slots = self.slots.get_or_insert_with(|| regex.create_captures());
        regex.search_captures(
            &Input::new(self.text).span(self.from..self.text.len()),
            slots,
        );
        if !slots.is_match() {
            return None;
        }
        let spans = (0..slots.group_len())
            .map(|group| slots.get_group(group).map(|span| (span.start, span.end)));
        Some(Captures {
            text: self.text,
            spans: spans.collect(),
        })
    }

    fn backtracked(&self, found: &fancy_regex::Captures<'_, str>) -> Captures<'t> {
        let spans = (0..=self.pattern.group_count())
            .map(|group| found.get(group).map(|m| (m.start(), m.end())));
        Captures {
            text: self.text,
            spans: spans.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_pattern_is_that_without_looks() {
        for (text, plain) in [
            (
                r"(?=a)(?!b)(?<=c)(?<!d)(?>e)(?:f)(g)",
                "(?:a)(?:b)(?:c)(?:d)(?:e)(?:f)(g)",
            ),
            (
                r"\Ga(b)(?:\1)(?:\12)\\G\\1\(?=é\é",
                r"a(b)(?:)(?:)\\G\\1\(?=é\é",
            ),
            (r"\", r"\"),
        ] {
            assert_eq!(without_looks(text), plain);
        }
    }

    #[test]
    fn kept_patterns_are_the_same_and_few() {
        let compile = |text: &str| {
            let compiled = Pattern::compile(text, Dialect::Oro, RegexOptions::default());
            compiled.expect("a pattern").is_match("a7")
        };
        assert!(compile("a7"));
        KEPT.with_borrow(|(_, kept)| assert!(kept.is_empty()));
        keep_compiled(2);
        for _ in 0..2 {
            assert!(compile(r"a\d") && !compile(r"b\d"));
        }
        KEPT.with_borrow(|(_, kept)| assert_eq!(kept.len(), 2));
        assert!(compile(r"\w\d"));
        KEPT.with_borrow(|(_, kept)| assert_eq!(kept.len(), 1));
        keep_compiled(0);
    }
}
