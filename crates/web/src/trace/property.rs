//! Exceptions of functions in the properties of an HTTP sampler.
//!
//! JMeter evaluates a property when it first asks for it, so what a function throws comes out of the getter, and who catches
//! it depends on the property: what `HTTPHC4Impl#sample` reads while it sets up the request is a failure of that request, and
//! what is read before only `HTTPSamplerBase#sample()` catches, whose result has neither label nor address. The implementation
//! `Java` catches nothing of the kind.

use std::borrow::Cow;

use super::frames::property as frames;
use super::{Cause, Client, Frame, Until};
use crate::exception::Exception;

/// A property of an HTTP sampler that may hold functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// The path of the address.
    Path,
    /// The host of the address.
    Domain,
    /// The protocol of the address.
    Protocol,
    /// The request method.
    Method,
    /// The port of the address.
    Port,
    /// The character set of arguments.
    ContentEncoding,
    /// The name of an argument.
    ArgumentName,
    /// The value of an argument.
    ArgumentValue,
    /// The name of a header.
    HeaderName,
    /// The value of a header.
    HeaderValue,
    /// The path of an upload file.
    FilePath,
    /// The parameter name of an upload file.
    FileParameter,
    /// The media type of an upload file.
    FileType,
    /// The limit on connecting.
    ConnectTimeout,
    /// The limit on the response.
    ResponseTimeout,
    /// The host of the proxy.
    ProxyHost,
    /// The address to connect from.
    Source,
    /// The sampler's name.
    Name,
}

/// Where the arguments of a request go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Into the address.
    Query,
    /// Into the body, as they are.
    Raw,
    /// Into the body, as a form.
    Encoded,
    /// Into the body, each as a part of its own.
    Multipart,
}

/// What came out of a function.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The full Java class name.
    pub class: Cow<'static, str>,
    /// The result of `getMessage()`.
    pub message: Option<String>,
    /// From the throwing method to the function's `execute`.
    pub frames: Vec<Frame>,
    /// The exception that it wraps.
    pub cause: Option<Box<Origin>>,
}

impl Property {
    /// Whether only `HTTPSamplerBase#sample()` catches what a function throws here.
    pub fn is_read_before_request(self, client: Client, form: Form) -> bool {
        client != Client::HttpClient || self.is_of_address(form) || self.is_of_client()
    }

    /// Whether JMeter reads the property of such a request at all.
    pub fn is_read(self, client: Client, form: Form, has_body: bool) -> bool {
        match self {
            Property::ArgumentName | Property::ArgumentValue => {
                form == Form::Query || has_body || client == Client::HttpClient
            }
            Property::Source => client == Client::HttpClient,
            _ => true,
        }
    }

    fn is_of_address(self, form: Form) -> bool {
        match self {
            Property::Path
            | Property::Domain
            | Property::Protocol
            | Property::Method
            | Property::Port => true,
            Property::ContentEncoding | Property::ArgumentName | Property::ArgumentValue => {
                form == Form::Query
            }
            _ => false,
        }
    }

    fn is_of_client(self) -> bool {
        matches!(self, Property::ProxyHost | Property::Name)
    }

    fn frames(self, client: Client, form: Form, method: &str) -> Vec<Frame> {
        let own = match self {
            Property::Path => frames::PATH,
            Property::Domain => frames::DOMAIN,
            Property::Protocol => frames::PROTOCOL,
            Property::Method => frames::METHOD,
            Property::Port => frames::PORT,
            Property::ContentEncoding => frames::CONTENT_ENCODING,
            Property::ArgumentName => frames::ARGUMENT_NAME,
            Property::ArgumentValue => frames::ARGUMENT_VALUE,
            Property::HeaderName => frames::HEADER_NAME,
            Property::HeaderValue => frames::HEADER_VALUE,
            Property::FilePath => frames::FILE_PATH,
            Property::FileParameter => frames::FILE_PARAMETER,
            Property::FileType => frames::FILE_TYPE,
            Property::ConnectTimeout => frames::CONNECT_TIMEOUT,
            Property::ResponseTimeout => frames::RESPONSE_TIMEOUT,
            Property::ProxyHost => frames::PROXY_HOST,
            Property::Source => frames::SOURCE,
            Property::Name => frames::NAME,
        };
        let callers: &[&[Frame]] = if self.is_of_address(form) {
            match self {
                Property::ArgumentName => &[frames::QUERY_NAME],
                Property::ArgumentValue => &[frames::QUERY_VALUE],
                Property::ContentEncoding => &[frames::QUERY],
                _ => &[],
            }
        } else if client == Client::HttpClient {
            self.client_callers(form)
        } else {
            self.java_callers(form, method)
        };
        [frames::FUNCTION, own]
            .into_iter()
            .chain(callers.iter().copied())
            .flatten()
            .copied()
            .collect()
    }

