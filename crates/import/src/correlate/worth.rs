//! Whether a value looks as if a server had made it, so that it counts wherever it is sent.

use crate::names;

/// The length of the shortest value that counts regardless of its name.
const SHORTEST: usize = 6;

/// Words of two letters that occur in names; other short runs of letters look random.
const SHORT_WORDS: [&str; 18] = [
    "of", "to", "in", "on", "by", "is", "en", "de", "id", "my", "up", "no", "v", "x", "a", "at",
    "or", "us",
];

/// Extensions of files that a site deploys. Their names often contain a hash that all visitors share.
const DEPLOYED: [&str; 22] = [
    ".css", ".js", ".mjs", ".map", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif",
    ".ico", ".woff", ".woff2", ".ttf", ".otf", ".mp4", ".webm", ".mp3", ".wasm", ".html", ".txt",
];

/// Whether a value is distinctive enough to be searched for regardless of its name: not a word, a date, a version, or the name of
/// a deployed file.
pub fn is_telling(value: &str) -> bool {
    if value.len() < SHORTEST
        || value.contains(char::is_whitespace)
        || is_date(value)
        || is_version(value)
        || is_deployed(value)
        || is_slug(value)
    {
        return false;
    }
    if names::is_identifier(value) || is_list(value) {
        return true;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let upper = value.bytes().filter(u8::is_ascii_uppercase).count();
    let lower = value.bytes().filter(u8::is_ascii_lowercase).count();
    let is_word = value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_.~+/=:|%!*@".contains(&byte));
    is_word
        && ((digits >= 2 && upper + lower >= 2)
            || (digits >= 5 && upper + lower >= 1)
            || (value.len() >= 12 && upper >= 3 && lower >= 3))
}

/// Several values in a row, most of which are distinctive, such as the numbers of experiments.
fn is_list(value: &str) -> bool {
    let items = || value.split(',');
    let count = items().count();
    if count < 3 || !items().all(is_item) {
        return false;
    }
    items().filter(|item| is_telling(item)).count() * 2 > count
}

/// Whether a part of a list looks like a value.
fn is_item(item: &str) -> bool {
    let mut bytes = item.bytes();
    !item.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Whether a value can be told from others by its characters: a short one that contains a digit.
pub fn is_numbered(value: &str) -> bool {
    value.len() <= 64
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && !value.contains(char::is_whitespace)
        && !is_date(value)
        && !is_version(value)
        && !is_deployed(value)
}

/// A value that only chance could make twice, such as a token: letters and digits in no readable order.
pub fn is_random(value: &str) -> bool {
    is_telling(value) && !value.bytes().all(|byte| byte.is_ascii_digit())
}

pub fn is_deployed(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    DEPLOYED.iter().any(|extension| lower.ends_with(extension))
}

/// `2026-12-24`, `24.12.2026`, `20261224`, `12:30`, and a date whose time is midnight.
fn is_date(value: &str) -> bool {
    let day = value
        .split_once('T')
        .filter(|(_, time)| {
            let digits: String = time.chars().filter(char::is_ascii_digit).collect();
            !digits.is_empty() && digits.trim_matches('0').is_empty()
        })
        .map(|(day, _)| day)
        .unwrap_or(value);
    let digits: Vec<&str> = day.split(['-', '.', '/', ':']).collect();
    let are_digits = digits
        .iter()
        .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if !are_digits {
        return false;
    }
    match digits.as_slice() {
        [all] => {
            all.len() == 8
                && is_year(&all[..4])
                && (1..=12).contains(&number(&all[4..6]))
                && (1..=31).contains(&number(&all[6..]))
        }
        [one, two] => {
            (is_year(one) && two.len() <= 2)
                || (day.contains(':') && number(one) < 24 && number(two) < 60)
        }
        [one, two, three] => {
            (is_year(one) && is_small(two) && is_small(three))
                || (is_small(one) && is_small(two) && (is_year(three) || day.contains(':')))
        }
        _ => false,
    }
}

fn is_year(part: &str) -> bool {
    part.len() == 4 && (part.starts_with("19") || part.starts_with("20"))
}

fn number(part: &str) -> u32 {
    part.parse::<u32>().unwrap_or(u32::MAX)
}

fn is_small(part: &str) -> bool {
    part.len() <= 2
}

/// `1.24.3`, `v2.0-rc1`, and addresses of machines.
fn is_version(value: &str) -> bool {
    let bare = value.trim_start_matches(['v', 'V']);
    let main = bare.split(['-', '+']).next().unwrap_or("");
    let rest = &bare[main.len()..];
    let parts: Vec<&str> = main.split('.').collect();
    let is_dotted = parts.len() >= 2 && parts.iter().all(is_number);
    let is_major = parts.len() == 1 && value.len() != bare.len() && is_number(&parts[0]);
    (is_dotted || is_major) && rest.len() <= 16
}

fn is_number(part: &&str) -> bool {
    !part.is_empty() && part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit())
}

/// Readable words and short numbers, such as `summer-sale-2024` or `ProductListQuery`.
pub fn is_slug(value: &str) -> bool {
    let mut letters = 0;
    let mut numbers = 0;
    let bytes = value.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let is_letter = bytes[at].is_ascii_alphabetic();
        let is_digit = bytes[at].is_ascii_digit();
        let start = at;
        while at < bytes.len()
            && bytes[at].is_ascii_alphabetic() == is_letter
            && bytes[at].is_ascii_digit() == is_digit
        {
            at += 1;
        }
        let Some(run) = value.get(start..at) else {
            return false;
        };
        if is_letter {
            letters += 1;
            if !is_readable(run) {
                return false;
            }
        } else if is_digit {
            numbers += 1;
            if run.len() > 4 {
                return false;
            }
        }
    }
    letters > 0 && numbers <= 3
}

