//! Finding `${…}` in texts.

use std::collections::HashSet;

/// The contents of every `${…}` in a text, including those nested inside calls.
pub fn references(text: &str) -> Vec<&str> {
    placed(text).into_iter().map(|(_, call)| call).collect()
}

/// How deeply references may be nested; the program refuses deeper ones.
const MOST_NESTED: usize = 100;

/// All references, each with the byte offset just after its `${`.
fn placed(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    // The open braces, each with the offset behind it if it begins a reference.
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut escapes = 0;
    let mut before = (b' ', false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            // An odd number of backslashes before the `$` escapes it.
            b'{' => open.push((before == (b'$', true)).then_some(at + 1)),
            b'}' => {
                if let Some(Some(from)) = open.pop()
                    && open.len() < MOST_NESTED
                {
                    found.push((from, &text[from..at]));
                }
            }
            _ => {}
        }
        before = (byte, escapes % 2 == 0);
        escapes = if byte == b'\\' { escapes + 1 } else { 0 };
    }
    found.sort_unstable_by_key(|(from, _)| *from);
    found
}

/// Whether a reference calls a function.
pub fn is_call(reference: &str) -> bool {
    reference.trim_start().starts_with("__")
}

/// The variables that a text reads by their names.
pub fn variables(text: &str) -> impl Iterator<Item = &str> {
    references(text)
        .into_iter()
        .filter(|reference| is_variable(reference))
}

fn is_variable(reference: &str) -> bool {
    !is_call(reference) && !reference.contains("${") && !reference.is_empty()
}

/// The pieces of a text between its variables.
pub fn between_variables(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, name) in placed(text) {
        if is_variable(name) {
            pieces.push(&text[from..at - "${".len()]);
            from = at + name.len() + "}".len();
        }
    }
    pieces.push(&text[from..]);
    pieces
}

/// Whether a text reads something that may change during the run: a variable, or a function that does not just read a
/// property.
pub fn changes(text: &str) -> bool {
    references(text).iter().any(|reference| {
        let call = reference.trim_start();
        !call.starts_with("__P(") && !call.starts_with("__property(")
    })
}

/// Whether a word of a text is the name, or begins with the name and an underscore.
pub fn mentions(text: &str, name: &str) -> bool {
    occurrences(text, name).any(|(before, after)| {
        !before.is_some_and(is_word) && !after.is_some_and(|sign| is_word(sign) && sign != '_')
    })
}

/// Whether a text contains the name as a whole word.
pub fn has_word(text: &str, name: &str) -> bool {
    occurrences(text, name)
        .any(|(before, after)| !before.is_some_and(is_word) && !after.is_some_and(is_word))
}

/// Texts in which many names are searched. A name costs a lookup in a set instead of a search through all texts.
#[derive(Default)]
pub struct Words<'t> {
    texts: Vec<&'t str>,
    /// The words of the texts: runs of letters, digits and underscores.
    words: HashSet<&'t str>,
    /// The beginnings of words, up to each of their underscores.
    beginnings: HashSet<&'t str>,
}

impl<'t> Words<'t> {
    pub fn add(&mut self, text: &'t str) {
        self.texts.push(text);
        let words = text.split(|sign| !is_word(sign));
        for word in words.filter(|word| !word.is_empty()) {
            if self.words.insert(word) {
                let ends = word.match_indices('_').map(|(at, _)| &word[..at]);
                self.beginnings.extend(ends);
            }
        }
    }

    /// Whether [`has_word`] holds for one of the texts.
    pub fn have(&self, name: &str) -> bool {
        if name.chars().all(is_word) {
            self.words.contains(name)
        } else {
            self.texts.iter().any(|text| has_word(text, name))
        }
    }

    /// Whether [`mentions`] holds for one of the texts.
    pub fn mention(&self, name: &str) -> bool {
        if name.chars().all(is_word) {
            self.words.contains(name) || self.beginnings.contains(name)
        } else {
            self.texts.iter().any(|text| mentions(text, name))
        }
    }
}

impl<'t> Extend<&'t str> for Words<'t> {
    fn extend<I: IntoIterator<Item = &'t str>>(&mut self, texts: I) {
        texts.into_iter().for_each(|text| self.add(text));
    }
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

fn occurrences<'t>(
    text: &'t str,
    name: &'t str,
) -> impl Iterator<Item = (Option<char>, Option<char>)> + 't {
    text.match_indices(name).map(move |(at, _)| {
        (
            text[..at].chars().next_back(),
            text[at + name.len()..].chars().next(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_also_inside_calls_but_not_escaped() {
        assert_eq!(
            references(r"a ${b} \${c} ${__d(${e},{})} ${open"),
            ["b", "__d(${e},{})", "e"]
        );
        let names: Vec<_> = variables("${__V(x_${n})}${y}").collect();
        assert_eq!(names, ["n", "y"]);
        assert_eq!(
            between_variables(r"a ${b}\${c}${__d(${e})}${f}"),
            ["a ", r"\${c}${__d(", ")}", ""]
        );
        assert!(changes("${x}") && changes("${__time()}"));
        assert!(!changes("${__P(a)} ${__property(b,,)}"));
    }

    #[test]
    fn references_of_any_depth_take_one_pass() {
        let deep = format!("{}x{}", "${__V(".repeat(50_000), ")}".repeat(50_000));
        assert_eq!(references(&deep).len(), MOST_NESTED);
        assert_eq!(references(&"${a".repeat(50_000)), [""; 0]);
        assert_eq!(references(r"\\${a} \\\${b} {${c}} }${d}"), ["a", "c", "d"]);
    }

    #[test]
    fn a_set_of_words_tells_the_same_as_a_search() {
        let texts = [
            "vars.get('id_1')",
            "width, ide",
            "a id;",
            "user.name-x",
            "_é1 é2_",
            "",
        ];
        let mut all = Words::default();
        all.extend(texts);
        for name in [
            "id",
            "id_1",
            "ide",
            "wid",
            "width",
            "a",
            "user.name",
            "name-x",
            "user",
            "é2",
            "_",
            "x_",
        ] {
            let searched = texts.iter().any(|text| has_word(text, name));
            assert_eq!(all.have(name), searched, "{name}");
            let searched = texts.iter().any(|text| mentions(text, name));
            assert_eq!(all.mention(name), searched, "{name}");
        }
    }

    #[test]
    fn names_are_words() {
        assert!(mentions("vars.get('id_1')", "id") && !has_word("vars.get('id_1')", "id"));
        assert!(!mentions("width, ide", "id") && has_word("a id;", "id"));
    }
}
