//! `UrlEncode` and `UrlDecode`: `application/x-www-form-urlencoded` in UTF-8.

use drumfire_java::charset::Charset;
use drumfire_java::url_coding::{append_url_encoded, url_decode};

use crate::call::{Args, CallResult};
use crate::scope::Scope;
use crate::text::Text;

/// `URLEncoder.encode`.
pub(super) fn encode<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let mut out = String::with_capacity(text.len() + 16);
    append_url_encoded(&text, &Charset::UTF_8, &mut out);
    Ok(Text::Owned(out))
}

/// `URLDecoder.decode`, which throws on an incomplete or malformed `%` sequence.
pub(super) fn decode<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    if !text.contains(['%', '+']) {
        return Ok(text);
    }
    Ok(Text::Owned(
        url_decode(&text, &Charset::UTF_8)?.into_owned(),
    ))
}
