//! How often Java code runs for a sample of a plan, by what one run of it costs.

use drumfire_elements::shared::script;
use drumfire_jmx::{Node, Tree};
use serde::Serialize;

use super::advice::changes;
use crate::elements::catalogue::{Role, Rung, entry};

/// How often Java code would run if every sampler ran once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JavaRuns {
    /// Scripts and functions that are compiled once: Groovy.
    pub compiled: u64,
    /// Scripts and functions that are interpreted: BeanShell, JavaScript and other languages.
    pub interpreted: u64,
    /// Groovy that is compiled again for each sample.
    pub recompiled: u64,
    /// Other elements that their own Java classes run.
    pub elements: u64,
}

impl JavaRuns {
    /// Whether no Java runs.
    pub fn is_none(self) -> bool {
        self == JavaRuns::default()
    }

    fn plus(self, other: JavaRuns) -> JavaRuns {
        JavaRuns {
            compiled: self.compiled + other.compiled,
            interpreted: self.interpreted + other.interpreted,
            recompiled: self.recompiled + other.recompiled,
            elements: self.elements + other.elements,
        }
    }

    /// The runs that this element alone adds to a sample.
    fn of(node: &Node) -> JavaRuns {
        let mut runs = JavaRuns::default();
        match (script_kind(node), entry(&node.class)) {
            (Some(ScriptKind::Compiled), _) => runs.compiled += 1,
            (Some(ScriptKind::Interpreted), _) => runs.interpreted += 1,
            (Some(ScriptKind::Recompiled), _) => runs.recompiled += 1,
            (None, Some(entry)) if entry.rung == Rung::Jvm => runs.elements += 1,
            (None, None) => runs.elements += 1,
            (None, Some(_)) => {}
        }
        for text in node.props.texts() {
            let calls = |function: &str| text.matches(function).count() as u64;
            runs.compiled += calls("${__groovy(");
            runs.interpreted += calls("${__BeanShell(") + calls("${__javaScript(");
        }
        runs
    }
}

enum ScriptKind {
    Compiled,
    Interpreted,
    Recompiled,
}

fn script_kind(node: &Node) -> Option<ScriptKind> {
    let facts = drumfire_elements::of_class(&node.class).filter(|facts| facts.is_script())?;
    let language = node.props.str(script::JSR223_LANGUAGE.name);
    let is_groovy = matches!(language.to_ascii_lowercase().as_str(), "" | "groovy");
    if !node.class.starts_with("JSR223") || !is_groovy {
        return Some(ScriptKind::Interpreted);
    }
    // JSR223TestElement caches a file by its name and date, whatever the setting.
    let is_file = !node.props.str(script::FILE.name).trim().is_empty();
    let is_cached = node.props.str(script::CACHE.name) != "false";
    let mut texts = facts.script_texts().map(|name| node.props.str(name));
    let is_fixed = is_cached && !texts.any(|text| changes(&text));
    Some(if is_file || is_fixed {
        ScriptKind::Compiled
    } else {
        ScriptKind::Recompiled
    })
}

/// The number of samplers in a plan, and how often Java runs if each of them runs once.
pub fn java_runs(tree: &Tree) -> (u64, JavaRuns) {
    let mut counted = Counted::default();
    for root in &*tree.roots {
        counted.below(root, JavaRuns::default());
    }
    (counted.samplers, counted.runs)
}

#[derive(Default)]
struct Counted {
    samplers: u64,
    runs: JavaRuns,
}

impl Counted {
    /// Counts the samplers below a node. `scope` is what the elements around it add to each sample.
    fn below(&mut self, node: &Node, scope: JavaRuns) {
        let children = || node.children.iter().filter(|child| child.enabled);
        let scoped = children().filter(|child| !has_samplers(child) && !is_sampler(child));
        let scope = scoped.map(JavaRuns::of).fold(scope, JavaRuns::plus);
        for child in children() {
            if is_sampler(child) {
                self.samplers += 1;
                let own = child.children.iter().filter(|below| below.enabled);
                let own = own
                    .map(JavaRuns::of)
                    .fold(JavaRuns::of(child), JavaRuns::plus);
                self.runs = self.runs.plus(scope).plus(own);
            } else if has_samplers(child) {
                self.below(child, scope);
            }
        }
    }
}

