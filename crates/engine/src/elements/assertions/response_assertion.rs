//! Response Assertion (`ResponseAssertion`): compares a part of a result, or a variable, with texts or patterns.
//!
//! Properties: `Assertion.test_field` (the part to test), `Asserion.test_strings` (JMeter's spelling), `Assertion.test_type`
//! (bits: 1 matches, 2 contains, 4 not, 8 equals, 16 substring, 32 or), `Assertion.assume_success` (marks the sample as
//! successful first), `Assertion.custom_message`, and the scope. 'Response data as a document' needs Apache Tika, so the
//! element's Java class runs it.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use drumfire_elements::assertions::response_assertion as facts;
use drumfire_expr::{Template, Text};
use drumfire_query::Matches;
use drumfire_query::regex::Pattern;
use drumfire_results::{AssertionResult, Sample, SampleKind};

use super::comparison::EqualsDisplay;
use super::verdict::Name;
use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::compiled::{CompiledProperty, RegexRules};
use crate::decode::roles::Roles;
use crate::decode::scoped::{ScopeReading, Scoped};
use crate::decode::setting::{Choice, Flag, WholeNumber};
use crate::elements::java;
use crate::elements::post::field;
use crate::run::needs::Needs;
use crate::run::roles::{Act, AssertionRole, ResultScope};
use crate::run::search::Searches;
use crate::run::view::AssertionView;

const MATCH: i32 = 1;
const CONTAINS: i32 = 1 << 1;
const NOT: i32 = 1 << 2;
const EQUALS: i32 = 1 << 3;
const SUBSTRING: i32 = 1 << 4;
const OR: i32 = 1 << 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AssertedField {
    Body,
    Document,
    Code,
    Message,
    ResponseHeaders,
    RequestHeaders,
    RequestData,
    Url,
}

pub struct ResponseAssertion {
    name: Name,
    scoped: Scoped,
    field: Choice<AssertedField>,
    tests: Vec<ResponseTest>,
    kind: WholeNumber,
    assume_success: Flag,
    custom_message: Template,
    comparison: EqualsDisplay,
    searches: Searches,
}

/// The part of a sample that is compared; `None` for a variable.
struct Subject<'a> {
    scope: ScopeReading<'a>,
    field: Option<AssertedField>,
}

/// One of the texts to compare with.
enum ResponseTest {
    Text(Template),
    Pattern(Box<CompiledProperty<Pattern>>),
}

pub fn decode(d: &mut Decoder) -> Roles {
    let decoded = ResponseAssertion::decode(d);
    let is_document = decoded.field.fixed() == Some(AssertedField::Document);
    if is_document && !decoded.scoped.is_always_variable() {
        return java::instead(d, field::DOCUMENT, java::assertion);
    }
    Roles::assertion(decoded)
}

impl ResponseAssertion {
    fn decode(d: &mut Decoder) -> ResponseAssertion {
        let rules = RegexRules::new(&d.settings().properties);
        let kind = WholeNumber::decode(d, facts::TEST_TYPE.name, CONTAINS);
        let is_text = matches!(kind, WholeNumber::Fixed(kind) if kind & CONTAINS == 0 && kind & (EQUALS | SUBSTRING) != 0);
        let texts: Vec<String> = d
            .element
            .props
            .list(facts::PATTERNS.name)
            .iter()
            .map(|text| text.value.as_str().into_owned())
            .collect();
        let tests = texts
            .into_iter()
            .map(|text| {
                let template = d.compile(&text);
                if is_text {
                    ResponseTest::Text(template)
                } else {
                    ResponseTest::Pattern(Box::new(CompiledProperty::new(d, template, rules)))
                }
            })
            .collect();
        let scoped = Scoped::assertion(d);
        ResponseAssertion {
            name: Name::decode(d),
            scoped,
            field: Choice::decode(d, facts::FIELD.name, "", AssertedField::read),
            tests,
            kind,
            assume_success: Flag::decode(d, facts::IGNORE_STATUS.name, false),
            custom_message: d.template(facts::CUSTOM_MESSAGE.name),
            comparison: EqualsDisplay::new(&d.settings().properties),
            searches: Searches::default(),
        }
    }

