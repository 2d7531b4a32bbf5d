//! The insertion modes of tables.

use super::insert::Open;
use super::quick::{Builder, Mode, Token};
use super::tags::{TABLE_PART, Tag};

impl Builder<'_> {
    pub(super) fn start_in_table(&mut self, token: Token) -> Option<()> {
        let is_part = token.sets & TABLE_PART != 0;
        loop {
            match (self.mode, token.tag) {
                (Mode::InBody, _) => return self.start_in_body(token),
                (Mode::InCell, _) if is_part => self.close_cell(),
                (Mode::InCaption, _) if is_part => self.close_caption(),
                (Mode::InCell | Mode::InCaption, Tag::Html) => return None,
                (Mode::InCell | Mode::InCaption, _) => return self.start_in_body(token),
                (Mode::InColumnGroup, Tag::Col) => {
                    self.insert_void(token);
                    return Some(());
                }
                (Mode::InColumnGroup, Tag::Html | Tag::Template) => return None,
                (Mode::InColumnGroup, _) => {
                    self.pop();
                    self.mode = Mode::InTable;
                }
                (Mode::InRow, Tag::Td | Tag::Th) => {
                    self.pop_until(|tag| tag == Tag::Tr);
                    self.insert(token);
                    self.formatting.push(None);
                    self.mode = Mode::InCell;
                    return Some(());
                }
                (Mode::InRow, _) if is_part => self.close_row(),
                (Mode::InTableBody, Tag::Tr) => {
                    self.pop_until(is_body);
                    self.insert(token);
                    self.mode = Mode::InRow;
                    return Some(());
                }
                (Mode::InTableBody, Tag::Td | Tag::Th) => {
                    self.pop_until(is_body);
                    self.insert_implied("tr");
                    self.mode = Mode::InRow;
                }
                (Mode::InTableBody, _) if is_part => self.close_body(),
                _ => {
                    if self.start_between(token)? {
                        return Some(());
                    }
                }
            }
        }
    }

    /// Processes a start tag in a table but outside of its parts; returns whether it was
    /// handled.
    fn start_between(&mut self, token: Token) -> Option<bool> {
        let is_part = token.sets & TABLE_PART != 0;
        if is_part {
            self.pop_until(|tag| tag == Tag::Table);
        }
        match token.tag {
            Tag::Caption => {
                self.formatting.push(None);
                self.insert(token);
                self.mode = Mode::InCaption;
            }
            Tag::Colgroup => {
                self.insert(token);
                self.mode = Mode::InColumnGroup;
            }
            Tag::Col => {
                self.insert_implied("colgroup");
                self.mode = Mode::InColumnGroup;
                return Some(false);
            }
            Tag::Tbody | Tag::Tfoot | Tag::Thead => {
                self.insert(token);
                self.mode = Mode::InTableBody;
            }
            Tag::Tr | Tag::Td | Tag::Th => {
                self.insert_implied("tbody");
                self.mode = Mode::InTableBody;
                return Some(false);
            }
            Tag::Style | Tag::Script => self.raw(token, false)?,
            Tag::Form if self.form.is_none() => self.form = Some(self.insert_void(token)),
            Tag::Form => {}
            Tag::Input if self.is_hidden(token) => {
                self.insert_void(token);
            }
            // The standard would move the element before the table.
            _ => return None,
        }
        Some(true)
    }

    fn is_hidden(&self, token: Token) -> bool {
        let text = &self.page.text;
        let attributes = &self.page.attributes[token.attributes.range()];
        attributes.iter().any(|attribute| {
            &text[attribute.name.range()] == "type"
                && text[attribute.value.range()].eq_ignore_ascii_case("hidden")
        })
    }

    pub(super) fn end_in_table(&mut self, token: Token) -> Option<()> {
        loop {
            match (self.mode, token.tag) {
                (Mode::InCell, Tag::Td | Tag::Th) => {
                    if self.in_table_scope(token.tag) {
                        self.pop_to(token.tag);
                        self.forget_formatting();
                        self.mode = Mode::InRow;
                    }
                    return Some(());
                }
                (Mode::InCell, Tag::Table | Tag::Tbody | Tag::Tfoot | Tag::Thead | Tag::Tr) => {
                    if !self.in_table_scope(token.tag) {
                        return Some(());
                    }
                    self.close_cell();
                }
                (Mode::InCaption, Tag::Caption) => {
                    self.close_caption();
                    return Some(());
                }
                (Mode::InCaption, Tag::Table) => self.close_caption(),
                (Mode::InCell | Mode::InCaption, Tag::Body | Tag::Html) => return Some(()),
                (Mode::InCell | Mode::InCaption, _) if token.sets & TABLE_PART != 0 => {
                    return Some(());
                }
                (Mode::InCell | Mode::InCaption, _) => return self.end_in_body(token),
                (Mode::InColumnGroup, Tag::Col) => return Some(()),
                (Mode::InColumnGroup, Tag::Template) => return None,
                (Mode::InColumnGroup, _) => {
                    self.pop();
                    self.mode = Mode::InTable;
                    if token.tag == Tag::Colgroup {
                        return Some(());
                    }
                }
                (Mode::InRow, Tag::Tr) => {
                    self.close_row();
                    return Some(());
                }
                (Mode::InRow, Tag::Table) => self.close_row(),
                (Mode::InRow | Mode::InTableBody, Tag::Tbody | Tag::Tfoot | Tag::Thead) => {
                    if !self.in_table_scope(token.tag) {
                        return Some(());
                    }
                    if self.mode == Mode::InRow {
                        self.close_row();
                    }
                    self.close_body();
                    return Some(());
                }
                (Mode::InTableBody, Tag::Table) => self.close_body(),
                (_, Tag::Table) => {
                    self.pop_to(Tag::Table);
                    self.reset();
                    return Some(());
                }
                (_, Tag::Form) => return self.end_form(),
                (_, Tag::Body | Tag::Html) => return Some(()),
                _ if token.sets & TABLE_PART != 0 => return Some(()),
                // The standard's parser would move content that is not in table scope before the
                // table.
                _ => return None,
            }
        }
    }

    fn close_cell(&mut self) {
        self.pop_until(|tag| matches!(tag, Tag::Td | Tag::Th));
        self.pop();
        self.forget_formatting();
        self.mode = Mode::InRow;
    }

    fn close_caption(&mut self) {
        self.pop_until(|tag| tag == Tag::Caption);
        self.pop();
        self.forget_formatting();
        self.mode = Mode::InTable;
    }

    fn close_row(&mut self) {
        self.pop_until(|tag| tag == Tag::Tr);
        self.pop();
        self.mode = Mode::InTableBody;
    }

    fn close_body(&mut self) {
        self.pop_until(is_body);
        self.pop();
        self.mode = Mode::InTable;
    }

    /// "Reset the insertion mode appropriately".
    fn reset(&mut self) {
        self.mode = self
            .open
            .iter()
            .rev()
            .find_map(mode)
            .unwrap_or(Mode::InBody);
    }
}

fn mode(open: &Open) -> Option<Mode> {
    match open.tag {
        Tag::Td | Tag::Th => Some(Mode::InCell),
        Tag::Tr => Some(Mode::InRow),
        tag if is_body(tag) => Some(Mode::InTableBody),
        Tag::Caption => Some(Mode::InCaption),
        Tag::Colgroup => Some(Mode::InColumnGroup),
        Tag::Table => Some(Mode::InTable),
        Tag::Body => Some(Mode::InBody),
        _ => None,
    }
}

fn is_body(tag: Tag) -> bool {
    matches!(tag, Tag::Tbody | Tag::Tfoot | Tag::Thead)
}
