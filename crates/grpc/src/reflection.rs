//! Asks a server for its descriptors (gRPC Server Reflection, v1 and v1alpha).

use std::collections::BTreeMap;

use drumfire_http::{Body, Limits, Outgoing, Session, Target, WantedParts, exchange};
use drumfire_platform::message_error;
use prost_types::{FileDescriptorProto, FileDescriptorSet};
use protox::prost::Message as _;

use crate::call::{self, CallHead, ResponseLimits};
use crate::dialect::Dialect;
use crate::frame::put_frame;
use crate::metadata::Metadata;
use crate::status::{Code, Status};
use crate::wire::{Fields, WireValue, put_field};

message_error! {
    /// Why a server does not tell its descriptors.
    pub struct ReflectionFailure;
}

/// The service in its versions, the newest first.
const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

// Fields of `ServerReflectionRequest`.
const FILE_BY_FILENAME: u32 = 3;
const FILE_CONTAINING_SYMBOL: u32 = 4;
const LIST_SERVICES: u32 = 7;
// Fields of `ServerReflectionResponse`.
const FILE_DESCRIPTORS: u32 = 4;
const SERVICES: u32 = 6;
const ERROR: u32 = 7;

/// The most files that a server may tell.
const MAX_FILES: usize = 10_000;

/// A question to the server.
type Question = (u32, String);

/// The descriptors of a service with all that they import; of all services of the server if there is no name.
///
/// # Errors
/// The server cannot be reached, does not offer reflection, or does not know the service.
pub async fn reflect(
    session: &Session,
    target: &Target,
    authority: &str,
    service: Option<&str>,
    limits: Limits,
) -> Result<FileDescriptorSet, ReflectionFailure> {
    let asking = Asking {
        session,
        target,
        authority,
        limits,
    };
    let mut refused = None;
    for path in PATHS {
        match asking.files(path, service).await {
            Err(Refusal::Unimplemented) => {}
            Err(Refusal::Failed(why)) if refused.is_none() => refused = Some(why),
            Err(Refusal::Failed(_)) => {}
            Ok(set) => return Ok(set),
        }
    }
    Err(refused.unwrap_or_else(|| {
        "the server does not offer reflection; name the folder of the `.proto` files".into()
    }))
}

enum Refusal {
    /// The server does not have this version.
    Unimplemented,
    Failed(ReflectionFailure),
}

impl<T: Into<ReflectionFailure>> From<T> for Refusal {
    fn from(why: T) -> Self {
        Refusal::Failed(why.into())
    }
}

struct Asking<'a> {
    session: &'a Session,
    target: &'a Target,
    authority: &'a str,
    limits: Limits,
}

