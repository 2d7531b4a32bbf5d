//! Finds the style sheets that a style sheet imports (`CssParser`, on ph-css in its browser-compliant mode).

use drumfire_java::url::{Url, make_relative};

use super::{ParseError, unescape_xml};

/// The URLs of all `@import` rules outside of blocks, in order and including duplicates. Other URLs in style sheets
/// are not downloaded, since browsers only fetch them if a rule applies.
///
/// # Errors
/// If a comment is not closed: ph-css then fails.
pub fn css_urls(css: &str, base: &Url) -> Result<Vec<Url>, ParseError> {
    let mut urls = Vec::new();
    let mut rest = skip(css.trim_start_matches('\u{FEFF}'))?;
    while !rest.is_empty() {
        rest = if let Some(behind) = rest.strip_prefix('}') {
            behind
        } else if let Some((location, behind)) = import(rest)? {
            if !location.is_empty() {
                urls.extend(make_relative(base, &unescape_xml(&location)));
            }
            behind
        } else if let Some(behind) = plain_rule(rest)? {
            behind
        } else {
            skip_block(rest)?
        };
        rest = skip(rest)?;
    }
    Ok(urls)
}

/// Skips white space, comments and the marks of HTML comments.
fn skip(text: &str) -> Result<&str, ParseError> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n', '\x0C']);
        if rest.starts_with("/*") {
            rest = skip_comment(rest)?;
        } else if let Some(behind) = rest
            .strip_prefix("<!--")
            .or_else(|| rest.strip_prefix("-->"))
        {
            rest = behind;
        } else {
            return Ok(rest);
        }
    }
}

fn skip_comment(text: &str) -> Result<&str, ParseError> {
    match text[2..].split_once("*/") {
        Some((_, behind)) => Ok(behind),
        None => Err(ParseError(
            "java.lang.IllegalArgumentException: Unrecoverable error met during parsing: \
             a comment of the style sheet is not closed"
                .to_owned(),
        )),
    }
}

fn at_rule<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (keyword, behind) = text.strip_prefix('@')?.split_at_checked(name.len())?;
    let ends = !behind.starts_with(|c: char| c.is_alphanumeric() || c == '-');
    (keyword.eq_ignore_ascii_case(name) && ends).then_some(behind)
}

/// `@import "a.css" media;` and the rest, if the rule is well-formed.
fn import(text: &str) -> Result<Option<(String, &str)>, ParseError> {
    let Some(behind) = at_rule(text, "import") else {
        return Ok(None);
    };
    let Some((location, behind)) = location(skip(behind)?) else {
        return Ok(None);
    };
    let Some((media, behind)) = until_semicolon(behind)? else {
        return Ok(None);
    };
    Ok(is_media_list(&media).then_some((location, behind)))
}

/// `@charset "…";` or `@namespace …;`
fn plain_rule(text: &str) -> Result<Option<&str>, ParseError> {
    match at_rule(text, "charset").or_else(|| at_rule(text, "namespace")) {
        Some(behind) => Ok(until_semicolon(behind)?.map(|(_, behind)| behind)),
        None => Ok(None),
    }
}

/// `"a.css"`, `url(a.css)` or `url("a.css")`. Escapes in quotes stay.
fn location(text: &str) -> Option<(String, &str)> {
    if let Some((value, behind)) = quoted(text) {
        return Some((value.to_owned(), behind));
    }
    let function = text
        .get(..4)
        .filter(|start| start.eq_ignore_ascii_case("url("))?;
    let inner = text[function.len()..].trim_start();
    if let Some((value, behind)) = quoted(inner) {
        return Some((value.to_owned(), behind.trim_start().strip_prefix(')')?));
    }
    let mut value = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ')' => {
                let value = value.trim_end().to_owned();
                return (!value.contains(char::is_whitespace)).then_some((value, &inner[at + 1..]));
            }
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    None
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = &text[1..];
    let mut escaped = false;
    let end = inner.find(|c| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some((&inner[..end], &inner[end + 1..]))
}

/// The text before the next semicolon, without comments, and the rest.
fn until_semicolon(text: &str) -> Result<Option<(String, &str)>, ParseError> {
    let mut before = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("/*") {
            rest = skip_comment(rest)?;
            continue;
        }
        match c {
            ';' => return Ok(Some((before, &rest[1..]))),
            '{' | '}' => return Ok(None),
            _ => before.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    Ok(None)
}

/// Words, commas and parentheses. A word directly before a parenthesis would be a function, which is too new
/// for ph-css.
fn is_media_list(text: &str) -> bool {
    let mut depth = 0;
    let mut before = ' ';
    text.chars().all(|c| {
        let valid = match c {
            '(' => !before.is_alphanumeric(),
            ')' => depth > 0,
            _ if depth > 0 => true,
            _ => c.is_whitespace() || c.is_alphanumeric() || matches!(c, ',' | '-' | '_'),
        };
        depth += i32::from(c == '(') - i32::from(c == ')');
        before = c;
        valid
    })
}

/// Skips the next block: that of a rule or, as ph-css recovers, one after something unknown.
fn skip_block(text: &str) -> Result<&str, ParseError> {
    let mut depth = 0;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("/*") {
            rest = skip_comment(rest)?;
            continue;
        }
        if matches!(c, '"' | '\'') {
            rest = quoted(rest).map(|(_, behind)| behind).unwrap_or_default();
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth <= 0 {
                    return Ok(rest);
                }
            }
            '\\' => rest = rest.get(1..).unwrap_or(""),
            _ => {}
        }
    }
    Ok(rest)
}
