//! A response body as text.

use std::borrow::Cow;

use drumfire_java::charset::{Charset, decode_utf8};
use drumfire_results::Sample;

/// The body decoded by the response's charset, or else by `default`, where there is one, or else as UTF-8
/// (`SampleResult#getResponseDataAsString`).
pub fn text<'s>(sample: &'s Sample, default: Option<&Charset>) -> Cow<'s, str> {
    match &sample.response_data {
        Some(data) => decoded(data, sample.encoding.as_deref(), default),
        None => Cow::Borrowed(""),
    }
}

/// Decodes a body's bytes by the name of its charset. The result borrows `data` only if the bytes are already the text in UTF-8.
pub fn decoded<'a>(
    data: &'a [u8],
    encoding: Option<&str>,
    default: Option<&Charset>,
) -> Cow<'a, str> {
    match encoding.filter(|name| !name.is_empty()) {
        // JMeter falls back to Java's own charset for a name that Java does not know.
        Some(name) => decode(data, Charset::find(name).as_ref()),
        None => decode(data, default),
    }
}

fn decode<'a>(data: &'a [u8], charset: Option<&Charset>) -> Cow<'a, str> {
    match charset {
        Some(charset) => charset.decode(data),
        None => decode_utf8(data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(encoding: Option<&str>) -> Sample {
        Sample {
            response_data: Some([b'a', 0xe9][..].into()),
            encoding: encoding.map(|name| name.to_owned().into()),
            ..Sample::default()
        }
    }

    #[test]
    fn the_responses_charset_wins_over_the_default() {
        let latin = Charset::find("ISO-8859-1");
        let cyrillic = Charset::find("windows-1251");
        for (named, default, expected) in [
            (None, None, "a\u{fffd}"),
            (None, latin.as_ref(), "aé"),
            (Some(""), latin.as_ref(), "aé"),
            (Some("ISO-8859-1"), cyrillic.as_ref(), "aé"),
            (Some("windows-1251"), latin.as_ref(), "aй"),
            (Some("no-such-charset"), latin.as_ref(), "a\u{fffd}"),
        ] {
            assert_eq!(text(&sample(named), default), expected, "{named:?}");
        }
        assert_eq!(text(&Sample::default(), latin.as_ref()), "");
    }
}
