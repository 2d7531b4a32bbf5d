//! Requests of the implementation `Java` (`HTTPJavaImpl#setupConnection`).

use drumfire_http::Incoming;
use drumfire_java::Exception;
use drumfire_java::charset::decode_latin1;
use drumfire_results::{Sample, SharedText};
use drumfire_web::body::Body;
use drumfire_web::headers::RequestHead;
use drumfire_web::java_client::{
    authorization, check_headers, check_method, java_redirect, java_too_many_redirects,
};
use drumfire_web::url::{Url, WireAddress};

use super::call::HttpCall;
use super::request::{Prepared, RequestBuilder, Sending};
use super::transfer::{Transfer, TransferFailure};
use crate::run::context::Context;

/// Prepares a request: everything that happens before the first byte is sent.
pub(super) fn build(
    builder: &RequestBuilder,
    cx: &mut Context,
    call: &HttpCall<'_>,
    url: &Url,
    method: SharedText,
    following: bool,
    sample: Box<Sample>,
) -> Result<Prepared, (Box<Sample>, Exception)> {
    let mut sample = sample;
    let mut head = RequestHead::java(call.keep_alive, &call.headers);
    if builder.has_fresh(cx, url, &method, &head) {
        return Ok(Prepared::Done(builder.fresh(sample, cx.clock().now_ms())));
    }
    let built = wire_and_body(builder, call, url, &method, following, &head);
    let (wire, body) = match built {
        Ok(built) => built,
        Err(exception) => return Err((sample, exception)),
    };
    let remembered = builder.remembered(cx, url, &head);
    remembered.add_to(&mut head);
    if builder.needs.request {
        sample.cookies = Some(remembered.shown_in(&head));
        let sent = body.as_ref().filter(|body| body.unsendable.is_none());
        sample.query_string = sent.map(|body| body.shown().into());
    }
    let rows = builder.auth.as_ref().map(|auth| auth.rows(cx));
    let credentials = authorization(&rows.unwrap_or_default(), url);
    if let Some(value) = &credentials {
        head.java_authorization(value);
    }
    if let Some(body) = &body {
        head.java_body(body);
    }
    let head_text = builder
        .shows_request
        .then(|| head.java_text(credentials.as_deref()));
    let target = builder.target(cx, call, url, &wire);
    let through_proxy = target.proxy.is_some() && !wire.secure;
    let java = &builder.settings.java;
    let agent = &java.user_agent;
    head.java_finish(
        &wire.host_header,
        through_proxy,
        body.as_ref(),
        &method,
        agent,
    );
    let asked = if through_proxy {
        url.as_str()
    } else {
        &wire.target
    };
    let mut bytes = cx.worker.room.head();
    head.append_java(&method, asked, &mut bytes);
    Ok(Prepared::Send(cx.worker.room.request(Sending {
        sample,
        url: url.clone(),
        is_head: method.as_str() == "HEAD",
        method,
        target,
        head: bytes,
        keep_alive: java.keeps_connections && !head.asks_to_close(),
        body,
        head_text,
        authorization: None,
        access: None,
        proxy_tickets: 0,
        watch: None,
    })))
}

/// Checks as `HttpURLConnection` does, then returns the address as it is sent, and the body.
fn wire_and_body<'a>(
    builder: &RequestBuilder,
    call: &HttpCall<'_>,
    url: &'a Url,
    method: &SharedText,
    following: bool,
    head: &RequestHead,
) -> Result<(WireAddress<'a>, Option<Body>), Exception> {
    check_method(method)?;
    check_headers(&call.headers)?;
    if builder.cookies.is_some() {
        url.cookie_origin()?;
    }
    let (arguments, files) = (call.arguments(), call.files());
    let spec = call.body_spec(method, &arguments, &files, following);
    let wire = url.java_wire()?;
    Ok((wire, spec.build_java(head.first("Content-Type"))?))
}

/// Follows redirects as `HttpURLConnection` does itself: the same headers again, but none of the plan's after a `POST`, which
/// becomes a `GET`.
pub(super) async fn settle(
    builder: &RequestBuilder,
    transfer: &Transfer,
    cx: &mut Context,
    call: &HttpCall<'_>,
    sending: &mut Sending,
    incoming: Box<Incoming>,
) -> Result<Box<Incoming>, TransferFailure> {
    let mut incoming = incoming;
    let mut url = sending.url.clone();
    let (mut bare, mut requests) = (false, 1);
    loop {
        let location = incoming.header("Location").map(decode_latin1);
        let next = java_redirect(incoming.status, &url, location.as_deref());
        let Some(next) = next else {
            sending.url = url;
            return Ok(incoming);
        };
        let limit = builder.settings.java.max_requests;
        if requests == limit {
            return Err(TransferFailure::Java(java_too_many_redirects(limit)));
        }
        requests += 1;
        url = next;
        if sending.method == "POST" && incoming.status != 307 {
            bare = true;
            sending.body = None;
            sending.method = SharedText::Static("GET");
        }
        rewrite(builder, cx, call, sending, &url, bare)?;
        incoming = transfer.send(cx, call, sending).await?;
    }
}

/// Makes the head of a request that follows an automatic redirect.
fn rewrite(
    builder: &RequestBuilder,
    cx: &mut Context,
    call: &HttpCall<'_>,
    sending: &mut Sending,
    url: &Url,
    bare: bool,
) -> Result<(), TransferFailure> {
    let wire = url.java_wire().map_err(TransferFailure::Java)?;
    let (body, method) = (sending.body.take(), sending.method.clone());
    let mut head = if bare {
        RequestHead::default()
    } else {
        RequestHead::java(call.keep_alive, &call.headers)
    };
    let cookies = builder
        .cookies
        .as_ref()
        .filter(|_| !bare)
        .and_then(|cookies| cookies.header(cx, &sending.url));
    head.cookies(cookies.as_deref());
    if let Some(body) = &body {
        head.java_body(body);
    }
    sending.target = builder.target(cx, call, url, &wire);
    let through_proxy = sending.target.proxy.is_some() && !wire.secure;
    let agent = &builder.settings.java.user_agent;
    head.java_finish(
        &wire.host_header,
        through_proxy,
        body.as_ref(),
        &method,
        agent,
    );
    head.java_keep_alive();
    sending.head.clear();
    let line = if through_proxy {
        url.as_str()
    } else {
        &wire.target
    };
    head.append_java(&method, line, &mut sending.head);
    drop(head);
    sending.body = body;
    builder.trace(cx, sending);
    Ok(())
}
