//! The settings that an SMTP Sampler evaluates.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use drumfire_expr::Template;
use drumfire_java::charset::Charset;
use drumfire_java::text::trim;
use drumfire_java::values::parse_int;
use drumfire_java::{Exception, JvmDefaults, file_server};
use drumfire_mail::{
    Address, Attachment, Draft, DraftContent, Message, Stamp, WordPlace, encode_words,
};

use super::security::{Begin, Security, SecuritySettings};
use super::wire::{MAX_MESSAGE_BYTES, Server, timeout};
use crate::decode::setting::Flag;
use crate::run::context::Context;

/// The settings of an SMTP Sampler.
pub struct SmtpSettings {
    pub server: Template,
    pub port: Template,
    pub connect_timeout: Template,
    pub read_timeout: Template,
    pub from: Template,
    pub reply_to: Template,
    pub to: Template,
    pub cc: Template,
    pub bcc: Template,
    pub has_account: Flag,
    pub user: Template,
    pub password: Template,
    pub security: SecuritySettings,
    pub subject: Template,
    pub no_subject: Flag,
    pub has_timestamp: Flag,
    pub headers: Vec<(Template, Template)>,
    pub text: Template,
    pub is_plain: Flag,
    pub files: Template,
    pub is_stored: Flag,
    pub stored: Template,
    pub counts_bytes: Flag,
    pub is_logged: Flag,
    pub base_dir: PathBuf,
    pub charset: Charset,
    pub local_address: String,
    pub max_line_bytes: usize,
    /// The most bytes of the files of a mail.
    pub max_file_bytes: u64,
}

/// The values of one sample besides the mail.
pub struct SmtpValues {
    pub server: Server,
    pub security: Security,
    /// Why connecting fails at once.
    pub fault: Option<String>,
    pub account: Option<(String, String)>,
    pub counts_bytes: bool,
    pub is_logged: bool,
    pub local_address: String,
}

impl SmtpSettings {
    /// Evaluates the settings, and builds the mail (`SmtpSampler#createSendMailCommandFromProperties`, `SendMailCommand#prepareMessage`).
    ///
    /// # Errors
    /// The exception with which JMeter fails to prepare the mail.
    pub fn values(&self, cx: &mut Context) -> Result<(SmtpValues, Message), Exception> {
        let host = self.server.eval(cx).into_string();
        let port = self.port.eval(cx).into_string();
        let is_stored = self.is_stored.get(cx);
        let account = self.has_account.get(cx).then(|| {
            let user = self.user.eval(cx).into_string();
            (user, self.password.eval(cx).into_string())
        });
        let from = self.from(cx)?;
        let to = self.addresses(cx, &self.to)?;
        let cc = self.addresses(cx, &self.cc)?;
        let bcc = self.addresses(cx, &self.bcc)?;
        let reply_to = self.addresses(cx, &self.reply_to)?;
        let security = self.security.values(cx)?;
        let subject = self.subject(cx);
        let text = self.text.eval(cx).into_string();
        let stored = match is_stored {
            true => self.stored(cx)?,
            false => Vec::new(),
        };
        let content = match is_stored {
            true => DraftContent::Stored(&stored),
            false => self.content(cx, &text)?,
        };
        let from = from.map(|from| Address::parse(&from)).transpose();
        let from = from.map_err(address_exception)?;
        let headers: Vec<(String, String)> = self
            .headers
            .iter()
            .map(|(name, value)| (name.eval(cx).into_string(), value.eval(cx).into_string()))
            .collect();
        let draft = Draft {
            from: from.as_ref(),
            reply_to: &reply_to,
            to: &to,
            cc: &cc,
            bcc: &bcc,
            subject: subject.as_deref(),
            headers: &headers,
            content,
        };
        let message = draft.build(&self.charset, &self.stamp(cx))?;
        let default_port = match security.begin {
            Begin::AtOnce => 465,
            Begin::Later => 587,
            Begin::Never => 25,
        };
        let port = port_number(&port, default_port);
        let values = SmtpValues {
            server: Server {
                host: if host.is_empty() { "localhost" } else { &*host }.into(),
                port: port.as_ref().copied().unwrap_or(default_port),
                connect_timeout: timeout(&self.connect_timeout.eval(cx)),
                read_timeout: timeout(&self.read_timeout.eval(cx)),
                max_line_bytes: self.max_line_bytes,
            },
            security,
            fault: port.err(),
            account,
            counts_bytes: self.counts_bytes.get(cx),
            is_logged: self.is_logged.get(cx),
            local_address: self.local_address.clone(),
        };
        Ok((values, message))
    }

    /// The sender, if it has an at sign.
    fn from(&self, cx: &mut Context) -> Result<Option<String>, Exception> {
        let from = self.from.eval(cx).into_string();
        let is_one =
            from.contains('@') && !from.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
        Ok(is_one.then(|| self.encode_address(&from)))
    }

    /// Addresses with semicolons between them.
    fn addresses(&self, cx: &mut Context, list: &Template) -> Result<Vec<Address>, Exception> {
        let list = list.eval(cx).into_string();
        // Java drops empty texts at the end.
        let list = trim(&list).trim_end_matches(';');
        if list.is_empty() {
            return Ok(Vec::new());
        }
        let parts = list.split(';');
        let parse = |part| Address::parse(&self.encode_address(part)).map_err(address_exception);
        parts.map(parse).collect()
    }