/// A class that is not in the catalogue is a sampler if its name says so, as by JMeter's convention.
fn is_sampler(node: &Node) -> bool {
    match entry(&node.class) {
        Some(entry) => entry.role == Role::Sampler,
        None => node.class.ends_with("Sampler"),
    }
}

/// Whether the element may hold samplers.
fn has_samplers(node: &Node) -> bool {
    match entry(&node.class) {
        Some(entry) => matches!(
            entry.role,
            Role::Plan | Role::ThreadGroup | Role::Controller
        ),
        None => !is_sampler(node) && !node.children.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(class: &str, props: &[(&str, &str)]) -> Node {
        let node = Node::new(class, "", class);
        props
            .iter()
            .fold(node, |node, (name, value)| node.with(name, *value))
    }

    fn counted(group: Vec<Node>) -> (u64, JavaRuns) {
        let group = Node::new("ThreadGroup", "", "g").above(group);
        java_runs(&Tree::new(
            Node::new("TestPlan", "", "p").above(vec![group]),
        ))
    }

    #[test]
    fn a_script_in_scope_runs_for_each_sampler() {
        let request = || node("HTTPSamplerProxy", &[]);
        let groovy = node("JSR223PreProcessor", &[("script", "1")]);
        assert_eq!(counted(vec![request()]), (1, JavaRuns::default()));
        let (samplers, runs) = counted(vec![request(), request(), groovy.clone()]);
        assert_eq!((samplers, runs.compiled), (2, 2));
        let below = request().above(vec![groovy.clone()]);
        let (samplers, runs) = counted(vec![request(), below]);
        assert_eq!((samplers, runs.compiled), (2, 1));
        let controller = node("GenericController", &[]).above(vec![request(), groovy]);
        let (samplers, runs) = counted(vec![request(), controller]);
        assert_eq!((samplers, runs.compiled), (2, 1));
    }

    #[test]
    fn scripts_are_told_apart_by_what_they_cost() {
        let one = |class: &str, props: &[(&str, &str)]| counted(vec![node(class, props)]).1;
        let cases = [
            (
                "JSR223Sampler",
                &[("script", "1"), ("cacheKey", "x")][..],
                [1, 0, 0, 0],
            ),
            (
                "JSR223Sampler",
                &[("script", "1"), ("cacheKey", "false")],
                [0, 0, 1, 0],
            ),
            ("JSR223Sampler", &[("script", "${x}")], [0, 0, 1, 0]),
            ("JSR223Sampler", &[("script", "${__P(x)}")], [1, 0, 0, 0]),
            (
                "JSR223Sampler",
                &[("filename", "a.groovy"), ("cacheKey", "false")],
                [1, 0, 0, 0],
            ),
            (
                "JSR223Sampler",
                &[("scriptLanguage", "beanshell")],
                [0, 1, 0, 0],
            ),
            (
                "BeanShellSampler",
                &[("BeanShellSampler.query", "1")],
                [0, 1, 0, 0],
            ),
            (
                "HTTPSamplerProxy",
                &[("HTTPSampler.path", "${__groovy(1)}${__BeanShell(2)}")],
                [1, 1, 0, 0],
            ),
            ("org.example.OwnSampler", &[], [0, 0, 0, 1]),
        ];
        for (class, props, [compiled, interpreted, recompiled, elements]) in cases {
            let expected = JavaRuns {
                compiled,
                interpreted,
                recompiled,
                elements,
            };
            assert_eq!(one(class, props), expected, "{class} {props:?}");
        }
    }

    #[test]
    fn disabled_elements_cost_nothing() {
        let off = Node {
            enabled: false,
            ..node("BeanShellSampler", &[])
        };
        assert_eq!(counted(vec![off]), (0, JavaRuns::default()));
    }
}