/// Whether letters read as words: `products`, `SKU`, `Checkout`, `ProductList`.
fn is_readable(run: &str) -> bool {
    if run.len() < 3 {
        return SHORT_WORDS.contains(&run.to_ascii_lowercase().as_str());
    }
    if run.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return run.len() <= 8;
    }
    let mut words = Vec::new();
    let mut start = 0;
    for (at, byte) in run.bytes().enumerate().skip(1) {
        if byte.is_ascii_uppercase() {
            words.push(&run[start..at]);
            start = at;
        }
    }
    words.push(&run[start..]);
    run.len() >= 3 * words.len()
        && words
            .iter()
            .all(|word| has_vowel(word) && longest_without(word) <= 4)
}

fn has_vowel(word: &&str) -> bool {
    word.bytes().any(|byte| b"aeiouyAEIOUY".contains(&byte))
}

fn longest_without(word: &str) -> usize {
    word.split(|c: char| "aeiouyAEIOUY".contains(c))
        .map(str::len)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_no_identifiers() {
        for word in [
            "products",
            "password",
            "checkout",
            "Europe/Berlin",
            "en-GB",
            "text/html",
            "hello world",
            "2026-12-24",
            "20261224",
            "24.12.2026",
            "12/24/2026",
            "2026-12-24T00:00:00.000Z",
            "18:30",
            "1.24.3",
            "v12.0.1-rc1",
            "127.0.0.1",
            "app.3f9a8b7c2d.js",
            "summer-sale-2024",
            "iphone-15-pro",
            "nav_top_01",
            "ProductListQuery",
            "getCartItemsByUser",
            "ISO-8859-1",
            "UTF-8",
            "1920x1080",
            "red,green,blue",
            "1,2,3,1350080",
            "1350080,1350255",
        ] {
            assert!(!is_telling(word), "{word}");
        }
    }

    #[test]
    fn generated_values_are_told_from_constants() {
        for value in [
            "f3a9c1d27b",
            "c-8812ab90",
            "eyJhbGciOi.J9x12",
            "AbCdEfGhIjKl",
            "1234567",
            "ORD-91916647",
            "L-b5e9399828",
            "SKU-4F2A9C1B",
            "8f3e2d1c9b7a",
            "y48IawfAPUa6bg/+=",
            "q7Zx9-LmT3_kPw2aBc4D",
            "2026-01-01T10:00:00.123Z",
            "11111111-2222-4333-8444-555555555555",
            "18167,1350080,1350255,3310784",
        ] {
            assert!(is_telling(value), "{value}");
        }
    }
}
