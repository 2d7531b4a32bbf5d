//! Cases beyond the recorded answers: options, errors as JMeter prints them, offsets.

use drumfire_query::regex::{Captures, Dialect, Pattern, RegexOptions};

fn oro(text: &str, options: RegexOptions) -> Pattern {
    Pattern::compile(text, Dialect::Oro, options).expect(text)
}

#[test]
fn masks_work_like_inline_flags() {
    let lines = RegexOptions {
        multiline: true,
        ..RegexOptions::default()
    };
    assert!(oro("^b$", lines).is_match("a\nb\nc"));
    assert!(!oro("^b$", RegexOptions::default()).is_match("a\nb\nc"));
    let dot = RegexOptions {
        single_line: true,
        ..RegexOptions::default()
    };
    assert!(oro("a.b", dot).is_match("a\nb"));
    assert!(!oro("a.b", RegexOptions::default()).is_match("a\nb"));
    let case = RegexOptions {
        case_insensitive: true,
        ..RegexOptions::default()
    };
    assert!(oro("[A-C]É", case).full_match("bé"));
    let extended = RegexOptions {
        extended: true,
        ..RegexOptions::default()
    };
    assert!(oro(" a b # c\n c", extended).full_match("abc"));
}

#[test]
fn plain_texts_are_found_as_they_are() {
    let pattern = oro(r"\$5\.00 {x}", RegexOptions::default());
    assert_eq!(pattern.literal(), Some("$5.00 {x}"));
    assert!(pattern.is_match("costs $5.00 {x}!"));
    assert!(pattern.full_match("$5.00 {x}"));
    assert!(!pattern.full_match("costs $5.00 {x}"));
    assert_eq!(oro("a+", RegexOptions::default()).literal(), None);
    assert_eq!(oro("(?i)a", RegexOptions::default()).literal(), None);
}

#[test]
fn groups_come_with_their_offsets() {
    let pattern = oro("é(x)?(y)", RegexOptions::default());
    assert_eq!(pattern.group_count(), 2);
    let captures: Captures<'_> = pattern.captures("aéy").expect("a match");
    assert_eq!(captures.len(), 3);
    assert_eq!(
        (captures.get(0), captures.get(1), captures.get(2)),
        (Some("éy"), None, Some("y"))
    );
    assert_eq!(captures.span(2), Some((3, 4)));
    assert_eq!(captures.get(9), None);
}

#[test]
fn errors_read_as_in_jmeter() {
    let error =
        Pattern::compile("a(b", Dialect::Oro, RegexOptions::default()).expect_err("unmatched");
    assert_eq!(
        error.exception_text("a(b", Dialect::Oro),
        "org.apache.oro.text.MalformedCachePatternException: Invalid expression: a(b\nUnmatched parentheses."
    );
    let error = Pattern::compile("é[z-a]b", Dialect::Java, RegexOptions::default())
        .expect_err("a wrong range");
    assert_eq!(
        error.exception_text("é[z-a]b", Dialect::Java),
        "java.util.regex.PatternSyntaxException: Illegal character range near index 4\né[z-a]b\n    ^"
    );
}

#[test]
fn oro_takes_the_first_way_only_when_it_matches_a_whole_text() {
    assert!(!oro("a|ab", RegexOptions::default()).full_match("ab"));
    assert!(oro("ab|a", RegexOptions::default()).full_match("ab"));
    let java = Pattern::compile("a|ab", Dialect::Java, RegexOptions::default()).expect("a pattern");
    assert!(java.full_match("ab"));
}

#[test]
fn dollar_matches_before_a_last_line_end() {
    let pattern = oro(r"(\w+)$", RegexOptions::default());
    assert_eq!(
        pattern.captures("one two").and_then(|found| found.get(1)),
        Some("two")
    );
    assert_eq!(
        pattern.captures("one two\n").and_then(|found| found.get(1)),
        Some("two")
    );
    assert_eq!(
        pattern
            .captures("one two\n\n")
            .and_then(|found| found.get(1)),
        None
    );
}

#[test]
fn runaway_patterns_end() {
    // Linear, whatever the text.
    let text = "a".repeat(5000);
    assert!(!oro("(a+)+b", RegexOptions::default()).is_match(&text));
    // Backtracking, but with a limit: counts as no match.
    assert!(!oro(r"(a+)+\1b(?=c)", RegexOptions::default()).is_match(&"a".repeat(60)));
}

#[test]
fn a_search_is_long_by_its_engine_and_the_size_of_the_text() {
    use drumfire_query::Matches::{All, First};
    let pattern =
        |text: &str| Pattern::compile(text, Dialect::Java, RegexOptions::default()).unwrap();
    let body = 500 << 10;
    assert!(!pattern("token=").is_long(body, All));
    assert!(!pattern("token=(\\w+)").is_long(body, First));
    assert!(pattern("token=(\\w+)").is_long(body, All));
    for backtracking in ["(a+)\\1", "(?=.*b)a", "(a|aa)+$"] {
        assert!(pattern(backtracking).is_long(body, First), "{backtracking}");
        assert!(
            !pattern(backtracking).is_long(1 << 10, All),
            "{backtracking}"
        );
    }
}

/// Patterns whose repetitions multiply, by themselves and beside look-arounds, each of which compiles on its own.
#[test]
fn the_compiled_size_of_a_pattern_is_bounded() {
    let nested = "(?:(?:a{900}){900}){900}";
    let beside = "(?=[é-\u{ffff}]{4000})x".repeat(200);
    for (pattern, dialect) in [
        (nested, Dialect::Oro),
        (&format!("(?={nested})"), Dialect::Java),
        (&beside, Dialect::Oro),
    ] {
        let refused = Pattern::compile(pattern, dialect, RegexOptions::default());
        let message = refused.expect_err("it is too large").message;
        assert!(
            message.starts_with("The compiled pattern needs more than 64 MiB; repeat fewer"),
            "{message}"
        );
    }
}

#[test]
fn large_patterns_within_the_bound_are_searched() {
    for (pattern, dialect, text) in [
        (r"(?:\w{100}){5}", Dialect::Oro, "x".repeat(500)),
        (
            r"(?=\w{500})[a-z]{2000}$",
            Dialect::Oro,
            "x".repeat(2000) + "\n",
        ),
        (r"(?:(?!y)\w{20}){30}(?<=x)", Dialect::Java, "x".repeat(600)),
        (&"(?=[a-z])x".repeat(1000), Dialect::Java, "x".repeat(1000)),
    ] {
        let compiled = Pattern::compile(pattern, dialect, RegexOptions::default());
        assert!(compiled.expect(pattern).is_match(&text), "{pattern}");
    }
}
