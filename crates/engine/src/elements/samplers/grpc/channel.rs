//! A user's channel of one sampler: its settings, its connection, and the last request in encoded form.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use drumfire_expr::Template;
use drumfire_grpc::call::{self, CallHead, ResponseLimits};
use drumfire_grpc::{Dialect, Metadata, Method, MethodError, Schema, Status, reflect};
use drumfire_http::{HttpVersion, Limits, Session, Target};
use drumfire_java::text::is_blank;

use super::sampler::GrpcSampler;
use super::schemas::ProtoError;
use super::settings::{ChannelSettings, Unprepared, host_and_port};
use crate::elements::samplers::http::settings::permit;
use crate::elements::samplers::http::state::lasting_worker;
use crate::run::context::Context;

/// How long a server may be silent when it is asked for its services.
const PATIENCE: Duration = Duration::from_secs(10);
/// Larger requests are encoded again for each sample.
const KEPT_REQUEST_BYTES: usize = 64 << 10;

/// The state of a sampler that a user keeps.
pub struct UserChannel {
    pub settings: ChannelSettings,
    /// `None` before the first sample, and while it fails.
    pub open: Option<Channel>,
}

/// A channel, whose connection is opened by its first call.
pub struct Channel {
    pub session: Session,
    pub target: Target,
    pub schema: Arc<Schema>,
    pub method: Method,
    pub authority: String,
    pub path: String,
    pub limits: ResponseLimits,
    pub dialect: Dialect,
    /// A call has failed, after which the plugin refuses all others.
    pub is_shut: bool,
    last: Request,
}

/// A request as its text, its head and its body.
#[derive(Default)]
pub struct Request {
    /// The head, if it was written before for the same metadata, length of the body and deadline.
    head: Option<(Option<Duration>, Vec<u8>)>,
    is_encoded: bool,
    text: String,
    pub body: Vec<u8>,
    /// The first message without its frame.
    pub first: Vec<u8>,
    pub metadata: Metadata,
}

fn target(
    sampler: &GrpcSampler,
    cx: &mut Context,
    settings: &ChannelSettings,
    host: &str,
    port: u16,
) -> Result<Target, Unprepared> {
    let mut target = Target::new(host, port, settings.tls);
    if sampler.dialect.needs_http2() {
        target.version = HttpVersion::Http2;
    }
    if settings.tls
        && let Some(keystore) = &sampler.keystore
    {
        let identity = keystore.identity(cx);
        let identity = identity.map_err(|exception| {
            Unprepared::new(exception.trace().trim_end(), exception.response_message())
        })?;
        target.identity = Some(identity);
    }
    Ok(target)
}

/// The schema of the `.proto` files, or what the server tells if there are none.
async fn schema(
    sampler: &GrpcSampler,
    cx: &Context,
    settings: &ChannelSettings,
    session: &Session,
    target: &Target,
) -> Result<Arc<Schema>, ProtoError> {
    if let Some(root) = &settings.place.root {
        return sampler.schemas.compiled(root, &settings.place);
    }
    let service = settings
        .method
        .rsplit_once('/')
        .map_or("", |(service, _)| service);
    let target = Target {
        version: HttpVersion::Http2,
        ..target.clone()
    };
    let limits = Limits {
        connect: Some(PATIENCE),
        response: Some(PATIENCE),
        ..Limits::default()
    };
    let asked = async {
        let set = reflect(session, &target, &settings.address, Some(service), limits);
        set.await
            .map_err(|failure| ProtoError::from(String::from(failure)))
    };
    let key = (settings.address.clone(), service.to_owned());
    let told = cx.attend(sampler.schemas.told(key, asked)).await;
    told.unwrap_or_else(|| Err("the run stopped before the server told its services".into()))
}

