//! JSON JMESPath Extractor (`JMESPathExtractor`): puts the result of a JMESPath into variables, the items of an array one by
//! one.
//!
//! Properties: `JMESExtractor.referenceName`, `.jmesPathExpr`, `.matchNumber` (0 random, negative all), `.defaultValue`, and
//! the scope. As in JMeter, a match number that is not a number discards the sample.

use std::rc::Rc;
use std::sync::Arc;

use drumfire_elements::post::jmespath_extractor as facts;
use drumfire_expr::{Raised, Template};
use drumfire_java::values;
use drumfire_query::jmespath::JmesPath;
use drumfire_query::json::{Json, JsonError};
use drumfire_results::Sample;

use super::variable_names::VariableNames;
use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::compiled;
use crate::decode::compiled::{Compile, NoRules, Use};
use crate::decode::roles::Roles;
use crate::decode::scoped::{ScopeReading, Scoped};
use crate::elements::json_query::JsonQuery;
use crate::run::input::Input;
use crate::run::needs::Needs;
use crate::run::parsed::JsonReader;
use crate::run::roles::{Act, PostProcessorRole};
use crate::run::view::PostProcessorView;

pub struct JmesPathExtractor {
    scoped: Scoped,
    name: Template,
    reference: Template,
    path: Template,
    /// The compiled expression, if the plan's is literal.
    compiled: Option<Result<Arc<JmesPath>, ExceptionText>>,
    match_number: Template,
    default: Template,
    query: JsonQuery,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::post(JmesPathExtractor::decode(d))
}

impl JmesPathExtractor {
    fn decode(d: &mut Decoder) -> JmesPathExtractor {
        let path = d.template(facts::PATH.name);
        let compiled = path
            .literal()
            .map(|text| <JmesPath as Compile>::compile(drumfire_java::text::trim(text), NoRules))
            .map(|path| path.map(Arc::new));
        if let Some(Err(fault)) = &compiled {
            d.warn(
                "expression-malformed",
                format!("the JMESPath in '{}' is malformed: {fault}", d.element.name),
            );
        }
        JmesPathExtractor {
            scoped: Scoped::extractor(d),
            name: d.name(),
            reference: d.template(facts::NAME.name),
            path,
            compiled,
            match_number: d.template(facts::MATCH_NUMBER.name),
            default: d.template(facts::DEFAULT.name),
            query: JsonQuery::new(JsonReader::Strict),
        }
    }

    async fn extract(
        &self,
        cx: &mut PostProcessorView,
        inputs: &[Option<Input<'_>>],
    ) -> Result<Vec<Rc<str>>, ExceptionText> {
        let text = self.path.eval(cx);
        let text = drumfire_java::text::trim(&text);
        let path = match &self.compiled {
            Some(path) => path.as_ref().map(Use::Borrowed).map_err(Clone::clone)?,
            None => Use::Owned(compiled::computed(text, NoRules)?),
        };
        let mut all = Vec::new();
        for input in inputs {
            let input = input.as_ref().ok_or("argument \"content\" is null")?;
            let texts = self.query.search(cx, input, &path, search_json).await;
            // A search that the run no longer waits for finds nothing.
            let texts = texts.unwrap_or_else(|| Ok(Vec::new()));
            all.extend(texts?.into_iter().map(Rc::from));
        }
        Ok(all)
    }
}

fn search_json(
    json: Result<&Json<'_>, &JsonError>,
    path: &JmesPath,
) -> Result<Vec<String>, ExceptionText> {
    let json = json.map_err(|error| error.message.clone())?;
    let result = path.search(json).map_err(|error| error.message)?;
    Ok(if result.is_null() {
        Vec::new()
    } else {
        result.values()
    })
}

/// `handleListResult`, `handleSingleResult` and `handleNullResult`.
fn store(
    cx: &mut PostProcessorView,
    names: &mut VariableNames,
    found: &[Rc<str>],
    number: i32,
    default: &Rc<str>,
) {
    match found {
        [] => cx.vars_mut().set_named(names.base(), default.clone()),
        found if number < 0 => {
            for (index, value) in found.iter().enumerate() {
                names.set_numbered(index + 1, value.clone(), cx.vars_mut());
            }
        }
        [one] => cx.vars_mut().set_named(names.base(), one.clone()),
        found => {
            let index = if number == 0 {
                cx.random().index(found.len())
            } else {
                number as usize - 1
            };
            cx.vars_mut()
                .set_named(names.base(), found.get(index).unwrap_or(default).clone());
        }
    }
    names.set_match_count(found.len(), cx.vars_mut());
}

impl JmesPathExtractor {
    async fn process(&self, cx: &mut PostProcessorView, scope: ScopeReading<'_>, sample: &Sample) {
        let inputs = scope.bodies(cx, sample);
        let mut names = VariableNames::new(&self.reference.eval(cx));
        let default = self.default.eval(cx).into_value();
        let text = self.match_number.eval(cx);
        let number = if drumfire_java::text::is_blank(&text) {
            Some(0)
        } else {
            self.match_number.repeat(cx, 1); // isBlank asks first
            values::parse_int(&text)
        };
        let Some(number) = number else {
            return cx.raise(Raised::exception(format!(
                "java.lang.NumberFormatException: For input string: \"{text}\""
            )));
        };
        names.clear(cx.vars_mut());
        if inputs.is_empty() {
            self.path.repeat(cx, 1);
            return cx.vars_mut().set_named(names.base(), default);
        }
        match self.extract(cx, &inputs).await {
            Ok(found) => store(cx, &mut names, &found, number, &default),
            Err(message) => {
                let name = self.name.eval(cx);
                tracing::error!("Error processing JSON content in {name}, message: {message}");
                cx.vars_mut().set_named(names.base(), default);
            }
        }
    }
}

impl PostProcessorRole for JmesPathExtractor {
    fn turn<'a>(&'a self, cx: &'a mut PostProcessorView, sample: &'a mut Sample) -> Act<'a> {
        let searches = &self.query.searches;
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
    use crate::run::view::View;

