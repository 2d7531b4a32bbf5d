//! Compare Assertion (`CompareAssertion`): checks that the results in its scope do not differ within an iteration of its
//! controller.
//!
//! Properties: `compareContent` (default true), `compareTime` (milliseconds by which elapsed times may differ; a negative
//! value turns this check off), `stringsToSkip` (`regex` and `substitute`: replacements made in the texts before they are
//! compared).
//!
//! Difference: `$1` in a substitute is plain text. The same holds for JMeter's default regex engine.

use drumfire_elements::assertions::compare_assertion as facts;
use drumfire_expr::{Raised, Template};
use drumfire_java::values;
use drumfire_jmx::Value;
use drumfire_query::regex::Pattern;
use drumfire_results::{AssertionResult, Sample};

use super::verdict::Name;
use crate::decode::Decoder;
use crate::decode::compiled::{CompiledProperty, RegexRules};
use crate::decode::roles::Roles;
use crate::decode::setting::Flag;
use crate::run::context::StateId;
use crate::run::controllers::Hook;
use crate::run::needs::Needs;
use crate::run::roles::{Assertion, IterationListener};
use crate::run::view::{AssertionView, PreProcessorView};

pub struct CompareAssertion {
    name: Name,
    compares_content: Flag,
    most_apart_ms: Template,
    skipped: Vec<(CompiledProperty<Pattern>, Template)>,
    state: StateId,
}

/// The results of this iteration so far. JMeter compares all neighbouring results again for each new one, so a difference
/// persists until the iteration ends.
#[derive(Default)]
struct Seen {
    /// Whether the user has started (`TestCompiler#trackIterationListeners`).
    is_prepared: bool,
    results: usize,
    last: Option<LastText>,
    last_ms: Option<i64>,
    /// The number of the first result whose text is not that of the one before.
    differs_at: Option<usize>,
    differ_in_time: bool,
}

enum LastText {
    Raw(String),
    Filtered(String),
}

pub fn decode(d: &mut Decoder) -> Roles {
    let assertion = std::sync::Arc::new(CompareAssertion::decode(d));
    Roles {
        assertion: Some(assertion.clone()),
        each_iteration: Some(Hook::Element(assertion)),
        ..Roles::default()
    }
}

impl CompareAssertion {
    fn decode(d: &mut Decoder) -> CompareAssertion {
        let rules = RegexRules::new(&d.settings().properties);
        let props = d.element.props.clone();
        let mut skipped = Vec::new();
        for prop in props.list(facts::SUBSTITUTIONS.name) {
            let Value::Element(element) = &prop.value else {
                continue;
            };
            let regex = d.compile(&element.props.str("regex"));
            skipped.push((
                CompiledProperty::new(d, regex, rules),
                d.compile(&element.props.str("substitute")),
            ));
        }
        CompareAssertion {
            name: Name::decode(d),
            compares_content: Flag::decode(d, facts::CONTENT.name, true),
            most_apart_ms: d
                .optional(facts::TIME.name)
                .unwrap_or_else(|| Template::raw("-1")),
            skipped,
            state: d.new_state(),
        }
    }

    /// `CompareAssertion#filterString`; `None` if it throws.
    fn filtered(&self, cx: &mut AssertionView, text: String) -> Option<String> {
        let mut text = text;
        for (regex, substitute) in &self.skipped {
            let substitute = substitute.eval(cx).into_string();
            match regex.get(cx).outcome {
                Ok(pattern) => text = replaced(&pattern, &text, &substitute),
                Err(exception) => {
                    cx.raise(Raised::exception(exception));
                    return None;
                }
            }
        }
        Some(text)
    }

    /// Evaluates the substitutions as often as JMeter does to filter that many texts again.
    fn filter_again(&self, cx: &mut AssertionView, texts: usize) {
        for (regex, substitute) in &self.skipped {
            substitute.repeat(cx, texts);
            regex.repeat(cx, texts);
        }
    }

    /// `CompareAssertion#compareContent`, which filters all texts of the iteration up to the first difference; `None` if it
    /// throws.
    fn compare(&self, cx: &mut AssertionView, seen: &mut Seen, text: String) -> Option<()> {
        if let Some(number) = seen.differs_at {
            self.filter_again(cx, number);
            return Some(());
        }
        let last = match seen.last.take() {
            None => {
                seen.last = Some(LastText::Raw(text));
                return Some(());
            }
            Some(LastText::Raw(raw)) => {
                self.filter_again(cx, seen.results - 2);
                match self.filtered(cx, raw.clone()) {
                    Some(last) => last,
                    None => {
                        seen.last = Some(LastText::Raw(raw));
                        return None;
                    }
                }
            }
            Some(LastText::Filtered(last)) => {
                self.filter_again(cx, seen.results - 1);
                last
            }
        };
        let Some(text) = self.filtered(cx, text) else {
            seen.last = Some(LastText::Filtered(last));
            return None;
        };
        if text != last {
            seen.differs_at = Some(seen.results);
        }
        seen.last = Some(LastText::Filtered(text));
        Some(())
    }
}