    /// Evaluates what is compared for this sample.
    fn subject(&self, cx: &mut AssertionView) -> Subject<'_> {
        let scope = self.scoped.read(cx);
        let field = if scope.is_variable() {
            None
        } else {
            let field = self.field.get(cx);
            self.field.repeat(cx, field.reads() - 1);
            Some(field)
        };
        Subject { scope, field }
    }

    fn text<'s>(
        &self,
        cx: &mut AssertionView,
        subject: &Subject<'_>,
        sample: &'s Sample,
    ) -> Text<'s> {
        let Some(field) = subject.field else {
            let value = subject.scope.variable(cx);
            return value.map(Text::Shared).unwrap_or(Text::Literal(""));
        };
        let literal = |text: &'s Option<Rc<str>>| Text::Literal(text.as_deref().unwrap_or(""));
        match field {
            AssertedField::Body | AssertedField::Document => cx.parsed().body_text(sample),
            AssertedField::Code => Text::Literal(&sample.code),
            AssertedField::Message => Text::Literal(&sample.message),
            AssertedField::ResponseHeaders => literal(&sample.response_headers),
            AssertedField::RequestHeaders => literal(&sample.request_headers),
            AssertedField::RequestData if sample.kind == SampleKind::Http => {
                Text::Owned(http_sampler_data(sample))
            }
            AssertedField::RequestData => literal(&sample.sampler_data),
            AssertedField::Url => literal(&sample.url),
        }
    }

    /// `getFailText`.
    fn failure(
        &self,
        cx: &mut AssertionView,
        subject: &Subject<'_>,
        kind: i32,
        (expected, received): (&str, &str),
    ) -> String {
        subject.scope.repeat(cx, 1, 1);
        self.kind.repeat(cx, 2);
        let what = match subject.field {
            None => Cow::Owned(format!("variable({})", subject.scope.variable_name())),
            Some(field) => {
                let (words, reads) = field.words();
                self.field.repeat(cx, reads);
                words.into()
            }
        };
        const NOT_CONTAINS: i32 = NOT | CONTAINS;
        const NOT_SUBSTRING: i32 = NOT | SUBSTRING;
        const NOT_MATCH: i32 = NOT | MATCH;
        const NOT_EQUALS: i32 = NOT | EQUALS;
        let how = match kind {
            CONTAINS | SUBSTRING => "expected to contain",
            NOT_CONTAINS | NOT_SUBSTRING => "expected not to contain",
            MATCH => "expected to match",
            NOT_MATCH => "expected not to match",
            EQUALS => "expected to equal",
            NOT_EQUALS => "expected not to equal",
            _ => "expected something using",
        };
        match kind & EQUALS {
            0 => format!("Test failed: {what} {how} /{expected}/"),
            _ => format!(
                "Test failed: {what} {how} /{}/",
                self.comparison.text(received, expected)
            ),
        }
    }

    /// The custom message, if there is one.
    fn message(
        &self,
        cx: &mut AssertionView,
        own: impl FnOnce(&mut AssertionView) -> String,
    ) -> String {
        let custom = self.custom_message.eval(cx);
        if custom.is_empty() {
            own(cx)
        } else {
            custom.into_string()
        }
    }

    /// Compares the text with all tests.
    async fn judge(
        &self,
        cx: &mut AssertionView,
        subject: &Subject<'_>,
        (kind, text): (i32, &Text<'_>),
    ) -> AssertionResult {
        let (not, or) = (kind & NOT != 0, kind & OR != 0);
        let mut failures = String::new();
        for test in &self.tests {
            let (expected, is_met) = match self.is_met(test, cx, kind, text).await {
                Ok(outcome) => outcome,
                Err(message) => {
                    return self
                        .name
                        .error(cx, format!("Bad test configuration {message}"));
                }
            };
            let holds = is_met != not;
            if or && holds {
                return self.name.pass(cx);
            }
            if !holds {
                let texts = (&*expected, &**text);
                if !or {
                    let message = self.message(cx, |cx| self.failure(cx, subject, kind, texts));
                    return self.name.fail(cx, message);
                }
                failures.push_str(&self.failure(cx, subject, kind, texts));
                failures.push('\t');
            }
        }
        if or {
            if self.tests.is_empty() {
                failures.push('\t');
            }
            let message = self.message(cx, |_| failures);
            return self.name.fail(cx, message);
        }
        self.name.pass(cx)
    }
}

