//! One sample of the sampler.

use std::collections::HashMap;
use std::time::Duration;

use drumfire_expr::Template;
use drumfire_java::charset::Charset;
use drumfire_java::values::{parse_int, property_bool};
use drumfire_results::{Sample, SharedText};

use super::super::client::WebSocketClient;
use super::address::AddressTemplate;
use super::link::{Link, LinkSettings, Problem};
use crate::elements::config::{HeaderManager, merged_headers};
use crate::elements::samplers::http::state::{user, worker};
use crate::run::context::{Context, StateId};
use crate::run::needs::Needs;
use crate::run::sampler::{Sampler, SamplerTurn};

/// For a timeout that is no number (`DEFAULT_CONNECTION_TIMEOUT`, `DEFAULT_RESPONSE_TIMEOUT`).
const UNREADABLE_TIMEOUT_MS: i32 = 20_000;

/// A decoded sampler.
pub struct ZaleskiSampler {
    pub(super) address: AddressTemplate,
    pub(super) encoding: Option<Template>,
    pub(super) payload: Template,
    pub(super) connect_timeout: Option<Template>,
    pub(super) response_timeout: Option<Template>,
    pub(super) streams: Template,
    pub(super) connection_id: Template,
    pub(super) response_pattern: Template,
    pub(super) close_pattern: Template,
    pub(super) backlog: Option<Template>,
    /// Header Managers in scope, the innermost first.
    pub(super) headers: Vec<HeaderManager>,
    /// The state with a user's streaming connections, which all these samplers share.
    pub(super) links: StateId,
    pub(super) needs: Needs,
}

/// A user's streaming connections by their ids.
type Links = HashMap<String, Box<Link>>;

impl ZaleskiSampler {
    async fn sample(&self, cx: &mut Context, name: &Template) -> Sample {
        let mut sample = Sample::new(name.eval(cx).into_value(), cx.thread_name.clone());
        let encoding = text(&self.encoding, "UTF-8", cx);
        let charset = Charset::find(&encoding).unwrap_or(Charset::UTF_8);
        let payload = self.payload.eval(cx).into_string();
        if self.needs.request {
            sample.sampler_data = Some(payload.as_str().into());
        }
        sample.encoding = Some(encoding.into());
        let streams = property_bool(&self.streams.eval(cx));
        let id = self.connection_id.eval(cx).into_string();
        let begin_ns = cx.clock().now_ns();
        sample.start_ms = (begin_ns / 1_000_000) as i64;
        let earlier_link = if streams {
            cx.state(self.links, Links::default).remove(&id)
        } else {
            None
        };
        let mut link = None;
        let outcome = match self
            .link(cx, earlier_link, &charset, streams, &mut link)
            .await
        {
            Ok(()) => self.talk(cx, link.as_deref_mut(), &payload).await,
            Err(problem) => Err(problem),
        };
        let end_ns = cx.clock().now_ns();
        sample.set_end((end_ns / 1_000_000) as i64);
        sample.service_us = (end_ns - begin_ns) / 1000;
        self.conclude(&mut sample, link.as_deref(), outcome, &charset);
        if let Some(link) = link.filter(|link| link.streams()) {
            cx.state(self.links, Links::default).insert(id, link);
        }
        sample
    }

    /// `getConnectionSocket`: puts the user's connection with the id, or a new one, into `link`.
    async fn link(
        &self,
        cx: &mut Context,
        earlier: Option<Box<Link>>,
        charset: &Charset,
        streams: bool,
        link: &mut Option<Box<Link>>,
    ) -> Result<(), Problem> {
        let server = self.address.evaluate(charset, cx)?;
        if let Some(mut earlier) = earlier {
            earlier.begin(cx);
            let limit = self.response_limit(cx);
            earlier.reuse(cx, limit).await;
            *link = Some(earlier);
            return Ok(());
        }
        let settings = LinkSettings {
            response_pattern: self.response_pattern.eval(cx).into_string(),
            close_pattern: self.close_pattern.eval(cx).into_string(),
            backlog: text(&self.backlog, "3", cx),
            streams,
            max_bytes: worker(cx).http.sizes().body_bytes,
        };
        let headers = self.headers(cx);
        let limit = timeout(&self.connect_timeout, "5000", cx);
        let fresh = link.insert(Box::new(Link::new(WebSocketClient::new(&server), settings)));
        fresh.begin(cx);
        fresh.open(cx, limit, &headers).await
    }

    /// Sends the payload and waits for messages.
    async fn talk(
        &self,
        cx: &mut Context,
        link: Option<&mut Link>,
        payload: &str,
    ) -> Result<(), Problem> {
        let link = link.expect("`link` put it there");
        if !payload.is_empty() {
            link.send(cx, payload).await?;
        }
        let limit = self.response_limit(cx);
        link.wait(cx, limit).await
    }

    fn conclude(
        &self,
        sample: &mut Sample,
        link: Option<&Link>,
        outcome: Result<(), Problem>,
        charset: &Charset,
    ) {
        let mut message = link.map(Link::log).unwrap_or_default();
        message.push_str("\n\n[Problems]\n");
        match (outcome, link) {
            (Ok(()), Some(link)) => {
                match link.error {
                    Some(status) => sample.code = status.to_string().into(),
                    None => {
                        sample.code = SharedText::Static("200");
                        sample.success = true;
                    }
                }
                let response = link.response();
                let bytes = charset.encode(&response);
                sample.body_bytes = bytes.len() as u64;
                sample.response_data = self.needs.body.then(|| (*bytes).into());
            }
            (Err(problem), _) => message.push_str(&format!(" - {problem}\n")),
            (Ok(()), None) => {}
        }
        sample.message = message.into();
    }

    fn response_limit(&self, cx: &mut Context) -> Duration {
        timeout(&self.response_timeout, "20000", cx)
    }

    fn headers(&self, cx: &mut Context) -> Vec<(String, String)> {
        if self.headers.is_empty() {
            return Vec::new();
        }
        let changed = user(cx).changed_headers();
        let merged = merged_headers(&self.headers, &changed, &mut |_, template| {
            template.eval(cx)
        });
        let named = merged
            .into_iter()
            .filter(|header| !header.name.trim().is_empty());
        named
            .map(|header| (header.name.into_owned(), header.value.into_owned()))
            .collect()
    }
}

fn text(template: &Option<Template>, absent: &str, cx: &mut Context) -> String {
    match template {
        Some(template) => template.eval(cx).into_string(),
        None => absent.to_owned(),
    }
}

fn timeout(template: &Option<Template>, absent: &str, cx: &mut Context) -> Duration {
    let ms = parse_int(&text(template, absent, cx)).unwrap_or_else(|| {
        tracing::warn!(
            "A timeout of a WebSocket Sampler is not a number; using {UNREADABLE_TIMEOUT_MS} ms"
        );
        UNREADABLE_TIMEOUT_MS
    });
    Duration::from_millis(u64::try_from(ms).unwrap_or_default())
}

impl Sampler for ZaleskiSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(async move { Some(Box::new(self.sample(cx, name).await)) })
    }
}
