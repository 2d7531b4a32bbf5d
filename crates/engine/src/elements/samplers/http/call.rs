//! The settings of one sample, evaluated.

use std::borrow::Cow;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use drumfire_expr::{Text, Value};
use drumfire_http::{Limits, SourceAddresses};
use drumfire_java::Exception;
use drumfire_web::body::{Argument, BodySpec, FileArgument, append_query_string};
use drumfire_web::headers::Header;
use drumfire_web::property::{ArgumentPlacement, Client};
use drumfire_web::url::{self, Url};

use super::key::Key;
use super::proxy::ProxyChoice;
use super::reader::PropertyFailure;
use crate::run::request::{Request, RequestArgument, RequestFile};

#[derive(Clone)]
pub struct HttpCall<'s> {
    pub label: Rc<str>,
    pub method: Text<'s>,
    pub headers: Vec<Header<'s>>,
    pub limits: Limits,
    pub source: Option<Arc<SourceAddresses>>,
    /// Why there is no source address, or no way to the proxy.
    pub route_failure: Option<Exception>,
    /// The proxy that the sampler names.
    pub proxy: Option<Arc<ProxyChoice>>,
    /// Whether to ask the server to keep the connection.
    pub keep_alive: bool,
    /// Whether the client itself follows redirects.
    pub auto_redirects: bool,
    /// Whether something has changed the settings since they were evaluated.
    pub(super) is_edited: bool,
    pub(super) failure: Option<Rc<PropertyFailure>>,
    pub(super) form: ArgumentPlacement,
    /// The sampler, for the worker's cache.
    pub key: Key,
    pub(super) raw_body: bool,
    pub(super) multipart: bool,
    pub(super) browser_compatible: bool,
    pub(super) add_content_type_if_missing: bool,
    pub(super) protocol: Text<'s>,
    pub(super) domain: Text<'s>,
    pub(super) port: Text<'s>,
    pub(super) path: Text<'s>,
    pub(super) content_encoding: Text<'s>,
    pub(super) arguments: Vec<OwnedArgument<'s>>,
    /// The pieces of the only argument's value, if it is a long body.
    pub(super) pieces: Vec<Value>,
    pub(super) files: Vec<OwnedFile<'s>>,
    /// Where the request goes, if that is known already.
    pub(super) url: Option<Url>,
}

#[derive(Clone)]
pub struct OwnedArgument<'s> {
    pub name: Text<'s>,
    pub value: Text<'s>,
    pub metadata: Text<'s>,
    pub content_type: Text<'s>,
    pub always_encode: bool,
}

#[derive(Clone)]
pub struct OwnedFile<'s> {
    pub path: Text<'s>,
    pub resolved: PathBuf,
    pub param_name: Text<'s>,
    pub mime_type: Text<'s>,
}

impl OwnedFile<'_> {
    fn to_edit(&self) -> RequestFile {
        RequestFile {
            path: self.path.to_string(),
            param_name: self.param_name.to_string(),
            mime_type: self.mime_type.to_string(),
        }
    }

    fn edited(file: RequestFile, find: impl Fn(&str) -> PathBuf) -> Self {
        OwnedFile {
            resolved: find(&file.path),
            path: Text::Owned(file.path),
            param_name: Text::Owned(file.param_name),
            mime_type: Text::Owned(file.mime_type),
        }
    }
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