impl AssertedField {
    fn read(text: &str) -> AssertedField {
        match text {
            "Assertion.response_data" => AssertedField::Body,
            "Assertion.response_data_as_document" => AssertedField::Document,
            "Assertion.response_code" => AssertedField::Code,
            "Assertion.response_message" => AssertedField::Message,
            "Assertion.response_headers" => AssertedField::ResponseHeaders,
            "Assertion.request_headers" => AssertedField::RequestHeaders,
            "Assertion.request_data" => AssertedField::RequestData,
            _ => AssertedField::Url,
        }
    }

    /// How often JMeter reads the property, once for each value that it may have (`getStringToCheck`).
    fn reads(self) -> usize {
        match self {
            AssertedField::Body => 1,
            AssertedField::Document => 2,
            AssertedField::Code => 3,
            AssertedField::Message => 4,
            AssertedField::RequestHeaders => 5,
            AssertedField::RequestData => 6,
            AssertedField::ResponseHeaders | AssertedField::Url => 7,
        }
    }

    /// Its name in a failure, and how often JMeter reads the property for that (`getFailText`).
    fn words(self) -> (&'static str, usize) {
        match self {
            AssertedField::Body => ("text", 1),
            AssertedField::Code => ("code", 2),
            AssertedField::Message => ("message", 3),
            AssertedField::RequestHeaders => ("request headers", 4),
            AssertedField::RequestData => ("request data", 5),
            AssertedField::ResponseHeaders => ("headers", 6),
            AssertedField::Document => ("document", 7),
            AssertedField::Url => ("URL", 7),
        }
    }

    fn needs(self) -> Needs {
        match self {
            AssertedField::Body | AssertedField::Document => Needs::BODY,
            AssertedField::ResponseHeaders => Needs {
                headers: true,
                ..Needs::NOTHING
            },
            AssertedField::RequestHeaders | AssertedField::RequestData => Needs {
                request: true,
                ..Needs::NOTHING
            },
            AssertedField::Code | AssertedField::Message | AssertedField::Url => Needs::NOTHING,
        }
    }
}

impl ResponseAssertion {
    /// Returns the expected text and whether it was found, or why the pattern is invalid.
    async fn is_met<'a>(
        &self,
        test: &'a ResponseTest,
        cx: &mut AssertionView,
        kind: i32,
        text: &Text<'_>,
    ) -> Result<(Text<'a>, bool), ExceptionText> {
        let pattern = match test {
            ResponseTest::Text(template) => {
                let expected = template.eval(cx);
                let is_match = if kind & EQUALS != 0 {
                    **text == *expected
                } else {
                    text.contains(&*expected)
                };
                return Ok((expected, is_match));
            }
            ResponseTest::Pattern(pattern) => pattern,
        };
        let ready = pattern.get(cx);
        let is_met = match kind {
            kind if kind & CONTAINS == 0 && kind & EQUALS != 0 => **text == *ready.text,
            kind if kind & CONTAINS == 0 && kind & SUBSTRING != 0 => text.contains(&*ready.text),
            kind => {
                let pattern = ready.outcome?;
                let search = move |texts: &[Text<'_>], pattern: &Arc<Pattern>| {
                    texts.iter().any(|text| is_found(pattern, kind, text))
                };
                let texts = std::slice::from_ref(text);
                if pattern.is_long(text.len(), Matches::First) {
                    let searched = self.searches.search(cx, texts, &*pattern, search).await;
                    // Nothing is found if the run is told to stop meanwhile.
                    searched.unwrap_or(false)
                } else {
                    search(texts, &pattern)
                }
            }
        };
        Ok((ready.text, is_met))
    }
}

