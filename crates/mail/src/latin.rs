//! Texts of which each character is a byte, as JavaMail treats lines of a header.

/// The low byte of each UTF-16 unit (`ASCIIUtility#getBytes`).
pub fn low_bytes(text: &str) -> Vec<u8> {
    if text.is_ascii() {
        return text.as_bytes().to_vec();
    }
    text.encode_utf16().map(|unit| unit as u8).collect()
}

/// One character for each byte (`ASCIIUtility#toString`).
pub fn one_char_each(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => text.to_owned(),
        _ => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// The length in UTF-16 units, in which JavaMail counts.
pub fn units(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.encode_utf16().count()
    }
}
