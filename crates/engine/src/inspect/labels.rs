//! The labels that samples of a plan may have, for those that judge a run by its labels.

use std::collections::HashMap;

use drumfire_elements::samplers::{flow_control_action, set_variables_action};

use crate::run::controllers::ControllerKind;
use crate::run::journey::{BoundPlan, Journey, Package, Sampled};
use crate::run::step::ControllerId;

/// Samplers that change or hold up their user and make no sample.
const WITHOUT_SAMPLE: [&str; 2] = [flow_control_action::CLASS, set_variables_action::CLASS];

/// The labels that samples of a plan may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanLabels {
    /// Names of samplers and transactions.
    pub names: Vec<String>,
    /// Names that contain variables or functions, as the plan has them.
    pub templates: Vec<String>,
    /// Samplers and transactions without samples of their own.
    pub silent: Vec<SilentElement>,
    /// The parts of the plan that may make any other label while it runs.
    pub maker: Option<String>,
}

/// A sampler or transaction without samples of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SilentElement {
    /// Its name.
    pub name: String,
    /// Why it has none.
    pub why: String,
    /// The label of the sample that its own is part of.
    pub instead: Option<String>,
}

impl PlanLabels {
    /// Whether a name with variables or functions may become this label. A name without any fixed text tells nothing.
    pub fn fits_template(&self, label: &str) -> bool {
        let mut templates = self.templates.iter();
        templates.any(|template| {
            let parts = fixed_parts(template);
            parts.iter().any(|part| !part.trim().is_empty()) && fits(&parts, label)
        })
    }
}

/// The texts before, between and after the references of a template.
fn fixed_parts(template: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some(start) = rest.find("${") {
        parts.push(&rest[..start]);
        let mut depth = 0_usize;
        let end = rest[start..].char_indices().find_map(|(at, c)| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            (depth == 0 && c == '}').then_some(start + at + 1)
        });
        rest = end.map(|end| &rest[end..]).unwrap_or_default();
    }
    parts.push(rest);
    parts
}

