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

use super::body_flags::{BodyFlags, FileReads};
use super::call::{HttpCall, OwnedArgument, OwnedFile};
use super::key::Key;
use super::proxy::{ProxyChoice, ProxyTemplate};
use super::reader::BodyReader;
use super::redirects::Nesting;
use super::settings::HttpSettings;
use super::source::SourceTemplate;
use super::state::{user, user_mut};
use crate::base::number;
use crate::elements::config::header_manager::HeaderManager;
use crate::elements::config::header_manager::merged as merged_headers;
use crate::run::context::Context;
use crate::run::property::Flag;

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
    pub multipart: Flag,
    pub browser_compatible: Flag,
    pub raw_body: Flag,
    pub keep_alive: Flag,
    pub auto_redirects: Flag,
    /// Whether resources are fetched at once, and how many: JMeter also reads both for each request and client.
    pub parallel: Flag,
    pub pool_size: Template,
    pub connect_timeout: Template,
    pub response_timeout: Template,
    pub bytes_per_second: Template,
    pub proxy: Option<ProxyTemplate>,
    pub source: Option<SourceTemplate>,
    pub implementation: Template,
    pub settings: Arc<HttpSettings>,
}

pub struct ArgumentTemplate {
    pub name: Template,
    pub value: Template,
    pub metadata: Template,
    pub content_type: Template,
    pub always_encode: Flag,
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
        let fields = [
            &self.path,
            &self.domain,
            &self.protocol,
            &self.port,
            name,
            &self.content_encoding,
        ];
        let Some(place) = place.checked_sub(FIRST_ARGUMENT) else {
            return fields.get(place).copied();
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
        // Times that HTTPSamplerBase#getUrl, #isProtocolDefaultPort and #sample read a property beside this. Each user's copy of
        // the sampler also chooses its implementation.
        let chooses = self.protocol.is_stateful() && {
            let key = self.key();
            user_mut(read.cx).rare().chosen.insert(key)
        };
        read.again(Property::Protocol, &self.protocol, 1 + usize::from(chooses));
        read.again(Property::Method, &self.method, 1);
        let method = read.text(Property::Method, &self.method);
        let flags = BodyFlags::read(self, &mut read, &method);
        let form = self.form(&method, &flags);
        let mut content = None;
        if form == ArgumentPlacement::Query {
            content = Some(self.read_content(&mut read, form, &method, &flags));
        }
        let mut port = read.placed(Property::Port, 3, &self.port);
        // HTTPSamplerBase#getUrl asks once whether it is the default port, and then for the port.
        let is_default = url::effective_port(&protocol, &port) == url::NO_PORT;
        if self.port.is_stateful() && !is_default && read.cx.evaluates_again() {
            port = read.placed(Property::Port, 3, &self.port);
        }
        let label = read.placed(Property::Name, 4, name);
        let label = read.cx.label(label);
        let (proxy, proxy_failure) = self.read_proxy(&mut read);
        self.read_client(&mut read, [&protocol, &domain, &port], proxy.as_deref());
        let (source, source_failure) = self.read_source(&mut read);
        let limits = self.read_limits(&mut read);
        let auto_redirects = read.flag(Property::Flag, &self.auto_redirects);
        let keep_alive = read.flag(Property::Flag, &self.keep_alive);
        let headers = self.read_headers(&mut read);
        let content =
            content.unwrap_or_else(|| self.read_content(&mut read, form, &method, &flags));
        let failure = read
            .failure()
            .filter(|failure| failure.matters(self.client, form, &method));
        HttpCall {
            label,
            method,
            headers,
            limits,
            source,
            route_failure: source_failure.or(proxy_failure),
            proxy,
            failure,
            keep_alive,
            auto_redirects,
            is_edited: false,
            multipart: flags.multipart,
            browser_compatible: flags.browser_compatible,
            add_content_type_if_missing: self.settings.add_content_type_if_missing,
            form,
            key: self.key(),
            raw_body: flags.raw,
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

    /// The settings of another request of the same sample, if JMeter evaluates some of them again and that can be noticed.
    pub fn again<'s>(
        &'s self,
        cx: &mut Context,
        call: &HttpCall<'s>,
        nesting: Nesting,
    ) -> Option<Box<HttpCall<'s>>> {
        if call.is_edited || !cx.evaluates_again() || !self.is_evaluated_again() {
            return None;
        }
        let mut read = BodyReader::new(cx);
        let mut call = Box::new(call.clone());
        let proxy_failure;
        (call.proxy, proxy_failure) = self.read_proxy(&mut read);
        if self.client == Client::HttpClient {
            read.flag(Property::Flag, &self.parallel);
            read.flag_times(
                Property::Flag,
                &self.raw_body,
                usize::from(!nesting.is_redirect),
            );
        }
        let source_failure;
        (call.source, source_failure) = self.read_source(&mut read);
        call.route_failure = source_failure.or(proxy_failure);
        call.limits = self.read_limits(&mut read);
        call.auto_redirects = read.flag(Property::Flag, &self.auto_redirects);
        call.keep_alive = read.flag(Property::Flag, &self.keep_alive);
        call.headers = self.read_headers(&mut read);
        call.failure = read.failure();
        Some(call)
    }

