//! Every element and function that is run natively appears in a plan of `compat/`, where its results are compared with JMeter's.

use std::collections::BTreeSet;
use std::path::Path;

use drumfire_engine::elements::{Rung, entries};
use drumfire_expr::{FunctionOrigin, functions};
use drumfire_jmx::{Element, Node, Prop, Value};
use drumfire_testkit::compat;

const DATABASE: &str =
    "crates/engine/tests/all/jdbc.rs has them, with a server of PostgreSQL and of MariaDB";

/// Elements without a case, and why.
const ELEMENTS_WITHOUT: &[(&str, &str)] = &[
    (
        "BackendListener",
        "it changes no row; crates/cli/tests/all/backends.rs has what it sends",
    ),
    (
        "com.github.johrstrom.listener.PrometheusListener",
        "it changes no row; crates/cli/tests/all/backends.rs has what it shows",
    ),
    (
        "kg.apc.jmeter.perfmon.PerfMonCollector",
        "it changes no row; crates/cli/tests/all/live.rs has its curves",
    ),
    (
        "nz.co.breakpoint.jmeter.vizualizers.sshmon.SSHMonCollector",
        "it changes no row; crates/cli/tests/all/ssh_monitor.rs has its curves",
    ),
    (
        "KeystoreConfig",
        "the site speaks no HTTPS; crates/engine/tests and crates/http/tests have its keys",
    ),
    (
        "com.blazemeter.jmeter.http2.sampler.HTTP2Sampler",
        "its plugin is no part of JMeter; crates/engine/tests/all/http2.rs has its requests",
    ),
    (
        "com.blazemeter.jmeter.http2.control.HTTP2Controller",
        "its plugin is no part of JMeter; crates/engine/tests/all/http2.rs has it",
    ),
    ("JDBCPreProcessor", DATABASE),
    ("JDBCPostProcessor", DATABASE),
];

/// Functions without a case, and why.
const FUNCTIONS_WITHOUT: &[(&str, &str)] = &[];

/// The classes and functions of the enabled elements of all plans.
#[derive(Default)]
struct Used {
    classes: BTreeSet<String>,
    functions: BTreeSet<String>,
}

impl Used {
    fn node(&mut self, node: &Node) {
        if !node.enabled {
            return;
        }
        self.classes.insert(node.class.to_string());
        self.text(&node.name);
        node.props.iter().for_each(|prop| self.prop(prop));
        node.children.iter().for_each(|child| self.node(child));
    }

    fn element(&mut self, element: &Element) {
        element.props.iter().for_each(|prop| self.prop(prop));
    }

    fn prop(&mut self, prop: &Prop) {
        match &prop.value {
            Value::Str(text) => self.text(text),
            Value::Element(element) => self.element(element),
            Value::List(props) | Value::Map(props) => props.iter().for_each(|prop| self.prop(prop)),
            _ => {}
        }
    }

    /// Notes the functions that a text calls.
    fn text(&mut self, text: &str) {
        for (at, _) in text.match_indices("${__") {
            let name: String = text[at + 2..]
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect();
            self.functions.insert(name);
        }
    }
}

fn used() -> Used {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../compat");
    let mut used = Used::default();
    for case in compat::cases(&folder).expect("the cases") {
        let plan = case.join("plan.jmx");
        let read = drumfire_jmx::read_file(&plan)
            .unwrap_or_else(|findings| panic!("{}: {findings:?}", plan.display()));
        read.tree.roots.iter().for_each(|root| used.node(root));
    }
    used
}

/// Names that are neither used nor excepted, and exceptions that are used after all.
fn wrong<'a>(
    names: impl Iterator<Item = &'a str>,
    used: &BTreeSet<String>,
    without: &[(&str, &str)],
) -> Vec<String> {
    let mut wrong = Vec::new();
    let excepted = |name: &str| without.iter().any(|(excepted, _)| *excepted == name);
    for name in names {
        match (used.contains(name), excepted(name)) {
            (false, false) => wrong.push(format!("{name} is in no plan of compat/")),
            (true, true) => wrong.push(format!("{name} is in a plan: take it off the list")),
            _ => {}
        }
    }
    wrong
}

#[test]
fn every_native_element_and_function_has_a_case() {
    let used = used();
    let elements = entries()
        .iter()
        // A plugin's element has the full name of its class; recording it takes a JMeter that has the plugin.
        .filter(|entry| entry.rung == Rung::Native && !entry.class.contains('.'))
        .map(|entry| entry.class);
    let mut found = wrong(elements, &used.classes, ELEMENTS_WITHOUT);
    let own = functions()
        .iter()
        .filter(|spec| {
            spec.origin == FunctionOrigin::Core
                && spec.rung() == drumfire_expr::FunctionRung::Native
        })
        .map(|spec| spec.name);
    found.extend(wrong(own, &used.functions, FUNCTIONS_WITHOUT));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn calls_are_found_in_texts() {
    let mut used = Used::default();
    used.text("${__P(port)} ${v} ${__V(a_${__threadNum})} $__x");
    let found: Vec<_> = used.functions.iter().map(String::as_str).collect();
    assert_eq!(found, ["__P", "__V", "__threadNum"]);
}
