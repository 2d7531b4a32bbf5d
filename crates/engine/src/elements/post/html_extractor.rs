//! CSS Selector Extractor (`HtmlExtractor`): puts texts or attributes of the elements a selector finds into variables.
//!
//! Properties: `HtmlExtractor.expr`, `.attribute` (blank for the text), `.extractor_impl` (`JSOUP`, which is also the default,
//! or `JODD`), `.refname`, `.match_number` (0 random, negative all), `.default`, `.default_empty_value`, and the scope.
//!
//! JMeter caches the first page it parses for a sample per implementation and kind of source. A second extractor of variables
//! or of sub-results therefore sees the page of the first (`JSoupExtractor#extract`), here too.

use std::rc::Rc;

use drumfire_elements::post::css_extractor as facts;
use drumfire_expr::Template;
use drumfire_query::css::{Engine, Selector};
use drumfire_results::Sample;

use super::variable_names::VariableNames;
use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::compiled::{CompiledProperty, SelectorRules};
use crate::decode::roles::Roles;
use crate::decode::scoped::{ScopeReading, Scoped};
use crate::decode::setting::{Flag, WholeNumber};
use crate::run::context::StateId;
use crate::run::input::Input;
use crate::run::needs::Needs;
use crate::run::parsed::PageKey;
use crate::run::roles::{Act, PostProcessorRole};
use crate::run::search::{PageText, Searches};
use crate::run::view::PostProcessorView;

pub struct HtmlExtractor {
    scoped: Scoped,
    name: Template,
    reference: Template,
    selector: CompiledProperty<Selector>,
    engine: EngineChoice,
    attribute: Template,
    match_number: WholeNumber,
    default: Template,
    default_is_empty: Flag,
    searches: Searches,
}

/// The library of the selector. JMeter reads it when a user needs it first (`getExtractorImpl`).
enum EngineChoice {
    Fixed(Engine),
    PerUser(Template, StateId),
}

/// The values found; a missing attribute is `None` with Jodd.
type Values = Vec<Option<Rc<str>>>;

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::post(HtmlExtractor::decode(d))
}

impl HtmlExtractor {
    fn decode(d: &mut Decoder) -> HtmlExtractor {
        let engine = EngineChoice::decode(d);
        let rules = SelectorRules(match &engine {
            EngineChoice::Fixed(engine) => *engine,
            EngineChoice::PerUser(..) => Engine::Jsoup,
        });
        let expression = d.template(facts::SELECTOR.name);
        HtmlExtractor {
            scoped: Scoped::extractor(d),
            name: d.name(),
            reference: d.template(facts::NAME.name),
            selector: CompiledProperty::new(d, expression, rules),
            engine,
            attribute: d.template(facts::ATTRIBUTE.name),
            match_number: WholeNumber::decode(d, facts::MATCH_NUMBER.name, 0),
            default: d.template(facts::DEFAULT.name),
            default_is_empty: Flag::decode(d, facts::EMPTY_DEFAULT.name, false),
            searches: Searches::with_parsing(),
        }
    }