    fn client_callers(self, form: Form) -> &'static [&'static [Frame]] {
        match (self, form) {
            (Property::ContentEncoding, _) => &[frames::CLIENT_ENCODING, frames::CLIENT_BODY],
            (Property::ArgumentName, Form::Multipart) => {
                &[frames::CLIENT_PART_NAME, frames::CLIENT_BODY]
            }
            (Property::ArgumentName, _) => &[
                frames::SENDS_VALUES,
                frames::CLIENT_SENDS_VALUES,
                frames::CLIENT_BODY,
            ],
            (Property::ArgumentValue, Form::Multipart) => {
                &[frames::CLIENT_PART, frames::CLIENT_BODY]
            }
            (Property::ArgumentValue, Form::Encoded) => &[frames::CLIENT_FORM, frames::CLIENT_BODY],
            (Property::ArgumentValue, _) => &[
                frames::ENCODED_VALUE,
                frames::CLIENT_RAW,
                frames::CLIENT_BODY,
            ],
            (Property::HeaderName, _) => &[frames::CLIENT_HEADER_NAME, frames::CLIENT_SETUP],
            (Property::HeaderValue, _) => &[frames::CLIENT_HEADER_VALUE, frames::CLIENT_SETUP],
            (Property::FilePath | Property::FileParameter, _) => {
                &[frames::CLIENT_FILES, frames::CLIENT_BODY]
            }
            (Property::FileType, _) => &[frames::CLIENT_FILE_TYPE, frames::CLIENT_BODY],
            (Property::ConnectTimeout, _) => &[frames::CLIENT_CONNECT_TIMEOUT],
            (Property::ResponseTimeout, _) => &[frames::CLIENT_RESPONSE_TIMEOUT],
            (Property::ProxyHost, _) => &[frames::CLIENT_KEY],
            (Property::Source, _) => &[frames::CLIENT_SOURCE],
            (Property::Name, _) => &[frames::CLIENT_RESULT],
            _ => &[],
        }
    }

    fn java_callers(self, form: Form, method: &str) -> &'static [&'static [Frame]] {
        match (self, form) {
            (Property::ContentEncoding, _) => &[frames::JAVA_ENCODING, frames::JAVA_POST],
            (Property::ArgumentName, _) => {
                &[frames::SENDS_VALUES, frames::JAVA_NAMES, frames::JAVA_POST]
            }
            (Property::ArgumentValue, _) if method == "PUT" => {
                &[frames::ENCODED_VALUE, frames::JAVA_PUT]
            }
            (Property::ArgumentValue, Form::Multipart) => &[frames::JAVA_PART, frames::JAVA_POST],
            (Property::ArgumentValue, Form::Encoded) => &[frames::JAVA_FORM, frames::JAVA_POST],
            (Property::ArgumentValue, _) => {
                &[frames::ENCODED_VALUE, frames::JAVA_RAW, frames::JAVA_POST]
            }
            (Property::HeaderName, _) => &[frames::JAVA_HEADER_NAME],
            (Property::HeaderValue, _) => &[frames::JAVA_HEADER_VALUE],
            (Property::FilePath | Property::FileParameter, _) => {
                &[frames::JAVA_FILES, frames::JAVA_POST]
            }
            (Property::FileType, _) => &[frames::JAVA_FILE_TYPE, frames::JAVA_POST],
            (Property::ConnectTimeout, _) => &[frames::JAVA_CONNECT_TIMEOUT],
            (Property::ResponseTimeout, _) => &[frames::JAVA_RESPONSE_TIMEOUT],
            (Property::ProxyHost, _) => &[frames::JAVA_PROXY],
            (Property::Name, _) => &[frames::JAVA_RESULT],
            _ => &[],
        }
    }
}

impl Exception {
    /// What a function throws that a property of an HTTP sampler holds.
    pub fn in_property(
        origin: Origin,
        property: Property,
        client: Client,
        form: Form,
        method: &str,
    ) -> Exception {
        let mut frames = origin.frames;
        frames.extend(property.frames(client, form, method));
        let until = if property.is_of_address(form) {
            Until::Address
        } else {
            Until::Implementation
        };
        let exception = Exception {
            class: origin.class,
            message: origin.message.map(Cow::Owned),
            origin: super::Origin::default(),
        };
        let exception = exception.through(frames).until(until);
        match origin.cause {
            None => exception,
            Some(cause) => exception.caused_by(Cause {
                class: cause.class,
                message: cause.message.map(Cow::Owned),
                frames: cause.frames.into(),
                unshared: 1,
                cause: None,
            }),
        }
    }
}
