//! Faults in `drumfire.toml` in the program's own words.

use std::ops::Range;

use drumfire_platform::spelling::did_you_mean;

/// A fault with its place and its remedy.
pub struct ProjectError {
    /// The place in the text, in bytes.
    pub span: Range<usize>,
    /// The fault.
    pub message: String,
    /// The remedy, if there is one.
    pub hint: Option<String>,
}

/// The fault that the reader of TOML reports.
pub fn fault(error: &toml::de::Error) -> ProjectError {
    let (message, hint) = words(error.message());
    ProjectError {
        span: error.span().unwrap_or_default(),
        message,
        hint,
    }
}

/// The line and the column of an offset, from 1.
pub fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset.min(text.len()))];
    let line = before.matches('\n').count() + 1;
    let last = before.rsplit('\n').next().unwrap_or_default();
    (line, last.chars().count() + 1)
}

/// A message of the reader in the user's words, with the remedy.
fn words(message: &str) -> (String, Option<String>) {
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let (true, [key, possible @ ..]) = (message.starts_with("unknown field"), &names[..]) {
        let hint = match did_you_mean(key, possible.iter().copied()) {
            Some(near) => format!("write `{near}`"),
            None => format!("write one of {}", possible.join(", ")),
        };
        return (format!("`{key}` is not a key of this table"), Some(hint));
    }
    if let (true, [key, ..]) = (message.starts_with("missing field"), &names[..]) {
        let hint = format!("write `{key} = …` below the table's head");
        return (format!("the key `{key}` is missing"), Some(hint));
    }
    if message.starts_with("data did not match any variant") {
        return (
            "this is not a value of a property".to_owned(),
            Some(
                "write a number, true or false, a text in quotes, or { env = \"NAME\" }".to_owned(),
            ),
        );
    }
    let is_value = message.starts_with("invalid type: ") || message.starts_with("invalid value: ");
    match message.rsplit_once(", expected ").filter(|_| is_value) {
        Some((_, expected)) => {
            let kind = kind(expected);
            (format!("this is not {kind}"), Some(format!("write {kind}")))
        }
        None => (message.to_owned(), None),
    }
}

/// A type of the program in the user's words.
fn kind(expected: &str) -> &'static str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not below 0",
        "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "path string" => "a text in quotes",
        "a sequence" => "a list in brackets",
        _ => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_what_to_write() {
        for (message, told, hint) in [
            (
                "unknown field `prperties`, expected one of `jvm`, `properties`",
                "`prperties` is not a key of this table",
                "write `properties`",
            ),
            (
                "unknown field `load`, expected `a` or `b`",
                "`load` is not a key of this table",
                "write one of a, b",
            ),
            (
                "invalid type: string \"many\", expected u32",
                "this is not a whole number that is not below 0",
                "write a whole number that is not below 0",
            ),
            (
                "invalid type: string \"-Xmx1g\", expected a sequence",
                "this is not a list in brackets",
                "write a list in brackets",
            ),
        ] {
            assert_eq!(words(message), (told.to_owned(), Some(hint.to_owned())));
        }
        assert_eq!(place("a\nbé c", 6), (2, 4));
    }
}