    /// `extractMatchingStrings`: returns no more values than a positive number asks for.
    async fn extract(
        &self,
        cx: &mut PostProcessorView,
        (scope, sample): (&ScopeReading<'_>, &Sample),
        number: i32,
    ) -> Result<Values, ExceptionText> {
        let element = ("CSS Selector Extractor", &self.name);
        let inputs = scope.inputs_or_warning(cx, sample, element);
        let most_values = if number > 0 {
            number as usize
        } else {
            usize::MAX
        };
        let attribute = self.attribute.eval(cx).into_string();
        let mut values_found = Values::new();
        if inputs.is_empty() {
            self.selector.repeat(cx, 1);
        }
        for (index, input) in inputs.iter().enumerate() {
            if matches!(input, Input::Variable(value) if value.is_empty()) {
                break;
            }
            let engine = self.engine.get(cx)?;
            let key = match input {
                Input::Variable(_) => Some(PageKey::Variable(engine)),
                Input::Result(_) => (index == 0).then_some(PageKey::First(engine)),
            };
            let most = most_values - values_found.len();
            let page = self.searches.open(cx, PageText { input, key });
            let selector = self.selector.get_by(cx, SelectorRules(engine)).outcome?;
            let attribute = attribute.clone();
            let values = page.search(cx, &*selector, move |page, selector| {
                selector.select(page, Some(&attribute), most)
            });
            // A search that the run no longer waits for finds nothing.
            let values = values.await.unwrap_or_else(|| Ok(Vec::new()));
            let values = values.map_err(|error| ExceptionText::from(error.message))?;
            values_found.extend(values.into_iter().map(|value| value.map(Rc::from)));
            if values_found.len() == most_values {
                break;
            }
        }
        Ok(values_found)
    }

    async fn process(
        &self,
        cx: &mut PostProcessorView,
        scope: ScopeReading<'_>,
        sample: &mut Sample,
    ) {
        let reference = self.reference.eval(cx);
        let number = self.match_number.get(cx);
        let default = self.default.eval(cx);
        if !default.is_empty() || self.default_is_empty.get(cx) {
            cx.vars_mut().set_named(&reference, default.into_value());
        }
        let from = (&scope, &*sample);
        let values = match self.extract(cx, from, number).await {
            Ok(values) => values,
            Err(message) => {
                let name = self.name.eval(cx);
                return tracing::warn!("{name}: Error while generating result. {message}");
            }
        };
        let mut names = VariableNames::new(&reference);
        let previous = names.take_match_count(cx.vars_mut());
        let mut last_number = 0;
        if number >= 0 {
            let chosen = match number {
                0 if values.is_empty() => None,
                0 => values[cx.random().index(values.len())].clone(),
                number => values.get(number as usize - 1).cloned().flatten(),
            };
            if let Some(value) = chosen {
                cx.vars_mut().set_named(&reference, value);
            }
        } else {
            last_number = values.len() as i32;
            names.set_match_count(values.len(), cx.vars_mut());
            for (index, value) in values.into_iter().enumerate() {
                if let Some(value) = value {
                    names.set_numbered(index + 1, value, cx.vars_mut());
                }
            }
        }
        names.remove_numbered(last_number + 1..=previous, cx.vars_mut());
    }
}

impl EngineChoice {
    fn decode(d: &mut Decoder) -> EngineChoice {
        let template = d.template(facts::IMPLEMENTATION.name);
        let Some(text) = template.literal() else {
            return EngineChoice::PerUser(template, d.new_state());
        };
        let Some(engine) = engine(text) else {
            let message = format!(
                "'{}' names the selector library '{text}', which JMeter does not have",
                d.element.name
            );
            d.refuse("selector-library", message, "choose JSOUP or JODD");
            return EngineChoice::Fixed(Engine::Jsoup);
        };
        EngineChoice::Fixed(engine)
    }

