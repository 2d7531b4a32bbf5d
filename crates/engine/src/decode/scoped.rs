//! The results that an extractor or assertion reads (`AbstractScopedTestElement`).

use std::rc::Rc;

use drumfire_expr::{Scope, Template, Text};
use drumfire_results::{AssertionResult, Sample};

use crate::decode::Decoder;
use crate::decode::setting::Choice;
use crate::run::input::Input;
use crate::run::needs::Needs;
use crate::run::roles::{Act, ResultScope};
use crate::run::search::Searches;
use crate::run::view::{AssertionView, PostProcessorView};

/// How many levels of sub-results are read below the first level (`AbstractScopedTestElement#recurseResults`).
const DEEPER_LEVELS: u32 = 4;

/// The setting 'Apply to' of an element.
pub struct Scoped {
    scope: Choice<ResultScope>,
    variable: Template,
    /// Lists the results that it reads, instead of being called for each (`getSampleList`).
    lists: bool,
}

impl Scoped {
    /// The setting of an extractor: `Sample.scope` and `Scope.variable`.
    pub fn extractor(d: &mut Decoder) -> Scoped {
        Scoped::decode(d, "Sample.scope", true)
    }

    /// The setting of an assertion: `Assertion.scope` and `Scope.variable`.
    pub fn assertion(d: &mut Decoder) -> Scoped {
        Scoped::decode(d, "Assertion.scope", false)
    }

    fn decode(d: &mut Decoder, property: &str, lists: bool) -> Scoped {
        Scoped {
            scope: Choice::decode(d, property, "parent", |text: &str| match text {
                "parent" => ResultScope::Parent,
                "all" => ResultScope::All,
                "children" => ResultScope::Children,
                "variable" => ResultScope::Variable,
                _ => ResultScope::Nothing,
            }),
            variable: d.template("Scope.variable"),
            lists,
        }
    }

    /// The results that an assertion is called for.
    pub fn scope(&self, cx: &mut dyn Scope) -> ResultScope {
        self.scope.get(cx)
    }

    /// Whether the element reads a variable, whatever happens in the run.
    pub fn is_always_variable(&self) -> bool {
        self.scope.fixed() == Some(ResultScope::Variable)
    }

    /// The needs of an element that reads the parts `of_result` of each result in its scope.
    pub fn needs(&self, of_result: Needs) -> Needs {
        match self.scope.fixed() {
            Some(ResultScope::Variable | ResultScope::Nothing) => Needs::NOTHING,
            _ => of_result,
        }
    }

    /// Evaluates the setting for a sample.
    pub fn read(&self, cx: &mut dyn Scope) -> ScopeReading<'_> {
        let scope = self.scope.get(cx);
        let is_variable = scope == ResultScope::Variable;
        if self.lists && !is_variable {
            self.scope.repeat(cx, 1);
        }
        let variable = is_variable.then(|| self.variable.eval(cx));
        ScopeReading {
            setting: self,
            scope,
            variable,
        }
    }

    /// The turn of an extractor that searches the texts in its scope.
    pub fn extract<'a, F>(
        &'a self,
        searches: &Searches,
        cx: &'a mut PostProcessorView,
        sample: &'a mut Sample,
        process: impl FnOnce(&'a mut PostProcessorView, ScopeReading<'a>, &'a mut Sample) -> F,
    ) -> Act<'a>
    where
        F: Future<Output = ()> + 'a,
    {
        let scope = self.read(cx);
        let inputs = scope.inputs(cx, sample);
        let bytes = inputs.map(|input| input.bytes()).sum();
        searches.turn(cx, bytes, move |cx| process(cx, scope, sample))
    }

    /// The turn of an assertion that searches the text it judges. `check` gets `None` if that is an undefined variable.
    pub fn judge<'a, F>(
        &self,
        searches: &Searches,
        cx: &'a mut AssertionView,
        sample: &'a Sample,
        check: impl FnOnce(&'a mut AssertionView, Option<Input<'a>>) -> F,
    ) -> Act<'a, AssertionResult>
    where
        F: Future<Output = AssertionResult> + 'a,
    {
        let scope = self.read(cx);
        let input = if scope.is_variable() {
            scope.variable(cx).map(Input::Variable)
        } else {
            Some(Input::Result(sample))
        };
        let bytes = input.as_ref().map(Input::bytes).unwrap_or(0);
        searches.turn(cx, bytes, move |cx| check(cx, input))
    }
}

/// The setting 'Apply to' as it is for one sample.
pub struct ScopeReading<'a> {
    setting: &'a Scoped,
    scope: ResultScope,
    /// The name of the variable that takes the place of results.
    variable: Option<Text<'a>>,
}