    /// Encodes the name in front of an address (`SmtpSampler#encodeAddress`).
    fn encode_address(&self, address: &str) -> String {
        let address = trim(address);
        let is_printable = address.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        match address.split_once('<') {
            Some((name, rest)) if !is_printable => {
                let name = encode_words(name, &self.charset, WordPlace::Phrase);
                format!("{name}<{rest}")
            }
            _ => address.to_owned(),
        }
    }

    fn subject(&self, cx: &mut Context) -> Option<String> {
        if self.no_subject.get(cx) {
            return None;
        }
        let mut subject = self.subject.eval(cx).into_string();
        if self.has_timestamp.get(cx) {
            let now = cx.clock().now_ms();
            subject.push_str(&format!(" <<< current timestamp: {now} >>>"));
        }
        Some(subject)
    }

    /// The text alone, or in parts with the files.
    fn content<'t>(&self, cx: &mut Context, text: &'t str) -> Result<DraftContent<'t>, Exception> {
        let names = self.files.eval(cx).into_string();
        let names: Vec<&str> = names.split(';').filter(|name| !name.is_empty()).collect();
        let is_plain = self.is_plain.get(cx);
        if is_plain && names.is_empty() {
            return Ok(DraftContent::Text(text.into()));
        }
        let mut room = self.max_file_bytes;
        if is_plain && text.is_empty() && names.len() == 1 {
            let file = file_server::resolve(names[0], &self.base_dir);
            let bytes = read(&file, &mut room).map_err(|error| file_exception(&file, &error))?;
            let text = JvmDefaults::of_process()
                .charset
                .decode(&bytes)
                .into_owned();
            return Ok(DraftContent::Text(text.into()));
        }
        let files = names.into_iter().map(|name| {
            let file = file_server::resolve(name, &self.base_dir);
            Attachment {
                name: match file.file_name() {
                    Some(name) => name.to_string_lossy().into_owned(),
                    None => String::new(),
                },
                bytes: read(&file, &mut room)
                    .map_err(|error| file_exception(&file, &error))
                    .map_err(|exception| io::Error::other(exception.to_string())),
            }
        });
        Ok(DraftContent::Parts(text.into(), files.collect()))
    }

    /// A mail that is stored in a file, which is looked up in the working folder only.
    fn stored(&self, cx: &mut Context) -> Result<Vec<u8>, Exception> {
        let file = PathBuf::from(self.stored.eval(cx).into_string());
        let mut room = self.max_file_bytes;
        read(&file, &mut room).map_err(|error| file_exception(&file, &error))
    }

    fn stamp(&self, cx: &mut Context) -> Stamp {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(2, Ordering::Relaxed);
        let now_ms = cx.clock().now_ms();
        let random = cx.random().next_u64();
        let hashes = [random as u32, (random >> 32) as u32];
        Stamp::new(hashes, count, now_ms, &self.local_address)
    }
}

/// Reads a file that has at most `room` bytes, which then shrinks.
fn read(file: &Path, room: &mut u64) -> io::Result<Vec<u8>> {
    let length = std::fs::metadata(file)?.len();
    let Some(rest) = room.checked_sub(length) else {
        let message = format!(
            "`{}` makes the mail larger than {MAX_MESSAGE_BYTES} allows",
            file.display()
        );
        return Err(io::Error::other(message));
    };
    *room = rest;
    drumfire_platform::files::read_regular(file)
}

fn file_exception(file: &Path, error: &io::Error) -> Exception {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "Is a directory".to_owned(),
        _ => error.to_string(),
    };
    // A file beside the plan has an absolute path in JMeter.
    let message = format!("{} ({why})", file.display());
    Exception::new("java.io.FileNotFoundException", message)
}

/// An `AddressException`, which writes more than its message.
fn address_exception(error: drumfire_mail::AddressError) -> Exception {
    let text = error.to_string();
    let class = "javax.mail.internet.AddressException";
    let message = text
        .strip_prefix(class)
        .and_then(|rest| rest.strip_prefix(": "));
    Exception::new(class, message.unwrap_or(&text).to_owned())
}

/// The port, or the default one for a text that is empty. One that is no number is SMTP's (`PropUtil#getInt`).
fn port_number(port: &str, default: u16) -> Result<u16, String> {
    let port = trim(port);
    if port.is_empty() {
        return Ok(default);
    }
    let Some(number) = parse_int(port) else {
        return Ok(if default == 465 { 465 } else { 25 });
    };
    u16::try_from(number).map_err(|_| format!("port out of range:{number}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn ports_and_timeouts_as_javamail_reads_them() {
        assert_eq!(port_number(" ", 587), Ok(587));
        assert_eq!(port_number(" 2525 ", 25), Ok(2525));
        assert_eq!(port_number("x", 587), Ok(25));
        let fault = "port out of range:70000".to_owned();
        assert_eq!(port_number("70000", 25), Err(fault));
        assert_eq!(timeout("250"), Some(Duration::from_millis(250)));
        assert_eq!(
            (timeout("0"), timeout("x"), timeout("")),
            (None, None, None)
        );
    }
}
