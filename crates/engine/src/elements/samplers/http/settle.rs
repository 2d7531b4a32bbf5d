//! Further requests within a sample's exchange: answers to challenges, and the redirects that HttpClient itself follows.

use drumfire_http::Incoming;
use drumfire_java::charset::decode_latin1;
use drumfire_web::auth::Negotiation;
use drumfire_web::property::Client;
use drumfire_web::redirect::{auto_redirect, auto_redirect_failure, circular_redirect};
use drumfire_web::url::Url;

use super::call::HttpCall;
use super::java;
use super::request::{Next, RequestBuilder, RequestLine, Sending, method_text, nonce};
use super::state::user_mut;
use super::transfer::{Transfer, TransferFailure};
use crate::run::context::Context;

/// The maximum number of tickets for a proxy within one sample.
const MOST_PROXY_TICKETS: u8 = 4;

/// Settles a response that asks for another request.
pub(super) struct Settlement<'s> {
    pub request: &'s RequestBuilder,
    pub transfer: &'s Transfer,
    /// Whether redirects are followed here (`HTTPSampler.auto_redirects`).
    pub follows: bool,
}

impl Settlement<'_> {
    /// Repeats a request that got a challenge, and follows the redirects that HttpClient itself follows.
    pub async fn settle(
        &self,
        cx: &mut Context,
        call: &HttpCall<'_>,
        sending: &mut Sending,
        incoming: Box<Incoming>,
    ) -> Result<Box<Incoming>, TransferFailure> {
        if self.request.client != Client::HttpClient {
            return if self.follows {
                java::settle(self.request, self.transfer, cx, call, sending, incoming).await
            } else {
                Ok(incoming)
            };
        }
        let mut incoming = incoming;
        // The first address is none that a redirect led to.
        let mut visited = Vec::new();
        loop {
            if incoming.status != 407
                && let Some(access) = &sending.access
            {
                access.note_success();
            }
            let again = match incoming.status {
                401 => self.answer_challenge(cx, call, sending, &incoming).await?,
                407 => self.answer_proxy(cx, call, sending, &incoming).await,
                _ => false,
            };
            if again {
                incoming = self.transfer.send(cx, call, sending).await?;
                continue;
            }
            if !self.follows {
                return Ok(incoming);
            }
            let location = incoming
                .header("Location")
                .map(|value| decode_latin1(value).into_owned());
            let redirect = auto_redirect(
                incoming.status,
                &sending.method,
                &sending.url,
                location.as_deref(),
            )
            .map_err(TransferFailure::Java)?;
            let Some(redirect) = redirect else {
                return Ok(incoming);
            };
            if visited.len() >= self.request.settings.max_redirects as usize {
                return Err(TransferFailure::Java(auto_redirect_failure()));
            }
            if visited.contains(&redirect.url) {
                return Err(TransferFailure::Java(circular_redirect(&redirect.url)));
            }
            visited.push(redirect.url.clone());
            self.redirect_request(
                cx,
                call,
                sending,
                &redirect.url,
                &redirect.method,
                redirect.same_request,
            )?;
            incoming = self.transfer.send(cx, call, sending).await?;
        }
    }

    async fn answer_challenge(
        &self,
        cx: &mut Context,
        call: &HttpCall<'_>,
        sending: &mut Sending,
        incoming: &Incoming,
    ) -> Result<bool, TransferFailure> {
        let Some(mut negotiation) = sending.authorization.take() else {
            return Ok(false);
        };
        let challenges: Vec<String> = incoming
            .headers()
            .filter(|(name, _)| name.eq_ignore_ascii_case(b"WWW-Authenticate"))
            .map(|(_, value)| decode_latin1(value).into_owned())
            .collect();
        let credentials = &user_mut(cx).rare().credentials;
        if !negotiation.challenged(credentials, challenges.iter().map(String::as_str)) {
            return Ok(false);
        }
        let port = sending.url.port_or_default().unwrap_or(-1);
        let address = format!(
            "{}://{}:{port}/",
            sending.url.protocol(),
            sending.url.host()
        );
        self.get_ticket(cx, &mut negotiation, &address).await;
        let (url, method) = (sending.url.clone(), sending.method.clone());
        let wire = url.wire().map_err(TransferFailure::Java)?;
        let line = RequestLine::new(&method, &url, &wire, &sending.target);
        let authorized = self.request.authorized(cx, &line);
        let value = negotiation.header(&authorized, || nonce(cx));
        let next = Next {
            url: &url,
            method: &method,
            body: sending.body.take(),
        };
        self.request.rewrite(cx, call, sending, next, value);
        sending.authorization = Some(negotiation);
        Ok(true)
    }

    /// Gets a Kerberos ticket if the challenge asks for one; if that fails, turns to the next scheme offered. `address` is that
    /// of the server or the proxy that wants the ticket.
    async fn get_ticket(&self, cx: &mut Context, negotiation: &mut Negotiation, address: &str) {
        while let (Some(auth), Some(wanted)) = (&self.request.auth, negotiation.wanted_ticket()) {
            match Box::pin(auth.answer_by_ticket(cx, wanted, address.to_owned())).await {
                Ok(value) => return negotiation.put_ticket(value),
                Err(why) => {
                    tracing::warn!("no ticket for {address}: {why}");
                    negotiation.take_next();
                }
            }
        }
    }

    /// Answers a proxy's challenge if there are credentials; returns whether it did. Tunnels have already tried passwords.
    async fn answer_proxy(
        &self,
        cx: &mut Context,
        call: &HttpCall<'_>,
        sending: &mut Sending,
        incoming: &Incoming,
    ) -> bool {
        let Some(access) = sending.access.clone() else {
            return false;
        };
        let server = sending.authorization.as_deref();
        let has_kerberos = server.is_some_and(Negotiation::has_kerberos);
        // A proxy and a server that both want a ticket with each request would never be satisfied.
        if sending.target.tls && !has_kerberos
            || sending.proxy_tickets == MOST_PROXY_TICKETS
            || !access.answers(incoming, server)
        {
            return false;
        }
        if let Some(mut negotiation) = access.take_negotiation() {
            if negotiation.wanted_ticket().is_some() {
                sending.proxy_tickets += 1;
                self.get_ticket(cx, &mut negotiation, &access.url()).await;
            }
            access.put_negotiation(negotiation);
        }
        // The answer of the next tunnel counts instead.
        access.take_refused();
        let (url, method) = (sending.url.clone(), sending.method.clone());
        let line = url.wire().map(|wire| {
            let line = RequestLine::new(&method, &url, &wire, &sending.target);
            let authorized = self.request.authorized(cx, &line);
            let negotiation = sending.authorization.as_mut();
            negotiation.and_then(|negotiation| negotiation.header(&authorized, || nonce(cx)))
        });
        let next = Next {
            url: &url,
            method: &method,
            body: sending.body.take(),
        };
        self.request
            .rewrite(cx, call, sending, next, line.unwrap_or_default());
        true
    }

    fn redirect_request(
        &self,
        cx: &mut Context,
        call: &HttpCall<'_>,
        sending: &mut Sending,
        url: &Url,
        method: &str,
        same: bool,
    ) -> Result<(), TransferFailure> {
        let body = sending.body.take().filter(|_| same);
        let (body, query) = body
            .map(|body| body.redirected(method))
            .unwrap_or((None, None));
        let with_query = query
            .map(|query| url.with_more_query(&query))
            .transpose()
            .map_err(TransferFailure::Java)?;
        let url = with_query.as_ref().unwrap_or(url);
        url.wire().map_err(TransferFailure::Java)?;
        sending.access = self.request.access(cx, call, url);
        let next = Next { url, method, body };
        self.request.rewrite(cx, call, sending, next, None);
        sending.url = url.clone();
        sending.method = method_text(method);
        sending.is_head = method.eq_ignore_ascii_case("HEAD");
        Ok(())
    }
}
