//! JSON Path Extractor of jmeter-plugins (`com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor`): puts the
//! result of a JSONPath into a variable.
//!
//! Properties: `JSONPATH`, `VAR` (the variable; an array also gives `name_1`, `name_2`, … and `name_matchNr`), `DEFAULT` (if
//! nothing can be read or found, or only an empty array), `SUBJECT` (`BODY`, or `VAR`: the variable in `VARIABLE`). With
//! `INPUT_FORMAT` `YAML` the plugin's own class runs it.
//!
//! It behaves as version 2.7 of the plugin. Versions before 2.0 wrote objects as Java does (`{a=1}`), and kept old `name_1` and
//! so on if nothing was found.

use drumfire_elements::post::json_path_extractor as facts;
use drumfire_expr::Template;
use drumfire_query::json::{Json, JsonError, Value};
use drumfire_query::jsonpath::JsonPath;
use drumfire_results::Sample;

use super::variable_names::VariableNames;
use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::compiled::{CompiledProperty, NoRules};
use crate::decode::roles::Roles;
use crate::elements::json_query::JsonQuery;
use crate::run::input::Input;
use crate::run::needs::Needs;
use crate::run::parsed::JsonReader;
use crate::run::roles::{Act, PostProcessorRole};
use crate::run::view::PostProcessorView;

struct JsonPathExtractor {
    /// `None` if the plan's path is literally the empty text.
    path: Option<CompiledProperty<JsonPath>>,
    variable: Template,
    default: Template,
    subject: Template,
    source: Template,
    query: JsonQuery,
}

/// The result of a path as texts.
enum PathTexts {
    One(String),
    /// An array, and its elements.
    All(String, Vec<String>),
}

pub fn decode(d: &mut Decoder) -> Roles {
    if d.text(facts::FORMAT.name) == "YAML" {
        return Roles::foreign("its input is YAML");
    }
    Roles::post(JsonPathExtractor::decode(d))
}

impl JsonPathExtractor {
    fn decode(d: &mut Decoder) -> JsonPathExtractor {
        let path = d.template(facts::PATH.name);
        JsonPathExtractor {
            path: (!path.is_empty_literal()).then(|| CompiledProperty::new(d, path, NoRules)),
            variable: d.template(facts::NAME.name),
            default: d.template(facts::DEFAULT.name),
            subject: d.template(facts::SUBJECT.name),
            source: d.template(facts::SOURCE.name),
            query: JsonQuery::new(JsonReader::Smart),
        }
    }

    /// The text to search; `None` if its variable is undefined.
    fn input<'s>(&self, cx: &mut PostProcessorView, sample: &'s Sample) -> Option<Input<'s>> {
        match &*self.subject.eval(cx) {
            "VAR" => {
                let source = self.source.eval(cx);
                cx.vars().get_named(&source).cloned().map(Input::Variable)
            }
            _ => Some(Input::Result(sample)),
        }
    }

    /// # Errors
    /// With the message of the exception that the plugin catches.
    async fn find(
        &self,
        cx: &mut PostProcessorView,
        input: Option<Input<'_>>,
    ) -> Result<PathTexts, ExceptionText> {
        let input = input.ok_or("json string can not be null or empty")?;
        let path = self
            .path
            .as_ref()
            .ok_or("path can not be null or empty")?
            .get(cx)
            .outcome?;
        let texts = self.query.search(cx, &input, &path, read_path).await;
        texts.unwrap_or_else(|| Err("the run was told to stop".into()))
    }

    /// `JSONPathExtractor#process`: a failure writes the default.
    async fn process(&self, cx: &mut PostProcessorView, input: Option<Input<'_>>) {
        let name = self.variable.eval(cx).into_string();
        let mut names = VariableNames::new(&name);
        match self.find(cx, input).await {
            Ok(PathTexts::One(text)) => cx.vars_mut().set_named(&name, text.into()),
            Ok(PathTexts::All(array, items)) => {
                cx.vars_mut().set_named(&name, array.into());
                names.set_match_count(items.len(), cx.vars_mut());
                remove_numbered(&mut names, cx);
                for (index, item) in items.into_iter().enumerate() {
                    names.set_numbered(index + 1, item.into(), cx.vars_mut());
                }
            }
            Err(message) => {
                tracing::debug!("Extract failed: {message}");
                let default = self.default.eval(cx).into_value();
                cx.vars_mut().set_named(&name, default);
                names.set_match_count(0, cx.vars_mut());
                remove_numbered(&mut names, cx);
            }
        }
    }
}

fn read_path(
    json: Result<&Json<'_>, &JsonError>,
    path: &JsonPath,
) -> Result<PathTexts, ExceptionText> {
    let json = json.map_err(ToString::to_string)?;
    let value = path.read(json).map_err(|error| error.message)?;
    match &*value {
        Value::Array(items) if items.is_empty() => Err("Extracted array is empty".into()),
        Value::Array(items) => Ok(PathTexts::All(
            value.to_assertion_text().into(),
            items
                .iter()
                .map(|item| item.to_assertion_text().into())
                .collect(),
        )),
        value => Ok(PathTexts::One(value.to_assertion_text().into())),
    }
}

