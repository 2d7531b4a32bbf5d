//! The settings of one sample, evaluated.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use drumfire_expr::{Scope, Template, Text, Value};
use drumfire_http::{Limits, Source};
use drumfire_web::Exception;
use drumfire_web::body::{Argument, BodySpec, FileArgument, append_query_string};
use drumfire_web::headers::Header;
use drumfire_web::property::{Client, Form, Property};
use drumfire_web::url::{self, Url};

use super::HttpSampler;
use super::addresses::Addresses;
use super::edits::Replaced;
use super::proxy::ProxyChoice;
use super::reader::{Failure, Reader};
use crate::base::number;
use crate::elements::config::merged_headers;
use crate::run::context::Context;
use crate::run::request::{Request, RequestArgument};

pub struct Call<'s> {
    pub label: Rc<str>,
    pub method: Text<'s>,
    pub headers: Vec<Header<'s>>,
    pub limits: Limits,
    pub source: Option<Arc<Source>>,
    /// Why there is no source address.
    pub source_failure: Option<Exception>,
    /// The proxy that the sampler names.
    pub proxy: Option<Arc<ProxyChoice>>,
    failure: Option<Box<Failure>>,
    form: Form,
    raw_body: bool,
    protocol: Text<'s>,
    domain: Text<'s>,
    port: Text<'s>,
    path: Text<'s>,
    content_encoding: Text<'s>,
    arguments: Vec<OwnedArgument<'s>>,
    /// The value of the only argument, where it is a long body.
    pieces: Vec<Value>,
    files: Vec<OwnedFile<'s>>,
    /// Where the request goes, if that is known already.
    url: Option<Url>,
}

/// A raw body of so many bytes is not put together.
const LONG_BODY_BYTES: usize = 1 << 20;

struct OwnedArgument<'s> {
    name: Text<'s>,
    value: Text<'s>,
    metadata: Text<'s>,
    content_type: Text<'s>,
    always_encode: bool,
}

struct OwnedFile<'s> {
    path: Text<'s>,
    resolved: PathBuf,
    param_name: Text<'s>,
    mime_type: Text<'s>,
}

impl OwnedArgument<'_> {
    fn kept(&self) -> OwnedArgument<'static> {
        OwnedArgument {
            name: kept(&self.name),
            value: kept(&self.value),
            metadata: kept(&self.metadata),
            content_type: kept(&self.content_type),
            always_encode: self.always_encode,
        }
    }

    fn to_edit(&self) -> RequestArgument {
        RequestArgument {
            name: self.name.to_string(),
            value: self.value.to_string(),
            metadata: self.metadata.to_string(),
            content_type: self.content_type.to_string(),
            always_encode: self.always_encode,
        }
    }

    fn edited(argument: RequestArgument) -> Self {
        OwnedArgument {
            name: Text::Owned(argument.name),
            value: Text::Owned(argument.value),
            metadata: Text::Owned(argument.metadata),
            content_type: Text::Owned(argument.content_type),
            always_encode: argument.always_encode,
        }
    }
}

