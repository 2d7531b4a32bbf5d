//! HTML pages: the tree that the HTML standard defines, for a browser without scripts.
//!
//! All nodes are in one list, in document order, and their contents are ranges of one text, so creating and dropping a page
//! takes a handful of allocations. The `quick` parser reads unremarkable pages in one pass, and html5ever all others.

mod attributes;
mod body;
mod early;
mod foreign;
mod insert;
mod quick;
mod references;
mod standard;
mod table;
mod tags;

/// Longer texts are truncated, since positions are 32-bit numbers.
const LONGEST_BYTES: usize = 1 << 30;

/// Stands for the absence of a node.
const NONE: u32 = u32::MAX;

/// A parsed page.
#[derive(Debug)]
pub(crate) struct Page {
    /// The page, followed by texts that differ between the tree and the page.
    text: String,
    nodes: Vec<NodeData>,
    attributes: Vec<Attribute>,
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HtmlNodeKind {
    Document,
    Element,
    Text,
    Comment,
}

#[derive(Clone, Copy, Debug)]
struct NodeData {
    kind: HtmlNodeKind,
    parent: u32,
    /// The previous sibling.
    previous: u32,
    /// Index after the last descendant; 0 while there may be more.
    end: u32,
    /// The name of an element, or the content of other nodes.
    text: TextSpan,
    /// Range in the list of attributes.
    attributes: TextSpan,
}

#[derive(Clone, Copy, Debug)]
struct Attribute {
    name: TextSpan,
    value: TextSpan,
}

/// A range of the text, or of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TextSpan {
    start: u32,
    end: u32,
}

impl TextSpan {
    #[inline]
    fn new(start: usize, end: usize) -> TextSpan {
        TextSpan {
            start: offset(start),
            end: offset(end),
        }
    }

    #[inline]
    fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("pages are cut before that")
}

impl Page {
    /// Parses as the HTML standard defines.
    pub(crate) fn parse(html: &str) -> Page {
        let html = &html[..html.floor_char_boundary(LONGEST_BYTES)];
        quick::parse(html).unwrap_or_else(|| standard::parse(html))
    }

    pub(crate) fn root(&self) -> HtmlNode<'_> {
        self.node(0)
    }

    fn node(&self, id: u32) -> HtmlNode<'_> {
        HtmlNode { page: self, id }
    }
}

/// A node of a page.
#[derive(Clone, Copy)]
pub(crate) struct HtmlNode<'p> {
    page: &'p Page,
    id: u32,
}

impl PartialEq for HtmlNode<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<'p> HtmlNode<'p> {
    fn data(self) -> &'p NodeData {
        &self.page.nodes[self.id as usize]
    }

    /// The index in the page, in document order; 0 for the document.
    pub(crate) fn index(self) -> usize {
        self.id as usize
    }

    /// The index after the last descendant.
    pub(crate) fn end(self) -> usize {
        self.data().end as usize
    }

    /// The node of the same page at an index.
    pub(crate) fn at_index(self, index: usize) -> HtmlNode<'p> {
        self.page.node(offset(index))
    }

    pub(crate) fn kind(self) -> HtmlNodeKind {
        self.data().kind
    }

    /// The local name of an element, in lower case except for some of SVG; empty for other nodes.
    pub(crate) fn name(self) -> &'p str {
        match self.kind() {
            HtmlNodeKind::Element => &self.page.text[self.data().text.range()],
            _ => "",
        }
    }

    /// The text of a text node or a comment; empty for other nodes.
    pub(crate) fn text(self) -> &'p str {
        match self.kind() {
            HtmlNodeKind::Text | HtmlNodeKind::Comment => &self.page.text[self.data().text.range()],
            _ => "",
        }
    }

    /// Names and values, without duplicate names.
    pub(crate) fn attributes(self) -> impl Iterator<Item = (&'p str, &'p str)> {
        let text = &self.page.text;
        self.page.attributes[self.data().attributes.range()]
            .iter()
            .map(|attribute| {
                (
                    &text[attribute.name.range()],
                    &text[attribute.value.range()],
                )
            })
    }

    pub(crate) fn parent(self) -> Option<HtmlNode<'p>> {
        self.at(self.data().parent)
    }

    pub(crate) fn first_child(self) -> Option<HtmlNode<'p>> {
        (self.id + 1 < self.data().end).then(|| self.page.node(self.id + 1))
    }

    pub(crate) fn next_sibling(self) -> Option<HtmlNode<'p>> {
        let next = self.data().end;
        let is_there = next < self.parent()?.data().end;
        is_there.then(|| self.page.node(next))
    }

    pub(crate) fn previous_sibling(self) -> Option<HtmlNode<'p>> {
        self.at(self.data().previous)
    }

    pub(crate) fn children(self) -> impl Iterator<Item = HtmlNode<'p>> {
        std::iter::successors(self.first_child(), |node| node.next_sibling())
    }

    /// The following siblings, nearest first.
    pub(crate) fn following(self) -> impl Iterator<Item = HtmlNode<'p>> {
        std::iter::successors(self.next_sibling(), |node| node.next_sibling())
    }

    /// The preceding siblings, nearest first.
    pub(crate) fn preceding(self) -> impl Iterator<Item = HtmlNode<'p>> {
        std::iter::successors(self.previous_sibling(), |node| node.previous_sibling())
    }

    /// The ancestors, starting with the parent.
    pub(crate) fn ancestors(self) -> impl Iterator<Item = HtmlNode<'p>> {
        std::iter::successors(self.parent(), |node| node.parent())
    }

    /// All descendants, in document order.
    pub(crate) fn descendants(self) -> impl DoubleEndedIterator<Item = HtmlNode<'p>> {
        (self.id + 1..self.data().end).map(move |id| self.page.node(id))
    }

    fn at(self, id: u32) -> Option<HtmlNode<'p>> {
        (id != NONE).then(|| self.page.node(id))
    }
}

#[cfg(test)]
mod tests;
