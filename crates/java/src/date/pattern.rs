//! Pattern letters, checked as `DateTimeFormatterBuilder.appendPattern` does.

/// A compiled pattern such as `yyyy-MM-dd'T'HH:mm:ss.SSSXXX`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatePattern {
    pub(super) items: Vec<PatternItem>,
}

/// Why a text is not a pattern, with Java's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatePatternError(pub String);

impl std::fmt::Display for DatePatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DatePatternError {}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PatternItem {
    Literal(String),
    Field {
        letter: char,
        count: usize,
    },
    /// `p`: the next item fills this many characters.
    Padded {
        width: usize,
        letter: char,
        count: usize,
    },
    /// `[…]`
    Optional(Vec<PatternItem>),
}

impl DatePattern {
    /// Validates and compiles a pattern.
    ///
    /// # Errors
    /// If `DateTimeFormatter.ofPattern` throws `IllegalArgumentException`.
    pub fn compile(pattern: &str) -> Result<DatePattern, DatePatternError> {
        let chars: Vec<char> = pattern.chars().collect();
        let mut stack = vec![Vec::new()];
        let mut at = 0;
        while at < chars.len() {
            let c = chars[at];
            at += 1;
            match c {
                'A'..='Z' | 'a'..='z' => {
                    let (item, next) = field(&chars, at - 1, pattern)?;
                    push(&mut stack, item);
                    at = next;
                }
                '\'' => {
                    let (text, next) = quoted(&chars, at, pattern)?;
                    push(&mut stack, PatternItem::Literal(text));
                    at = next;
                }
                '[' => stack.push(Vec::new()),
                ']' => close(&mut stack)?,
                '{' | '}' | '#' => {
                    let message = format!("Pattern includes reserved character: '{c}'");
                    return Err(DatePatternError(message));
                }
                _ => push(&mut stack, PatternItem::Literal(c.to_string())),
            }
        }
        while stack.len() > 1 {
            close(&mut stack)?;
        }
        let items = stack.pop().expect("the outermost section is never closed");
        Ok(DatePattern { items })
    }
}

fn push(stack: &mut [Vec<PatternItem>], item: PatternItem) {
    let section = stack
        .last_mut()
        .expect("the outermost section is never closed");
    match (section.last_mut(), &item) {
        (Some(PatternItem::Literal(text)), PatternItem::Literal(more)) => text.push_str(more),
        _ => section.push(item),
    }
}

fn close(stack: &mut Vec<Vec<PatternItem>>) -> Result<(), DatePatternError> {
    if stack.len() == 1 {
        return Err(DatePatternError(
            "Pattern invalid as it contains ] without previous [".to_owned(),
        ));
    }
    let section = stack.pop().expect("there is more than one section");
    push(stack, PatternItem::Optional(section));
    Ok(())
}

/// Reads a quoted text after its opening quote; two quotes stand for one.
fn quoted(
    chars: &[char],
    mut at: usize,
    pattern: &str,
) -> Result<(String, usize), DatePatternError> {
    let mut text = String::new();
    loop {
        match chars.get(at) {
            None => {
                let message = format!("Pattern ends with an incomplete string literal: {pattern}");
                return Err(DatePatternError(message));
            }
            Some('\'') if chars.get(at + 1) == Some(&'\'') => {
                text.push('\'');
                at += 2;
            }
            Some('\'') => break,
            Some(c) => {
                text.push(*c);
                at += 1;
            }
        }
    }
    let text = if text.is_empty() {
        "'".to_owned()
    } else {
        text
    };
    Ok((text, at + 1))
}

fn run_length(chars: &[char], at: usize) -> usize {
    chars[at..].iter().take_while(|c| **c == chars[at]).count()
}

fn field(
    chars: &[char],
    at: usize,
    pattern: &str,
) -> Result<(PatternItem, usize), DatePatternError> {
    let count = run_length(chars, at);
    let next = at + count;
    if chars[at] != 'p' {
        check(chars[at], count)?;
        let letter = chars[at];
        return Ok((PatternItem::Field { letter, count }, next));
    }
    match chars.get(next) {
        Some(letter) if letter.is_ascii_alphabetic() => {
            let length = run_length(chars, next);
            check(*letter, length)?;
            let item = PatternItem::Padded {
                width: count,
                letter: *letter,
                count: length,
            };
            Ok((item, next + length))
        }
        _ => {
            let message =
                format!("Pad letter 'p' must be followed by valid pad pattern: {pattern}");
            Err(DatePatternError(message))
        }
    }
}

fn check(letter: char, count: usize) -> Result<(), DatePatternError> {
    let longest = match letter {
        'y' | 'u' | 'Y' | 'A' | 'n' | 'N' | 'g' => 19,
        'G' | 'M' | 'L' | 'Q' | 'q' | 'E' | 'e' | 'c' | 'X' | 'x' | 'Z' | 'B' => 5,
        'd' | 'h' | 'H' | 'k' | 'K' | 'm' | 's' | 'w' => 2,
        'D' => 3,
        'a' | 'W' | 'F' => 1,
        'S' => 9,
        'V' => 2,
        'z' | 'v' | 'O' => 4,
        _ => {
            return Err(DatePatternError(format!(
                "Unknown pattern letter: {letter}"
            )));
        }
    };
    let wrong = match letter {
        'V' => count != 2,
        'c' => count == 2,
        'v' | 'O' => count != 1 && count != 4,
        'B' => !matches!(count, 1 | 4 | 5),
        _ => false,
    };
    if letter == 'V' && wrong {
        return Err(DatePatternError(format!(
            "Pattern letter count must be 2: {letter}"
        )));
    }
    if count > longest {
        return Err(DatePatternError(format!(
            "Too many pattern letters: {letter}"
        )));
    }
    if wrong {
        return Err(DatePatternError(format!(
            "Wrong number of pattern letters: {letter}"
        )));
    }
    Ok(())
}
