//! Updates the tree of a plan after an edit, fast enough for an editor to do it at every keystroke. If the edit lies within one
//! test element, or changes whole elements of one parent, only those are read again. The positions of everything behind them are moved.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::child_tree::{ChildTree, TagKind, Tags, child_tree, subtree};
use crate::classes::canonical_class;
use crate::read::read;
use crate::source::{MovedOffsets, Span, has_references};
use crate::splice::tag_name;
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

/// Applies an edit to the tree of a plan, which then equals what [`read`] would give. Returns the places among siblings that
/// lead from the roots to the edited element. Returns `None` and changes nothing where that element alone does not tell the
/// tree: the edit is not within one test element, or the edited element has findings.
///
/// The tree must have been read without findings.
pub fn reread(tree: &mut Tree, replaced: Span, inserted: &str) -> Option<Vec<usize>> {
    let (path, around_span) = around(&tree.roots, replaced)?;
    let frame = Frame::new(tree, path.len() - 1)?;
    let framed = frame.with(tree, around_span, (replaced, inserted));
    let [mut element]: [Node; 1] = frame.read(&framed)?.try_into().ok()?;
    let length = framed.len() - frame.head.len() - frame.tail.len();
    if element.whole != Span::new(frame.head.len(), frame.head.len() + length)
        || !element.children.is_empty()
    {
        return None;
    }
    move_node(&mut element, frame.moved_to(around_span.start));
    let roots = Arc::make_mut(&mut tree.roots);
    move_behind(roots, moved_behind(replaced, inserted));
    let (last, above) = path.split_last()?;
    let siblings = above
        .iter()
        .fold(roots, |nodes, &at| nodes[at].children.as_mut_slice());
    element.children = std::mem::take(&mut siblings[*last].children);
    siblings[*last] = element;
    Arc::make_mut(&mut tree.source).replace(replaced, inserted);
    Some(path)
}

/// Applies an edit that inserts, removes or changes whole elements of one parent, as [`reread`] does for one element. Returns
/// `false` and changes nothing where those elements alone do not tell the tree.
pub fn reread_siblings(tree: &mut Tree, replaced: Span, inserted: &str) -> bool {
    siblings(tree, replaced, inserted).is_some()
}

fn siblings(tree: &mut Tree, replaced: Span, inserted: &str) -> Option<()> {
    let run = Run::around(tree, replaced)?;
    let frame = Frame::new(tree, run.path.len())?;
    let framed = frame.with(tree, run.place, (replaced, inserted));
    let inside = &framed[frame.head.len()..framed.len() - frame.tail.len()];
    if !is_whole(inside, run.is_last) {
        return None;
    }
    let mut nodes = frame.read(&framed)?;
    let to = frame.moved_to(run.place.start);
    nodes.iter_mut().for_each(|node| move_all(node, to));
    let roots = Arc::make_mut(&mut tree.roots);
    move_behind(roots, moved_behind(replaced, inserted));
    let (last, above) = run.path.split_last()?;
    let parent = above
        .iter()
        .fold(roots, |nodes, &at| nodes[at].children.as_mut_slice());
    parent[*last].children.splice(run.nodes, nodes);
    Arc::make_mut(&mut tree.source).replace(replaced, inserted);
    Some(())
}

/// The siblings that an edit touches.
struct Run {
    /// The places that lead to their parent.
    path: Vec<usize>,
    /// The siblings; none if the edit is between two of them.
    nodes: Range<usize>,
    /// The text between the sibling before them and the one behind them.
    place: Span,
    /// Whether no sibling follows.
    is_last: bool,
}

impl Run {
    /// The run within the lowest parent whose `hashTree` encloses the edit.
    fn around(tree: &Tree, edited: Span) -> Option<Run> {
        let text = tree.source.text.as_str();
        let mut path = Vec::new();
        let mut nodes: &[Node] = &tree.roots;
        let mut tags: Option<(Span, Span)> = None;
        loop {
            let at = nodes.partition_point(|node| node.whole.start < edited.start);
            if let Some(node) = at.checked_sub(1).map(|at| &nodes[at])
                && let ChildTree::Whole { open, close } = child_tree(text, node)
                && open.end <= edited.start
                && edited.end <= close.start
            {
                path.push(at - 1);
                tags = Some((open, close));
                nodes = &node.children;
                continue;
            }
            let (open, close) = tags?;
            return Run::of(text, nodes, edited, (open.end, close.start))
                .map(|run| Run { path, ..run });
        }
    }

