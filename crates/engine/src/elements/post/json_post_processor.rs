//! JSON Extractor (`JSONPostProcessor`): puts the values that JSONPath expressions find into variables.
//!
//! Properties: `JSONPostProcessor.referenceNames`, `.jsonPathExprs`, `.defaultValues`, `.match_numbers` (lists with `;`
//! between; 0 random, negative all), `.compute_concat` (all values in `name_ALL`), and the scope.
//!
//! As in JMeter, the three lists must have the same length, not counting trailing empty items. Otherwise, and if a match number
//! is not a number, the sample is discarded.

use std::rc::Rc;
use std::sync::Arc;

use drumfire_elements::post::json_extractor as facts;
use drumfire_expr::{Raised, Template};
use drumfire_java::values;
use drumfire_query::json::{Json, JsonError, Value};
use drumfire_query::jsonpath::JsonPath;
use drumfire_results::Sample;

use super::variable_names::VariableNames;
use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::compiled;
use crate::decode::compiled::{NoRules, Use};
use crate::decode::roles::Roles;
use crate::decode::scoped::{ScopeReading, Scoped};
use crate::decode::setting::Flag;
use crate::elements::json_query::JsonQuery;
use crate::run::input::Input;
use crate::run::needs::Needs;
use crate::run::parsed::{JsonReader, MOST_SEARCHES};
use crate::run::roles::{Act, PostProcessorRole};
use crate::run::view::PostProcessorView;

/// The values found for one name; null values are `None`.
type Values = Vec<Option<Rc<str>>>;

pub struct JsonPostProcessor {
    scoped: Scoped,
    name: Template,
    names: Template,
    paths: Template,
    /// The compiled expressions, if the plan's are literal.
    compiled: Option<Vec<Result<Arc<JsonPath>, ExceptionText>>>,
    defaults: Template,
    match_numbers: Template,
    concatenates: Flag,
    /// Empty defaults at the end count, as in JMeter 6.
    keeps_empty_defaults: bool,
    /// The extractions, if they are the same for every sample.
    fixed: Option<Vec<Extraction>>,
    query: JsonQuery,
}

/// One expression, and where its values go.
struct Extraction {
    name: Box<str>,
    path: Box<str>,
    default: Box<str>,
    number: i32,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::post(JsonPostProcessor::decode(d))
}

/// `String.split(";")`: trailing empty items are dropped, but the empty text is one empty item.
fn split(text: &str) -> Vec<&str> {
    if text.is_empty() {
        return vec![""];
    }
    let mut items: Vec<&str> = text.split(';').collect();
    while items.last().is_some_and(|item| item.is_empty()) {
        items.pop();
    }
    items
}

impl JsonPostProcessor {
    fn decode(d: &mut Decoder) -> JsonPostProcessor {
        let paths = d.template(facts::PATHS.name);
        let compiled: Option<Vec<_>> = paths.literal().map(|paths| {
            split(paths)
                .into_iter()
                .map(|path| {
                    let path = drumfire_java::text::trim(path);
                    <JsonPath as compiled::Compile>::compile(path, NoRules).map(Arc::new)
                })
                .collect()
        });
        for fault in compiled
            .iter()
            .flatten()
            .filter_map(|path| path.as_ref().err())
        {
            d.warn(
                "expression-malformed",
                format!("a JSON path in '{}' is malformed: {fault}", d.element.name),
            );
        }
        let mut decoded = JsonPostProcessor {
            scoped: Scoped::extractor(d),
            name: d.name(),
            names: d.template(facts::NAMES.name),
            paths,
            compiled,
            defaults: d.template(facts::DEFAULTS.name),
            match_numbers: d.template(facts::MATCH_NUMBERS.name),
            concatenates: Flag::decode(d, facts::COMPUTE_CONCAT.name, false),
            keeps_empty_defaults: d.decoding.follows_jmeter6,
            fixed: None,
            query: JsonQuery::new(JsonReader::Smart),
        };
        let texts = decoded.lists().map(Template::literal);
        if let [Some(names), Some(paths), Some(defaults), Some(numbers)] = texts {
            decoded.fixed = decoded.extractions([names, paths, defaults, numbers]).ok();
        }
        decoded
    }

    fn lists(&self) -> [&Template; 4] {
        [
            &self.names,
            &self.paths,
            &self.defaults,
            &self.match_numbers,
        ]
    }

