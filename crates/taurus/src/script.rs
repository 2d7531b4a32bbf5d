//! Makes a plan from a file or from requests, with everything that Taurus adds to it.

use std::path::Path;

use drumfire_elements::config::{cookie_manager, csv_data_set};
use drumfire_elements::controllers::transaction_controller;
use drumfire_elements::listeners::result_collector;
use drumfire_jmx::{Element, Node, Prop, Props, Value};

use crate::elements;
use crate::value::{Table, flag, table};

/// Applies the changes that every plan gets. `is_generated` is true for a plan made from requests.
pub(crate) fn adjust(plan: &mut Node, scenario: &Table, is_generated: bool) {
    if flag(scenario, "disable-listeners", true) {
        disable_listeners(plan);
    }
    if let Some(variables) = table(scenario, "variables").filter(|all| !all.is_empty()) {
        plan.children.push(elements::variables(variables));
    }
    if let Some(headers) = table(scenario, "headers").filter(|all| !all.is_empty()) {
        plan.children.push(elements::headers(headers));
    }
    plan.props.put("TestPlan.functional_mode", false);
    let force_parent = flag(scenario, "force-parent-sample", false);
    each(plan, &mut |node| {
        if !is_generated {
            if node.class == cookie_manager::CLASS {
                node.props.put(
                    "CookieManager.implementation",
                    "org.apache.jmeter.protocol.http.control.HC4CookieHandler",
                );
            }
            if force_parent
                && node.class == transaction_controller::CLASS
                && node.props.has("TransactionController.parent")
            {
                node.props.put("TransactionController.parent", true);
            }
        }
        if node.class == csv_data_set::CLASS
            && node.props.get("delimiter").is_some()
            && node.props.str("delimiter").is_empty()
        {
            node.props.put("delimiter", ",");
        }
    });
}

/// Disables listeners without a file, which only cost time.
fn disable_listeners(plan: &mut Node) {
    each(plan, &mut |node| {
        if node.class == result_collector::CLASS && node.props.str("filename").is_empty() {
            node.enabled = false;
        }
    });
}

fn each(node: &mut Node, change: &mut dyn FnMut(&mut Node)) {
    let before = (node.enabled, node.props.clone());
    change(node);
    if before != (node.enabled, node.props.clone()) {
        node.whole = drumfire_jmx::Span::default();
    }
    for child in &mut node.children {
        each(child, change);
    }
}

/// Makes file names absolute, because the plan that runs is stored in another folder.
pub(crate) fn absolute_files(plan: &mut Node, folder: &Path) {
    each(plan, &mut |node| {
        let props: Props = node
            .props
            .iter()
            .map(|prop| anchored(prop, folder))
            .collect();
        if props != node.props {
            node.props = props;
        }
    });
}

const FILES: [&str; 5] = [
    "File.path",
    "filename",
    "BeanShellSampler.filename",
    "IncludeController.includepath",
    "HTTPSampler.FILE_NAME",
];

fn anchored(prop: &Prop, folder: &Path) -> Prop {
    let value = match &prop.value {
        Value::Str(name)
            if FILES.contains(&prop.name.as_str()) && !name.is_empty() && !name.contains("${") =>
        {
            let beside = folder.join(name);
            let here = Path::new(name).exists();
            if !here && beside.exists() {
                Value::Str(beside.to_string_lossy().into_owned())
            } else {
                return prop.clone();
            }
        }
        Value::Element(element) => {
            let props = element
                .props
                .iter()
                .map(|prop| anchored(prop, folder))
                .collect();
            let element = Element {
                props,
                ..Element::clone(element)
            };
            element.into()
        }
        Value::List(items) => {
            Value::List(items.iter().map(|item| anchored(item, folder)).collect())
        }
        _ => return prop.clone(),
    };
    Prop {
        value,
        ..prop.clone()
    }
}
