//! The outcome if a function in a property of an HTTP sampler throws an exception.
//!
//! JMeter evaluates a property on first use, so its getter throws the function's exception. The code that reads the property
//! determines who catches it. `HTTPHC4Impl#sample` catches exceptions of properties that it reads while it sets up the
//! request; they are failures of that request. Those of properties that are read earlier are only caught by
//! `HTTPSamplerBase#sample()`, whose result has neither label nor address. The implementation `Java` catches none of them.

/// The sampler class and implementation in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Client {
    /// `HTTPSamplerProxy` with `HTTPHC4Impl`.
    #[default]
    HttpClient,
    /// `HTTPSamplerProxy` with `HTTPJavaImpl`.
    Java,
    /// The old class `HTTPSampler`, which always uses `HTTPJavaImpl`.
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
    /// The connect timeout.
    ConnectTimeout,
    /// The response timeout.
    ResponseTimeout,
    /// The host of the proxy.
    ProxyHost,
    /// A flag of the request, such as whether it keeps the connection.
    Flag,
    /// The local address to connect from.
    Source,
    /// The sampler's name.
    Name,
}

/// Where the arguments of a request are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentPlacement {
    /// In the address.
    Query,
    /// In the body, unencoded.
    Raw,
    /// In the body, as a form.
    Encoded,
    /// In the body, each as a separate part.
    Multipart,
}

impl Property {
    /// Whether only `HTTPSamplerBase#sample()` catches an exception of this property.
    pub fn is_read_before_request(self, client: Client, form: ArgumentPlacement) -> bool {
        client != Client::HttpClient || self.is_of_address(form) || self.is_of_client()
    }

    /// Whether JMeter reads the property at all for such a request.
    pub fn is_read(self, client: Client, form: ArgumentPlacement, has_body: bool) -> bool {
        match self {
            Property::ArgumentName | Property::ArgumentValue => {
                form == ArgumentPlacement::Query || has_body || client == Client::HttpClient
            }
            Property::Source => client == Client::HttpClient,
            _ => true,
        }
    }

    fn is_of_address(self, form: ArgumentPlacement) -> bool {
        match self {
            Property::Path
            | Property::Domain
            | Property::Protocol
            | Property::Method
            | Property::Port => true,
            Property::ContentEncoding | Property::ArgumentName | Property::ArgumentValue => {
                form == ArgumentPlacement::Query
            }
            _ => false,
        }
    }

    fn is_of_client(self) -> bool {
        matches!(self, Property::ProxyHost | Property::Name)
    }
}