impl Asking<'_> {
    async fn files(&self, path: &str, service: Option<&str>) -> Result<FileDescriptorSet, Refusal> {
        let mut questions = match service {
            Some(service) => vec![(FILE_CONTAINING_SYMBOL, service.to_owned())],
            None => {
                let list = self.ask(path, &[(LIST_SERVICES, String::new())]).await?;
                let services = list.into_iter().flat_map(|answer| answer.services);
                let services = services.filter(|name| !name.starts_with("grpc.reflection."));
                services
                    .map(|name| (FILE_CONTAINING_SYMBOL, name))
                    .collect()
            }
        };
        let mut files: BTreeMap<String, FileDescriptorProto> = BTreeMap::new();
        while !questions.is_empty() {
            let before = files.len();
            for answer in self.ask(path, &questions).await? {
                for bytes in answer.files {
                    let file = FileDescriptorProto::decode(bytes.as_slice());
                    let file = file.map_err(|_| "the server tells a damaged descriptor")?;
                    files.insert(file.name().to_owned(), file);
                }
            }
            if files.len() > MAX_FILES {
                return Err(format!("the server tells more than {MAX_FILES} files").into());
            }
            if files.len() == before {
                let (_, name) = &questions[0];
                return Err(format!("the server does not tell `{name}`").into());
            }
            let imports = files.values().flat_map(|file| &file.dependency);
            let mut missing: Vec<&String> =
                imports.filter(|name| !files.contains_key(*name)).collect();
            missing.sort();
            missing.dedup();
            questions = missing
                .into_iter()
                .map(|name| (FILE_BY_FILENAME, name.clone()))
                .collect();
        }
        let file = files.into_values().collect();
        Ok(FileDescriptorSet { file })
    }

    /// Asks all questions in one stream.
    async fn ask(&self, path: &str, questions: &[Question]) -> Result<Vec<Answer>, Refusal> {
        let mut body = Vec::new();
        for (field, text) in questions {
            let mut message = Vec::new();
            put_field(&mut message, *field, WireValue::Bytes(text.as_bytes()));
            put_frame(&mut body, &message);
        }
        let head = call::head(&CallHead {
            dialect: Dialect::Grpc,
            streams: true,
            authority: self.authority,
            path,
            metadata: &Metadata::default(),
            deadline: self.limits.total,
            body_bytes: body.len(),
        });
        let head = head.map_err(|status| shown(&status))?;
        let out = Outgoing {
            body: Body::Bytes(&body),
            ..Outgoing::new(&head)
        };
        let want = WantedParts {
            trailers: true,
            ..WantedParts::ALL
        };
        let answered = exchange(self.session, self.target, out, want, self.limits).await;
        let incoming = answered.map_err(|failure| {
            shown(&Status::of_failure(
                &failure,
                &self.target.host,
                self.target.port,
            ))
        })?;
        let limits = ResponseLimits {
            message_bytes: u32::try_from(i32::MAX).unwrap_or(u32::MAX),
            ..ResponseLimits::default()
        };
        let mut messages = Vec::new();
        let mut take = |message: &[u8], _: usize| messages.push(message.to_vec());
        let status = call::read(&incoming, Dialect::Grpc, true, limits, &mut take);
        self.session.worker().take_back(incoming);
        if status.code == Code::UNIMPLEMENTED {
            return Err(Refusal::Unimplemented);
        }
        if !status.is_ok() {
            return Err(shown(&status).into());
        }
        messages
            .iter()
            .map(|message| Answer::read(message))
            .collect()
    }
}

fn shown(status: &Status) -> ReflectionFailure {
    let (code, text) = (
        status.code.name(),
        status.description.as_deref().unwrap_or_default(),
    );
    format!("the server was asked for its services and answered {code}: {text}").into()
}

#[derive(Default)]
struct Answer {
    files: Vec<Vec<u8>>,
    services: Vec<String>,
}

impl Answer {
    fn read(message: &[u8]) -> Result<Self, Refusal> {
        let mut answer = Self::default();
        for field in Fields::new(message) {
            let (number, value) = field.map_err(String::from)?;
            let WireValue::Bytes(inner) = value else {
                continue;
            };
            match number {
                FILE_DESCRIPTORS => answer.files.extend(each(inner)?.map(<[u8]>::to_vec)),
                SERVICES => {
                    for service in each(inner)? {
                        let name = each(service)?.next().unwrap_or_default();
                        answer
                            .services
                            .push(String::from_utf8_lossy(name).into_owned());
                    }
                }
                ERROR => {
                    let text = bytes_of(inner, 2)?.next().unwrap_or_default();
                    let text = String::from_utf8_lossy(text);
                    return Err(format!("the server does not tell its descriptors: {text}").into());
                }
                _ => {}
            }
        }
        Ok(answer)
    }
}

/// The values of the first field, which are texts, bytes or messages.
fn each(message: &[u8]) -> Result<impl Iterator<Item = &[u8]>, Refusal> {
    bytes_of(message, 1)
}

fn bytes_of(message: &[u8], wanted: u32) -> Result<impl Iterator<Item = &[u8]>, Refusal> {
    let fields: Result<Vec<_>, _> = Fields::new(message).collect();
    let fields = fields.map_err(String::from)?;
    Ok(fields
        .into_iter()
        .filter_map(move |(number, value)| match value {
            WireValue::Bytes(bytes) if number == wanted => Some(bytes),
            _ => None,
        }))
}
