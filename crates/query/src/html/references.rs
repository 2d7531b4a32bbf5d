//! Character references, such as `&amp;` and `&#38;`.

use html5ever::data::NAMED_ENTITIES;

use super::TextSpan;
use super::quick::Builder;

/// Maximum length of a reference's name in bytes, including its semicolon.
const LONGEST_NAME: usize = 32;

/// The meaning of a character reference.
#[derive(Clone, Copy)]
pub(super) struct Characters(char, Option<char>);

impl Characters {
    pub(super) fn push_to(&self, out: &mut String) {
        out.push(self.0);
        out.extend(self.1);
    }
}

impl Builder<'_> {
    /// Reads a reference at the current `&`. The inner `None` means that it is not a reference; the position is then
    /// after the `&`.
    pub(super) fn reference(&mut self, in_attribute: bool) -> Option<Option<Characters>> {
        self.at += 1;
        Some(match self.byte(0) {
            Some(b'#') => self.numeric()?,
            Some(byte) if byte.is_ascii_alphanumeric() => self.named(in_attribute),
            _ => None,
        })
    }

    fn named(&mut self, in_attribute: bool) -> Option<Characters> {
        let rest = self.rest();
        for (name, character) in [("amp;", '&'), ("quot;", '"'), ("lt;", '<'), ("gt;", '>')] {
            if rest.starts_with(name.as_bytes()) {
                self.at += name.len();
                return Some(Characters(character, None));
            }
        }
        // Pages often repeat the same reference. A name that ends with a semicolon is never a prefix of another.
        if let Some((last, characters)) = self.reference
            && self.rest().starts_with(&self.html.as_bytes()[last.range()])
        {
            self.at += last.range().len();
            return Some(characters);
        }
        let name = &self.html[self.at..];
        let run = name.bytes().take_while(|byte| is_in_name(*byte)).count();
        let with_end = run + usize::from(name.as_bytes().get(run) == Some(&b';'));
        let with_end = with_end.min(LONGEST_NAME);
        // The longest known prefix of the name counts.
        let (length, first, second) = (1..=with_end).rev().find_map(|length| {
            let (first, second) = NAMED_ENTITIES.get(&name[..length])?;
            (*first != 0).then_some((length, *first, *second))
        })?;
        let follows = name.as_bytes().get(length).copied();
        let is_closed = name.as_bytes()[length - 1] == b';';
        if in_attribute
            && !is_closed
            && follows.is_some_and(|byte| byte == b'=' || is_in_name(byte))
        {
            return None;
        }
        let second = char::from_u32(second).filter(|c| *c != '\0');
        let characters = Characters(char::from_u32(first)?, second);
        if is_closed {
            let name = TextSpan::new(self.at, self.at + length);
            self.reference = Some((name, characters));
        }
        self.at += length;
        Some(characters)
    }

    /// The outer `None` stands for a number that does not denote its own character.
    fn numeric(&mut self) -> Option<Option<Characters>> {
        let rest = &self.rest()[1..];
        let is_hexadecimal = matches!(rest.first(), Some(b'x' | b'X'));
        let (skipped, base) = if is_hexadecimal { (1, 16) } else { (0, 10) };
        let digits = rest[skipped..]
            .iter()
            .take_while(|byte| char::from(**byte).is_digit(base));
        let count = digits.count();
        if count == 0 {
            return Some(None);
        }
        let digits = std::str::from_utf8(&rest[skipped..skipped + count]).ok()?;
        let number = u32::from_str_radix(digits, base).ok()?;
        let character =
            char::from_u32(number).filter(|c| !matches!(c, '\0' | '\u{80}'..='\u{9F}'))?;
        let is_closed = rest.get(skipped + count) == Some(&b';');
        self.at += 1 + skipped + count + usize::from(is_closed);
        Some(Some(Characters(character, None)))
    }
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}
