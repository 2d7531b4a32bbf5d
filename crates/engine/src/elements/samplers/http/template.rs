//! The settings of a request as the plan has them, and their evaluation for one sample.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use drumfire_expr::{Scope, Slot, Template, Text, Value};
use drumfire_http::{Limits, SourceAddresses};
use drumfire_java::Exception;
use drumfire_java::file_server;
use drumfire_web::headers::Header;
use drumfire_web::property::{ArgumentPlacement, Client, Property};
use drumfire_web::url;

use super::call::{HttpCall, OwnedArgument, OwnedFile};
use super::key::Key;
use super::proxy::{ProxyChoice, ProxyTemplate};
use super::reader::BodyReader;
use super::settings::HttpSettings;
use super::source::{Found, SourceTemplate};
use super::state::{user, user_mut};
use crate::base::number;
use crate::elements::config::header_manager::HeaderManager;
use crate::elements::config::header_manager::merged as merged_headers;
use crate::run::context::Context;

/// The settings in the plan. Each sample evaluates them, unless nothing in them has changed.
pub struct RequestTemplate {
    pub client: Client,
    pub protocol: Template,
    pub domain: Template,
    pub port: Template,
    pub path: Template,
    pub method: Template,
    pub content_encoding: Template,
    pub arguments: Vec<ArgumentTemplate>,
    pub files: Vec<FileTemplate>,
    /// Header Managers in scope, the innermost first.
    pub headers: Vec<HeaderManager>,
    pub multipart: bool,
    pub browser_compatible: bool,
    pub raw_body: bool,
    pub connect_timeout: Template,
    pub response_timeout: Template,
    pub bytes_per_second: Template,
    pub proxy: Option<ProxyTemplate>,
    pub source: Option<SourceTemplate>,
    pub settings: Arc<HttpSettings>,
}

pub struct ArgumentTemplate {
    pub name: Template,
    pub value: Template,
    pub metadata: Template,
    pub content_type: Template,
    pub always_encode: bool,
}

pub struct FileTemplate {
    pub path: Template,
    pub param_name: Template,
    pub mime_type: Template,
}

/// A raw body of at least this length is sent in pieces instead of being copied together.
const LONG_BODY_BYTES: usize = 1 << 20;

/// The index of the first argument's value among the texts that scripts read one by one.
const FIRST_ARGUMENT: usize = 6;

/// The parts of a request beyond its address and head.
struct Content<'s> {
    encoding: Text<'s>,
    files: Vec<OwnedFile<'s>>,
    arguments: Vec<OwnedArgument<'s>>,
    pieces: Vec<Value>,
}

impl RequestTemplate {
    /// The key of the template's sampler in the worker's cache.
    pub fn key(&self) -> Key {
        Key::of(self)
    }