    /// Splits the lists.
    fn extractions(
        &self,
        [names, paths, defaults, numbers]: [&str; 4],
    ) -> Result<Vec<Extraction>, Unmatched> {
        let (names, paths) = (split(names), split(paths));
        let defaults = if self.keeps_empty_defaults {
            defaults.split(';').collect()
        } else {
            split(defaults)
        };
        let numbers = match_numbers(numbers, defaults.len()).map_err(Unmatched::Number)?;
        if names.len() != paths.len() || names.len() != defaults.len() {
            return Err(Unmatched::Lengths);
        }
        let defaults = defaults.into_iter().zip(numbers);
        let all = names.into_iter().zip(paths).zip(defaults);
        let trimmed = |text| drumfire_java::text::trim(text).into();
        Ok(all
            .map(|((name, path), (default, number))| Extraction {
                name: trimmed(name),
                path: trimmed(path),
                default: default.into(),
                number,
            })
            .collect())
    }

    fn path(&self, index: usize, text: &str) -> Result<Use<'_, JsonPath>, ExceptionText> {
        match &self.compiled {
            Some(compiled) => compiled[index]
                .as_ref()
                .map(Use::Borrowed)
                .map_err(Clone::clone),
            None => compiled::computed(text, NoRules).map(Use::Owned),
        }
    }

    async fn extract(
        &self,
        (index, count): (usize, usize),
        path: &str,
        inputs: &[Option<Input<'_>>],
        cx: &mut PostProcessorView,
    ) -> Result<Values, ExceptionText> {
        let path = self.path(index, path)?;
        let mut values = Values::new();
        for input in inputs {
            let input = input
                .as_ref()
                .filter(|input| input.bytes() > 0)
                .ok_or(NO_TEXT)?;
            if count <= MOST_SEARCHES
                && let Some(value) = find_unparsed(cx, input, &path)
            {
                values.push(value);
                continue;
            }
            let texts = self.query.search(cx, input, &path, find).await;
            // A search that the run no longer waits for finds nothing.
            let texts = texts.unwrap_or_else(|| Ok(Vec::new()))?;
            values.extend(texts.into_iter().map(|text| text.map(Rc::from)));
        }
        Ok(values)
    }
}

/// The values that a path finds, null values as `None`.
fn find(
    json: Result<&Json<'_>, &JsonError>,
    path: &JsonPath,
) -> Result<Vec<Option<String>>, ExceptionText> {
    let json = json.map_err(ToString::to_string)?;
    let nodes = path.find(json).map_err(|error| error.message)?;
    let text = |node: &_| Value::to_text(node).map(|text| text.into_owned());
    Ok(nodes.iter().map(|node| text(node)).collect())
}

/// The value of a path, found on the worker without parsing the text; `None` if path or text do not allow that.
fn find_unparsed(
    cx: &mut PostProcessorView,
    input: &Input<'_>,
    path: &JsonPath,
) -> Option<Option<Rc<str>>> {
    if cx.searches_apart() || !cx.parsed().may_search_json(input) {
        return None;
    }
    let text = cx.parsed().text(input);
    let value = path.find_in_text(&text)?;
    Some(value.to_text().map(|text| Rc::from(&*text)))
}

/// The message of JMeter for a body or a variable without text.
const NO_TEXT: &str = "json string can not be null or empty";

/// Why the lists do not belong together.
enum Unmatched {
    /// A match number is not a number, or has no default.
    Number(ExceptionText),
    Lengths,
}

impl Unmatched {
    /// The exception, which discards the sample.
    fn raised(self) -> Raised {
        let message = match self {
            Unmatched::Number(exception) => return Raised::exception(exception),
            Unmatched::Lengths => {
                "java.lang.IllegalArgumentException: Mismatch between number of variables, json expressions and default values"
            }
        };
        tracing::error!(
            "Number of JSON Path variables must match number of default values and json-path expressions, check you use separator ';' if you have many values"
        );
        Raised::exception(message.to_owned())
    }
}

/// `getMatchNumbersAsInt`.
fn match_numbers(text: &str, size: usize) -> Result<Vec<i32>, ExceptionText> {
    let mut numbers = vec![0; size];
    if drumfire_java::text::is_blank(text) {
        return Ok(numbers);
    }
    for (index, item) in split(text).into_iter().enumerate() {
        let item = drumfire_java::text::trim(item);
        let number = values::parse_int(item).ok_or_else(|| {
            format!("java.lang.NumberFormatException: For input string: \"{item}\"")
        })?;
        let slot = numbers.get_mut(index);
        *slot.ok_or_else(|| format!("java.lang.ArrayIndexOutOfBoundsException: Index {index} out of bounds for length {size}"))? = number;
    }
    Ok(numbers)
}

