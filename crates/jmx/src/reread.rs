//! Updates the tree of a plan after an edit, fast enough for an editor to do it at every keystroke. If the edit lies within one
//! test element, only that element is read again, and the positions of everything behind it are moved.

use std::path::Path;
use std::sync::Arc;

use crate::read::read;
use crate::source::{MovedOffsets, SourceFile, Span};
use crate::tree::{Node, Tree};

/// A replaced range of a text. Several edits are joined to one range that covers them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEdit {
    /// The bytes of the old text that were replaced.
    pub replaced: Span,
    /// How many bytes replace them.
    pub inserted: usize,
}

impl TextEdit {
    /// The range that covers this edit and a later one, whose position refers to the text after this edit.
    pub fn then(self, next: TextEdit) -> TextEdit {
        let TextEdit { replaced, inserted } = self;
        let end = replaced.start + inserted;
        // The bytes behind this edit that the next one also replaced.
        let beyond = next.replaced.end.saturating_sub(end);
        let start = replaced.start.min(next.replaced.start);
        let removed = next.replaced.end - next.replaced.start;
        TextEdit {
            replaced: Span::new(start, replaced.end + beyond),
            inserted: end + beyond + next.inserted - removed - start,
        }
    }
}

/// Applies an edit to the tree of a plan, which then equals what [`read`] would give; `text` is the whole text after the edit.
/// Returns `false` and changes nothing where the whole text must be read: the edit is not within one test element, or the
/// edited element has findings.
///
/// The tree must have been read without findings from the text before the edit.
pub fn reread(tree: &mut Tree, text: &str, edit: TextEdit) -> bool {
    let before = tree.source.text.len() - (edit.replaced.end - edit.replaced.start);
    if before + edit.inserted != text.len() || has_references(text) {
        return false;
    }
    let Some((path, place)) = around(&tree.roots, edit.replaced) else {
        return false;
    };
    let moved = MovedOffsets {
        from: edit.replaced.end,
        to: edit.replaced.start + edit.inserted,
    };
    let whole = Span::new(place.start, moved.offset(place.end));
    let Some(mut element) = alone(tree, text, whole, path.len() - 1) else {
        return false;
    };
    let roots = Arc::make_mut(&mut tree.roots);
    move_behind(roots, moved);
    let (last, above) = path.split_last().expect("the path leads to an element");
    let siblings = above
        .iter()
        .fold(roots, |nodes, &at| nodes[at].children.as_mut_slice());
    element.children = std::mem::take(&mut siblings[*last].children);
    siblings[*last] = element;
    tree.source = Arc::new(SourceFile::new(tree.source.path.clone(), text));
    true
}

/// Whether a value in the text of a plan may stand for another (XStream's `reference`).
pub fn has_references(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, "reference").any(|at| {
        let after = bytes[at + "reference".len()..].trim_ascii_start();
        after.first() == Some(&b'=') && at > 0 && bytes[at - 1].is_ascii_whitespace()
    })
}

/// The path of indices to the element whose tags enclose an edit, and that element's position.
fn around(roots: &[Node], edited: Span) -> Option<(Vec<usize>, Span)> {
    let mut path = Vec::new();
    let mut nodes = roots;
    loop {
        let behind = nodes.partition_point(|node| node.whole.start < edited.start);
        let at = behind.checked_sub(1)?;
        path.push(at);
        let whole = nodes[at].whole;
        if edited.end < whole.end {
            return Some((path, whole));
        }
        nodes = &nodes[at].children;
    }
}

