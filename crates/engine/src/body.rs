//! A response body as text.

use std::borrow::Cow;

use drumfire_results::Sample;
use drumfire_web::charset::Charset;

/// The body decoded by the response's charset, or else `sampleresult.default.encoding` (UTF-8 in JMeter 5.6.3)
/// (`SampleResult#getResponseDataAsString`).
pub fn text(sample: &Sample) -> Cow<'_, str> {
    let Some(data) = &sample.response_data else {
        return Cow::Borrowed("");
    };
    decode(data, sample.encoding.as_deref())
}

/// Decodes bytes by a charset's name; an unknown one is read as UTF-8.
pub fn decode<'a>(data: &'a [u8], encoding: Option<&str>) -> Cow<'a, str> {
    match encoding.and_then(Charset::find) {
        Some(charset) => charset.decode(data),
        None => String::from_utf8_lossy(data),
    }
}
