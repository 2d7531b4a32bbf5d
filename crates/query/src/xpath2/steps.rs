//! The nodes that a step reaches along its axis.

use std::collections::HashSet;

use xpath_eval as axes;
use xpath_eval::{Axis, Node, NodeKind};

use super::ast::AxisStep;
use super::node_test::passes;
use crate::xpath::NodeRef;

/// The nodes of an axis that pass the node test, nearest first, at most `most`.
pub(super) fn along<'t>(step: &AxisStep, node: NodeRef<'t>, most: usize) -> Vec<NodeRef<'t>> {
    let wanted = |found: &NodeRef<'t>| passes(&step.test, step.axis, *found);
    // A macro, since each axis has its own iterator type.
    macro_rules! taken {
        ($nodes:expr) => {
            $nodes.filter(wanted).take(most).collect()
        };
    }
    match step.axis {
        Axis::Child => taken!(axes::child(node)),
        Axis::Descendant => taken!(axes::descendant(node)),
        Axis::DescendantOrSelf => taken!(axes::descendant_or_self(node)),
        Axis::Parent => taken!(axes::parent(node)),
        Axis::Ancestor => taken!(axes::ancestor(node)),
        Axis::AncestorOrSelf => taken!(axes::ancestor_or_self(node)),
        Axis::FollowingSibling => taken!(node.following_siblings()),
        Axis::PrecedingSibling => taken!(axes::preceding_sibling(node)),
        Axis::Following => taken!(axes::following(node)),
        Axis::Preceding => taken!(axes::preceding(node)),
        Axis::Attribute => taken!(axes::attribute(node)),
        Axis::Namespace => Vec::new(),
        Axis::SelfAxis => taken!(axes::self_axis(node)),
    }
}

/// The nodes that a step without predicates reaches from any of several nodes.
///
/// Skips a start whose nodes another start also reaches: otherwise, in a deep document, every element would add all its
/// descendants or ancestors again.
pub(super) fn along_all<'t>(step: &AxisStep, mut starts: Vec<NodeRef<'t>>) -> Vec<NodeRef<'t>> {
    starts.sort_by(|a, b| a.document_order(*b));
    let is_attribute = |node: &NodeRef<'t>| node.kind() == NodeKind::Attribute;
    match step.axis {
        Axis::Descendant | Axis::DescendantOrSelf => {
            let mut outer: Option<NodeRef<'t>> = None;
            starts.retain(|node| {
                // An attribute lies within its element's range, but is not one of its descendants.
                let is_new = is_attribute(node) || outer.is_none_or(|outer| !outer.contains(*node));
                if is_new && !is_attribute(node) {
                    outer = Some(*node);
                }
                is_new
            });
        }
        Axis::Ancestor | Axis::AncestorOrSelf => return ancestors_of_all(step, &starts),
        Axis::FollowingSibling | Axis::PrecedingSibling => {
            // The first sibling reaches all others or, backwards, the last one.
            let is_backward = step.axis == Axis::PrecedingSibling;
            if is_backward {
                starts.reverse();
            }
            let mut parents = HashSet::new();
            starts.retain(|node| !is_attribute(node) && parents.insert(node.parent()));
        }
        _ => {}
    }
    let reached = starts.into_iter();
    reached
        .flat_map(|node| along(step, node, usize::MAX))
        .collect()
}

/// All ancestors without duplicates: each walk ends at an ancestor that was already visited.
fn ancestors_of_all<'t>(step: &AxisStep, starts: &[NodeRef<'t>]) -> Vec<NodeRef<'t>> {
    let mut visited = HashSet::new();
    let mut ancestors = Vec::new();
    for start in starts {
        if step.axis == Axis::AncestorOrSelf && passes(&step.test, step.axis, *start) {
            ancestors.push(*start);
        }
        let above = std::iter::successors(start.parent(), |node| node.parent());
        let new = above.take_while(|node| visited.insert(*node));
        ancestors.extend(new.filter(|node| passes(&step.test, step.axis, *node)));
    }
    ancestors
}
