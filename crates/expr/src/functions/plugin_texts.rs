//! Text functions of the Custom JMeter Functions plugin of jmeter-plugins: `StrLen`, `Substring`, `StrReplace`,
//! `StrReplaceRegex`, `CaseFormat`, `If` and `ChooseRandom`.

use drumfire_java::values::parse_int;
use drumfire_query::regex::{Captures, Dialect};

use crate::call::{Args, CallResult, not_a_number, store};
use crate::regexes::compiled;
use crate::scope::{Level, Raised, Scope};
use crate::text::Text;

/// `__strLen`: in UTF-16 code units, as Java counts.
pub(super) fn str_len<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let length = args.text(0, scope)?.encode_utf16().count().to_string();
    args.store(1, &length, scope)?;
    Ok(Text::Owned(length))
}

/// `__substring`: from an index to another, exclusive.
pub(super) fn substring<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let begin = index(args, 1, scope)?;
    let end = index(args, 2, scope)?;
    let units: Vec<u16> = text.encode_utf16().collect();
    let part = usize::try_from(begin)
        .ok()
        .zip(usize::try_from(end).ok())
        .and_then(|(begin, end)| units.get(begin..end));
    let Some(part) = part else {
        return Err(Raised::exception(format!(
            "java.lang.StringIndexOutOfBoundsException: begin {begin}, end {end}, length {}",
            units.len()
        )));
    };
    keep(args, 3, String::from_utf16_lossy(part), scope)
}

fn index(args: Args<'_>, place: usize, scope: &mut dyn Scope) -> Result<i32, Raised> {
    let text = args.trimmed(place, scope)?;
    parse_int(&text).ok_or_else(|| not_a_number(&text))
}

/// Stores the result in the variable that the argument names, without trimming the name.
fn keep<'a>(args: Args<'a>, place: usize, result: String, scope: &mut dyn Scope) -> CallResult<'a> {
    let name = args.text(place, scope)?;
    store(&name, &result, scope);
    Ok(Text::Owned(result))
}

/// `__strReplace`.
pub(super) fn str_replace<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let search = args.text(1, scope)?;
    let replacement = args.text(2, scope)?;
    let replaced = text.replace(&*search, &replacement);
    keep(args, 3, replaced, scope)
}

/// `__strReplaceRegex`: `String.replaceAll`.
pub(super) fn str_replace_regex<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let search = args.text(1, scope)?;
    let replacement = args.text(2, scope)?;
    let pattern = compiled(&search, Dialect::Java)
        .map_err(|error| Raised::exception(error.exception_text(&search, Dialect::Java)))?;
    let mut replaced = String::with_capacity(text.len());
    let mut end = 0;
    for found in pattern.captures_iter(&text) {
        let Some((start, found_end)) = found.span(0) else {
            continue;
        };
        replaced.push_str(&text[end..start]);
        append_replacement(&mut replaced, &found, &replacement)?;
        end = found_end;
    }
    replaced.push_str(&text[end..]);
    keep(args, 3, replaced, scope)
}

/// `Matcher.appendReplacement` without named groups: `$1` inserts a group, and a backslash escapes the next character.
/// Another digit belongs to the number only if a group with that number exists.
fn append_replacement(
    replaced: &mut String,
    found: &Captures<'_>,
    replacement: &str,
) -> Result<(), Raised> {
    let mut rest = replacement.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => replaced.push(
                rest.next()
                    .ok_or_else(|| illegal("character to be escaped is missing"))?,
            ),
            '$' => {
                let digit = rest
                    .next()
                    .ok_or_else(|| illegal("Illegal group reference: group index is missing"))?;
                let mut group = digit
                    .to_digit(10)
                    .ok_or_else(|| illegal("Illegal group reference"))?
                    as usize;
                if group >= found.len() {
                    return Err(Raised::exception(format!(
                        "java.lang.IndexOutOfBoundsException: No group {group}"
                    )));
                }
                while let Some(digit) = rest.peek().and_then(|c| c.to_digit(10)) {
                    let longer = group * 10 + digit as usize;
                    if longer >= found.len() {
                        break;
                    }
                    group = longer;
                    rest.next();
                }
                replaced.push_str(found.get(group).unwrap_or_default());
            }
            c => replaced.push(c),
        }
    }
    Ok(())
}