    /// Whether functions in the settings of each request may have an effect.
    fn is_evaluated_again(&self) -> bool {
        let flags = [
            &self.parallel,
            &self.raw_body,
            &self.auto_redirects,
            &self.keep_alive,
        ];
        let limits = [&self.connect_timeout, &self.response_timeout];
        let proxy = self.proxy.iter().flat_map(ProxyTemplate::texts);
        let source = self.source.iter().flat_map(SourceTemplate::texts);
        let mut texts = flags.into_iter().filter_map(Flag::template);
        texts.any(Template::is_stateful)
            || limits.into_iter().any(Template::is_stateful)
            || proxy.chain(source).any(Template::is_stateful)
            || self.header_texts().any(Template::is_stateful)
    }

    /// JMeter copies the sampler for a resource that is fetched beside others, and the copy chooses its implementation anew.
    pub fn note_copy(&self, cx: &mut Context) {
        self.implementation.repeat(cx, 1);
        self.protocol.repeat(cx, 1);
    }

    /// The variables on which the settings depend, if they depend on nothing else but literals and properties.
    pub fn ingredients(&self, name: &Template) -> Option<Box<[Slot]>> {
        if !self.files.is_empty() || self.proxy.is_some() || self.source.is_some() {
            return None;
        }
        let fields = [
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
        let flags = [
            &self.multipart,
            &self.browser_compatible,
            &self.raw_body,
            &self.keep_alive,
            &self.auto_redirects,
            &self.parallel,
        ];
        let encoded = self
            .arguments
            .iter()
            .map(|argument| &argument.always_encode);
        let flags = flags.into_iter().chain(encoded).filter_map(Flag::template);
        let headers = self.header_texts();
        let texts = fields.into_iter().chain(arguments).chain(headers);
        let mut slots = Vec::new();
        for template in texts.chain(flags) {
            slots.extend(template.ingredients()?);
        }
        slots.sort_unstable();
        slots.dedup();
        Some(slots.into())
    }

    /// Where the arguments of a request go.
    fn form(&self, method: &str, flags: &BodyFlags) -> ArgumentPlacement {
        if flags.raw || self.is_nameless() {
            ArgumentPlacement::Raw
        } else if url::method_takes_query(method) {
            ArgumentPlacement::Query
        } else if flags.is_multipart {
            ArgumentPlacement::Multipart
        } else {
            ArgumentPlacement::Encoded
        }
    }

    /// Whether there are arguments, but none with a name.
    pub(super) fn is_nameless(&self) -> bool {
        !self.arguments.is_empty()
            && (self.arguments.iter()).all(|argument| argument.name.is_empty_literal())
    }

    /// Whether the body is to be the only file (`HTTPSamplerBase#getSendFileAsPostBody`).
    pub(super) fn sends_file(&self) -> bool {
        matches!(&*self.files, [only] if only.param_name.is_empty_literal())
    }

    fn read_content<'s>(
        &'s self,
        read: &mut BodyReader<'_>,
        form: ArgumentPlacement,
        method: &str,
        flags: &BodyFlags,
    ) -> Content<'s> {
        let reads = ContentReads::of(self.client, form, method, flags);
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
        let files = self
            .files
            .iter()
            .map(|file| file.read(read, &flags.file_reads))
            .collect();
        let leaves = self
            .arguments
            .iter()
            .any(|argument| read.leaves(&argument.value));
        let pieces = if leaves {
            None
        } else {
            read.read(Property::ArgumentValue, |cx| self.long_body(cx, flags))
        };
        let pieces = pieces.flatten();
        let mut asked = None;
        if reads.asks_for_names && form != ArgumentPlacement::Query {
            asked = self.ask_for_names(read);
        }
        let mut arguments = self.read_arguments(read, flags, reads, pieces.is_none());
        if reads.asks_for_names && form == ArgumentPlacement::Query {
            self.ask_for_names(read);
        }
        if let Some((index, name)) = asked.filter(|_| !reads.is_sent) {
            arguments[index].name = name;
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

    /// Reads the arguments; their values only if `reads_values`.
    fn read_arguments<'s>(
        &'s self,
        read: &mut BodyReader<'_>,
        flags: &BodyFlags,
        reads: ContentReads,
        reads_values: bool,
    ) -> Vec<OwnedArgument<'s>> {
        self.arguments
            .iter()
            .zip(FIRST_ARGUMENT..)
            .map(|(argument, place)| OwnedArgument {
                name: if reads.is_sent || !argument.name.is_stateful() {
                    read.text(Property::ArgumentName, &argument.name)
                } else {
                    Text::Literal("")
                },
                value: if reads_values && (reads.is_sent || !argument.value.is_stateful()) {
                    read.placed(Property::ArgumentValue, place, &argument.value)
                } else {
                    Text::Literal("")
                },
                metadata: read.text_times(
                    Property::ArgumentValue,
                    &argument.metadata,
                    flags.argument_reads.metadata,
                ),
                content_type: read.text_times(
                    Property::ArgumentValue,
                    &argument.content_type,
                    flags.argument_reads.content_type,
                ),
                always_encode: read.flag_times(
                    Property::ArgumentValue,
                    &argument.always_encode,
                    flags.argument_reads.encode,
                ),
            })
            .collect()
    }

    /// `HTTPSamplerBase#getSendParameterValuesAsPostBody` reads each name twice, up to the first one that is not empty, which
    /// is returned with its index.
    fn ask_for_names<'s>(&'s self, read: &mut BodyReader<'_>) -> Option<(usize, Text<'s>)> {
        for (index, argument) in self.arguments.iter().enumerate() {
            read.again(Property::ArgumentName, &argument.name, 1);
            if argument.name.is_stateful() && !read.cx.evaluates_again() {
                break;
            }
            let name = read.text(Property::ArgumentName, &argument.name);
            if !name.is_empty() {
                return Some((index, name));
            }
        }
        None
    }

    /// The sampler's proxy, or why there is no way to it.
    fn read_proxy(
        &self,
        read: &mut BodyReader<'_>,
    ) -> (Option<Arc<ProxyChoice>>, Option<Exception>) {
        let Some(proxy) = &self.proxy else {
            return (None, None);
        };
        let general = &self.settings.proxy;
        let client = self.client;
        let proxy = read.read(Property::ProxyHost, |cx| {
            proxy.evaluate(cx, client, general)
        });
        match proxy {
            None => (None, None),
            Some(Ok(choice)) => (choice, None),
            Some(Err(exception)) => (None, Some(exception)),
        }
    }

    /// The settings that JMeter reads while it finds or makes the client of a request (`HTTPHC4Impl#setupClient`).
    fn read_client(
        &self,
        read: &mut BodyReader<'_>,
        [protocol, domain, port]: [&Text<'_>; 3],
        proxy: Option<&ProxyChoice>,
    ) {
        let is_parallel =
            self.client == Client::HttpClient && read.flag(Property::Flag, &self.parallel);
        if !is_parallel || !self.pool_size.is_stateful() {
            return;
        }
        let client = format!("{protocol}://{domain}:{port} {proxy:?}");
        if user_mut(read.cx).rare().clients.insert(client) {
            read.again(Property::Flag, &self.pool_size, 1);
        }
    }

    /// The address that requests leave from, or why there is none.
    fn read_source(
        &self,
        read: &mut BodyReader<'_>,
    ) -> (Option<Arc<SourceAddresses>>, Option<Exception>) {
        let source = self
            .source
            .as_ref()
            .and_then(|source| read.read(Property::Source, |cx| source.evaluate(cx)));
        let local = || (self.settings.local_address.as_ref()).map(|local| local.source.clone());
        match source {
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
            total: None,
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
    fn long_body(&self, cx: &mut Context, flags: &BodyFlags) -> Option<Vec<Value>> {
        let [argument] = &*self.arguments else {
            return None;
        };
        let is_plain = flags.raw
            && !flags.multipart
            && self.files.is_empty()
            && matches!(argument.always_encode, Flag::Fixed(false))
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
    fn of(
        client: Client,
        form: ArgumentPlacement,
        method: &str,
        flags: &BodyFlags,
    ) -> ContentReads {
        let is_query = form == ArgumentPlacement::Query;
        let is_form = form == ArgumentPlacement::Encoded;
        let is_delete = client == Client::HttpClient && is_query && method == "DELETE";
        // PutWriter sends no form.
        let is_form_unsent = is_form && client != Client::HttpClient && method != "POST";
        let asks_query = client == Client::HttpClient
            && (method == "GET" || method == "DELETE" && !flags.is_multipart);
        let is_query_and_body =
            client == Client::HttpClient && url::method_takes_query(method) && flags.has_body;
        ContentReads {
            reads_encoding: !matches!(method, "HEAD" | "TRACE"),
            encoding: usize::from(
                is_query_and_body || client != Client::HttpClient && !is_query && flags.has_body,
            ),
            asks_for_names: (is_query && asks_query) || (is_form && flags.has_body),
            is_sent: (is_query || flags.has_body) && !is_form_unsent,
            has_body_too: is_delete,
        }
    }
}

impl FileTemplate {
    fn read(&self, read: &mut BodyReader<'_>, times: &FileReads) -> OwnedFile<'_> {
        let path = read.text_times(Property::FilePath, &self.path, times.path);
        let (name, kind) = (&self.param_name, &self.mime_type);
        OwnedFile {
            resolved: file_server::resolve(&*path, read.cx.base_dir()),
            path,
            param_name: read.text_times(Property::FileParameter, name, times.name),
            mime_type: read.text_times(Property::FileType, kind, times.media_type),
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
