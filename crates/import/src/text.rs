//! Texts of a plan: literal pieces, and the variables and functions between them.

/// A text made of literal pieces and expressions such as `${token}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanText(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// Sent as it stands.
    Literal(String),
    /// A variable or a function call with its `${…}`.
    Expression(String),
}

/// Stands for a `$` before `{`. JMeter has no escape for it in a text that calls no other function.
const DOLLAR: &str = "${__char(36)}";

impl PlanText {
    /// An expression alone, such as `${host}`.
    pub fn expression(expression: impl Into<String>) -> PlanText {
        PlanText(vec![Piece::Expression(expression.into())])
    }

    /// The variable of this name.
    pub fn variable(name: &str) -> PlanText {
        PlanText::expression(format!("${{{name}}}"))
    }

    /// Adds a literal piece.
    pub fn push(&mut self, literal: &str) {
        if literal.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(Piece::Literal(last)) => last.push_str(literal),
            _ => self.0.push(Piece::Literal(literal.to_owned())),
        }
    }

    /// Adds another text.
    pub fn append(&mut self, other: PlanText) {
        for piece in other.0 {
            match piece {
                Piece::Literal(literal) => self.push(&literal),
                expression @ Piece::Expression(_) => self.0.push(expression),
            }
        }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text, if nothing in it is evaluated.
    pub fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Literal(literal)] => Some(literal),
            _ => None,
        }
    }

    /// Whether it is this name of a field, whose case does not matter.
    pub fn is_named(&self, name: &str) -> bool {
        self.literal()
            .is_some_and(|own| own.eq_ignore_ascii_case(name))
    }

    /// Changes every literal piece.
    pub fn map_literals(&self, mut change: impl FnMut(&str) -> String) -> PlanText {
        let mut text = PlanText::default();
        for piece in &self.0 {
            match piece {
                Piece::Literal(literal) => text.push(&change(literal)),
                expression @ Piece::Expression(_) => text.0.push(expression.clone()),
            }
        }
        text
    }

    /// Puts texts in place of expressions.
    pub fn replace_expressions<'t>(&mut self, with: impl Fn(&str) -> Option<&'t PlanText>) {
        for piece in std::mem::take(&mut self.0) {
            match piece {
                Piece::Literal(literal) => self.push(&literal),
                Piece::Expression(own) => match with(&own) {
                    Some(text) => self.append(text.clone()),
                    None => self.0.push(Piece::Expression(own)),
                },
            }
        }
    }

    /// The literal pieces, in order.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Literal(literal) => Some(literal.as_str()),
            Piece::Expression(_) => None,
        })
    }

    /// Replaces each occurrence of a value with an expression; returns whether there was one.
    pub fn replace(&mut self, value: &str, expression: &str) -> bool {
        self.replace_where(value, expression, |_, _| true)
    }

    /// Like [`PlanText::replace`], but only where the value is not part of a longer word.
    pub fn replace_words(&mut self, value: &str, expression: &str) -> bool {
        self.replace_where(value, expression, |before, after| {
            !before.ends_with(in_word) && !after.starts_with(in_word)
        })
    }

    /// Like [`PlanText::replace`], but only where the text before and the text behind are as wanted.
    pub fn replace_where(
        &mut self,
        value: &str,
        expression: &str,
        is_wanted: impl Fn(&str, &str) -> bool,
    ) -> bool {
        let mut text = PlanText::default();
        let mut replaced = false;
        for piece in std::mem::take(&mut self.0) {
            let Piece::Literal(literal) = piece else {
                text.0.push(piece);
                continue;
            };
            let mut start = 0;
            for (at, found) in literal.match_indices(value) {
                let end = at + found.len();
                if is_wanted(&literal[..at], &literal[end..]) {
                    replaced = true;
                    text.push(&literal[start..at]);
                    text.0.push(Piece::Expression(expression.to_owned()));
                    start = end;
                }
            }
            text.push(&literal[start..]);
        }
        *self = text;
        replaced
    }

    /// Replaces what follows the first of these literals, up to a sign or the end; returns whether one of them is there.
    pub fn replace_up_to(&mut self, starts: &[String], end: char, value: PlanText) -> bool {
        let mut after_start = None;
        for (at, piece) in self.0.iter().enumerate() {
            if let Piece::Literal(literal) = piece {
                let end = starts
                    .iter()
                    .find_map(|start| Some(literal.find(start.as_str())? + start.len()));
                after_start = after_start.or(end.map(|end| (at, literal.split_at(end))));
            }
        }
        let Some((at, (before, rest))) = after_start else {
            return false;
        };
        let mut text = PlanText(self.0[..at].to_vec());
        text.push(before);
        text.append(value);
        let rest = std::iter::once(Piece::Literal(rest.to_owned()));
        let mut is_after = false;
        for piece in rest.chain(self.0[at + 1..].iter().cloned()) {
            match piece {
                piece if is_after => text.append(PlanText(vec![piece])),
                Piece::Literal(literal) => {
                    if let Some(at) = literal.find(end) {
                        is_after = true;
                        text.push(&literal[at..]);
                    }
                }
                Piece::Expression(_) => {}
            }
        }
        *self = text;
        true
    }

    /// The text as a plan stores it. JMeter treats backslashes as escapes only in texts that contain something to
    /// evaluate (`AbstractTransformer`), so they are doubled only there.
    pub fn template(&self) -> String {
        let has_function = self.0.iter().any(|piece| match piece {
            Piece::Literal(literal) => literal.contains("${"),
            Piece::Expression(_) => true,
        });
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Expression(expression) => out.push_str(expression),
                Piece::Literal(literal) if has_function => {
                    let escaped = literal.replace('\\', "\\\\");
                    out.push_str(&escaped.replace("${", &format!("{DOLLAR}{{")));
                }
                Piece::Literal(literal) => out.push_str(literal),
            }
        }
        out
    }
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl PlanText {
    /// The text as an argument of a function.
    pub(crate) fn argument(&self) -> String {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Expression(expression) => out.push_str(expression),
                Piece::Literal(literal) => {
                    let escaped = literal.replace('\\', "\\\\").replace(',', "\\,");
                    out.push_str(&escaped.replace("${", &format!("{DOLLAR}{{")));
                }
            }
        }
        out
    }
}

