//! Renders a plan as lines of text, for readers and for `git diff`.

use std::fmt::Write as _;

use crate::settings::{Setting, settings};
use crate::tree::{Node, Tree};

/// How a setting of an element is shown.
pub type ShownValue = fn(&Node, &Setting) -> String;

/// Writes one line for each element and one for each of its settings, indented by depth. A value of several lines follows its
/// name, each line behind a bar.
pub fn outline(tree: &Tree) -> String {
    outline_with(tree, |_, setting| setting.value.clone())
}

/// The same with values as `shown` shows them.
pub fn outline_with(tree: &Tree, shown: ShownValue) -> String {
    let mut out = String::new();
    for root in tree.roots.iter() {
        node(root, 0, shown, &mut out);
    }
    out
}

fn node(node: &Node, depth: usize, shown: ShownValue, out: &mut String) {
    let indent = "  ".repeat(depth);
    let class = node.class.rsplit('.').next().unwrap_or(&node.class);
    let disabled = if node.enabled { "" } else { ", disabled" };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{indent}{} ({class}{disabled})", one_line(&node.name));
    for setting in settings(node)
        .iter()
        .filter(|setting| setting.path != "enabled")
    {
        let value = shown(node, setting);
        if value.contains('\n') {
            let _ = writeln!(out, "{indent}    {}:", setting.path);
            for line in value.lines() {
                let _ = writeln!(out, "{indent}    | {line}");
            }
        } else {
            let _ = writeln!(out, "{indent}    {}: {value}", setting.path);
        }
    }
    for child in &node.children {
        self::node(child, depth + 1, shown, out);
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Element;

    #[test]
    fn elements_and_their_settings() {
        let argument = Element::new("HTTPArgument")
            .with("Argument.name", "q")
            .with("Argument.value", "a\nb");
        let arguments = Element::new("Arguments")
            .with("Arguments.arguments", vec![crate::Prop::new("q", argument)]);
        let mut sampler = Node::new("HTTPSamplerProxy", "", "Search")
            .with("HTTPSampler.path", "/s")
            .with("HTTPSampler.port", "")
            .with("HTTPsampler.Arguments", arguments);
        sampler.enabled = false;
        let tree = Tree::new(Node::new("TestPlan", "", "Shop").above([sampler]));
        let expected = "Shop (TestPlan)\n  Search (HTTPSamplerProxy, disabled)\n      path: /s\n      Arguments.arguments[q]:\n      | a\n      | b\n";
        assert_eq!(outline(&tree), expected);
    }
}
