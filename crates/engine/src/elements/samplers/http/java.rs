//! Requests of the implementation `Java` (`HTTPJavaImpl#setupConnection`).

use drumfire_results::Sample;
use drumfire_web::Exception;
use drumfire_web::body::Body;
use drumfire_web::headers::RequestHead;
use drumfire_web::java_client::{authorization, check_method};
use drumfire_web::url::Url;

use super::HttpSampler;
use super::call::Call;
use super::request::{Prepared, Sending};
use crate::context::Context;

impl HttpSampler {
    /// All that happens before the first byte is sent.
    pub(super) fn build_java(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        url: &Url,
        method: &str,
        following: bool,
        sample: Sample,
    ) -> Result<Prepared, (Box<Sample>, Exception)> {
        let mut sample = sample;
        let mut head = RequestHead::java(self.keep_alive, &call.headers);
        if method.eq_ignore_ascii_case("GET")
            && let Some(cache) = &self.cache
            && cache.is_fresh(cx, url, &head)
        {
            sample.start_ms = cx.clock().now_ms();
            return Ok(Prepared::Done(self.fresh(sample)));
        }
        let (arguments, files) = (call.arguments(), call.files());
        let spec = call.body_spec(self, method, &arguments, &files, following);
        let built = check_method(method).and_then(|()| {
            Ok((
                url.java_wire()?,
                spec.build_java(head.first("Content-Type"))?,
            ))
        });
        let (wire, body) = match built {
            Ok(built) => built,
            Err(exception) => return Err((Box::new(sample), exception)),
        };
        let cached = self
            .cache
            .as_ref()
            .and_then(|cache| cache.validators(cx, url, &head));
        if let Some(entry) = &cached {
            head.conditional(entry.last_modified.as_deref(), entry.etag.as_deref());
        }
        let cookies = self
            .cookies
            .as_ref()
            .and_then(|cookies| cookies.header(cx, url));
        head.cookies(cookies.as_deref());
        if self.needs.request {
            sample.cookies = Some(head.cookie_text(cookies.as_deref()).into());
            sample.query_string = body.as_ref().map(|body| body.shown().into());
        }
        let rows = self
            .auth
            .as_ref()
            .map(|auth| auth.rows(cx))
            .unwrap_or_default();
        let credentials = authorization(&rows, url);
        if let Some(value) = &credentials {
            head.java_authorization(value);
        }
        if let Some(body) = &body {
            head.java_body(body);
        }
        let head_text = self
            .shows_request()
            .then(|| head.java_text(credentials.as_deref()));
        let target = self.target(cx, call, url, &wire);
        let through_proxy = target.proxy.is_some() && !wire.secure;
        head.java_finish(&wire.host_header, through_proxy, body.as_ref(), method);
        let mut bytes = Vec::with_capacity(256);
        head.append(
            method,
            if through_proxy {
                url.as_str()
            } else {
                &wire.target
            },
            &mut bytes,
        );
        let keep_alive = !head.asks_to_close();
        Ok(Prepared::Send(Box::new(Sending {
            sample,
            url: url.clone(),
            method: method.to_owned(),
            target,
            head: bytes,
            is_head: method == "HEAD",
            body,
            keep_alive,
            head_text,
            authorization: None,
            access: None,
        })))
    }

    /// Makes the head of a request that follows an automatic redirect.
    pub(super) fn rewrite_java(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        sending: &mut Sending,
        url: &Url,
        method: &str,
        body: Option<Body>,
    ) {
        let Ok(wire) = url.java_wire() else { return };
        let mut head = RequestHead::java(self.keep_alive, &call.headers);
        let cookies = self
            .cookies
            .as_ref()
            .and_then(|cookies| cookies.header(cx, &sending.url));
        head.cookies(cookies.as_deref());
        if let Some(body) = &body {
            head.java_body(body);
        }
        sending.target = self.target(cx, call, url, &wire);
        let through_proxy = sending.target.proxy.is_some() && !wire.secure;
        head.java_finish(&wire.host_header, through_proxy, body.as_ref(), method);
        sending.head.clear();
        let line = if through_proxy {
            url.as_str()
        } else {
            &wire.target
        };
        head.append(method, line, &mut sending.head);
        drop(head);
        sending.body = body;
    }
}
