//! The settings of a sampler. Each user evaluates most of them once, and the request for each sample.

use std::path::Path;

use drumfire_expr::Template;
use drumfire_grpc::MethodError;
use drumfire_grpc::call::ResponseLimits;

use super::schemas::{ProtoFiles, ProtoPlace};
use crate::run::context::Context;
use crate::run::property::{Flag, WholeNumber};

/// Why a call cannot be made.
#[derive(Debug, PartialEq, Eq)]
pub struct Unprepared {
    /// The exception of the plugin.
    pub exception: String,
    /// The cause in the words of this program.
    pub cause: String,
}

impl Unprepared {
    pub fn new(exception: impl Into<String>, cause: impl Into<String>) -> Unprepared {
        Unprepared {
            exception: exception.into(),
            cause: cause.into(),
        }
    }

    /// The exception of `Preconditions#checkArgument` and its like.
    pub fn illegal(message: &str, cause: impl Into<String>) -> Unprepared {
        Unprepared::new(
            format!("java.lang.IllegalArgumentException: {message}"),
            cause,
        )
    }

    /// The exception of descriptors that cannot be had (`ClientCaller#init`).
    pub fn no_schema(cause: impl Into<String>) -> Unprepared {
        const SCANNING: &str = "java.lang.RuntimeException: Unable to resolve service by invoking protoc: \n\
            Unable to scan proto tree for files";
        Unprepared::new(SCANNING, cause)
    }

    /// The exception of a request that does not fit its message (`ClientCaller#buildRequestAndMetadata`).
    pub fn no_request(cause: impl Into<String>) -> Unprepared {
        const PARSING: &str =
            "java.lang.RuntimeException: Caught exception while parsing request for rpc";
        Unprepared::new(PARSING, cause)
    }
}

/// A method that does not exist (`ProtoMethodName`, `ServiceResolver`).
impl From<MethodError> for Unprepared {
    fn from(error: MethodError) -> Unprepared {
        let cause = error.to_string();
        let message = match &error {
            MethodError::Form(name) => format!("Could not extract full service from {name}"),
            MethodError::Service { name, .. } => {
                format!("Unable to find service with name: {}", short_service(name))
            }
            MethodError::Method { name, .. } => {
                let method = name.rsplit('/').next().unwrap_or_default();
                format!(
                    "Unable to find method {method} in service {}",
                    short_service(name)
                )
            }
        };
        Unprepared::illegal(&message, cause)
    }
}

/// The name of a method's service without its package.
fn short_service(method: &str) -> &str {
    let service = method
        .rsplit_once('/')
        .map_or(method, |(service, _)| service);
    service.rsplit('.').next().unwrap_or(service)
}

/// The settings as the plan has them.
pub struct GrpcSettings {
    pub address: Address,
    pub files: ProtoFiles,
    pub method: Template,
    pub tls: Flag,
    /// Whether servers' certificates are not verified.
    pub trusts_all: Flag,
    pub request: Template,
    /// Names a file with the request, for a sampler without a request.
    pub request_file: Option<Template>,
    pub metadata: Template,
    pub deadline: Template,
    pub message_bytes: WholeNumber,
    pub metadata_bytes: WholeNumber,
}

/// The server's address.
pub enum Address {
    Parts { host: Template, port: Template },
    Whole(Template),
}

impl Address {
    fn eval(&self, cx: &mut Context) -> String {
        match self {
            Address::Parts { host, port } => {
                let host = host.eval(cx).into_string();
                format!("{host}:{}", &*port.eval(cx))
            }
            Address::Whole(text) => text.eval(cx).into_string(),
        }
    }
}

/// The settings that a user evaluates at the first sample (`GrpcRequestConfig`).
#[derive(Clone)]
pub struct ChannelSettings {
    pub address: String,
    pub place: ProtoPlace,
    pub method: String,
    pub tls: bool,
    pub trusts_all: bool,
    pub limits: ResponseLimits,
}

impl GrpcSettings {
    pub fn of_channel(&self, cx: &mut Context, base_dir: &Path) -> ChannelSettings {
        let folder = self.files.folder.eval(cx).into_string();
        let libraries = self.files.libraries.eval(cx).into_string();
        ChannelSettings {
            address: self.address.eval(cx),
            place: ProtoPlace::of(&folder, &libraries, base_dir),
            method: self.method.eval(cx).into_string(),
            tls: self.tls.get(cx),
            trusts_all: self.trusts_all.get(cx),
            limits: ResponseLimits {
                message_bytes: at_least_zero(self.message_bytes.get(cx)),
                metadata_bytes: at_least_zero(self.metadata_bytes.get(cx)),
            },
        }
    }
}

fn at_least_zero(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// Host and port of an address (`HostAndPort`).
///
/// # Errors
/// There is no port, or it is none.
pub fn host_and_port(address: &str) -> Result<(&str, u16), Unprepared> {
    let cause = || format!("`{address}` is not of the form `host:port`");
    let no_port = || Unprepared::new("java.lang.IllegalStateException", cause());
    let (host, port) = match address.strip_prefix('[') {
        Some(rest) => rest.split_once("]:").ok_or_else(no_port)?,
        // An IPv6 address without brackets has several colons.
        None => match address.rsplit_once(':').ok_or_else(no_port)? {
            (host, _) if host.contains(':') => return Err(no_port()),
            parts => parts,
        },
    };
    if port.is_empty() {
        return Err(no_port());
    }
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    match port.parse::<u16>() {
        Ok(number) if is_number => Ok((host, number)),
        _ => Err(Unprepared::illegal(
            &format!("Unparseable port number: {port}"),
            cause(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for (text, parts) in [
            ("localhost:8005", Some(("localhost", 8005))),
            ("[::1]:1", Some(("::1", 1))),
            ("localhost:", None),
            ("localhost", None),
            ("::1:80", None),
            ("a:70000", None),
            ("a:+1", None),
        ] {
            assert_eq!(host_and_port(text).ok(), parts, "{text}");
        }
    }
}