    fn get(&self, cx: &mut PostProcessorView) -> Result<Engine, ExceptionText> {
        let (template, state) = match self {
            EngineChoice::Fixed(engine) => return Ok(*engine),
            EngineChoice::PerUser(template, state) => (template, *state),
        };
        if let Some(engine) = *cx.state::<Option<Engine>>(state, || None) {
            return Ok(engine);
        }
        let text = template.eval(cx);
        let engine = engine(&text).ok_or_else(|| {
            format!(
                "java.lang.IllegalArgumentException: Extractor implementation:{text} is unknown"
            )
        })?;
        *cx.state(state, || None) = Some(engine);
        Ok(engine)
    }
}

fn engine(name: &str) -> Option<Engine> {
    match name {
        "JODD" => Some(Engine::Jodd),
        "" | "JSOUP" => Some(Engine::Jsoup),
        _ => None,
    }
}

impl PostProcessorRole for HtmlExtractor {
    fn turn<'a>(&'a self, cx: &'a mut PostProcessorView, sample: &'a mut Sample) -> Act<'a> {
        let searches = &self.searches;
        self.scoped
            .extract(searches, cx, sample, |cx, scope, sample| {
                self.process(cx, scope, sample)
            })
    }

    fn reads(&self) -> Needs {
        self.scoped.needs(Needs::BODY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::view::View;

    const PAGE: &str =
        r#"<p class="a">one</p><p class="a" id="x"> two <b>2</b></p><a href="/l">link</a>"#;

    fn extractor(
        expression: &str,
        attribute: &str,
        number: i32,
        more: &str,
    ) -> (HtmlExtractor, Context) {
        let xml = format!(
            r#"<HtmlExtractor guiclass="HtmlExtractorGui" testclass="HtmlExtractor" testname="h">
            <stringProp name="HtmlExtractor.refname">v</stringProp><stringProp name="HtmlExtractor.expr">{expression}</stringProp>
            <stringProp name="HtmlExtractor.attribute">{attribute}</stringProp>
            <stringProp name="HtmlExtractor.match_number">{number}</stringProp>{more}</HtmlExtractor>"#
        );
        fixture::decode(&xml, HtmlExtractor::decode)
    }

    fn run(extractor: &HtmlExtractor, cx: &mut Context, body: &str) -> Vec<String> {
        cx.parsed.clear();
        extractor
            .turn(View::of(cx), &mut fixture::sample(body))
            .done();
        fixture::variables(cx, "v")
    }

    #[test]
    fn texts_and_attributes() {
        let (text, mut cx) = extractor("p.a", "", 2, "");
        assert_eq!(run(&text, &mut cx, PAGE), ["v=two 2"]);
        let (attribute, mut cx) = extractor("a", "href", 1, "");
        assert_eq!(run(&attribute, &mut cx, PAGE), ["v=/l"]);
        let (missing, mut cx) = extractor(
            "p",
            "id",
            1,
            r#"<stringProp name="HtmlExtractor.default">none</stringProp>"#,
        );
        assert_eq!(run(&missing, &mut cx, PAGE), ["v="]);
        assert_eq!(run(&missing, &mut cx, ""), ["v=none"]);
    }

    #[test]
    fn all_of_them_and_left_overs() {
        let (all, mut cx) = extractor("p", "", -1, "");
        assert_eq!(
            run(&all, &mut cx, PAGE),
            ["v_1=one", "v_2=two 2", "v_matchNr=2"]
        );
        assert_eq!(run(&all, &mut cx, "<p>x"), ["v_1=x", "v_matchNr=1"]);
    }

    #[test]
    fn jodd_leaves_out_missing_attributes() {
        let (all, mut cx) = extractor(
            "p",
            "id",
            -1,
            r#"<stringProp name="HtmlExtractor.extractor_impl">JODD</stringProp>"#,
        );
        assert_eq!(run(&all, &mut cx, PAGE), ["v_2=x", "v_matchNr=2"]);
    }

    #[test]
    fn a_malformed_selector_changes_the_default_only() {
        let xml = r#"<HtmlExtractor guiclass="x" testclass="HtmlExtractor" testname="h"><stringProp name="HtmlExtractor.refname">v</stringProp>
            <stringProp name="HtmlExtractor.expr">p[</stringProp><stringProp name="HtmlExtractor.default">none</stringProp></HtmlExtractor>"#;
        let (extractor, mut cx, _) = fixture::decode_with_findings(&[], xml, HtmlExtractor::decode);
        cx.vars.set_named("v_matchNr", "1".into());
        assert_eq!(run(&extractor, &mut cx, PAGE), ["v=none", "v_matchNr=1"]);
    }

    #[test]
    fn a_second_variable_is_seen_as_the_first() {
        let scope = |name: &str| {
            format!(
                r#"<stringProp name="Sample.scope">variable</stringProp><stringProp name="Scope.variable">{name}</stringProp>"#
            )
        };
        let (first, mut cx) = extractor("p", "", 1, &scope("w1"));
        let (second, _) = extractor("p", "", 1, &scope("w2"));
        cx.vars.set_named("w1", "<p>1".into());
        cx.vars.set_named("w2", "<p>2".into());
        let mut sample = fixture::sample("");
        first.turn(View::of(&mut cx), &mut sample).done();
        second.turn(View::of(&mut cx), &mut sample).done();
        assert_eq!(fixture::variables(&cx, "v"), ["v=1"]);
        cx.parsed.clear();
        second.turn(View::of(&mut cx), &mut sample).done();
        assert_eq!(fixture::variables(&cx, "v"), ["v=2"]);
    }
}