    fn of(text: &str, nodes: &[Node], edited: Span, (open, close): (usize, usize)) -> Option<Run> {
        let first = nodes.partition_point(|node| node.whole.start < edited.start);
        let (first, start) = match first.checked_sub(1) {
            None => (0, open),
            Some(before) => {
                let end = subtree(text, &nodes[before]).end;
                if end <= edited.start {
                    (first, end)
                } else {
                    let end = before
                        .checked_sub(1)
                        .map(|at| subtree(text, &nodes[at]).end);
                    (before, end.unwrap_or(open))
                }
            }
        };
        // The sibling before must have its tree: without one, the first tree of the text would be taken for it.
        let has_tree = first
            .checked_sub(1)
            .is_none_or(|at| child_tree(text, &nodes[at]) != ChildTree::Missing);
        let last = nodes
            .partition_point(|node| node.whole.start < edited.end)
            .max(first);
        let end = nodes.get(last).map_or(close, |node| node.whole.start);
        (has_tree && edited.end <= end).then_some(Run {
            path: Vec::new(),
            nodes: first..last,
            place: Span::new(start, end),
            is_last: last == nodes.len(),
        })
    }
}

/// Whether a text is a list of elements, each with a `hashTree` behind it, which the last one may lack.
fn is_whole(text: &str, may_lack_tree: bool) -> bool {
    let mut depth = 0_usize;
    let mut is_tree_due = false;
    for (kind, span) in Tags::new(text, 0) {
        if matches!(kind, TagKind::Start | TagKind::Empty) && depth == 0 {
            let is_tree = canonical_class(tag_name(text, span)) == "hashTree";
            if is_tree != is_tree_due {
                return false;
            }
            is_tree_due = !is_tree;
        }
        match kind {
            TagKind::Start => depth += 1,
            TagKind::End if depth == 0 => return false,
            TagKind::End => depth -= 1,
            TagKind::Empty | TagKind::Other => {}
        }
    }
    depth == 0 && (!is_tree_due || may_lack_tree)
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

/// The text around elements that are read alone, at their depth of the tree.
struct Frame {
    head: String,
    tail: String,
    depth: usize,
}

impl Frame {
    /// A frame for elements below `depth` others; `None` if the plan must be read whole.
    fn new(tree: &Tree, depth: usize) -> Option<Frame> {
        if tree.source.has_references()
            || !is_plain(&tree.version)
            || tree.version.contains(['"', '&', '<'])
        {
            return None;
        }
        let version = match tree.version.as_str() {
            "" => String::new(),
            version => format!(r#" version="{version}""#),
        };
        let above = r#"<GenericController guiclass="LogicControllerGui" testclass="GenericController" testname=""/><hashTree>"#;
        Some(Frame {
            head: format!("<jmeterTestPlan{version}><hashTree>{}", above.repeat(depth)),
            tail: format!("{}</jmeterTestPlan>", "</hashTree>".repeat(depth + 1)),
            depth,
        })
    }

    /// A range of the text as it is after the edit, in the frame.
    fn with(&self, tree: &Tree, place: Span, (replaced, inserted): (Span, &str)) -> String {
        let text = tree.source.text.as_str();
        let before = &text[place.start..replaced.start];
        let behind = &text[replaced.end..place.end];
        [&self.head, before, inserted, behind, &self.tail].concat()
    }

    /// The elements in the frame. They must fill their range exactly, so that the text around it reads as before.
    fn read(&self, framed: &str) -> Option<Vec<Node>> {
        if has_references(framed) {
            return None;
        }
        let read = read(framed.as_bytes(), Path::new("")).ok()?;
        if !read.warnings.is_empty() {
            return None;
        }
        let mut nodes = read.tree.roots.to_vec();
        for _ in 0..self.depth {
            let [node]: [Node; 1] = nodes.try_into().ok()?;
            nodes = node.children;
        }
        let end = framed.len() - self.tail.len();
        nodes
            .iter()
            .all(|node| self.head.len() <= node.whole.start && node.whole.end <= end)
            .then_some(nodes)
    }

    fn moved_to(&self, start: usize) -> MovedOffsets {
        MovedOffsets {
            from: self.head.len(),
            to: start,
        }
    }
}

fn moved_behind(replaced: Span, inserted: &str) -> MovedOffsets {
    MovedOffsets {
        from: replaced.end,
        to: replaced.start + inserted.len(),
    }
}

fn is_plain(version: &str) -> bool {
    version.bytes().all(|byte| byte.is_ascii_graphic())
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

/// Moves an element with everything below it.
fn move_all(node: &mut Node, moved: MovedOffsets) {
    move_node(node, moved);
    node.children
        .iter_mut()
        .for_each(|child| move_all(child, moved));
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

    /// The part that was enough to read.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Enough {
        Element,
        Siblings,
        Whole,
    }

    fn enough(tree: &mut Tree, edit: Span, new: &str) -> Enough {
        if reread(tree, edit, new).is_some() {
            Enough::Element
        } else if reread_siblings(tree, edit, new) {
            Enough::Siblings
        } else {
            Enough::Whole
        }
    }

    /// The roots and the text, without what is known of the text.
    fn shown(tree: &Tree) -> String {
        format!("{:?} {:?} {:?}", tree.roots, tree.source.text, tree.version)
    }

    /// Replaces a text that occurs once, and returns what was enough to read.
    fn replaced(old: &str, new: &str) -> Enough {
        let at = PLAN.find(old).expect("the plan has it");
        let (text, edit) = edited(PLAN, Span::new(at, at + old.len()), new);
        let mut tree = tree_of(PLAN).expect("a plan");
        let read = enough(&mut tree, edit.replaced, new);
        let whole = match read {
            Enough::Whole => tree_of(PLAN).expect("a plan"),
            _ => tree_of(&text).expect("a part was enough, so the text is a plan"),
        };
        assert_eq!(shown(&tree), shown(&whole), "{old} -> {new}");
        read
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
            assert_eq!(replaced(old, new), Enough::Element, "{old} -> {new}");
        }
    }

    #[test]
    fn edits_of_whole_elements_read_those_alone() {
        let timer = "<ConstantTimer guiclass=\"ConstantTimerGui\" testclass=\"ConstantTimer\" testname=\"new\"/>";
        let with_tree = format!("{timer}<hashTree/>");
        for (old, new) in [
            ("<!-- between -->", "<!-- between them -->".to_owned()),
            ("<!-- between -->", format!("{with_tree}{with_tree}")),
            (
                "<HTTPSamplerProxy guiclass=\"HttpTestSampleGui\" testclass=\"HTTPSamplerProxy\" testname=\"second\"/><hashTree/>",
                String::new(),
            ),
            (
                "testname=\"second\"/><hashTree/>",
                format!("testname=\"second\"/><hashTree>{timer}</hashTree>"),
            ),
            ("<!-- between -->\n", with_tree.clone()),
            (
                "</hashTree></hashTree></jmeterTestPlan>",
                format!("{timer}</hashTree></hashTree></jmeterTestPlan>"),
            ),
        ] {
            let read = replaced(old, &new);
            let expected = if old.contains("jmeterTestPlan") {
                Enough::Whole
            } else {
                Enough::Siblings
            };
            assert_eq!(read, expected, "{old} -> {new}");
        }
    }

    #[test]
    fn all_other_edits_need_the_whole_text() {
        for (old, new) in [
            ("<!-- between -->", "<hashTree/>"),
            ("<!-- between -->", "</hashTree><hashTree>"),
            (
                "<!-- between -->",
                "<ConstantTimer guiclass=\"ConstantTimerGui\" testclass=\"ConstantTimer\" testname=\"new\"/>",
            ),
            ("<!-- between -->", "<!-- between"),
            ("/a<", "/a&<"),
            ("/a<", "/a<!-- <"),
            ("</ThreadGroup>", "</ThreadGroup><hashTree/>"),
            ("</ThreadGroup>", ""),
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
            assert_eq!(replaced(old, new), Enough::Whole, "{old} -> {new}");
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
            "<X.Y guiclass=\"g\" testname=\"n\"/><hashTree/>",
            "<X.Y guiclass=\"g\" testname=\"n\"/>",
            "<hashTree>",
            "</hashTree>",
            "</hashTree><hashTree>",
            "<!--",
            "-->",
            "<![CDATA[",
        ];
        let mut random = fastrand::Rng::with_seed(26);
        let is_edge = |at: &usize| PLAN.is_char_boundary(*at);
        let edges: Vec<usize> = (0..=PLAN.len()).filter(is_edge).collect();
        // Between two tags, edits of whole elements are likely.
        let gaps: Vec<usize> = PLAN
            .match_indices('<')
            .map(|(at, _)| at)
            .chain(PLAN.match_indices('>').map(|(at, _)| at + 1))
            .collect();
        let (mut parts, mut siblings, mut read) = (0, 0, 0);
        for _ in 0..4_000 {
            let (start, end) = if random.bool() {
                let start = random.usize(..edges.len());
                let end = (start + random.usize(..8)).min(edges.len() - 1);
                (edges[start], edges[end])
            } else {
                let (one, other) = (random.usize(..gaps.len()), random.usize(..gaps.len()));
                let other = if random.bool() { one } else { other };
                (gaps[one].min(gaps[other]), gaps[one].max(gaps[other]))
            };
            let new = pieces[random.usize(..pieces.len())];
            let (text, edit) = edited(PLAN, Span::new(start, end), new);
            let mut tree = tree_of(PLAN).expect("a plan");
            let whole = tree_of(&text);
            read += usize::from(whole.is_some());
            let part = enough(&mut tree, edit.replaced, new);
            if part != Enough::Whole {
                let whole = whole.unwrap_or_else(|| panic!("taken, and no plan: {text}"));
                assert_eq!(shown(&tree), shown(&whole), "{text}");
                parts += 1;
                siblings += usize::from(part == Enough::Siblings);
            }
        }
        assert!(
            parts * 2 > read && siblings > 100,
            "{parts} of {read} were read in part, {siblings} as siblings"
        );
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
