//! The insertion mode "in body".

use super::insert::Open;
use super::quick::{Builder, Mode, Quirks, Token};
use super::tags::{
    BLOCK, CLOSED_IN_SCOPE, FORMATTING, HEADING, METADATA, ODD, SCOPE, SPECIAL, TABLE_PART, Tag,
    VOID, VOID_AS_IT_IS,
};

impl Builder<'_> {
    pub(super) fn start_in_body(&mut self, token: Token) -> Option<()> {
        let sets = token.sets;
        if sets & ODD != 0 {
            return match token.tag {
                Tag::Svg => self.start_picture(token),
                _ => None,
            };
        }
        if sets & BLOCK != 0 {
            self.close_paragraph();
            self.insert(token);
        } else if sets & FORMATTING != 0 {
            // A new `a` closes an open one at any depth, so the quick parser gives up.
            if token.tag == Tag::A && self.formatting().any(|(_, tag, _)| tag == Tag::A) {
                return None;
            }
            return self.insert_formatting(token);
        } else if sets & VOID != 0 {
            self.reconstruct()?;
            self.insert_void(token);
        } else if sets & HEADING != 0 {
            self.close_paragraph();
            if self.current().sets & HEADING != 0 {
                self.pop();
            }
            self.insert(token);
        } else if sets & VOID_AS_IT_IS != 0 {
            self.insert_void(token);
        } else if sets & METADATA != 0 {
            return self.start_in_head(token);
        } else if sets & TABLE_PART == 0 {
            return self.start_with_rules(token);
        }
        Some(())
    }

    /// Start tags with their own rules.
    fn start_with_rules(&mut self, token: Token) -> Option<()> {
        match token.tag {
            Tag::Head | Tag::Frame => return Some(()),
            Tag::Title | Tag::Textarea => {
                if token.tag == Tag::Textarea {
                    self.skip_line_end()?;
                }
                return self.raw(token, true);
            }
            Tag::Style | Tag::Script | Tag::Noframes | Tag::Iframe | Tag::Noembed => {
                return self.raw(token, false);
            }
            Tag::Xmp => {
                self.close_paragraph();
                self.reconstruct()?;
                return self.raw(token, false);
            }
            Tag::Pre | Tag::Listing => {
                self.close_paragraph();
                self.insert(token);
                return self.skip_line_end();
            }
            Tag::Form if self.form.is_some() => {}
            Tag::Form => {
                self.close_paragraph();
                self.form = Some(self.insert(token));
            }
            Tag::Li | Tag::Dd | Tag::Dt => {
                self.close_item(token.tag);
                self.close_paragraph();
                self.insert(token);
            }
            Tag::Hr => {
                self.close_paragraph();
                self.insert_void_outside_select(token)?;
            }
            Tag::Table => {
                if self.quirks != Quirks::Yes && self.paragraph_in_button_scope() {
                    if self.quirks == Quirks::Unknown {
                        return None;
                    }
                    self.close_paragraph();
                }
                self.insert(token);
                self.mode = Mode::InTable;
            }
            _ => return self.start_in_line(token),
        }
        Some(())
    }

    /// Start tags before which the standard reconstructs formatting elements.
    fn start_in_line(&mut self, token: Token) -> Option<()> {
        match token.tag {
            Tag::Button if self.in_default_scope(Tag::Button) => {
                self.close_implied(None);
                self.pop_to(Tag::Button);
            }
            Tag::Input => {
                self.reconstruct()?;
                return self.insert_void_outside_select(token);
            }
            Tag::Select if self.in_default_scope(Tag::Select) => return None,
            Tag::Option if self.in_default_scope(Tag::Select) => {
                self.close_implied(Some(Tag::Optgroup))
            }
            Tag::Optgroup if self.in_default_scope(Tag::Select) => self.close_implied(None),
            Tag::Option | Tag::Optgroup if self.current().tag == Tag::Option => self.pop(),
            _ => {}
        }
        self.reconstruct()?;
        self.insert(token);
        Some(())
    }

    fn insert_void_outside_select(&mut self, token: Token) -> Option<()> {
        if self.in_default_scope(Tag::Select) {
            return None;
        }
        self.insert_void(token);
        Some(())
    }

    /// Skips a line end directly after the start tag.
    fn skip_line_end(&mut self) -> Option<()> {
        match self.byte(0) {
            Some(b'\n') => self.at += 1,
            // It may be a reference to a line end.
            Some(b'&') => return None,
            _ => {}
        }
        Some(())
    }

    /// Closes an open list item before the next one.
    fn close_item(&mut self, tag: Tag) {
        let is_item = |other: Tag| match tag {
            Tag::Li => other == Tag::Li,
            _ => matches!(other, Tag::Dd | Tag::Dt),
        };
        if self.in_scope(|open| is_item(open.tag), ends) {
            self.pop_until(is_item);
            self.pop();
        }
    }

    pub(super) fn end_in_body(&mut self, token: Token) -> Option<()> {
        let sets = token.sets;
        if sets & FORMATTING != 0 {
            return self.end_formatting(token);
        }
        if sets & CLOSED_IN_SCOPE != 0 {
            self.end_in_scope(token.tag);
        } else if sets & HEADING != 0 {
            let ends = |open: &Open| open.sets & SCOPE != 0;
            if self.in_scope(|open| open.sets & HEADING != 0, ends) {
                while self.current().sets & HEADING == 0 {
                    self.pop();
                }
                self.pop();
            }
        } else {
            match token.tag {
                Tag::P => {
                    if !self.paragraph_in_button_scope() {
                        self.insert_implied("p");
                    }
                    self.close_paragraph();
                }
                Tag::Li => {
                    let ends = |open: &Open| {
                        open.sets & SCOPE != 0 || matches!(open.tag, Tag::Ol | Tag::Ul)
                    };
                    if self.in_scope(|open| open.tag == Tag::Li, ends) {
                        self.pop_to(Tag::Li);
                    }
                }
                Tag::Dd | Tag::Dt => self.end_in_scope(token.tag),
                Tag::Form => return self.end_form(),
                Tag::Br | Tag::Nobr | Tag::Template => return None,
                Tag::Applet | Tag::Marquee | Tag::Object => {}
                Tag::Body | Tag::Html => {
                    if self.in_default_scope(Tag::Body) {
                        self.mode = match token.tag {
                            Tag::Body => Mode::AfterBody,
                            _ => Mode::AfterAfterBody,
                        };
                    }
                }
                _ => self.end_other(token),
            }
        }
        Some(())
    }

    fn end_in_scope(&mut self, tag: Tag) {
        if self.in_default_scope(tag) {
            self.pop_to(tag);
        }
    }

    pub(super) fn end_form(&mut self) -> Option<()> {
        let Some(form) = self.form.take() else {
            return Some(());
        };
        if !self.in_scope(|open: &Open| open.id == form, |open| open.sets & SCOPE != 0) {
            return Some(());
        }
        self.close_implied(None);
        // The standard closes the form but not the elements that are open in it.
        if self.current().id != form {
            return None;
        }
        self.pop();
        Some(())
    }
}

fn ends(open: &Open) -> bool {
    open.sets & SPECIAL != 0 && !matches!(open.tag, Tag::Address | Tag::Div | Tag::P)
}