/// Reads one element alone, at its depth of the tree. It must fill its range exactly, so that the text around it reads as
/// before.
fn alone(tree: &Tree, text: &str, whole: Span, depth: usize) -> Option<Node> {
    if !is_plain(&tree.version) || tree.version.contains(['"', '&', '<']) {
        return None;
    }
    let version = match tree.version.as_str() {
        "" => String::new(),
        version => format!(r#" version="{version}""#),
    };
    let above = r#"<GenericController guiclass="LogicControllerGui" testclass="GenericController" testname=""/><hashTree>"#;
    let head = format!("<jmeterTestPlan{version}><hashTree>{}", above.repeat(depth));
    let tail = format!("{}</jmeterTestPlan>", "</hashTree>".repeat(depth + 1));
    let inside = text.get(whole.start..whole.end)?;
    let framed = [head.as_str(), inside, &tail].concat();
    let read = read(framed.as_bytes(), Path::new("")).ok()?;
    if !read.warnings.is_empty() {
        return None;
    }
    let mut node = only(&read.tree.roots)?;
    for _ in 0..depth {
        node = only(&node.children)?;
    }
    let fills = Span::new(head.len(), head.len() + inside.len());
    if node.whole != fills || !node.children.is_empty() {
        return None;
    }
    move_node(
        &mut node,
        MovedOffsets {
            from: head.len(),
            to: whole.start,
        },
    );
    Some(node)
}

fn is_plain(version: &str) -> bool {
    version.bytes().all(|byte| byte.is_ascii_graphic())
}

fn only(nodes: &[Node]) -> Option<Node> {
    (nodes.len() == 1).then(|| nodes[0].clone())
}

/// Moves the elements that start behind an edit.
fn move_behind(nodes: &mut [Node], moved: MovedOffsets) {
    if moved.from == moved.to {
        return;
    }
    for node in nodes {
        if node.whole.start >= moved.from {
            move_node(node, moved);
        }
        move_behind(&mut node.children, moved);
    }
}

/// Moves an element without its children.
fn move_node(node: &mut Node, moved: MovedOffsets) {
    node.span = moved.span(node.span);
    node.whole = moved.span(node.whole);
    node.props.shift(moved);
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"<?xml version="1.0"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="plan"/>
<hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp></elementProp>
</ThreadGroup>
<hashTree>
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="först">
<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
<elementProp name="a" elementType="HTTPArgument"><stringProp name="Argument.value">1 &amp; 2</stringProp></elementProp>
</collectionProp></elementProp>
<stringProp name="HTTPSampler.path">/a</stringProp>
</HTTPSamplerProxy><hashTree>
<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="t"><stringProp name="ConstantTimer.delay">1</stringProp></ConstantTimer><hashTree/>
</hashTree>
<!-- between -->
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="second"/><hashTree/>
</hashTree>
<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="last"><stringProp name="ConstantTimer.delay">1</stringProp></ConstantTimer><hashTree/>
</hashTree></hashTree></jmeterTestPlan>
"#;

    fn tree_of(text: &str) -> Option<Tree> {
        let read = read(text.as_bytes(), Path::new("p.jmx")).ok()?;
        read.warnings.is_empty().then_some(read.tree)
    }

    fn edited(text: &str, edit: Span, new: &str) -> (String, TextEdit) {
        let mut after = text.to_owned();
        after.replace_range(edit.start..edit.end, new);
        let edit = TextEdit {
            replaced: edit,
            inserted: new.len(),
        };
        (after, edit)
    }

    /// Replaces a text that occurs once, and returns whether reading one element was enough.
    fn replaced(old: &str, new: &str) -> bool {
        let at = PLAN.find(old).expect("the plan has it");
        let (text, edit) = edited(PLAN, Span::new(at, at + old.len()), new);
        let mut tree = tree_of(PLAN).expect("a plan");
        let is_enough = reread(&mut tree, &text, edit);
        let whole = if is_enough {
            tree_of(&text).expect("one element was enough, so the text is a plan")
        } else {
            tree_of(PLAN).expect("a plan")
        };
        assert_eq!(format!("{tree:?}"), format!("{whole:?}"), "{old} -> {new}");
        is_enough
    }

    #[test]
    fn edits_within_an_element_read_that_element_alone() {
        for (old, new) in [
            ("/a<", "/longer/${path}<"),
            ("först", "x"),
            ("ConstantTimer.delay\">1", "ConstantTimer.delay\">"),
            ("1 &amp; 2", "1 &lt; <!-- a comment --> 2"),
            ("testname=\"plan\"", "testname=\"plan\" enabled=\"false\""),
            ("testname=\"second\"", "enabled='true' testname=\"2\""),
            ("\"last\"", "\"letzter\""),
            ("loops\">1", "loops\">1<![CDATA[</stringProp>]]>"),
        ] {
            assert!(replaced(old, new), "{old} -> {new}");
        }
    }

    #[test]
    fn all_other_edits_need_the_whole_text() {
        for (old, new) in [
            ("<!-- between -->", "<!-- between them -->"),
            ("/a<", "/a&<"),
            ("/a<", "/a<!-- <"),
            ("</ThreadGroup>", "</ThreadGroup><hashTree/>"),
            ("</ThreadGroup>", ""),
            (
                "testname=\"second\"/>",
                "testname=\"second\"/><hashTree/><A guiclass=\"\"/>",
            ),
            (
                "elementType=\"HTTPArgument\">",
                "elementType=\"HTTPArgument\" reference=\"..\">",
            ),
            (" guiclass=\"ConstantTimerGui\"", ""),
            (
                "/a<",
                "/a</stringProp></HTTPSamplerProxy><hashTree/><HTTPSamplerProxy guiclass=\"\"><stringProp><",
            ),
        ] {
            assert!(!replaced(old, new), "{old} -> {new}");
        }
    }

    #[test]
    fn any_edit_gives_the_tree_of_the_whole_text() {
        let pieces = [
            "",
            "x",
            "\"",
            "<",
            ">",
            "</",
            "<hashTree/>",
            "&amp;",
            "&",
            "ü",
            " enabled=\"false\"",
            "\n",
        ];
        let mut random = fastrand::Rng::with_seed(26);
        let is_edge = |at: &usize| PLAN.is_char_boundary(*at);
        let edges: Vec<usize> = (0..=PLAN.len()).filter(is_edge).collect();
        let (mut enough, mut read) = (0, 0);
        for _ in 0..3_000 {
            let start = random.usize(..edges.len());
            let end = (start + random.usize(..8)).min(edges.len() - 1);
            let new = pieces[random.usize(..pieces.len())];
            let (text, edit) = edited(PLAN, Span::new(edges[start], edges[end]), new);
            let mut tree = tree_of(PLAN).expect("a plan");
            let whole = tree_of(&text);
            read += usize::from(whole.is_some());
            if reread(&mut tree, &text, edit) {
                let whole = whole.unwrap_or_else(|| panic!("taken, and no plan: {text}"));
                assert_eq!(format!("{tree:?}"), format!("{whole:?}"), "{text}");
                enough += 1;
            }
        }
        assert!(enough * 2 > read, "{enough} of {read} were read in part");
    }

    #[test]
    fn joined_edits_hold_what_each_of_them_changed() {
        let mut random = fastrand::Rng::with_seed(26);
        for _ in 0..2_000 {
            let first = "0123456789".to_owned();
            let mut text = first.clone();
            let mut joined: Option<TextEdit> = None;
            for _ in 0..random.usize(1..5) {
                let start = random.usize(..=text.len());
                let end = random.usize(start..=text.len());
                let (after, edit) =
                    edited(&text, Span::new(start, end), &"abcd"[random.usize(..5)..]);
                text = after;
                joined = Some(joined.map_or(edit, |all| all.then(edit)));
            }
            let TextEdit { replaced, inserted } = joined.expect("an edit");
            let inside = &text[replaced.start..replaced.start + inserted];
            let made = [&first[..replaced.start], inside, &first[replaced.end..]].concat();
            assert_eq!(made, text, "{replaced:?} {inserted}");
        }
    }
}
