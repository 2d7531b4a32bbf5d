//! Advice on a plan: elements that mislead or that cost time, each with the reason and the remedy. `drumfire check` shows it.
//!
//! Rules read the tree that is run and nothing else. A rule that is not certain reports nothing, because false alarms cost trust.

mod assertions;
mod load;
mod reach;
pub(crate) mod references;
mod responses;
mod scripts;
mod sight;
mod variables;

pub(super) use references::changes;

use std::collections::HashSet;

use serde::Serialize;

use crate::resolve::Element;
use crate::run::settings::RunSettings;
pub(crate) use sight::AdvisedPlan;

/// The kind of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The load or the results differ from what a reader of the plan expects.
    Misleads,
    /// It costs CPU, memory, disk or connections, which the generator or the target then lacks.
    Costs,
}

/// One piece of advice, with all places in the plan that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// A stable name to search for, such as `xpath-tolerant`.
    pub rule: &'static str,
    pub effect: Effect,
    /// The elements that were found, in a few words.
    pub finding: &'static str,
    pub reason: &'static str,
    pub remedy: &'static str,
    /// In the order of the plan.
    pub places: Vec<AdvicePlace>,
}

/// An element that advice is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdvicePlace {
    /// Names from the Test Plan down.
    pub path: Vec<String>,
    /// Line of its start tag in the file, from 1.
    pub line: usize,
    /// The property that decides it, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// The consequence for this element; empty if the finding says it all.
    pub detail: String,
}

/// A rule: its texts, and the function that finds the elements it applies to.
struct Rule {
    name: &'static str,
    effect: Effect,
    finding: &'static str,
    reason: &'static str,
    remedy: &'static str,
    find: for<'p> fn(&AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>>,
}

/// An element that a rule applies to, with a detail about it.
struct AdvisedElement<'p> {
    element: &'p Element,
    /// The property that decides it.
    property: Option<&'p str>,
    detail: String,
}

impl<'p> AdvisedElement<'p> {
    fn new(element: &'p Element) -> AdvisedElement<'p> {
        AdvisedElement::with(element, "")
    }

    fn with(element: &'p Element, detail: impl Into<String>) -> AdvisedElement<'p> {
        AdvisedElement {
            element,
            property: None,
            detail: detail.into(),
        }
    }

    /// Names the property that decides it.
    fn about(self, property: &'p str) -> AdvisedElement<'p> {
        AdvisedElement {
            property: Some(property),
            ..self
        }
    }
}

/// All rules, by file.
const RULES: &[&[Rule]] = &[
    load::RULES,
    reach::RULES,
    variables::RULES,
    assertions::RULES,
    scripts::RULES,
    responses::RULES,
];

/// All advice on a plan as it is run; misleading elements come first.
pub fn advise(plan: &Element, settings: &RunSettings) -> Vec<Advice> {
    let sight = AdvisedPlan::new(plan, settings);
    let mut all: Vec<Advice> = RULES
        .iter()
        .copied()
        .flatten()
        .filter_map(|rule| advice(rule, &sight))
        .collect();
    all.sort_by_key(|advice| advice.effect);
    all
}

fn advice(rule: &Rule, sight: &AdvisedPlan) -> Option<Advice> {
    let mut places: Vec<AdvicePlace> = Vec::new();
    let mut known = HashSet::new();
    for found in (rule.find)(sight) {
        let place = AdvicePlace {
            path: found.element.path(),
            line: found.element.source.line_column(found.element.span.start).0,
            property: found.property.map(str::to_owned),
            detail: found.detail,
        };
        if known.insert((place.path.clone(), place.line, place.detail.clone())) {
            places.push(place);
        }
    }
    (!places.is_empty()).then_some(Advice {
        rule: rule.name,
        effect: rule.effect,
        finding: rule.finding,
        reason: rule.reason,
        remedy: rule.remedy,
        places,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use super::*;
    use crate::resolve::Resolver;

    /// An element with its properties and the elements below it.
    pub fn element(class: &str, name: &str, props: &[(&str, &str)], below: &str) -> String {
        let props: String = props
            .iter()
            .map(|(name, value)| {
                let value = value.replace('&', "&amp;").replace('<', "&lt;");
                format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
            })
            .collect();
        format!(
            r#"<{class} guiclass="Gui" testclass="{class}" testname="{name}">{props}</{class}><hashTree>{below}</hashTree>"#
        )
    }

    pub fn http(props: &[(&str, &str)], below: &str) -> String {
        element("HTTPSamplerProxy", "request", props, below)
    }

    /// A thread group of one iteration.
    pub fn group(inside: &str) -> String {
        group_with("1", &[], inside)
    }

    pub fn group_with(loops: &str, props: &[(&str, &str)], inside: &str) -> String {
        let main = format!(
            r#"<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{loops}</stringProp></elementProp><stringProp name="ThreadGroup.num_threads">1</stringProp></ThreadGroup>"#
        );
        element("ThreadGroup", "users", props, inside).replacen("</ThreadGroup>", &main, 1)
    }

    /// The advice on a plan with these elements below the Test Plan, under these properties.
    pub fn advice_with(properties: &[(&str, &str)], elements: &str) -> Vec<Advice> {
        let text = drumfire_testkit::plans::plan(elements);
        let read = drumfire_jmx::read(text.as_bytes(), Path::new("p.jmx")).expect("it is a plan");
        let settings = RunSettings::default();
        for (name, value) in properties {
            settings.properties.set(name, *value);
        }
        let plan = Resolver::new(read.tree, &settings.properties, &settings.base_dir)
            .resolve()
            .expect("it has a Test Plan");
        advise(&plan, &settings)
    }

    /// The rules that a plan meets, each with the names of the elements and their details.
    pub fn rules_with(properties: &[(&str, &str)], elements: &str) -> Vec<String> {
        let show = |place: &AdvicePlace| {
            let name = place.path.last().cloned().unwrap_or_default();
            if place.detail.is_empty() {
                name
            } else {
                format!("{name} ({})", place.detail)
            }
        };
        advice_with(properties, elements)
            .iter()
            .map(|advice| {
                let places: Vec<String> = advice.places.iter().map(show).collect();
                format!("{}: {}", advice.rule, places.join("; "))
            })
            .collect()
    }

    pub fn rules(elements: &str) -> Vec<String> {
        rules_with(&[], elements)
    }

    #[test]
    fn what_misleads_comes_first_and_each_place_once() {
        let old = element(
            "BeanShellPreProcessor",
            "old",
            &[("script", "log.info(1)")],
            "",
        );
        let off = http(&[("HTTPSampler.use_keepalive", "false")], "");
        let nothing = element(
            "IfController",
            "never",
            &[("IfController.condition", "false")],
            &off,
        );
        let found = advice_with(&[], &group(&[nothing, old.clone(), old].concat()));
        let effects: Vec<_> = found.iter().map(|advice| advice.effect).collect();
        assert!(effects.is_sorted(), "{found:?}");
        let beanshell = found.iter().find(|advice| advice.rule == "beanshell");
        let beanshell = beanshell.unwrap_or_else(|| panic!("{found:?}"));
        assert_eq!(beanshell.places[0].path, ["plan", "users", "old"]);
        assert_eq!(
            beanshell.places.len(),
            1,
            "both stand in one line under one name"
        );
    }

    #[test]
    fn a_plain_plan_is_left_alone() {
        let request = http(
            &[
                ("HTTPSampler.domain", "127.0.0.1"),
                ("HTTPSampler.use_keepalive", "true"),
            ],
            "",
        );
        assert_eq!(rules(&group(&request)), [""; 0]);
    }
}