/// The text to be kept for longer.
fn kept(text: &Text<'_>) -> Text<'static> {
    Text::Shared(text.clone().into_value())
}

impl<'s> Call<'s> {
    /// The settings of the next sample, with what pre-processors change in them.
    pub fn evaluate(sampler: &'s HttpSampler, cx: &mut Context, name: &Template) -> Call<'s> {
        let mut call = Call::unedited(sampler, cx, name);
        if !super::user(cx).edits.is_empty() {
            call.edit(sampler, cx);
        }
        call
    }

    pub fn unedited(sampler: &'s HttpSampler, cx: &mut Context, name: &Template) -> Call<'s> {
        let mut read = Reader::new(cx);
        let path = read.text(Property::Path, &sampler.path);
        let domain = read.text(Property::Domain, &sampler.domain);
        let protocol = read.text(Property::Protocol, &sampler.protocol);
        let method = read.text(Property::Method, &sampler.method);
        let form = sampler.form(&method);
        let mut content = None;
        if form == Form::Query {
            content = Some(sampler.read_content(&mut read));
        }
        let port = read.text(Property::Port, &sampler.port);
        let label = read.text(Property::Name, name);
        let label = read.cx.label(label);
        let proxy = sampler.read_proxy(&mut read);
        let (source, source_failure) = sampler.read_source(&mut read);
        let limits = sampler.read_limits(&mut read);
        let headers = sampler.read_headers(&mut read);
        let content = content.unwrap_or_else(|| sampler.read_content(&mut read));
        let failure = read
            .failure()
            .filter(|failure| failure.matters(sampler.client, form, &method));
        Call {
            label,
            method,
            headers,
            limits,
            source,
            source_failure,
            proxy,
            failure,
            form,
            raw_body: sampler.raw_body,
            protocol,
            domain,
            port,
            path,
            content_encoding: content.encoding,
            arguments: content.arguments,
            pieces: content.pieces,
            files: content.files,
            url: None,
        }
    }

    /// How much text there is in what may be long, in bytes.
    pub fn text_bytes(&self) -> usize {
        let arguments = self.arguments.iter();
        let arguments = arguments.map(|argument| argument.name.len() + argument.value.len());
        let headers = self.headers.iter();
        let headers = headers.map(|header| header.name.len() + header.value.len());
        let pieces = self.pieces.iter().map(|piece| piece.len());
        self.path.len() + arguments.chain(headers).chain(pieces).sum::<usize>()
    }

    /// The settings with their address, to be kept for longer, if there is nothing wrong with them and they have no files.
    pub fn kept(&self, sampler: &HttpSampler, addresses: &Addresses) -> Option<Call<'static>> {
        if self.failure.is_some() || !self.files.is_empty() {
            return None;
        }
        let owned = |text: &str| Cow::Owned(text.to_owned());
        let headers = self.headers.iter();
        let headers = headers.map(|header| Header::new(owned(&header.name), owned(&header.value)));
        Some(Call {
            label: self.label.clone(),
            method: kept(&self.method),
            headers: headers.collect(),
            limits: self.limits,
            source: self.source.clone(),
            source_failure: self.source_failure.clone(),
            proxy: self.proxy.clone(),
            failure: None,
            form: self.form,
            raw_body: self.raw_body,
            protocol: kept(&self.protocol),
            domain: kept(&self.domain),
            port: kept(&self.port),
            path: kept(&self.path),
            content_encoding: kept(&self.content_encoding),
            arguments: self.arguments.iter().map(OwnedArgument::kept).collect(),
            pieces: self.pieces.clone(),
            files: Vec::new(),
            url: Some(self.url(sampler, addresses).ok()?),
        })
    }

    /// What a function threw in a property, and whether the result then has neither label nor address.
    pub fn failure(&self, client: Client) -> Option<(Exception, bool)> {
        let failure = self.failure.as_deref()?;
        let exception = failure.exception();
        Some((exception, failure.is_nameless(client, self.form)))
    }

    /// The settings as pre-processors and scripts see them.
    pub fn to_request(&self, sampler: &HttpSampler, cx: &mut Context) -> Request {
        let cookies = sampler.cookie_manager();
        Request {
            name: self.label.to_string(),
            protocol: self.protocol.to_string(),
            domain: self.domain.to_string(),
            port: self.port.to_string(),
            path: self.path.to_string(),
            method: self.method.to_string(),
            content_encoding: self.content_encoding.to_string(),
            raw_body: self.raw_body,
            arguments: self
                .arguments
                .iter()
                .map(|argument| match &*self.pieces {
                    [] => argument.to_edit(),
                    pieces => RequestArgument {
                        value: pieces.concat(),
                        ..argument.to_edit()
                    },
                })
                .collect(),
            headers: self
                .headers
                .iter()
                .map(|header| (header.name.to_string(), header.value.to_string()))
                .collect(),
            has_header_manager: !sampler.headers.is_empty(),
            cookie_policy: cookies
                .and_then(|manager| manager.policy(cx))
                .map(str::to_owned),
        }
    }

    /// Makes the changes that pre-processors ask for. Scripts that follow the sample still see them.
    fn edit(&mut self, sampler: &HttpSampler, cx: &mut Context) {
        let mut request = self.to_request(sampler, cx);
        let before = (!cx.shared.program.java.is_empty()).then(|| request.clone());
        for edit in super::user_mut(cx).edits.take() {
            edit.apply(cx, &mut request);
        }
        if let Some(before) = before {
            let after = request.clone();
            super::user_mut(cx).edits.add(Replaced { before, after });
        }
        if *self.label != *request.name {
            self.label = request.name.into();
        }
        self.protocol = Text::Owned(request.protocol);
        self.domain = Text::Owned(request.domain);
        self.port = Text::Owned(request.port);
        self.path = Text::Owned(request.path);
        self.method = Text::Owned(request.method);
        self.content_encoding = Text::Owned(request.content_encoding);
        self.raw_body = request.raw_body;
        self.pieces = Vec::new();
        self.arguments = request
            .arguments
            .into_iter()
            .map(OwnedArgument::edited)
            .collect();
        self.headers = request
            .headers
            .into_iter()
            .map(|(name, value)| Header::new(Cow::Owned(name), Cow::Owned(value)))
            .collect();
    }

    /// Where the request goes (`HTTPSamplerBase#getUrl`).
    pub fn url(&self, sampler: &HttpSampler, addresses: &Addresses) -> Result<Url, Exception> {
        if let Some(known) = &self.url {
            return Ok(known.clone());
        }
        let mut query = String::new();
        if url::method_takes_query(&self.method) && !self.sends_values_as_body() {
            append_query_string(&self.arguments(), &self.content_encoding, &mut query);
        }
        let target = url::Target {
            protocol: &self.protocol,
            domain: &self.domain,
            port: &self.port,
            path: &self.path,
            method: &self.method,
            query: &query,
        };
        addresses.url(sampler, &target)
    }

    /// `HTTPSamplerBase#toString`.
    pub fn shown(&self, sampler: &HttpSampler, addresses: &Addresses) -> String {
        let Ok(url) = self.url(sampler, addresses) else {
            return String::new();
        };
        let mut text = url.text().to_string();
        if matches!(&*self.method, "POST" | "PUT") {
            text.push_str("\nQuery Data: ");
            append_query_string(&self.arguments(), &self.content_encoding, &mut text);
        }
        text
    }

    /// Whether the sampler reads files (`HTTPSamplerFactory#getImplementation`); only this spelling does.
    pub fn reads_files(&self) -> bool {
        &*self.protocol == "file"
    }

    /// `HTTPSamplerBase#getContentEncoding`, whose default is UTF-8.
    pub fn file_encoding(&self) -> &str {
        match &*self.content_encoding {
            "" => "UTF-8",
            name => name,
        }
    }

    /// `HTTPSamplerBase#getSendParameterValuesAsPostBody`.
    fn sends_values_as_body(&self) -> bool {
        self.raw_body
            || (!self.arguments.is_empty()
                && self
                    .arguments
                    .iter()
                    .all(|argument| argument.name.is_empty()))
    }

    pub fn arguments(&self) -> Vec<Argument<'_>> {
        self.arguments
            .iter()
            .map(|argument| Argument {
                name: &argument.name,
                value: &argument.value,
                metadata: &argument.metadata,
                always_encode: argument.always_encode,
                content_type: &argument.content_type,
            })
            .collect()
    }

    pub fn files(&self) -> Vec<FileArgument<'_>> {
        self.files
            .iter()
            .map(|file| FileArgument {
                path: &file.path,
                resolved: &file.resolved,
                param_name: &file.param_name,
                mime_type: &file.mime_type,
            })
            .collect()
    }

    pub fn body_spec<'a>(
        &'a self,
        sampler: &HttpSampler,
        method: &'a str,
        arguments: &'a [Argument<'a>],
        files: &'a [FileArgument<'a>],
        following_redirect: bool,
    ) -> BodySpec<'a> {
        BodySpec {
            method,
            raw: self.raw_body,
            multipart: sampler.multipart,
            browser_compatible: sampler.browser_compatible,
            content_encoding: &self.content_encoding,
            arguments,
            files,
            following_redirect,
            add_content_type_if_missing: sampler.settings.add_content_type_if_missing,
            pieces: &self.pieces,
        }
    }
}

