//! Colours of a terminal that texts from outside cannot have.
//!
//! Labels, messages and file names are printed in the same lines as colours. A colour sequence of the program therefore carries a
//! number that is drawn at random when the process starts, and [`shown`] lets only sequences with this number through.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

/// The text in a colour, given as the parameters of `ESC [ … m`. Only [`shown`] makes it fit for a terminal.
pub fn painted(code: &str, text: &str) -> String {
    let mark = mark();
    format!("{mark}{code}m{text}{mark}0m")
}

/// If the text begins with a colour sequence of this process: the sequence for the terminal, and the bytes that it takes here.
pub fn shown(text: &str) -> Option<(String, usize)> {
    let code = text.strip_prefix(mark())?;
    let end = code.find('m')?;
    Some((format!("\x1b[{}m", &code[..end]), mark().len() + end + 1))
}

/// The beginning of the sequences of this process.
fn mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| format!("\x1b[{};", RandomState::new().hash_one(std::process::id())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sequences_of_this_process_are_shown() {
        let painted = painted("1;31", "red");
        let (sequence, length) = shown(&painted).expect("it begins with a colour");
        assert_eq!(sequence, "\x1b[1;31m");
        let rest = painted[length..].strip_prefix("red").expect("the text");
        assert_eq!(shown(rest), Some(("\x1b[0m".to_owned(), rest.len())));
        assert_eq!(shown("\x1b[1;31mred"), None);
        assert_eq!(shown("red"), None);
    }
}
