//! The settings of one sample, evaluated and checked as the plugin does it.

use std::path::Path;
use std::time::Duration;

use drumfire_expr::Template;
use drumfire_http::{Limits, Opcode};
use drumfire_java::values::property_bool;

use super::client::limit;
use super::decode::{Payload, PayloadType, WebSocketAction, WebSocketAddress};
use super::frames;
use super::sampler::WebSocketSampler;
use crate::base::exception_text::ExceptionText;
use crate::run::context::Context;

const DEFAULT_CONNECT_TIMEOUT_MS: &str = "20000";
const DEFAULT_READ_TIMEOUT_MS: &str = "6000";

pub(super) struct WebSocketCall {
    /// The address of the new connection, if there is to be one.
    pub address: Option<Endpoint>,
    pub connect_timeout_ms: u64,
    /// 0 waits for ever.
    pub read_timeout_ms: u64,
    /// Only of Single Read.
    pub optional: bool,
    /// Only of Close.
    pub close_status: String,
}

#[derive(Clone)]
pub(super) struct Endpoint {
    pub tls: bool,
    pub host: String,
    pub port: u16,
    pub path: String,
}

impl WebSocketCall {
    /// `validateArguments` and what follows it; the error is the sample's message.
    pub fn evaluate(
        sampler: &WebSocketSampler,
        cx: &mut Context,
    ) -> Result<WebSocketCall, ExceptionText> {
        let connect = text(&sampler.connect_timeout, DEFAULT_CONNECT_TIMEOUT_MS, cx);
        let read = text(&sampler.read_timeout, DEFAULT_READ_TIMEOUT_MS, cx);
        let address = sampler
            .address
            .as_ref()
            .filter(|address| {
                let when = address.when.as_ref();
                when.is_none_or(|when| property_bool(&when.eval(cx)))
            })
            .map(|address| endpoint(address, cx))
            .transpose()?;
        if address.is_some() {
            check_timeout("Connection", &connect, 1, 999_999)?;
        }
        if !matches!(sampler.deed, WebSocketAction::Write(_)) {
            check_timeout("Read", &read, 0, 9_999_999)?;
        }
        Ok(WebSocketCall {
            address,
            read_timeout_ms: ms(&read)?,
            connect_timeout_ms: ms(&connect)?,
            optional: match &sampler.deed {
                WebSocketAction::Read { optional, .. } => property_bool(&optional.eval(cx)),
                _ => false,
            },
            close_status: match &sampler.deed {
                WebSocketAction::Close { status } => text(status, "1000", cx),
                _ => String::new(),
            },
        })
    }

    /// The limits of opening a connection.
    pub fn limits(&self) -> Limits {
        Limits {
            connect: Some(Duration::from_millis(self.connect_timeout_ms)),
            response: limit(self.read_timeout_ms),
            ..Limits::default()
        }
    }
}

fn text(template: &Option<Template>, default: &str, cx: &mut Context) -> String {
    match template {
        Some(template) => template.eval(cx).trim().to_owned(),
        None => default.to_owned(),
    }
}

fn ms(text: &str) -> Result<u64, ExceptionText> {
    text.parse::<u64>().map_err(|_| not_a_number(text))
}

/// Java's message for a text that is no number.
pub(super) fn not_a_number(text: &str) -> ExceptionText {
    format!("java.lang.NumberFormatException: For input string: \"{text}\"").into()
}

fn endpoint(address: &WebSocketAddress, cx: &mut Context) -> Result<Endpoint, ExceptionText> {
    let port = match &address.port {
        Some(port) => port.eval(cx).trim().to_owned(),
        None => "80".to_owned(),
    };
    let Ok(number) = port.parse::<i32>() else {
        return Err(format!("Port number '{port}' is not a number.").into());
    };
    let number = u16::try_from(number)
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| format!("Port number '{port}' is not valid."))?;
    Ok(Endpoint {
        tls: property_bool(&address.tls.eval(cx)),
        host: address.server.eval(cx).into_string(),
        port: number,
        path: file_of(&address.path.eval(cx)),
    })
}