/// What a request says beyond its address and head.
struct Content<'s> {
    encoding: Text<'s>,
    files: Vec<OwnedFile<'s>>,
    arguments: Vec<OwnedArgument<'s>>,
    pieces: Vec<Value>,
}

impl HttpSampler {
    /// Where the arguments of a request go.
    fn form(&self, method: &str) -> Form {
        let nameless = || {
            !self.arguments.is_empty()
                && (self.arguments.iter()).all(|argument| argument.name.is_empty_literal())
        };
        if self.raw_body || nameless() {
            Form::Raw
        } else if url::method_takes_query(method) {
            Form::Query
        } else if self.multipart || !self.files.is_empty() {
            Form::Multipart
        } else {
            Form::Encoded
        }
    }

    fn read_content<'s>(&'s self, read: &mut Reader<'_>) -> Content<'s> {
        let encoding = read.text(Property::ContentEncoding, &self.content_encoding);
        let files = self.files.iter().map(|file| file.read(read)).collect();
        let pieces = read.read(Property::ArgumentValue, |cx| self.long_body(cx));
        let pieces = pieces.flatten();
        let arguments = self
            .arguments
            .iter()
            .map(|argument| OwnedArgument {
                name: read.text(Property::ArgumentName, &argument.name),
                value: match &pieces {
                    None => read.text(Property::ArgumentValue, &argument.value),
                    Some(_) => Text::Literal(""),
                },
                metadata: read.text(Property::ArgumentValue, &argument.metadata),
                content_type: read.text(Property::ArgumentValue, &argument.content_type),
                always_encode: argument.always_encode,
            })
            .collect();
        Content {
            encoding,
            files,
            arguments,
            pieces: pieces.unwrap_or_default(),
        }
    }