    fn run(body: &str, path: &str, number: &str) -> Vec<String> {
        let xml = format!(
            r#"<JMESPathExtractor guiclass="x" testclass="JMESPathExtractor" testname="n"><stringProp name="JMESExtractor.referenceName">v</stringProp>
            <stringProp name="JMESExtractor.jmesPathExpr">{path}</stringProp><stringProp name="JMESExtractor.matchNumber">{number}</stringProp>
            <stringProp name="JMESExtractor.defaultValue">D</stringProp></JMESPathExtractor>"#
        );
        let (extractor, mut cx, _) =
            fixture::decode_with_findings(&[], &xml, JmesPathExtractor::decode);
        for (name, value) in [("v_matchNr", "4"), ("v_1", "old"), ("v_2", "old")] {
            cx.vars.set_named(name, value.into());
        }
        extractor
            .turn(View::of(&mut cx), &mut fixture::sample(body))
            .done();
        let lost = cx.take_raised().map(|raised| raised.to_string());
        fixture::variables(&cx, "v")
            .into_iter()
            .chain(lost)
            .collect()
    }

    // Recorded from JMESPathExtractor itself.
    #[test]
    fn results_are_stored_as_jmeter_does() {
        let body = r#"{"a":[1,"x",{"b":null}],"s":"t","n":null}"#;
        assert_eq!(
            run(body, "a", "-1"),
            ["v_1=1", "v_2=x", r#"v_3={"b":null}"#, "v_matchNr=3"]
        );
        assert_eq!(run(body, "a", "2"), ["v=x", "v_matchNr=3"]);
        assert_eq!(run(body, "a", "4"), ["v=D", "v_matchNr=3"]);
        assert_eq!(run(body, "s", "-1"), ["v_1=t", "v_matchNr=1"]);
        assert_eq!(run(body, " s ", ""), ["v=t", "v_matchNr=1"]);
        assert_eq!(run(body, "n", "-1"), ["v=D", "v_matchNr=0"]);
        assert_eq!(run(r#"{"a":[]}"#, "a", "1"), ["v=D", "v_matchNr=0"]);
    }

    #[test]
    fn unreadable_json_gives_only_the_default() {
        assert_eq!(run("{", "a", "1"), ["v=D"]);
        assert_eq!(run("", "a", "1"), ["v=D"]);
        assert_eq!(run(r#"{"a":1}"#, "[", "1"), ["v=D"]);
        let kept = ["v_1=old", "v_2=old", "v_matchNr=4"].map(str::to_owned);
        assert_eq!(run(r#"{"a":1}"#, "a", "x")[..3], kept);
        assert_eq!(
            run(r#"{"a":1}"#, "a", "x")[3],
            "java.lang.NumberFormatException: For input string: \"x\""
        );
    }
}