impl Channel {
    /// Prepares a channel; asks the server for its services if there are no files (`ClientCaller#init`).
    pub async fn new(
        sampler: &GrpcSampler,
        cx: &mut Context,
        settings: &ChannelSettings,
    ) -> Result<Channel, Unprepared> {
        if settings.method.rsplit_once('/').is_none() {
            return Err(MethodError::Form(settings.method.clone()).into());
        }
        let (host, port) = host_and_port(&settings.address)?;
        if let Err(exception) = permit(sampler.allowed_hosts.as_deref(), host) {
            let text = exception.response_message();
            return Err(Unprepared::new(exception.trace().trim_end(), text));
        }
        let worker = lasting_worker(cx, settings.trusts_all);
        let worker = worker.map_err(|error| Unprepared::no_schema(error.to_string()))?;
        let session = Session::new(worker);
        let target = target(sampler, cx, settings, host, port)?;
        let schema = schema(sampler, cx, settings, &session, &target).await;
        let schema = schema.map_err(|error| Unprepared::no_schema(error.to_string()))?;
        let method = schema.method(&settings.method)?.clone();
        Ok(Channel {
            authority: target.authority(),
            path: method.path(),
            limits: settings.limits,
            session,
            target,
            schema,
            method,
            dialect: sampler.dialect,
            is_shut: false,
            last: Request::default(),
        })
    }

    /// Takes the request of the next call, encoded as its text has it; give it back with [`Channel::keep`].
    pub fn request(
        &mut self,
        cx: &mut Context,
        request: &Template,
        file: Option<&Template>,
        metadata: &Template,
    ) -> Result<Request, Unprepared> {
        let metadata_text = metadata.eval(cx);
        let metadata = Metadata::parse(&metadata_text).map_err(|error| {
            let must =
                "Metadata entry must be valid JSON String or in key1:value1,key2:value2 format";
            let message = format!("{must} if not JsonString but found: {}", &*metadata_text);
            Unprepared::illegal(&message, error.to_string())
        })?;
        drop(metadata_text);
        let mut text = request.eval(cx);
        if text.is_empty()
            && let Some(file) = file
        {
            let file = file.eval(cx).into_string();
            let read = drumfire_platform::files::read_regular_text(Path::new(&file));
            let read = read.map_err(|error| {
                let cause = drumfire_platform::causes::unreadable(Path::new(&file), &error);
                Unprepared::illegal(&format!("Unable to read file: {file}"), cause)
            })?;
            text = read.into();
        }
        let mut request = std::mem::take(&mut self.last);
        if request.metadata != metadata {
            request.metadata = metadata;
            request.head = None;
        }
        if !request.is_encoded || request.text != *text {
            let encoded = self.encode(&text, &mut request);
            encoded.map_err(|error| Unprepared::no_request(error.to_string()))?;
            request.is_encoded = true;
            request.text.clear();
            request.text.push_str(&text);
        }
        Ok(request)
    }

    fn encode(&self, text: &str, request: &mut Request) -> Result<(), drumfire_grpc::JsonError> {
        let messages = match self.method.client_streaming && !is_blank(text) {
            true => self.schema.encode_each(text, self.method.input)?,
            false => vec![self.schema.encode(text, self.method.input)?],
        };
        request.head = None;
        request.body = self.dialect.body(&messages, self.streams());
        request.first = messages.into_iter().next().unwrap_or_default();
        Ok(())
    }

    /// The head of a request for a call that has this much time. Calls mostly have the same one as those before.
    ///
    /// # Errors
    /// The status of a call whose metadata cannot be sent.
    pub fn head<'r>(
        &self,
        request: &'r mut Request,
        deadline: Option<Duration>,
    ) -> Result<(&'r [u8], &'r [u8]), Status> {
        let known = request.head.take();
        let head = match known.filter(|(own, _)| *own == deadline) {
            Some((_, head)) => head,
            None => call::head(&CallHead {
                dialect: self.dialect,
                streams: self.streams(),
                authority: &self.authority,
                path: &self.path,
                metadata: &request.metadata,
                deadline,
                body_bytes: request.body.len(),
            })?,
        };
        let (_, head) = request.head.insert((deadline, head));
        Ok((head, &request.body))
    }

    /// Whether the method streams in either direction.
    pub fn streams(&self) -> bool {
        self.method.client_streaming || self.method.server_streaming
    }

    /// Keeps a request, which the next sample sends again if its text is the same.
    pub fn keep(&mut self, request: Request) {
        if request.body.len() <= KEPT_REQUEST_BYTES {
            self.last = request;
        }
    }

    /// Ends the connection after a failed call (`ClientCaller#shutdownNettyChannel`).
    pub fn shut(&mut self) {
        self.session.close_connections();
        self.is_shut = true;
    }
}
