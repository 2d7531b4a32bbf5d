//! Names that a person would give.

use crate::exchange::Request;

/// The label of a request: method and path, with `{id}` in the place of what differs from visit to visit, so that the
/// results of one page come together.
pub fn label(request: &Request) -> String {
    let path = request.address.bare_path();
    let segments: Vec<&str> = path.split('/').map(segment).collect();
    let path = segments.join("/");
    format!(
        "{} {}",
        request.method,
        if path.is_empty() { "/" } else { &path }
    )
}

fn segment(segment: &str) -> &str {
    if segment.contains("${") || is_identifier(segment) {
        "{id}"
    } else {
        segment
    }
}

/// Numbers, UUIDs and long hexadecimal or mixed texts.
pub fn is_identifier(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_number = !text.is_empty() && digits == text.len();
    let is_hexadecimal = text.len() >= 12
        && digits >= 2
        && text
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_mixed = text.len() >= 16
        && digits >= 3
        && letters >= 3
        && !text.contains('.')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~' | b'='));
    is_number || is_hexadecimal || is_mixed
}

/// A title without what would break a line.
pub fn one_line(text: &str) -> String {
    const LONGEST: usize = 80;
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = words.join(" ");
    match joined.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &joined[..end]),
        None => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::Address;

    #[test]
    fn labels_group_what_belongs_together() {
        let label_of = |url| {
            let address = Address::parse(url).expect("an address");
            label(&Request::new("GET", address))
        };
        assert_eq!(label_of("http://h/"), "GET /");
        assert_eq!(label_of("http://h/product/17?x=1"), "GET /product/{id}");
        assert_eq!(
            label_of("http://h/c/9f86d081-884c-4d65-9a2f-eaa0c55ad015/x"),
            "GET /c/{id}/x"
        );
        assert_eq!(label_of("http://h/api/v2/products"), "GET /api/v2/products");
        assert_eq!(
            label_of("http://h/static/jquery-3.7.1.min.js"),
            "GET /static/jquery-3.7.1.min.js"
        );
    }
}