impl ScopeReading<'_> {
    pub fn is_variable(&self) -> bool {
        self.variable.is_some()
    }

    /// Name of the variable that the element reads.
    pub fn variable_name(&self) -> &str {
        self.variable.as_deref().unwrap_or("")
    }

    /// Value of the variable that the element reads.
    pub fn variable(&self, cx: &dyn Scope) -> Option<Rc<str>> {
        let name = self.variable.as_deref()?;
        cx.vars().get_named(name).cloned()
    }

    /// Evaluates the texts as often as JMeter reads them beside once.
    pub fn repeat(&self, cx: &mut dyn Scope, scope: usize, variable: usize) {
        self.setting.scope.repeat(cx, scope);
        if self.is_variable() {
            self.setting.variable.repeat(cx, variable);
        }
    }

    /// As [`ScopeReading::inputs`], and logs an undefined variable, as JMeter's `extractor` of this name does.
    pub fn inputs_or_warning<'s>(
        &self,
        cx: &mut dyn Scope,
        sample: &'s Sample,
        (extractor, name): (&str, &Template),
    ) -> Vec<Input<'s>> {
        let inputs: Vec<_> = self.inputs(cx, sample).collect();
        if inputs.is_empty() && self.is_variable() {
            let variable = self.variable_name();
            let name = name.eval(cx);
            tracing::warn!(
                "No variable '{variable}' found to process by {extractor} '{name}', skipping processing"
            );
        }
        inputs
    }

    /// The results that are not blank, or the variable, which is `None` if it is undefined.
    pub fn bodies<'s>(
        &self,
        cx: &mut PostProcessorView,
        sample: &'s Sample,
    ) -> Vec<Option<Input<'s>>> {
        if self.is_variable() {
            return vec![self.variable(cx).map(Input::Variable)];
        }
        let inputs = self.inputs(cx, sample);
        let mut is_blank = |input: &Input<'_>| cx.parsed().is_blank(input);
        inputs.filter(|input| !is_blank(input)).map(Some).collect()
    }

    /// All inputs that the element reads, in JMeter's order; none if the variable is undefined.
    pub fn inputs<'s>(
        &self,
        cx: &dyn Scope,
        sample: &'s Sample,
    ) -> impl Iterator<Item = Input<'s>> + use<'s> {
        let variable = self.variable(cx);
        let own = matches!(self.scope, ResultScope::Parent | ResultScope::All).then_some(sample);
        let mut below = Vec::new();
        if matches!(self.scope, ResultScope::Children | ResultScope::All) {
            below.extend(&sample.children);
            collect_below(&sample.children, DEEPER_LEVELS, &mut below);
        }
        variable
            .map(Input::Variable)
            .into_iter()
            .chain(own.into_iter().chain(below).map(Input::Result))
    }
}

/// All children of one result come before the children of the first of them.
fn collect_below<'s>(children: &'s [Sample], levels: u32, found: &mut Vec<&'s Sample>) {
    if levels == 0 {
        return;
    }
    for child in children {
        found.extend(&child.children);
        collect_below(&child.children, levels - 1, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;

    fn named(label: &str, children: Vec<Sample>) -> Sample {
        Sample {
            label: label.into(),
            children,
            ..Sample::default()
        }
    }

    fn scoped(properties: &str) -> (Scoped, Context) {
        let xml = format!(
            r#"<RegexExtractor guiclass="x" testclass="RegexExtractor" testname="r">{properties}</RegexExtractor>"#
        );
        fixture::decode(&xml, Scoped::extractor)
    }

    fn seen(properties: &str) -> String {
        let (scoped, mut cx) = scoped(properties);
        cx.vars.set_named("v", "value".into());
        let deep = named(
            "2",
            vec![named(
                "21",
                vec![named(
                    "211",
                    vec![named(
                        "2111",
                        vec![named("21111", vec![named("x", vec![])])],
                    )],
                )],
            )],
        );
        let sample = named(
            "p",
            vec![
                named("1", vec![named("11", vec![])]),
                deep,
                named("3", vec![]),
            ],
        );
        let scope = scoped.read(&mut cx);
        let labels: Vec<String> = scope
            .inputs(&cx, &sample)
            .map(|input| match input {
                Input::Result(sample) => sample.label.to_string(),
                Input::Variable(value) => value.to_string(),
            })
            .collect();
        labels.join(" ")
    }

    #[test]
    fn each_scope_sees_its_results_in_order() {
        assert_eq!(seen(""), "p");
        assert_eq!(
            seen(r#"<stringProp name="Sample.scope">children</stringProp>"#),
            "1 2 3 11 21 211 2111 21111"
        );
        assert_eq!(
            seen(r#"<stringProp name="Sample.scope">all</stringProp>"#),
            "p 1 2 3 11 21 211 2111 21111"
        );
        assert_eq!(seen(r#"<stringProp name="Sample.scope"></stringProp>"#), "");
    }

    #[test]
    fn a_variable_takes_the_place_of_results() {
        let of = |name: &str| {
            format!(
                r#"<stringProp name="Sample.scope">variable</stringProp><stringProp name="Scope.variable">{name}</stringProp>"#
            )
        };
        assert_eq!(seen(&of("v")), "value");
        assert_eq!(seen(&of("other")), "");
        let (scoped, _) = scoped(&of("v"));
        assert_eq!(scoped.needs(Needs::ALL), Needs::NOTHING);
    }
}