impl JsonPostProcessor {
    async fn process(
        &self,
        cx: &mut PostProcessorView,
        scope: ScopeReading<'_>,
        sample: &mut Sample,
    ) {
        let inputs = scope.bodies(cx, sample);
        let read;
        let extractions = match &self.fixed {
            Some(fixed) => fixed,
            None => {
                let texts = self.lists().map(|list| list.eval(cx));
                match self.extractions(texts.each_ref().map(|text| &**text)) {
                    Ok(extractions) => read = extractions,
                    Err(unmatched) => return cx.raise(unmatched.raised()),
                }
                &read
            }
        };
        for (index, extraction) in extractions.iter().enumerate() {
            let mut target = Destination {
                names: VariableNames::new(&extraction.name),
                default: &extraction.default,
                number: extraction.number,
                concatenates: &self.concatenates,
            };
            target.names.clear(cx.vars_mut());
            if inputs.is_empty() {
                target.set(None, cx);
                continue;
            }
            let position = (index, extractions.len());
            let extracted = self.extract(position, &extraction.path, &inputs, cx).await;
            match extracted {
                Ok(extracted) => target.store(&extracted, cx),
                Err(message) => {
                    let name = self.name.eval(cx);
                    tracing::error!("Error processing JSON content in {name}, message: {message}");
                    target.set(None, cx);
                }
            }
        }
    }
}

impl PostProcessorRole for JsonPostProcessor {
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

/// Where the values of one expression go.
struct Destination<'a> {
    names: VariableNames,
    default: &'a str,
    number: i32,
    concatenates: &'a Flag,
}

