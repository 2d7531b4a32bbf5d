//! The template of a regular expression's result, such as `$1$-$2$` (`RegexExtractor`, `RegexFunction`).

use drumfire_query::regex::{Captures, Dialect};

/// A text with placeholders for the groups of a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchTemplate(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
}

impl MatchTemplate {
    /// Splits a template at `$1$`, `$2$`, ….
    pub fn parse(template: &str) -> MatchTemplate {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut rest = template;
        while let Some(at) = rest.find('$') {
            let digits = rest[at + 1..]
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count();
            let end = at + 1 + digits;
            let group = rest[at + 1..end]
                .parse()
                .ok()
                .filter(|_| rest[end..].starts_with('$'));
            match group {
                Some(group) => {
                    text.push_str(&rest[..at]);
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    pieces.push(Piece::Group(group));
                    rest = &rest[end + 1..];
                }
                None => {
                    text.push_str(&rest[..=at]);
                    rest = &rest[at + 1..];
                }
            }
        }
        text.push_str(rest);
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        MatchTemplate(pieces)
    }

    /// Renders the text for a match. A group that did not participate in it becomes `null`.
    ///
    /// # Errors
    /// The number of a group that the pattern does not have, for which `java.util.regex` throws
    /// `IndexOutOfBoundsException`. With ORO such a group becomes `null` instead.
    pub fn render(&self, captures: &Captures<'_>, dialect: Dialect) -> Result<String, usize> {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Group(group) if *group >= captures.len() && dialect == Dialect::Java => {
                    return Err(*group);
                }
                Piece::Group(group) => out.push_str(captures.get(*group).unwrap_or("null")),
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_query::regex::{Pattern, RegexOptions};

    #[test]
    fn templates_are_split_at_group_numbers() {
        let text = |text: &str| Piece::Text(text.to_owned());
        let pieces = |template: &str| MatchTemplate::parse(template).0;
        assert_eq!(pieces("$1$"), [Piece::Group(1)]);
        assert_eq!(
            pieces("a$1$$2$b"),
            [text("a"), Piece::Group(1), Piece::Group(2), text("b")]
        );
        assert_eq!(pieces("$x $1"), [text("$x $1")]);
        assert_eq!(pieces("$$1$"), [text("$"), Piece::Group(1)]);
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn groups_without_part_in_the_match_are_null() {
        let render = |dialect| {
            let pattern = Pattern::compile("a(b)?(c)", dialect, RegexOptions::default()).unwrap();
            let captures = pattern.captures("xac").unwrap();
            let render = |template| MatchTemplate::parse(template).render(&captures, dialect);
            (render("$0$:$1$:$2$"), render("$3$"))
        };
        assert_eq!(
            render(Dialect::Oro),
            (Ok("ac:null:c".to_owned()), Ok("null".to_owned()))
        );
        assert_eq!(render(Dialect::Java).1, Err(3));
    }
}