    fn read_proxy(&self, read: &mut Reader<'_>) -> Option<Arc<ProxyChoice>> {
        let proxy = self.proxy.as_ref()?;
        let general = &self.settings.proxy;
        read.read(Property::ProxyHost, |cx| proxy.evaluate(cx, general))
            .flatten()
    }

    /// The address that requests leave from, or why there is none.
    fn read_source(&self, read: &mut Reader<'_>) -> (Option<Arc<Source>>, Option<Exception>) {
        let own = self.source.as_ref();
        let own = own.and_then(|own| read.read(Property::Source, |cx| own.evaluate(cx)));
        let local = || (self.settings.local_address.as_ref()).map(|local| local.source.clone());
        match own {
            None | Some(Ok(None)) => (local(), None),
            Some(Ok(source)) => (source, None),
            Some(Err(exception)) => (local(), Some(exception)),
        }
    }

    fn read_limits(&self, read: &mut Reader<'_>) -> Limits {
        let (slow, connect) = (&self.response_timeout, &self.connect_timeout);
        let response = read.read(Property::ResponseTimeout, |cx| timeout(slow, cx));
        let connect = read.read(Property::ConnectTimeout, |cx| timeout(connect, cx));
        let speed = read.read(Property::ConnectTimeout, |cx| {
            speed(&self.bytes_per_second, cx)
        });
        Limits {
            connect: connect.flatten(),
            response: response.flatten(),
            bytes_per_second: speed.flatten(),
        }
    }

    fn read_headers<'s>(&'s self, read: &mut Reader<'_>) -> Vec<Header<'s>> {
        let changed = super::user(read.cx).changed_headers();
        merged_headers(&self.headers, &changed, &mut |property, template| {
            read.text(property, template)
        })
    }

    /// The pieces of a long raw body, if nothing has to be made of them but bytes in UTF-8.
    fn long_body(&self, cx: &mut Context) -> Option<Vec<Value>> {
        let [argument] = &*self.arguments else {
            return None;
        };
        let is_plain = self.raw_body
            && !self.multipart
            && self.files.is_empty()
            && !argument.always_encode
            && self.client == Client::HttpClient
            && (self.content_encoding.is_empty_literal()
                || self.content_encoding.literal() == Some("UTF-8"));
        is_plain
            .then(|| argument.value.eval_pieces(cx, LONG_BODY_BYTES))
            .flatten()
    }
}

impl super::FileTemplate {
    fn read(&self, read: &mut Reader<'_>) -> OwnedFile<'_> {
        let path = read.text(Property::FilePath, &self.path);
        // FileServer#getResolvedFile: as it is if it exists or is absolute, else beside the plan.
        let direct = PathBuf::from(&*path);
        let resolved = if direct.is_absolute() || direct.exists() {
            direct
        } else {
            read.cx.base_dir().join(direct)
        };
        OwnedFile {
            resolved,
            path,
            param_name: read.text(Property::FileParameter, &self.param_name),
            mime_type: read.text(Property::FileType, &self.mime_type),
        }
    }
}

fn speed(template: &Template, cx: &mut Context) -> Option<NonZeroU32> {
    if template.is_empty_literal() {
        return None;
    }
    NonZeroU32::new(u32::try_from(number::int(&template.eval(cx))).unwrap_or(0))
}

fn timeout(template: &Template, cx: &mut Context) -> Option<Duration> {
    if template.is_empty_literal() {
        return None;
    }
    let ms = number::int(&template.eval(cx));
    (ms > 0).then(|| Duration::from_millis(ms as u64))
}