/// A copy of the text that may outlive the sample.
fn kept(text: &Text<'_>) -> Text<'static> {
    Text::Shared(text.clone().into_value())
}

impl HttpCall<'_> {
    /// The length in bytes of the settings that may be long.
    pub fn text_bytes(&self) -> usize {
        let arguments = self
            .arguments
            .iter()
            .map(|argument| argument.name.len() + argument.value.len());
        let headers = self
            .headers
            .iter()
            .map(|header| header.name.len() + header.value.len());
        let pieces = self.pieces.iter().map(|piece| piece.len());
        self.path.len() + arguments.chain(headers).chain(pieces).sum::<usize>()
    }

    /// A copy of the settings with their address, for the cache; `None` if a function has thrown or there are files.
    pub fn kept(&self, url: Url) -> Option<HttpCall<'static>> {
        if self.failure.is_some() || !self.files.is_empty() {
            return None;
        }
        let owned = |text: &str| Cow::Owned(text.to_owned());
        let headers = self
            .headers
            .iter()
            .map(|header| Header::new(owned(&header.name), owned(&header.value)));
        Some(HttpCall {
            label: self.label.clone(),
            method: kept(&self.method),
            headers: headers.collect(),
            limits: self.limits,
            source: self.source.clone(),
            route_failure: self.route_failure.clone(),
            proxy: self.proxy.clone(),
            keep_alive: self.keep_alive,
            auto_redirects: self.auto_redirects,
            is_edited: false,
            failure: None,
            form: self.form,
            key: self.key,
            raw_body: self.raw_body,
            multipart: self.multipart,
            browser_compatible: self.browser_compatible,
            add_content_type_if_missing: self.add_content_type_if_missing,
            protocol: kept(&self.protocol),
            domain: kept(&self.domain),
            port: kept(&self.port),
            path: kept(&self.path),
            content_encoding: kept(&self.content_encoding),
            arguments: self.arguments.iter().map(OwnedArgument::kept).collect(),
            pieces: self.pieces.clone(),
            files: Vec::new(),
            url: Some(url.keeping_wire()),
        })
    }

    /// The exception of a function in a property, and whether the result then has neither label nor address.
    pub fn failure(&self, client: Client) -> Option<(Exception, bool)> {
        let failure = self.failure.as_deref()?;
        let exception = failure.exception();
        Some((exception, failure.is_nameless(client, self.form)))
    }

    /// The settings as pre-processors and scripts see them.
    pub fn to_request(&self, has_header_manager: bool, cookie_policy: Option<String>) -> Request {
        Request {
            name: self.label.to_string(),
            protocol: self.protocol.to_string(),
            domain: self.domain.to_string(),
            port: self.port.to_string(),
            path: self.path.to_string(),
            method: self.method.to_string(),
            content_encoding: self.content_encoding.to_string(),
            raw_body: self.raw_body,
            multipart: self.multipart,
            browser_compatible: self.browser_compatible,
            connect_timeout: self.limits.connect,
            response_timeout: self.limits.response,
            files: self.files.iter().map(OwnedFile::to_edit).collect(),
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
            has_header_manager,
            cookie_policy,
        }
    }

    /// Takes the settings of an edited request. `file` finds the files that it names.
    pub fn replace(&mut self, request: Request, file: impl Fn(&str) -> PathBuf) {
        self.is_edited = true;
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
        self.multipart = request.multipart;
        self.browser_compatible = request.browser_compatible;
        self.limits.connect = request.connect_timeout;
        self.limits.response = request.response_timeout;
        if !self.has_files(&request.files) {
            let files = request.files.into_iter();
            let edited = files.map(|edited| OwnedFile::edited(edited, &file));
            self.files = edited.collect();
        }
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

    fn has_files(&self, files: &[RequestFile]) -> bool {
        self.files
            .iter()
            .map(OwnedFile::to_edit)
            .eq(files.iter().cloned())
    }

    /// The request's address (`HTTPSamplerBase#getUrl`); `find` makes it of its parts.
    pub fn url(
        &self,
        find: impl FnOnce(&url::SamplerAddress<'_>) -> Result<Url, Exception>,
    ) -> Result<Url, Exception> {
        if let Some(url) = &self.url {
            return Ok(url.clone());
        }
        let mut query = String::new();
        if url::method_takes_query(&self.method) && !self.sends_values_as_body() {
            append_query_string(&self.arguments(), &self.content_encoding, &mut query);
        }
        let target = url::SamplerAddress {
            protocol: &self.protocol,
            domain: &self.domain,
            port: &self.port,
            path: &self.path,
            method: &self.method,
            query: &query,
        };
        find(&target)
    }

    /// `HTTPSamplerBase#toString`.
    pub fn shown(&self, url: Option<Url>) -> String {
        let Some(url) = url else {
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
        method: &'a str,
        arguments: &'a [Argument<'a>],
        files: &'a [FileArgument<'a>],
        following_redirect: bool,
    ) -> BodySpec<'a> {
        BodySpec {
            method,
            raw: self.raw_body,
            multipart: self.multipart,
            browser_compatible: self.browser_compatible,
            content_encoding: &self.content_encoding,
            arguments,
            files,
            following_redirect,
            add_content_type_if_missing: self.add_content_type_if_missing,
            pieces: &self.pieces,
        }
    }
}