/// Path and query as `java.net.URL` has them, always beginning with a slash (`WebSocketClient#correctUrl`).
fn file_of(path: &str) -> String {
    let file = path.split('#').next().unwrap_or_default();
    if file.starts_with('/') {
        file.to_owned()
    } else {
        match file.trim() {
            rooted if rooted.starts_with('/') => rooted.to_owned(),
            other => format!("/{other}"),
        }
    }
}

fn check_timeout(what: &str, text: &str, least: i32, most: i32) -> Result<(), ExceptionText> {
    match text.parse::<i32>() {
        Err(_) => Err(format!("{what} timeout '{text}' is not a number.").into()),
        Ok(ms) if ms < least || ms > most => Err(format!(
            "{what} timeout '{ms}' is not valid; should between {least} and {most}"
        )
        .into()),
        Ok(_) => Ok(()),
    }
}

/// A message to be sent.
pub struct OutgoingMessage {
    pub opcode: Opcode,
    pub bytes: Vec<u8>,
    /// How a binary one is shown; a text shows itself.
    shown: Option<String>,
}

impl OutgoingMessage {
    pub fn shown(&self) -> String {
        match &self.shown {
            Some(shown) => shown.clone(),
            None => String::from_utf8_lossy(&self.bytes).into_owned(),
        }
    }
}

impl Payload {
    /// `sendFrame`, up to the sending; the error is the sample's message.
    pub fn evaluate(&self, cx: &mut Context) -> Result<OutgoingMessage, ExceptionText> {
        let data = self.data.eval(cx).into_string();
        let mut bytes = None;
        if property_bool(&self.from_file.eval(cx)) {
            let file = self.file.eval(cx).into_string();
            bytes = Some(
                drumfire_platform::files::read_regular(Path::new(&file)).map_err(|error| {
                    let cause = match error.kind() {
                        std::io::ErrorKind::PermissionDenied => "readable",
                        _ => "found",
                    };
                    format!("Request data cannot be loaded, file '{file}' not {cause}")
                })?,
            );
        }
        Ok(match (self.kind, bytes) {
            (PayloadType::Binary, Some(bytes)) => OutgoingMessage {
                opcode: Opcode::Binary,
                shown: Some(frames::hexadecimal(&bytes, 100, "...")),
                bytes,
            },
            (PayloadType::Binary, None) => OutgoingMessage {
                opcode: Opcode::Binary,
                bytes: frames::parse_binary(&data)
                    .ok_or_else(|| format!("Request data is not binary: {data}"))?,
                shown: Some(data),
            },
            (kind, bytes) => {
                let mut text = match bytes {
                    Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                    None => data,
                };
                if kind == PayloadType::TextStomp {
                    text = text.replace("^@", "\0");
                }
                OutgoingMessage {
                    opcode: Opcode::Text,
                    bytes: text.into_bytes(),
                    shown: None,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_begin_with_a_slash_and_have_no_fragment() {
        for (path, file) in [
            ("", "/"),
            ("chat", "/chat"),
            ("/chat?room=1#top", "/chat?room=1"),
            (" /x", "/x"),
            ("?a=b", "/?a=b"),
        ] {
            assert_eq!(file_of(path), file);
        }
    }

    #[test]
    fn limits_of_timeouts_in_the_plugins_words() {
        let check = |text| {
            check_timeout("Read", text, 0, 9_999_999)
                .err()
                .map(String::from)
        };
        assert_eq!(check("0"), None);
        assert_eq!(
            check("x").as_deref(),
            Some("Read timeout 'x' is not a number.")
        );
        let expected = "Read timeout '-1' is not valid; should between 0 and 9999999";
        assert_eq!(check("-1").as_deref(), Some(expected));
    }
}
