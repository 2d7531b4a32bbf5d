//! The insertion modes before, in and after the head, and after the body.

use super::TextSpan;
use super::quick::{Builder, Mode, Quirks, Token};
use super::tags::{METADATA, Tag};

impl Builder<'_> {
    /// Processes a start tag in any mode.
    pub(super) fn start(&mut self, token: Token) -> Option<()> {
        loop {
            match self.mode {
                Mode::Initial => {
                    self.quirks = Quirks::Yes;
                    self.mode = Mode::BeforeHtml;
                }
                Mode::BeforeHtml if token.tag == Tag::Html => {
                    self.insert(token);
                    self.mode = Mode::BeforeHead;
                    return Some(());
                }
                Mode::BeforeHead if token.tag == Tag::Head => {
                    self.insert(token);
                    self.mode = Mode::InHead;
                    return Some(());
                }
                Mode::BeforeHtml | Mode::BeforeHead => self.imply(),
                Mode::InHead => match token.tag {
                    Tag::Noscript => {
                        self.insert(token);
                        self.mode = Mode::InHeadNoscript;
                        return Some(());
                    }
                    Tag::Head => return None,
                    _ if self.is_for_head(token) => return self.start_in_head(token),
                    _ => self.imply(),
                },
                Mode::InHeadNoscript => {
                    let is_odd = matches!(token.tag, Tag::Base | Tag::Title | Tag::Script);
                    let is_fit = self.is_for_head(token) && !is_odd;
                    return if is_fit {
                        self.start_in_head(token)
                    } else {
                        None
                    };
                }
                Mode::AfterHead if token.tag == Tag::Body => {
                    self.insert(token);
                    self.mode = Mode::InBody;
                    return Some(());
                }
                Mode::AfterHead => match token.tag {
                    Tag::Head | Tag::Frameset => return None,
                    _ if self.is_for_head(token) => return None,
                    _ => self.imply(),
                },
                Mode::AfterBody | Mode::AfterAfterBody => self.mode = Mode::InBody,
                Mode::InBody => return self.start_in_body(token),
                _ => return self.start_in_table(token),
            }
            // The tag modifies the open `html` element.
            if token.tag == Tag::Html && self.mode != Mode::BeforeHtml {
                return None;
            }
        }
    }

    /// Enters the next mode and inserts the element that it implies.
    fn imply(&mut self) {
        self.mode = match self.mode {
            Mode::BeforeHtml => {
                self.insert_implied("html");
                Mode::BeforeHead
            }
            Mode::BeforeHead => {
                self.insert_implied("head");
                Mode::InHead
            }
            Mode::InHead => {
                self.pop();
                Mode::AfterHead
            }
            _ => {
                self.insert_implied("body");
                Mode::InBody
            }
        };
    }

    pub(super) fn is_for_head(&self, token: Token) -> bool {
        let others = [
            Tag::Title,
            Tag::Noframes,
            Tag::Style,
            Tag::Script,
            Tag::Template,
        ];
        token.sets & METADATA != 0 || others.contains(&token.tag)
    }

    pub(super) fn start_in_head(&mut self, token: Token) -> Option<()> {
        match token.tag {
            Tag::Title => self.raw(token, true),
            Tag::Noframes | Tag::Style | Tag::Script => self.raw(token, false),
            Tag::Template => None,
            _ => {
                self.insert_void(token);
                Some(())
            }
        }
    }

    /// Processes an end tag in any mode.
    pub(super) fn end(&mut self, token: Token) -> Option<()> {
        match (self.mode, token.tag) {
            (Mode::InHead, Tag::Head) => {
                self.pop();
                self.mode = Mode::AfterHead;
            }
            (Mode::InHeadNoscript, Tag::Noscript) => {
                self.pop();
                self.mode = Mode::InHead;
            }
            (Mode::AfterBody | Mode::AfterAfterBody, Tag::Html) => self.mode = Mode::AfterAfterBody,
            (Mode::AfterBody | Mode::AfterAfterBody | Mode::InBody, _) => {
                self.mode = Mode::InBody;
                return self.end_in_body(token);
            }
            (
                Mode::InTable
                | Mode::InCaption
                | Mode::InColumnGroup
                | Mode::InTableBody
                | Mode::InRow
                | Mode::InCell,
                _,
            ) => return self.end_in_table(token),
            _ => return None,
        }
        Some(())
    }

    /// Processes text in any mode.
    pub(super) fn characters(&mut self, span: TextSpan) -> Option<()> {
        let mut span = span;
        while !matches!(self.mode, Mode::InBody | Mode::InCell | Mode::InCaption) {
            let text = &self.page.text[span.range()];
            let white = text.len() - text.trim_start_matches([' ', '\n', '\t', '\x0C']).len();
            let (before, behind) = (
                TextSpan::new(span.range().start, span.range().start + white),
                TextSpan::new(span.range().start + white, span.range().end),
            );
            match self.mode {
                Mode::Initial | Mode::BeforeHtml | Mode::BeforeHead => {}
                Mode::AfterBody | Mode::AfterAfterBody if white > 0 => {
                    self.reconstruct()?;
                    self.append(before);
                }
                _ => self.append(before),
            }
            span = behind;
            if span.start == span.end {
                return Some(());
            }
            match self.mode {
                Mode::Initial => {
                    self.quirks = Quirks::Yes;
                    self.mode = Mode::BeforeHtml;
                }
                Mode::BeforeHtml | Mode::BeforeHead | Mode::InHead | Mode::AfterHead => {
                    self.imply();
                }
                Mode::AfterBody | Mode::AfterAfterBody => self.mode = Mode::InBody,
                // The standard would move the text before the table.
                _ => return None,
            }
        }
        self.reconstruct()?;
        self.append(span);
        Some(())
    }

    pub(super) fn comment(&mut self, span: TextSpan) {
        match self.mode {
            _ if self.foreign > 0 => self.insert_comment(span),
            Mode::AfterBody => self.late_comments.push((span, false)),
            Mode::AfterAfterBody => self.late_comments.push((span, true)),
            _ => self.insert_comment(span),
        }
    }

    /// Closes the open elements at the end of the page.
    pub(super) fn finish(&mut self) -> Option<()> {
        if matches!(
            self.mode,
            Mode::Initial
                | Mode::BeforeHtml
                | Mode::BeforeHead
                | Mode::InHead
                | Mode::InHeadNoscript
                | Mode::AfterHead
        ) {
            return None;
        }
        // Only the document and `html` remain.
        for (depth, is_last) in [(2, false), (1, true)] {
            while self.open.len() > depth {
                self.pop();
            }
            let late: Vec<(TextSpan, bool)> = self.late_comments.clone();
            for (span, _) in late.iter().filter(|(_, last)| *last == is_last) {
                self.insert_comment(*span);
            }
        }
        self.pop();
        Some(())
    }
}
