//! Node tests of a step.

use xpath_eval::{Axis, Node, NodeKind};

use super::ast::{NameTest, NodeTest};
use crate::xpath::NodeRef;

/// Whether a node of this axis passes the test.
pub(super) fn passes(test: &NodeTest, axis: Axis, node: NodeRef<'_>) -> bool {
    let kind = node.kind();
    match test {
        NodeTest::Any => true,
        NodeTest::Kind(wanted, name) => kind == *wanted && is_named(name, node),
        NodeTest::Principal(name) => {
            let principal = match axis {
                Axis::Attribute => NodeKind::Attribute,
                _ => NodeKind::Element,
            };
            kind == principal && is_named(name, node)
        }
        NodeTest::Instruction(target) => {
            kind == NodeKind::ProcessingInstruction && node.qualified_name() == target
        }
    }
}

fn is_named(test: &NameTest, node: NodeRef<'_>) -> bool {
    let expanded = || node.expanded_name();
    match test {
        NameTest::Any => true,
        NameTest::Namespace(uri) => {
            expanded().is_some_and(|name| name.namespace_uri.unwrap_or_default() == *uri)
        }
        NameTest::Local(local) => expanded().is_some_and(|name| name.local_name == *local),
        NameTest::Name(uri, local) => {
            node.has_expanded_name(Some(uri.as_str()).filter(|uri| !uri.is_empty()), local)
        }
    }
}
