//! The stack of open elements, and the insertion of nodes into the tree.

use super::quick::{Builder, Token};
use super::tags::{self, FORMATTING, IMPLIED, PLAIN, SCOPE, SPECIAL, Tag};
use super::{HtmlNodeKind, NONE, NodeData, TextSpan};

/// An open element.
#[derive(Clone, Copy)]
pub(super) struct Open {
    pub(super) id: u32,
    pub(super) tag: Tag,
    pub(super) sets: u16,
    pub(super) name: TextSpan,
    /// The last child, so far.
    last: u32,
}

impl Open {
    /// The document.
    pub(super) fn document() -> Open {
        Open {
            id: 0,
            tag: Tag::Other,
            sets: SPECIAL | SCOPE,
            name: TextSpan::default(),
            last: NONE,
        }
    }
}

impl Builder<'_> {
    pub(super) fn current(&self) -> &Open {
        self.open.last().expect("the document stays open")
    }

    fn push_node(
        &mut self,
        kind: HtmlNodeKind,
        text: TextSpan,
        attributes: TextSpan,
        end: u32,
    ) -> u32 {
        let id = TextSpan::new(0, self.page.nodes.len()).end;
        let parent = self.open.last_mut().expect("the document stays open");
        let previous = std::mem::replace(&mut parent.last, id);
        self.page.nodes.push(NodeData {
            kind,
            parent: parent.id,
            previous,
            end,
            text,
            attributes,
        });
        id
    }

    /// Inserts an element and pushes it onto the stack.
    pub(super) fn insert(&mut self, token: Token) -> u32 {
        let id = self.push_node(HtmlNodeKind::Element, token.name, token.attributes, 0);
        self.open.push(Open {
            id,
            tag: token.tag,
            sets: token.sets,
            name: token.name,
            last: NONE,
        });
        self.paragraphs += usize::from(token.tag == Tag::P);
        id
    }

    /// Inserts an element without content.
    pub(super) fn insert_void(&mut self, token: Token) -> u32 {
        let end = TextSpan::new(0, self.page.nodes.len()).end + 1;
        self.push_node(HtmlNodeKind::Element, token.name, token.attributes, end)
    }

    /// Inserts an element that has no tag in the page.
    pub(super) fn insert_implied(&mut self, name: &str) -> u32 {
        let name_span = self.keep(name);
        let (tag, sets) = tags::find(name.as_bytes());
        self.insert(Token {
            tag,
            sets,
            name: name_span,
            attributes: TextSpan::default(),
            is_closed: false,
        })
    }

    /// Appends text to the current element, merging it with a text node at its end.
    pub(super) fn append(&mut self, span: TextSpan) {
        if span.start == span.end {
            return;
        }
        let last = self.current().last;
        let text = match self.page.nodes.get(last as usize) {
            Some(node) if node.kind == HtmlNodeKind::Text => node.text,
            _ => {
                let end = TextSpan::new(0, self.page.nodes.len()).end + 1;
                self.push_node(HtmlNodeKind::Text, span, TextSpan::default(), end);
                return;
            }
        };
        let joined = if text.end == span.start {
            TextSpan {
                start: text.start,
                end: span.end,
            }
        } else {
            let length = self.page.text.len();
            let start = if text.range().end == length {
                text.range().start
            } else {
                self.page.text.extend_from_within(text.range());
                length
            };
            self.page.text.extend_from_within(span.range());
            TextSpan::new(start, self.page.text.len())
        };
        self.page.nodes[last as usize].text = joined;
    }

    pub(super) fn insert_comment(&mut self, span: TextSpan) {
        let end = TextSpan::new(0, self.page.nodes.len()).end + 1;
        self.push_node(HtmlNodeKind::Comment, span, TextSpan::default(), end);
    }

    /// Pops the current element.
    pub(super) fn pop(&mut self) {
        if let Some(closed) = self.open.pop() {
            self.paragraphs -= usize::from(closed.tag == Tag::P);
            self.foreign = self.foreign.saturating_sub(1);
            self.page.nodes[closed.id as usize].end = TextSpan::new(0, self.page.nodes.len()).end;
        }
    }

    /// Pops elements up to and including an open one with this name.
    pub(super) fn pop_to(&mut self, tag: Tag) {
        while self.current().tag != tag {
            self.pop();
        }
        self.pop();
    }

    pub(super) fn pop_until(&mut self, is_it: impl Fn(Tag) -> bool) {
        while self.open.len() > 1 && !is_it(self.current().tag) {
            self.pop();
        }
    }

    /// Whether a matching element is open, with no element in between that ends the scope.
    pub(super) fn in_scope(
        &self,
        is_it: impl Fn(&Open) -> bool,
        ends: impl Fn(&Open) -> bool,
    ) -> bool {
        for open in self.open.iter().rev() {
            if is_it(open) {
                return true;
            }
            if ends(open) {
                return false;
            }
        }
        false
    }

    pub(super) fn in_default_scope(&self, tag: Tag) -> bool {
        self.in_scope(|open| open.tag == tag, |open| open.sets & SCOPE != 0)
    }

    pub(super) fn in_table_scope(&self, tag: Tag) -> bool {
        self.in_scope(|open| open.tag == tag, ends)
    }

    pub(super) fn paragraph_in_button_scope(&self) -> bool {
        self.paragraphs > 0
            && self.in_scope(
                |open| open.tag == Tag::P,
                |open: &Open| open.sets & SCOPE != 0 || open.tag == Tag::Button,
            )
    }

    /// "Generate implied end tags", except for a tag.
    pub(super) fn close_implied(&mut self, except: Option<Tag>) {
        while self.current().sets & IMPLIED != 0 && Some(self.current().tag) != except {
            self.pop();
        }
    }

    pub(super) fn close_paragraph(&mut self) {
        if self.paragraph_in_button_scope() {
            self.pop_to(Tag::P);
        }
    }

    /// Succeeds if no formatting elements need to be reconstructed before text or inline elements. Otherwise the
    /// quick parser gives up.
    pub(super) fn reconstruct(&self) -> Option<()> {
        match self.formatting.last() {
            Some(Some((_, id))) => (self.page.nodes[*id as usize].end == 0).then_some(()),
            _ => Some(()),
        }
    }

    /// The formatting elements after the last marker, last one first.
    pub(super) fn formatting(&self) -> impl Iterator<Item = (usize, Tag, u32)> {
        let entries = self.formatting.iter().enumerate().rev();
        entries.map_while(|(at, entry)| entry.map(|(tag, id)| (at, tag, id)))
    }

    pub(super) fn forget_formatting(&mut self) {
        while let Some(Some(_)) = self.formatting.pop() {}
    }

    /// Closes a formatting element, if the adoption agency algorithm would not move its content.
    pub(super) fn end_formatting(&mut self, token: Token) -> Option<()> {
        let Some((at, _, id)) = self.formatting().find(|(_, tag, _)| *tag == token.tag) else {
            self.end_other(token);
            return Some(());
        };
        if self.current().tag == token.tag
            && self.formatting().all(|(_, _, id)| id != self.current().id)
        {
            self.pop();
            return Some(());
        }
        if self.page.nodes[id as usize].end != 0 {
            self.formatting.remove(at);
            return Some(());
        }
        let is_it = |open: &Open| open.id == id;
        if !self.in_scope(is_it, |open| open.sets & SCOPE != 0) {
            return Some(());
        }
        if !self.in_scope(is_it, |open| open.sets & SPECIAL != 0) {
            return None;
        }
        while self.current().id != id {
            self.pop();
        }
        self.pop();
        self.formatting.remove(at);
        Some(())
    }

    /// "Any other end tag".
    pub(super) fn end_other(&mut self, token: Token) {
        let text = &self.page.text;
        let is_it = |open: &Open| {
            open.tag == token.tag
                && (token.tag != Tag::Other || text[open.name.range()] == text[token.name.range()])
                && open.id > 0
        };
        let mut opened_at = None;
        for (at, open) in self.open.iter().enumerate().rev() {
            if is_it(open) {
                opened_at = Some(at);
                break;
            }
            if is_special(open) {
                break;
            }
        }
        let Some(opened_at) = opened_at else { return };
        while self.open.len() > opened_at {
            self.pop();
        }
    }

    pub(super) fn insert_formatting(&mut self, token: Token) -> Option<()> {
        // The standard keeps at most three equal formatting elements.
        let same = self.formatting().filter(|(_, tag, _)| *tag == token.tag);
        if same.count() >= 3 {
            return None;
        }
        self.reconstruct()?;
        let id = self.insert(token);
        debug_assert!(token.sets & FORMATTING != PLAIN);
        self.formatting.push(Some((token.tag, id)));
        Some(())
    }
}

fn ends(open: &Open) -> bool {
    matches!(open.tag, Tag::Html | Tag::Table)
}

fn is_special(open: &Open) -> bool {
    open.sets & SPECIAL != 0
}