/// Whether a text consists of these parts with anything in between.
fn fits(parts: &[&str], text: &str) -> bool {
    let [first, between @ .., last] = parts else {
        return parts == [text];
    };
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    for part in between {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The labels that samples of a plan may have.
pub fn labels(plan: &BoundPlan) -> PlanLabels {
    let mut labels = PlanLabels::default();
    let mut has_nameless = false;
    for journey in &plan.journeys {
        let joined = joined_branches(journey);
        for package in &journey.samplers {
            let is_java = package
                .sampler
                .element()
                .is_some_and(|sampler| sampler.java_element().is_some());
            has_nameless |= is_java;
            let silence = silence(journey, package, &joined);
            has_nameless |= add(&mut labels, package.name.source(), silence);
        }
        for (id, controller) in (0..).zip(&journey.controllers) {
            if matches!(controller.kind, ControllerKind::Transaction { .. }) {
                let owner = controller.parent.and_then(|above| owner(journey, above));
                let silence = owner.map(|id| in_transaction(journey, id));
                let is_heard = journey.transactions[id as usize]
                    .as_ref()
                    .is_some_and(|transaction| transaction.reach.is_heard);
                if is_heard || silence.is_some() {
                    add(&mut labels, controller.name.source(), silence);
                }
            }
        }
    }
    labels.names.sort_unstable();
    labels.names.dedup();
    labels.maker = if !plan.program.java.is_empty() {
        Some("a script or a Java element of the plan".to_owned())
    } else if has_nameless {
        Some("a variable or a function in a name".to_owned())
    } else {
        None
    };
    labels
}

/// Adds a name. Returns whether it may become any label.
fn add(labels: &mut PlanLabels, name: &str, silence: Option<(String, Option<String>)>) -> bool {
    if let Some((why, instead)) = silence {
        let name = name.to_owned();
        labels.silent.push(SilentElement { name, why, instead });
        return false;
    }
    if !name.contains("${") {
        labels.names.push(name.to_owned());
        return false;
    }
    labels.templates.push(name.to_owned());
    fixed_parts(name).iter().all(|part| part.trim().is_empty())
}

/// The branches of Parallel Controllers that have one sample for all, with the controllers' names.
fn joined_branches(journey: &Journey) -> HashMap<ControllerId, &str> {
    let mut joined = HashMap::new();
    for package in &journey.samplers {
        if let Sampled::Parallel(parallel) = &package.sampler
            && parallel.generates_parent
        {
            let name = package.name.source();
            joined.extend(parallel.branches.iter().map(|branch| (*branch, name)));
        }
    }
    joined
}

/// Why a sampler has no samples of its own, and the label of the sample that they are part of.
fn silence(
    journey: &Journey,
    package: &Package,
    joined: &HashMap<ControllerId, &str>,
) -> Option<(String, Option<String>)> {
    let short = |class: &str| class.rsplit('.').next() == package.class.rsplit('.').next();
    if WITHOUT_SAMPLE.into_iter().any(short) {
        return Some(("it makes no sample".to_owned(), None));
    }
    let nearest = package.ancestors.first().copied();
    if let Some(id) = nearest.and_then(|id| owner(journey, id)) {
        return Some(in_transaction(journey, id));
    }
    if joined.is_empty() {
        return None;
    }
    // The outermost one has the sample.
    let name = package
        .ancestors
        .iter()
        .rev()
        .find_map(|id| joined.get(id))?;
    let why = format!("the Parallel Controller `{name}` has one sample for all");
    Some((why, Some((*name).to_owned())))
}

fn in_transaction(journey: &Journey, id: ControllerId) -> (String, Option<String>) {
    let name = journey.controllers[id as usize].name.source();
    let why = format!("the transaction `{name}` has one sample for all");
    (why, Some(name.to_owned()))
}

/// The outermost transaction with a parent sample among a controller and those above it.
fn owner(journey: &Journey, from: ControllerId) -> Option<ControllerId> {
    std::iter::successors(Some(from), |id: &ControllerId| {
        journey.controllers[*id as usize].parent
    })
    .filter(|id| {
        let kind = &journey.controllers[*id as usize].kind;
        matches!(kind, ControllerKind::Transaction { parent: true, .. })
    })
    .last()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn element(class: &str, name: &str, props: &str, below: &str) -> String {
        format!(
            r#"<{class} guiclass="g" testclass="{class}" testname="{name}">{props}</{class}><hashTree>{below}</hashTree>"#
        )
    }

    fn of(inside: &str) -> PlanLabels {
        let main = r#"<stringProp name="ThreadGroup.num_threads">1</stringProp><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp></elementProp>"#;
        let group = element("ThreadGroup", "G", main, inside);
        let text = drumfire_testkit::plans::plan(&group);
        let read = drumfire_jmx::read(text.as_bytes(), Path::new("p.jmx")).expect("a plan");
        match crate::compile(read.tree, Default::default()) {
            Ok(compiled) => labels(&compiled.plan),
            Err(faults) => panic!("{faults:?}"),
        }
    }

    fn sampler(name: &str) -> String {
        element("DebugSampler", name, "", "")
    }

    #[test]
    fn samplers_and_transactions_have_labels_and_pauses_have_none() {
        let beside = r#"<boolProp name="TransactionController.parent">false</boolProp>"#;
        let pause = element("TestAction", "Pause", "", "");
        let plan = [
            sampler("Home"),
            element("TransactionController", "Buy", beside, &sampler("Pay")),
            sampler("Home"),
            pause,
        ];
        let labels = of(&plan.concat());
        assert_eq!(labels.names, ["Buy", "Home", "Pay"]);
        assert_eq!(labels.silent[0].why, "it makes no sample");
        assert_eq!((labels.silent.len(), labels.maker), (1, None));
    }

    #[test]
    fn elements_inside_a_parent_transaction_have_no_samples_of_their_own() {
        let parent = r#"<boolProp name="TransactionController.parent">true</boolProp>"#;
        let inner = element("TransactionController", "Inner", parent, &sampler("Pay"));
        let labels = of(&element("TransactionController", "Buy", parent, &inner));
        assert_eq!(labels.names, ["Buy"]);
        let silent: Vec<_> = labels
            .silent
            .iter()
            .map(|silent| (silent.name.as_str(), silent.instead.as_deref()))
            .collect();
        assert_eq!(silent, [("Pay", Some("Buy")), ("Inner", Some("Buy"))]);
    }

    #[test]
    fn a_name_with_variables_fits_the_labels_that_it_may_become() {
        let labels = of(&sampler("Item ${id} of ${__P(shop,{x})}!"));
        assert_eq!(labels.maker, None);
        for (label, fits) in [
            ("Item 7 of Berlin!", true),
            ("Item 7 of Berlin", false),
            ("item 7 of Berlin!", false),
            ("Item 7", false),
        ] {
            assert_eq!(labels.fits_template(label), fits, "{label}");
        }
        let any = of(&sampler("${name}"));
        assert!(any.maker.is_some() && !any.fits_template("Home"));
    }
}