fn replaced(pattern: &Pattern, text: &str, substitute: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for found in pattern.captures_iter(text) {
        let Some((start, end)) = found.span(0) else {
            continue;
        };
        out.push_str(&text[from..start]);
        out.push_str(substitute);
        from = end;
    }
    out.push_str(&text[from..]);
    out
}

impl IterationListener for CompareAssertion {
    fn iteration_start(&self, cx: &mut PreProcessorView, _: i32) {
        let seen = cx.state(self.state, Seen::default);
        let is_first = !seen.is_prepared;
        *seen = Seen {
            is_prepared: true,
            ..Seen::default()
        };
        if is_first {
            self.compares_content.repeat(cx, 1);
            self.most_apart_ms.repeat(cx, 1);
        }
    }
}

impl Assertion for CompareAssertion {
    fn check(&self, cx: &mut AssertionView, sample: &mut Sample) -> AssertionResult {
        let text = crate::base::body::text(sample, cx.default_charset()).into_owned();
        let compares_content = self.compares_content.get(cx);
        let most_apart_ms = values::property_long(&self.most_apart_ms.eval(cx));
        let mut seen = std::mem::take(cx.state(self.state, Seen::default));
        seen.results += 1;
        let compared = if compares_content {
            self.compare(cx, &mut seen, text)
        } else {
            seen.last = Some(LastText::Raw(text));
            Some(())
        };
        let last_ms = seen.last_ms.replace(sample.elapsed_ms);
        let apart_ms = last_ms.map(|last_ms| (last_ms - sample.elapsed_ms).abs());
        seen.differ_in_time |= most_apart_ms >= 0 && apart_ms > Some(most_apart_ms);
        let in_content = compares_content && seen.differs_at.is_some();
        let in_time = most_apart_ms >= 0 && seen.differ_in_time;
        *cx.state(self.state, Seen::default) = seen;
        if compared.is_none() {
            return self.name.pass(cx);
        }
        if in_time {
            // There is no space in JMeter's text either.
            return self.name.fail(
                cx,
                format!("Responses differ in response time by more than{most_apart_ms} ms"),
            );
        }
        if in_content {
            return self.name.fail(cx, "Responses differ in content");
        }
        self.name.pass(cx)
    }

    fn name(&self) -> &Template {
        self.name.template()
    }

    fn needs(&self) -> Needs {
        Needs::BODY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::view::View;

    struct CompareFixture(CompareAssertion, Context);

    fn bench(properties: &str) -> CompareFixture {
        let xml = format!(
            r#"<CompareAssertion guiclass="TestBeanGUI" testclass="CompareAssertion" testname="c">{properties}</CompareAssertion>"#
        );
        let (assertion, cx) = fixture::decode(&xml, CompareAssertion::decode);
        CompareFixture(assertion, cx)
    }

    impl CompareFixture {
        fn check(&mut self, body: &str, elapsed_ms: i64) -> Option<String> {
            let mut sample = Sample {
                elapsed_ms,
                ..fixture::sample(body)
            };
            self.0
                .check(View::of(&mut self.1), &mut sample)
                .message
                .map(|message| message.to_string())
        }
    }

    #[test]
    fn a_difference_stays_until_the_next_iteration() {
        let mut bench = bench("");
        let differ = Some("Responses differ in content".to_owned());
        assert_eq!(bench.check("a", 1), None);
        assert_eq!(bench.check("a", 900), None);
        assert_eq!(bench.check("b", 1), differ);
        assert_eq!(bench.check("b", 1), differ);
        bench.0.iteration_start(View::of(&mut bench.1), 2);
        assert_eq!(bench.check("b", 1), None);
    }

    #[test]
    fn parts_may_be_left_out() {
        let mut bench = bench(
            r#"<collectionProp name="stringsToSkip"><elementProp name="1" elementType="SubstitutionElement">
            <stringProp name="regex">id=\d+</stringProp><stringProp name="substitute">$1</stringProp></elementProp></collectionProp>"#,
        );
        assert_eq!(bench.check("x id=1 y", 1), None);
        assert_eq!(bench.check("x id=22 y", 1), None);
        assert_eq!(bench.check("x $1 y", 1), None);
    }

    #[test]
    fn times_may_differ_by_so_much() {
        let mut bench = bench(
            r#"<boolProp name="compareContent">false</boolProp><longProp name="compareTime">10</longProp>"#,
        );
        assert_eq!(bench.check("a", 1), None);
        assert_eq!(bench.check("b", 11), None);
        assert_eq!(
            bench.check("b", 22).as_deref(),
            Some("Responses differ in response time by more than10 ms")
        );
    }
}