impl Destination<'_> {
    /// Writes the variable itself: a null becomes the default.
    fn set(&mut self, value: Option<Rc<str>>, cx: &mut PostProcessorView) {
        let value = value.unwrap_or_else(|| self.default.into());
        cx.vars_mut().set_named(self.names.base(), value);
    }

    fn set_all(&mut self, text: Rc<str>, cx: &mut PostProcessorView) {
        cx.vars_mut().set_named(self.names.with(&["_ALL"]), text);
    }

    /// `handleResult`.
    fn store(&mut self, found: &Values, cx: &mut PostProcessorView) {
        match found.as_slice() {
            [] => {
                self.set(None, cx);
                self.names.set_match_count(0, cx.vars_mut());
                if self.number < 0 && self.concatenates.get(cx) {
                    self.set_all("".into(), cx);
                }
                return;
            }
            found if self.number < 0 => self.store_all(found, cx),
            [one] => self.set(one.clone(), cx),
            found if self.number == 0 => {
                let index = cx.random().index(found.len());
                self.set(found[index].clone(), cx);
            }
            found => self.set(found.get(self.number as usize - 1).cloned().flatten(), cx),
        }
        if self.number != 0 {
            self.names.set_match_count(found.len(), cx.vars_mut());
        }
    }

    fn store_all(&mut self, found: &[Option<Rc<str>>], cx: &mut PostProcessorView) {
        let values: Vec<Rc<str>> = found
            .iter()
            .map(|value| value.clone().unwrap_or_else(|| self.default.into()))
            .collect();
        let concatenates = self.concatenates.get(cx);
        if let 2.. = values.len() {
            self.concatenates.repeat(cx, values.len() + 1); // handleListResult asks for each value
        }
        if concatenates {
            self.set_all(values.join(",").into(), cx);
        }
        for (index, value) in values.into_iter().enumerate() {
            self.names.set_numbered(index + 1, value, cx.vars_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::view::View;

    const BOOKS: &str =
        r#"{"book":[{"t":"a","p":8.95},{"t":"b","p":10},{"t":null}],"o":{"k":"x y"}}"#;

    fn extractor(
        names: &str,
        paths: &str,
        defaults: &str,
        numbers: &str,
        more: &str,
    ) -> (JsonPostProcessor, Context) {
        let xml = format!(
            r#"<JSONPostProcessor guiclass="JSONPostProcessorGui" testclass="JSONPostProcessor" testname="j">
            <stringProp name="JSONPostProcessor.referenceNames">{names}</stringProp>
            <stringProp name="JSONPostProcessor.jsonPathExprs">{paths}</stringProp>
            <stringProp name="JSONPostProcessor.defaultValues">{defaults}</stringProp>
            <stringProp name="JSONPostProcessor.match_numbers">{numbers}</stringProp>{more}</JSONPostProcessor>"#
        );
        fixture::decode(&xml, JsonPostProcessor::decode)
    }

    fn run((extractor, mut cx): (JsonPostProcessor, Context), body: &str) -> Vec<String> {
        extractor
            .turn(View::of(&mut cx), &mut fixture::sample(body))
            .done();
        assert_eq!(cx.take_raised(), None);
        fixture::variables(&cx, "v")
    }

    #[test]
    fn one_value_by_number() {
        assert_eq!(
            run(extractor("v", "$.book[*].p", "no", "2", ""), BOOKS),
            ["v=10", "v_matchNr=2"]
        );
        assert_eq!(
            run(extractor("v", "$.book[*].p", "no", "3", ""), BOOKS),
            ["v=no", "v_matchNr=2"]
        );
        assert_eq!(
            run(extractor("v", "$.o", "no", "", ""), BOOKS),
            [r#"v={"k":"x y"}"#]
        );
        // A single value is taken whatever the match number is.
        assert_eq!(
            run(extractor("v", "$.o.k", "no", "5", ""), BOOKS),
            ["v=x y", "v_matchNr=1"]
        );
    }

    #[test]
    fn all_values() {
        let concat = r#"<boolProp name="JSONPostProcessor.compute_concat">true</boolProp>"#;
        let all = ["v_1=a", "v_2=b", "v_3=no", "v_ALL=a,b,no", "v_matchNr=3"];
        assert_eq!(
            run(extractor("v", "$.book[*].t", "no", "-1", concat), BOOKS),
            all
        );
        assert_eq!(
            run(extractor("v", "$.o.k", "no", "-1", concat), BOOKS),
            ["v_1=x y", "v_ALL=x y", "v_matchNr=1"]
        );
        assert_eq!(
            run(extractor("v", "$.zzz", "no", "-1", concat), BOOKS),
            ["v=no", "v_ALL=", "v_matchNr=0"]
        );
    }

    #[test]
    fn lists_of_names() {
        let extractor = extractor("va; vb", "$.o.k ;$.zzz", "1;2", "1;1", "");
        assert_eq!(
            run(extractor, BOOKS),
            ["va=x y", "va_matchNr=1", "vb=2", "vb_matchNr=0"]
        );
    }

    #[test]
    fn old_values_are_removed_before() {
        let (extractor, mut cx) = extractor("v", "$.zzz", "no", "1", "");
        for name in ["v_1", "v_2", "v_4", "v_matchNr"] {
            cx.vars.set_named(name, "old".into());
        }
        assert_eq!(
            run((extractor, cx), BOOKS),
            ["v=no", "v_4=old", "v_matchNr=0"]
        );
    }

    #[test]
    fn unreadable_json_gives_only_the_default() {
        assert_eq!(run(extractor("v", "$.a", "no", "-1", ""), "{"), ["v=no"]);
        assert_eq!(run(extractor("v", "$.a", "no", "-1", ""), " \n"), ["v=no"]);
        let scope = r#"<stringProp name="Sample.scope">variable</stringProp><stringProp name="Scope.variable">w</stringProp>"#;
        assert_eq!(
            run(extractor("v", "$.a", "no", "-1", scope), BOOKS),
            ["v=no"]
        );
        let (extractor, mut cx) = extractor("v", "$.a", "no", "1", scope);
        cx.vars.set_named("w", "{a:7}".into());
        assert_eq!(run((extractor, cx), ""), ["v=7", "v_matchNr=1"]);
    }

    #[test]
    fn lists_of_different_lengths_lose_the_sample() {
        let raised = |names: &str, paths: &str, defaults: &str, numbers: &str| {
            let (extractor, mut cx) = extractor(names, paths, defaults, numbers, "");
            extractor
                .turn(View::of(&mut cx), &mut fixture::sample(BOOKS))
                .done();
            cx.take_raised()
        };
        let message = "java.lang.IllegalArgumentException: Mismatch between number of variables, json expressions and default values";
        assert_eq!(
            raised("a;b", "$.o;$.o", "", ""),
            Some(Raised::exception(message.to_owned()))
        );
        assert_eq!(
            raised("a;b", "$.o;$.o", ";", ""),
            Some(Raised::exception(message.to_owned()))
        );
        assert!(raised("a", "$.o", "", "x").is_some());
        assert!(raised("a", "$.o", "", "1;2").is_some());
        assert_eq!(raised("a;", "$.o;", "", "1"), None);
    }

    #[test]
    fn computed_paths_are_compiled_when_they_are_known() {
        let (extractor, mut cx) = extractor("v", "$.${key}.k", "no", "1", "");
        cx.vars.set_named("key", "o".into());
        assert_eq!(run((extractor, cx), BOOKS), ["v=x y", "v_matchNr=1"]);
    }
}