    /// Evaluates the settings of the next sample, as the plan has them.
    pub fn evaluate<'s>(&'s self, cx: &mut Context, name: &Template) -> HttpCall<'s> {
        self.read(BodyReader::new(cx), name)
    }

    /// Evaluates the settings except for the texts that scripts may read later by their indexes.
    pub fn leave<'s>(&'s self, cx: &mut Context, name: &Template) -> HttpCall<'s> {
        self.read(BodyReader::leaving(cx), name)
    }

    /// The text that scripts read by this index.
    pub fn placed<'s>(&'s self, name: &'s Template, place: usize) -> Option<&'s Template> {
        let own = [
            &self.path,
            &self.domain,
            &self.protocol,
            &self.port,
            name,
            &self.content_encoding,
        ];
        let Some(place) = place.checked_sub(FIRST_ARGUMENT) else {
            return own.get(place).copied();
        };
        match place.checked_sub(self.arguments.len()) {
            None => self.arguments.get(place).map(|argument| &argument.value),
            Some(place) => self.header_texts().nth(place),
        }
    }

    /// Names and values of the headers in the plan.
    fn header_texts(&self) -> impl Iterator<Item = &Template> {
        self.headers.iter().flat_map(HeaderManager::templates)
    }

    fn read<'s>(&'s self, mut read: BodyReader<'_>, name: &Template) -> HttpCall<'s> {
        let path = read.placed(Property::Path, 0, &self.path);
        let domain = read.placed(Property::Domain, 1, &self.domain);
        let protocol = read.placed(Property::Protocol, 2, &self.protocol);
        // Times that HTTPSamplerBase#getUrl, #isProtocolDefaultPort and #sample read a property beside this.
        read.again(Property::Protocol, &self.protocol, 2);
        read.again(Property::Method, &self.method, 1);
        let method = read.text(Property::Method, &self.method);
        let form = self.form(&method);
        let mut content = None;
        if form == ArgumentPlacement::Query {
            content = Some(self.read_content(&mut read, form, &method));
        }
        read.again(Property::Port, &self.port, 1);
        let port = read.placed(Property::Port, 3, &self.port);
        let label = read.placed(Property::Name, 4, name);
        let label = read.cx.label(label);
        let proxy = self.read_proxy(&mut read);
        let (source, source_failure) = self.read_source(&mut read);
        let limits = self.read_limits(&mut read);
        let headers = self.read_headers(&mut read);
        let content = content.unwrap_or_else(|| self.read_content(&mut read, form, &method));
        let failure = read
            .failure()
            .filter(|failure| failure.matters(self.client, form, &method));
        HttpCall {
            label,
            method,
            headers,
            limits,
            source,
            source_failure,
            proxy,
            failure,
            multipart: self.multipart,
            browser_compatible: self.browser_compatible,
            add_content_type_if_missing: self.settings.add_content_type_if_missing,
            form,
            key: self.key(),
            raw_body: self.raw_body,
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

    /// The variables on which the settings depend, if they depend on nothing else but literals and properties.
    pub fn ingredients(&self, name: &Template) -> Option<Box<[Slot]>> {
        if !self.files.is_empty() || self.proxy.is_some() || self.source.is_some() {
            return None;
        }
        let own = [
            name,
            &self.protocol,
            &self.domain,
            &self.port,
            &self.path,
            &self.method,
            &self.content_encoding,
            &self.connect_timeout,
            &self.response_timeout,
            &self.bytes_per_second,
        ];
        let arguments = self.arguments.iter().flat_map(|argument| {
            [
                &argument.name,
                &argument.value,
                &argument.metadata,
                &argument.content_type,
            ]
        });
        let headers = self.header_texts();
        let mut slots = Vec::new();
        for template in own.into_iter().chain(arguments).chain(headers) {
            slots.extend(template.ingredients()?);
        }
        slots.sort_unstable();
        slots.dedup();
        Some(slots.into())
    }

    /// Where the arguments of a request go.
    fn form(&self, method: &str) -> ArgumentPlacement {
        let nameless = || {
            !self.arguments.is_empty()
                && (self.arguments.iter()).all(|argument| argument.name.is_empty_literal())
        };
        if self.raw_body || nameless() {
            ArgumentPlacement::Raw
        } else if url::method_takes_query(method) {
            ArgumentPlacement::Query
        } else if self.multipart || !self.files.is_empty() {
            ArgumentPlacement::Multipart
        } else {
            ArgumentPlacement::Encoded
        }
    }

    fn read_content<'s>(
        &'s self,
        read: &mut BodyReader<'_>,
        form: ArgumentPlacement,
        method: &str,
    ) -> Content<'s> {
        let reads = ContentReads::of(self.client, form, method);
        read.again(
            Property::ContentEncoding,
            &self.content_encoding,
            reads.encoding,
        );
        let encoding = if reads.reads_encoding || !self.content_encoding.is_stateful() {
            read.placed(Property::ContentEncoding, 5, &self.content_encoding)
        } else {
            Text::Literal("")
        };
        let files = self.files.iter().map(|file| file.read(read)).collect();
        let leaves = self
            .arguments
            .iter()
            .any(|argument| read.leaves(&argument.value));
        let pieces = if leaves {
            None
        } else {
            read.read(Property::ArgumentValue, |cx| self.long_body(cx))
        };
        let pieces = pieces.flatten();
        if reads.asks_for_names && form != ArgumentPlacement::Query {
            self.ask_for_names(read);
        }
        let arguments: Vec<OwnedArgument<'_>> = self
            .arguments
            .iter()
            .zip(FIRST_ARGUMENT..)
            .map(|(argument, place)| OwnedArgument {
                name: if reads.is_sent || !argument.name.is_stateful() {
                    read.text(Property::ArgumentName, &argument.name)
                } else {
                    Text::Literal("")
                },
                value: match &pieces {
                    None if !reads.is_sent && argument.value.is_stateful() => Text::Literal(""),
                    None => read.placed(Property::ArgumentValue, place, &argument.value),
                    Some(_) => Text::Literal(""),
                },
                metadata: read.text(Property::ArgumentValue, &argument.metadata),
                content_type: read.text(Property::ArgumentValue, &argument.content_type),
                always_encode: argument.always_encode,
            })
            .collect();
        if reads.asks_for_names && form == ArgumentPlacement::Query {
            self.ask_for_names(read);
        }
        for argument in self.arguments.iter().filter(|_| reads.has_body_too) {
            read.again(Property::ArgumentName, &argument.name, 1);
            read.again(Property::ArgumentValue, &argument.value, 1);
        }
        Content {
            encoding,
            files,
            arguments,
            pieces: pieces.unwrap_or_default(),
        }
    }

    /// `HTTPSamplerBase#getSendParameterValuesAsPostBody` reads each name twice, up to the first one that is not empty.
    fn ask_for_names(&self, read: &mut BodyReader<'_>) {
        for argument in &self.arguments {
            read.again(Property::ArgumentName, &argument.name, 1);
            if argument.name.is_stateful() && !read.cx.evaluates_again() {
                break;
            }
            if !read.text(Property::ArgumentName, &argument.name).is_empty() {
                break;
            }
        }
    }

    fn read_proxy(&self, read: &mut BodyReader<'_>) -> Option<Arc<ProxyChoice>> {
        let proxy = self.proxy.as_ref()?;
        let general = &self.settings.proxy;
        read.read(Property::ProxyHost, |cx| proxy.evaluate(cx, general))
            .flatten()
    }

    /// The address that requests leave from, or why there is none.
    fn read_source(
        &self,
        read: &mut BodyReader<'_>,
    ) -> (Option<Arc<SourceAddresses>>, Option<Exception>) {
        let own = self.source.as_ref();
        let own = own.and_then(|own| read.read(Property::Source, |cx| source_of(own, cx)));
        let local = || (self.settings.local_address.as_ref()).map(|local| local.source.clone());
        match own {
            None | Some(Ok(None)) => (local(), None),
            Some(Ok(source)) => (source, None),
            Some(Err(exception)) => (local(), Some(exception)),
        }
    }

    fn read_limits(&self, read: &mut BodyReader<'_>) -> Limits {
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

    fn read_headers<'s>(&'s self, read: &mut BodyReader<'_>) -> Vec<Header<'s>> {
        let changed = user(read.cx).changed_headers();
        let first = FIRST_ARGUMENT + self.arguments.len();
        merged_headers(&self.headers, &changed, &mut |property, template| {
            // A value with functions would be evaluated again when the request is sent.
            let is_left = property == Property::HeaderValue && template.is_stateful();
            let mut texts = self.header_texts();
            let is_it = |text: &Template| std::ptr::eq(text, template);
            match is_left.then(|| texts.position(is_it)).flatten() {
                Some(place) => read.placed(property, first + place, template),
                None => read.text(property, template),
            }
        })
    }

    /// The pieces of a long raw body, if they only have to be encoded in UTF-8.
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

/// How often JMeter reads the arguments of a request, beside once.
#[derive(Clone, Copy)]
struct ContentReads {
    /// Neither `HEAD` nor `TRACE` has any content.
    reads_encoding: bool,
    encoding: usize,
    asks_for_names: bool,
    is_sent: bool,
    /// The arguments are the query and the body of a DELETE.
    has_body_too: bool,
}

impl ContentReads {
    fn of(client: Client, form: ArgumentPlacement, method: &str) -> ContentReads {
        let is_query = form == ArgumentPlacement::Query;
        let is_form = form == ArgumentPlacement::Encoded;
        let is_delete = client == Client::HttpClient && is_query && method == "DELETE";
        // HTTPHC4Impl#createHttpRequest, PostWriter, PutWriter
        let (has_body, is_form_sent) = match client {
            Client::HttpClient => (!matches!(method, "HEAD" | "TRACE"), true),
            _ => (matches!(method, "POST" | "PUT"), method == "POST"),
        };
        let asks_query = client == Client::HttpClient && matches!(method, "GET" | "DELETE");
        let is_raw_query = asks_query && form == ArgumentPlacement::Raw;
        let is_sent = is_query || has_body || form == ArgumentPlacement::Raw;
        let is_form_unsent = is_form && !is_form_sent;
        ContentReads {
            reads_encoding: !matches!(method, "HEAD" | "TRACE"),
            encoding: usize::from(
                is_delete || is_raw_query || client != Client::HttpClient && !is_query && has_body,
            ),
            asks_for_names: (is_query && asks_query) || (is_form && has_body),
            is_sent: is_sent && !is_form_unsent,
            has_body_too: is_delete,
        }
    }
}

/// The source addresses. Each user looks up a text with variables once.
fn source_of(own: &SourceTemplate, cx: &mut Context) -> Found {
    match own.fixed() {
        Some(found) => found,
        None => {
            let text = own.text.eval(cx).into_string();
            own.find(text, &mut user_mut(cx).rare().sources)
        }
    }
}

impl FileTemplate {
    fn read(&self, read: &mut BodyReader<'_>) -> OwnedFile<'_> {
        let path = read.text(Property::FilePath, &self.path);
        OwnedFile {
            resolved: file_server::resolve(&*path, read.cx.base_dir()),
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