fn is_found(pattern: &Pattern, kind: i32, text: &str) -> bool {
    match kind & CONTAINS {
        0 => pattern.full_match(text),
        _ => pattern.is_match(text),
    }
}

impl AssertionRole for ResponseAssertion {
    fn turn<'a>(
        &'a self,
        cx: &'a mut AssertionView,
        sample: &'a mut Sample,
    ) -> Act<'a, AssertionResult> {
        if self.assume_success.get(cx) {
            sample.success = true;
        }
        let subject = self.subject(cx);
        let text = self.text(cx, &subject, sample);
        let kind = self.kind.get(cx);
        self.kind.repeat(cx, 3); // isContainsType, isEqualsType, isSubstringType
        if text.is_empty() {
            return Act::Done(if kind & NOT != 0 {
                self.name.pass(cx)
            } else {
                self.name.fail_for_null(cx)
            });
        }
        self.searches.turn(cx, text.len(), move |cx| async move {
            self.judge(cx, &subject, (kind, &text)).await
        })
    }

    fn applies_to(&self, cx: &mut AssertionView) -> ResultScope {
        self.scoped.scope(cx)
    }

    fn row_name(&self) -> &Template {
        self.name.template()
    }

    fn reads(&self) -> Needs {
        let needs = self
            .field
            .fixed()
            .map(AssertedField::needs)
            .unwrap_or(Needs::ALL);
        self.scoped.needs(needs)
    }
}