fn illegal(message: &str) -> Raised {
    Raised::exception(format!("java.lang.IllegalArgumentException: {message}"))
}

/// `__if`: the third argument if the first two are equal, else the fourth.
pub(super) fn choose_if<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let actual = args.text(0, scope)?;
    let expected = args.text(1, scope)?;
    let chosen = if *actual == *expected { 2 } else { 3 };
    let result = args.text(chosen, scope)?;
    args.store(4, &result, scope)?;
    Ok(result)
}

/// `__chooseRandom`: one of the arguments except the last, which names a variable.
pub(super) fn choose_random<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let last = args.len() - 1;
    let variable = args.trimmed(last, scope)?;
    let chosen = scope.random().index(last);
    let choice = args.text(chosen, scope)?;
    store(&variable, &choice, scope);
    Ok(choice)
}

/// `__caseFormat`: converts words, separated by white space, hyphens and underscores, to another notation.
pub(super) fn case_format<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let mode = args.text(1, scope)?;
    let words = words(&text);
    let result = match mode.to_uppercase().as_str() {
        "" | "LOWER_CAMEL_CASE" => camel(&words, false),
        "UPPER_CAMEL_CASE" => camel(&words, true),
        "SNAKE_CASE" | "LOWER_UNDERSCORE" => words.join("_").to_lowercase(),
        "KEBAB_CASE" | "LISP_CASE" | "SPINAL_CASE" | "LOWER_HYPHEN" => {
            words.join("-").to_lowercase()
        }
        "TRAIN_CASE" => words.join("-").to_uppercase(),
        "UPPER_UNDERSCORE" => words.join("_").to_uppercase(),
        _ => {
            let message = format!("Unknown mode {mode}, returning {text} unchanged");
            scope.log_failure(Level::Error, &message);
            text.as_str().to_owned()
        }
    };
    args.store(2, &result, scope)?;
    Ok(Text::Owned(result))
}

/// `String.split`: separators at the start give an empty word, those at the end none.
fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text
        .split(is_separator)
        .enumerate()
        .filter(|(place, word)| *place == 0 || !word.is_empty())
        .map(|(_, word)| word)
        .collect();
    if words == [""] && !text.is_empty() {
        words.clear();
    }
    words
}

fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0B' | '\x0C' | '\r' | '-' | '_')
}

fn camel(words: &[&str], first_upper: bool) -> String {
    let mut result = String::new();
    for (place, word) in words.iter().enumerate() {
        let lower = word.to_lowercase();
        let mut chars = lower.chars();
        match chars.next() {
            Some(first) if place > 0 || first_upper => {
                result.extend(first.to_uppercase());
                result.push_str(chars.as_str());
            }
            _ => result.push_str(&lower),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str, pattern: &str, replacement: &str) -> Result<String, Raised> {
        let pattern = compiled(pattern, Dialect::Java).expect("the pattern is well-formed");
        let mut replaced = String::new();
        for found in pattern.captures_iter(text) {
            append_replacement(&mut replaced, &found, replacement)?;
        }
        Ok(replaced)
    }

    #[test]
    fn replacements_are_those_of_java() {
        assert_eq!(replaced("ab", "(a)(b)", "$2$1$11").as_deref(), Ok("baa1"));
        assert_eq!(replaced("ab", "a", r"\$\\$0").as_deref(), Ok(r"$\a"));
        assert_eq!(replaced("a1", "a(x)?", "<$1>").as_deref(), Ok("<>"));
        for wrong in ["$1", "$x", "$", "\\"] {
            assert!(replaced("ab", "a", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_are_split_as_by_java() {
        assert_eq!(words(" a  b- "), ["", "a", "b"]);
        assert_eq!(words(""), [""]);
        assert_eq!(words("--"), [""; 0]);
    }
}
