//! User and password in a URL.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;

/// Removes user and password from a URL. Returns the URL without them, and the value of the `Authorization` field for them.
/// Characters that a URL cannot contain may be percent-encoded, such as `%40`, as in cURL.
#[must_use]
pub fn without_credentials(url: &str) -> (String, Option<String>) {
    let Some((scheme, rest)) = url.split_once("://") else {
        return (url.to_owned(), None);
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let Some((credentials, host)) = authority.rsplit_once('@') else {
        return (url.to_owned(), None);
    };
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let mut pair: Vec<u8> = percent_decode_str(user).collect();
    pair.push(b':');
    pair.extend(percent_decode_str(password));
    let value = format!("Basic {}", STANDARD.encode(pair));
    (format!("{scheme}://{host}{path}"), Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_decoded_and_leave_the_url() {
        let (url, field) = without_credentials("https://me:p%40%3Aw@h:1/a@b?c=d@e");
        assert_eq!(url, "https://h:1/a@b?c=d@e");
        let pair = STANDARD.encode("me:p@:w");
        assert_eq!(field, Some(format!("Basic {pair}")));
        let (url, field) = without_credentials("http://token@h");
        assert_eq!(url, "http://h");
        assert_eq!(field, Some(format!("Basic {}", STANDARD.encode("token:"))));
    }

    #[test]
    fn other_urls_stay() {
        for url in ["http://h/x?mail=a@b", "h:1", ""] {
            assert_eq!(without_credentials(url), (url.to_owned(), None));
        }
    }
}