impl From<&str> for PlanText {
    fn from(literal: &str) -> PlanText {
        let mut text = PlanText::default();
        text.push(literal);
        text
    }
}

impl From<String> for PlanText {
    fn from(literal: String) -> PlanText {
        PlanText::from(literal.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_query_are_replaced() {
        let mut query = PlanText::from("/x?a=1&b=2");
        query.append(PlanText::variable("b"));
        query.push("3&c=4&b=5");
        for (name, whole) in [
            ("a", "/x?a=${v}&b=2${b}3&c=4&b=5"),
            ("b", "/x?a=1&b=${v}&c=4&b=5"),
            ("c", "/x?a=1&b=2${b}3&c=${v}&b=5"),
        ] {
            let mut text = query.clone();
            let starts = [format!("?{name}="), format!("&{name}=")];
            assert!(text.replace_up_to(&starts, '&', PlanText::variable("v")));
            assert_eq!(text.template(), whole);
        }
        let mut last = PlanText::from("/x?d=1");
        assert!(!last.replace_up_to(&["?c=".to_owned()], '&', PlanText::default()));
        assert!(last.replace_up_to(&["?d=".to_owned()], '&', PlanText::variable("v")));
        assert_eq!(last.template(), "/x?d=${v}");
    }

    #[test]
    fn a_text_without_expressions_stays_as_it_is() {
        assert_eq!(
            PlanText::from(r#"{"a":"b\\c\n"}"#).template(),
            r#"{"a":"b\\c\n"}"#
        );
        assert_eq!(PlanText::from("a,b$c").template(), "a,b$c");
    }

    #[test]
    fn texts_that_look_like_functions_are_escaped() {
        let text = PlanText::from(r"costs ${x} \$ 5");
        assert_eq!(text.template(), r"costs ${__char(36)}{x} \\$ 5");
    }

    #[test]
    fn values_become_variables() {
        let mut text = PlanText::from(r#"{"token":"abc","again":"abc","path":"a\\b"}"#);
        assert!(text.replace("abc", "${token}"));
        assert!(!text.replace("nowhere", "${none}"));
        assert_eq!(
            text.template(),
            r#"{"token":"${token}","again":"${token}","path":"a\\\\b"}"#
        );
        assert_eq!(text.literal(), None);
    }
}
