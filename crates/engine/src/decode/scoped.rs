//! The results that an extractor or assertion reads (`AbstractScopedTestElement`).

use std::rc::Rc;

use drumfire_expr::Template;
use drumfire_results::Sample;

use crate::decode::Decoder;
use crate::run::context::Context;
use crate::run::input::Input;
use crate::run::needs::Needs;
use crate::run::roles::ResultScope;

/// How many levels of sub-results are read below the first level (`AbstractScopedTestElement#recurseResults`).
const DEEPER_LEVELS: u32 = 4;

/// The setting 'Apply to' of an element.
pub struct Scoped {
    scope: ResultScope,
    variable: Template,
}

impl Scoped {
    /// The setting of an extractor: `Sample.scope` and `Scope.variable`.
    pub fn extractor(d: &mut Decoder) -> Scoped {
        Scoped::decode(d, "Sample.scope")
    }

    /// The setting of an assertion: `Assertion.scope` and `Scope.variable`.
    pub fn assertion(d: &mut Decoder) -> Scoped {
        Scoped::decode(d, "Assertion.scope")
    }

    fn decode(d: &mut Decoder, property: &str) -> Scoped {
        let variable = d.template("Scope.variable");
        let text = match d.element.props.has(property) {
            true => d.text_now(property),
            false => "parent".to_owned(),
        };
        let scope = match text.as_str() {
            "parent" => ResultScope::Parent,
            "all" => ResultScope::All,
            "children" => ResultScope::Children,
            "variable" => ResultScope::Variable(variable.source().to_owned()),
            _ => ResultScope::Nothing,
        };
        Scoped { scope, variable }
    }

    pub fn scope(&self) -> &ResultScope {
        &self.scope
    }

    pub fn is_variable(&self) -> bool {
        matches!(self.scope, ResultScope::Variable(_))
    }

    /// The needs of an element that reads the parts `of_result` of each result in its scope.
    pub fn needs(&self, of_result: Needs) -> Needs {
        match self.scope {
            ResultScope::Parent | ResultScope::All | ResultScope::Children => of_result,
            ResultScope::Variable(_) | ResultScope::Nothing => Needs::NOTHING,
        }
    }

    /// Name of the variable that the element reads.
    pub fn variable_name(&self, cx: &mut Context) -> drumfire_expr::Text<'_> {
        self.variable.eval(cx)
    }

    /// Value of the variable that the element reads.
    pub fn variable(&self, cx: &mut Context) -> Option<Rc<str>> {
        let name = self.variable.eval(cx);
        cx.vars.get_named(&name).cloned()
    }

    /// The length of all inputs together.
    pub fn bytes(&self, cx: &mut Context, sample: &Sample) -> usize {
        let inputs = self.inputs(cx, sample);
        inputs.map(|input| input.bytes()).sum()
    }

    /// The length of the input that an assertion judges now: the result at hand, or the variable.
    pub fn judged_bytes(&self, cx: &mut Context, sample: &Sample) -> usize {
        self.judged(cx, sample).map_or(0, |input| input.bytes())
    }

    /// The input that an assertion judges now, a result or a variable; `None` if the variable is undefined.
    pub fn judged<'s>(&self, cx: &mut Context, sample: &'s Sample) -> Option<Input<'s>> {
        match self.is_variable() {
            true => self.variable(cx).map(Input::Variable),
            false => Some(Input::Result(sample)),
        }
    }

    /// All inputs that the element reads, in JMeter's order; none if the variable is undefined.
    pub fn inputs<'s>(
        &self,
        cx: &mut Context,
        sample: &'s Sample,
    ) -> impl Iterator<Item = Input<'s>> + use<'s> {
        let variable = if self.is_variable() {
            self.variable(cx)
        } else {
            None
        };
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
        let labels: Vec<String> = scoped
            .inputs(&mut cx, &sample)
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