/// `HTTPSampleResult#getSamplerData`.
fn http_sampler_data(sample: &Sample) -> String {
    const WITHOUT_BODY: [&str; 3] = ["HEAD", "OPTIONS", "TRACE"];
    let method = sample.method.as_deref().unwrap_or("null");
    let mut out = method.to_owned();
    if let Some(url) = &sample.url {
        out.push(' ');
        out.push_str(url);
        out.push('\n');
        if !WITHOUT_BODY.contains(&method) {
            out.push_str(&format!(
                "\n{method} data:\n{}\n",
                sample.query_string.as_deref().unwrap_or("")
            ));
        }
        match sample.cookies.as_deref() {
            Some(cookies) if !cookies.is_empty() => {
                out.push_str(&format!("\nCookie Data:\n{cookies}"))
            }
            _ => out.push_str("\n[no cookies]"),
        }
        out.push('\n');
    }
    out.push_str(sample.sampler_data.as_deref().unwrap_or(""));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::view::View;

    fn assertion(
        field: &str,
        kind: i32,
        tests: &[&str],
        more: &str,
    ) -> (ResponseAssertion, Context) {
        let strings: String = tests
            .iter()
            .map(|test| format!(r#"<stringProp name="1">{test}</stringProp>"#))
            .collect();
        let xml = format!(
            r#"<ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="n">
            <collectionProp name="Asserion.test_strings">{strings}</collectionProp>
            <stringProp name="Assertion.test_field">Assertion.{field}</stringProp>
            <intProp name="Assertion.test_type">{kind}</intProp>{more}</ResponseAssertion>"#
        );
        let (assertion, cx, _) =
            fixture::decode_with_findings(&[], &xml, ResponseAssertion::decode);
        (assertion, cx)
    }

    /// `pass`, `fail: message` or `error: message`.
    fn shown(verdict: &AssertionResult) -> String {
        let message = verdict.message.as_deref().unwrap_or("null");
        match (verdict.failure, verdict.error) {
            (false, false) => "pass".to_owned(),
            (true, false) => format!("fail: {message}"),
            (false, true) => format!("error: {message}"),
            (true, true) => format!("both: {message}"),
        }
    }

    fn body(text: &str, kind: i32, tests: &[&str]) -> String {
        let (assertion, mut cx) = assertion("response_data", kind, tests, "");
        shown(
            &assertion
                .turn(View::of(&mut cx), &mut fixture::sample(text))
                .done(),
        )
    }

    // Expected texts were recorded from ResponseAssertion itself.

    #[test]
    fn each_kind_of_test_says_what_it_expected() {
        assert_eq!(
            body("abc", 2, &["b", "x"]),
            "fail: Test failed: text expected to contain /x/"
        );
        assert_eq!(
            body("abc", 6, &["b"]),
            "fail: Test failed: text expected not to contain /b/"
        );
        assert_eq!(
            body("abc", 1, &["ab"]),
            "fail: Test failed: text expected to match /ab/"
        );
        assert_eq!(
            body("abc", 5, &["abc"]),
            "fail: Test failed: text expected not to match /abc/"
        );
        assert_eq!(
            body("abc", 16, &["z"]),
            "fail: Test failed: text expected to contain /z/"
        );
        assert_eq!(
            body("abc", 20, &["b"]),
            "fail: Test failed: text expected not to contain /b/"
        );
        assert_eq!(
            body("abc", 8, &["abd"]),
            "fail: Test failed: text expected to equal /\n\n****** received  : ab[[[c]]]\n\n****** comparison: ab[[[d]]]\n\n/"
        );
        assert_eq!(
            body("abc", 12, &["abc"]),
            "fail: Test failed: text expected not to equal /\n\n****** received  : abc[[[]]]\n\n****** comparison: abc[[[]]]\n\n/"
        );
        assert_eq!(
            body("abc", 0, &["abx"]),
            "fail: Test failed: text expected something using /abx/"
        );
    }

    #[test]
    fn assertions_pass_if_all_patterns_hold() {
        for (kind, test) in [
            (2, "b"),
            (6, "x"),
            (1, "a.c"),
            (5, "ab"),
            (8, "abc"),
            (12, "ab"),
            (16, "bc"),
            (20, "x"),
        ] {
            assert_eq!(body("abc", kind, &[test]), "pass");
        }
        assert_eq!(body("abc", 2, &[]), "pass");
    }

    #[test]
    fn or_joins_all_failures() {
        let both = "fail: Test failed: text expected something using /x/\tTest failed: text expected something using /y/\t";
        assert_eq!(body("abc", 34, &["x", "y"]), both);
        assert_eq!(body("abc", 48, &["x", "b"]), "pass");
        assert_eq!(body("abc", 34, &[]), "fail: \t");
    }

    #[test]
    fn malformed_patterns_are_errors() {
        let message = "error: Bad test configuration org.apache.oro.text.MalformedCachePatternException: Invalid expression: (\nUnmatched parentheses.";
        assert_eq!(body("abc", 2, &["("]), message);
        assert_eq!(body("abc", 34, &["x", "("]), message);
        assert_eq!(body("a(c", 16, &["("]), "pass");
    }

    #[test]
    fn nothing_fails_unless_negated() {
        assert_eq!(body("", 2, &["x"]), "fail: Response was null");
        assert_eq!(body("", 8, &[""]), "fail: Response was null");
        assert_eq!(body("", 6, &["x"]), "pass");
    }

    #[test]
    fn each_field_has_its_word_and_its_needs() {
        let mut sample = fixture::sample("body");
        sample.code = "404".into();
        sample.message = "Not Found".into();
        sample.response_headers = Some("X: y\n".into());
        sample.request_headers = Some("A: b\n".into());
        sample.url = Some("http://h/".into());
        sample.method = Some("GET".into());
        let mut check = |field: &str| {
            let (assertion, mut cx) = assertion(field, 8, &["-"], "");
            let verdict = shown(&assertion.turn(View::of(&mut cx), &mut sample).done());
            let needs = assertion.reads();
            let word = verdict
                .trim_start_matches("fail: Test failed: ")
                .split(" expected")
                .next()
                .map(str::to_owned);
            let received = verdict
                .split("[[[")
                .nth(1)
                .and_then(|rest| rest.split("]]]").next())
                .map(|text| text.trim_end().to_owned());
            (
                word.unwrap_or_default(),
                received.unwrap_or_default(),
                [needs.body, needs.headers, needs.request],
            )
        };
        let row = |word: &str, received: &str, needs| (word.to_owned(), received.to_owned(), needs);
        assert_eq!(
            check("response_data"),
            row("text", "body", [true, false, false])
        );
        assert_eq!(check("response_code"), row("code", "404", [false; 3]));
        assert_eq!(
            check("response_message"),
            row("message", "Not Found", [false; 3])
        );
        assert_eq!(
            check("response_headers"),
            row("headers", "X: y", [false, true, false])
        );
        assert_eq!(
            check("request_headers"),
            row("request headers", "A: b", [false, false, true])
        );
        assert_eq!(
            check("request_data"),
            row(
                "request data",
                "GET http://h/\n\nGET data:\n\n\n[no cookies]",
                [false, false, true]
            )
        );
        assert_eq!(check("sample_label"), row("URL", "http://h/", [false; 3]));
    }

    #[test]
    fn assume_success_comes_before_the_verdict() {
        let more = r#"<boolProp name="Assertion.assume_success">true</boolProp><stringProp name="Assertion.custom_message">no ${what}</stringProp>"#;
        let (assertion, mut cx) = assertion("response_code", 8, &["404"], more);
        let mut sample = fixture::sample("");
        sample.success = false;
        sample.code = "404".into();
        assert_eq!(
            shown(&assertion.turn(View::of(&mut cx), &mut sample).done()),
            "pass"
        );
        assert!(sample.success);
        sample.code = "500".into();
        cx.vars.set_named("what", "way".into());
        assert_eq!(
            shown(&assertion.turn(View::of(&mut cx), &mut sample).done()),
            "fail: no way"
        );
    }

    #[test]
    fn a_variable_takes_the_place_of_the_field() {
        let scope = r#"<stringProp name="Assertion.scope">variable</stringProp><stringProp name="Scope.variable">v</stringProp>"#;
        let (assertion, mut cx) = assertion("response_data", 2, &["b"], scope);
        assert_eq!(assertion.reads(), Needs::NOTHING);
        assert_eq!(
            shown(
                &assertion
                    .turn(View::of(&mut cx), &mut fixture::sample("b"))
                    .done()
            ),
            "fail: Response was null"
        );
        cx.vars.set_named("v", "ac".into());
        assert_eq!(
            shown(
                &assertion
                    .turn(View::of(&mut cx), &mut fixture::sample("b"))
                    .done()
            ),
            "fail: Test failed: variable(v) expected to contain /b/"
        );
    }

    #[tokio::test]
    async fn a_long_search_on_a_thread_finds_the_same() {
        let long = "x".repeat(20_000) + "end\n";
        for (kind, pattern) in [
            (CONTAINS, "x+end$"),
            (CONTAINS, "nowhere$"),
            (NOT | CONTAINS, "end$"),
            (MATCH, "x+end\\s$"),
            (EQUALS, "x"),
        ] {
            let (assertion, mut cx) = assertion("response_data", kind, &[pattern], "");
            let mut sample = fixture::sample(&long);
            let act = assertion.turn(View::of(&mut cx), &mut sample);
            assert!(matches!(act, Act::Wait(_)));
            let verdict = shown(&act.finish().await);
            assertion.searches.note(long.len(), Default::default());
            let act = assertion.turn(View::of(&mut cx), &mut sample);
            assert_eq!(shown(&act.done()), verdict, "{pattern}");
        }
    }
}
