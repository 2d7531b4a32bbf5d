//! XStream's `reference` attributes: paths to elements that were written earlier.

use crate::xml::{Document, NodeId};

/// How many siblings are searched for the n-th of a name. JMeter writes no file that needs more.
const MAX_STEPS: usize = 10_000;

/// Resolves a path such as `../../ResultCollector[2]/objProp/value` from an element.
pub(crate) fn resolve(document: &Document<'_>, from: NodeId, path: &str) -> Option<NodeId> {
    let mut steps = path.split('/').peekable();
    let mut at = from;
    if path.starts_with('/') {
        steps.next();
        at = document.root()?;
        let (name, index) = split_index(steps.next()?)?;
        if document.node(at).name != name || index != 1 {
            return None;
        }
    }
    for step in steps {
        at = match step {
            ".." => document.node(at).parent()?,
            "." | "" => at,
            _ => {
                let (name, index) = split_index(step)?;
                document
                    .children(at)
                    .take(MAX_STEPS)
                    .filter(|&child| document.node(child).name == name)
                    .nth(index - 1)?
            }
        };
    }
    Some(at)
}

/// Splits a step: `name[2]` is the second element of that name, `name` the first.
fn split_index(step: &str) -> Option<(&str, usize)> {
    match step.split_once('[') {
        None => Some((step, 1)),
        Some((name, index)) => {
            let index: usize = index.strip_suffix(']')?.parse().ok()?;
            (index > 0).then_some((name, index))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::parse;

    fn names(path: &str) -> Option<String> {
        let text =
            "<jmeterTestPlan><t><a><v x='1'/></a><a><v x='2'/></a><b><v/></b></t></jmeterTestPlan>";
        let document = parse(text);
        let tree = document.children(document.root()?).next()?;
        let b = document.children(tree).nth(2)?;
        let from = document.children(b).next()?;
        let target = resolve(&document, from, path)?;
        Some(format!(
            "{} {}",
            document.node(target).name,
            document.attribute(target, "x").unwrap_or("-")
        ))
    }

    #[test]
    fn relative_absolute_and_indexed_paths() {
        assert_eq!(names("../../a/v").as_deref(), Some("v 1"));
        assert_eq!(names("../../a[2]/v").as_deref(), Some("v 2"));
        assert_eq!(names("/jmeterTestPlan/t/a[2]/v").as_deref(), Some("v 2"));
        assert_eq!(names("../..").as_deref(), Some("t -"));
    }

    #[test]
    fn paths_that_lead_nowhere() {
        for path in [
            "../../a[3]/v",
            "../../a[0]",
            "../../a[x]",
            "../../../../..",
            "/other",
            "/jmeterTestPlan[2]",
            "../c",
        ] {
            assert_eq!(names(path), None, "{path}");
        }
    }
}