/// Removes `name_1`, `name_2`, … up to the first that is undefined.
fn remove_numbered(names: &mut VariableNames, cx: &mut PostProcessorView) {
    let mut number = 1;
    while cx.vars_mut().remove_named(names.numbered(number)).is_some() {
        number += 1;
    }
}

impl PostProcessorRole for JsonPathExtractor {
    fn turn<'a>(&'a self, cx: &'a mut PostProcessorView, sample: &'a mut Sample) -> Act<'a> {
        let input = self.input(cx, sample);
        let bytes = match &input {
            Some(input) => cx.parsed().text(input).len(),
            None => 0,
        };
        let searches = &self.query.searches;
        searches.turn(cx, bytes, move |cx| self.process(cx, input))
    }

    fn reads(&self) -> Needs {
        match self.subject.literal() {
            Some("VAR") => Needs::NOTHING,
            _ => Needs::BODY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::view::View;

    /// Variables after one sample, `v_1` to `v_3` and `v_5` being there before it.
    fn extract(body: &str, path: &str, more: &str) -> String {
        let class = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor";
        let xml = format!(
            r#"<{class} guiclass="g" testclass="{class}" testname="e"><stringProp name="JSONPATH">{path}</stringProp>
            <stringProp name="VAR">v</stringProp><stringProp name="DEFAULT">no ${{w}}</stringProp>{more}</{class}>"#
        );
        let (extractor, mut cx, _) =
            fixture::decode_with_findings(&[], &xml, JsonPathExtractor::decode);
        for name in ["v_1", "v_2", "v_3", "v_5"] {
            cx.vars.set_named(name, "old".into());
        }
        cx.vars.set_named("w", r#"{"k":[7]}"#.into());
        extractor
            .turn(View::of(&mut cx), &mut fixture::sample(body))
            .done();
        fixture::variables(&cx, "v").join(" ")
    }

    const BODY: &str = r#"{"a":{"x":1,"y":[1,2.50]},"n":null,"s":"q","e":[],"l":[{"k":1},null,"t",true],"f":1e3,
        "g":{"a":2,"n":7,"e":4,"o":{"z":8,"b":9},"big":3,"f":6,"u":5,"arr":1}}"#;
    const OLD: &str = "v_1=old v_2=old v_3=old v_5=old";

    // Recorded from jmeter-plugins-json 2.7.

    #[test]
    fn a_single_value_leaves_the_variables_of_an_array_alone() {
        for (path, value) in [
            ("$.s", "q"),
            ("$.a", r#"{"x":1,"y":[1,2.5]}"#),
            ("$.n", "null"),
            ("$.f", "1000.0"),
            (
                "$.g",
                r#"{"arr":1,"a":2,"big":3,"e":4,"u":5,"f":6,"n":7,"o":{"z":8,"b":9}}"#,
            ),
        ] {
            assert_eq!(extract(BODY, path, ""), format!("v={value} {OLD}"));
        }
        assert_eq!(extract("\"t\"", "$", ""), format!("v=t {OLD}"));
    }

    #[test]
    fn an_array_gives_each_element() {
        assert_eq!(
            extract(BODY, "$.l", ""),
            r#"v=[{"k":1},null,"t",true] v_1={"k":1} v_2=null v_3=t v_4=true v_5=old v_matchNr=4"#
        );
        assert_eq!(
            extract(BODY, "$.a.y", ""),
            "v=[1,2.5] v_1=1 v_2=2.5 v_5=old v_matchNr=2"
        );
        for path in ["$..x", "$.l[*].k"] {
            assert_eq!(extract(BODY, path, ""), "v=[1] v_1=1 v_5=old v_matchNr=1");
        }
    }

    #[test]
    fn missing_paths_and_unreadable_json_give_the_default() {
        for path in ["$.e", "$..zz", "$.zz", "", "$.l[5]", "$["] {
            let expected = r#"v=no {"k":[7]} v_5=old v_matchNr=0"#;
            assert_eq!(extract(BODY, path, ""), expected, "{path}");
        }
        for body in ["", "{"] {
            assert!(extract(body, "$.a", "").starts_with("v=no "));
        }
    }

    #[test]
    fn a_variable_may_be_looked_into() {
        let of = |name: &str| {
            format!(
                r#"<stringProp name="SUBJECT">VAR</stringProp><stringProp name="VARIABLE">{name}</stringProp>"#
            )
        };
        assert_eq!(
            extract("", "$.k", &of("w")),
            "v=[7] v_1=7 v_5=old v_matchNr=1"
        );
        assert!(extract("{\"k\":1}", "$.k", &of("none")).starts_with("v=no "));
    }
}
