//! Exceptions of functions in the properties of an HTTP sampler.
//!
//! JMeter evaluates a property when it first asks for it, so what a function throws comes out of the getter, and who catches
//! it depends on the property: what `HTTPHC4Impl#sample` reads while it sets up the request is a failure of that request, and
//! what is read before only `HTTPSamplerBase#sample()` catches, whose result has neither label nor address. The implementation
//! `Java` catches nothing of the kind.

/// Which sampler class and implementation runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Client {
    /// `HTTPSamplerProxy` with `HTTPHC4Impl`.
    #[default]
    HttpClient,
    /// `HTTPSamplerProxy` with `HTTPJavaImpl`.
    Java,
    /// The old class `HTTPSampler`, which is always `HTTPJavaImpl`.
    OldJava,
    /// `AccessLogSampler`, which is an `HTTPSampler`.
    AccessLog,
    /// `HTTPSamplerProxy` with `HTTPFileImpl`, which reads files.
    File,
}

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
}
