//! A mail that is sent: its bytes, and how JMeter shows it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

use drumfire_java::Exception;

use crate::address::{Address, AddressError, parse_list};
use crate::ascii::TransferEncoding;
use crate::encoding::{decode, encode};
use crate::headers::Headers;
use crate::received::{Received, ReceivedContent};

/// Headers that are not sent (`SMTPTransport`).
const NOT_SENT: [&str; 2] = ["Bcc", "Content-Length"];

/// A mail.
#[derive(Debug)]
pub struct Message {
    /// Its header.
    pub headers: Headers,
    pub(crate) content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    One(PartData),
    Parts { boundary: String, parts: Vec<Part> },
    Stored(Vec<u8>),
}

#[derive(Debug)]
pub(crate) struct Part {
    pub headers: Headers,
    pub data: PartData,
}

/// The content of a mail or of a part.
#[derive(Debug)]
pub(crate) struct PartData {
    pub bytes: io::Result<Vec<u8>>,
    pub encoding: TransferEncoding,
    /// The text, if it is one and not a file.
    pub shown: Option<String>,
}

impl PartData {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), &io::Error> {
        encode(self.bytes.as_ref()?, self.encoding, out);
        Ok(())
    }
}

impl Message {
    /// The bytes for a server, without the dots of SMTP.
    ///
    /// # Errors
    /// An attached file could not be read. The bytes before it were written.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), &io::Error> {
        self.headers.write(&NOT_SENT, out);
        self.write_body(out)
    }

    /// The size of the mail with all headers, in bytes.
    ///
    /// # Errors
    /// An attached file could not be read.
    pub fn size(&self) -> Result<u64, &io::Error> {
        let mut bytes = Vec::new();
        self.headers.write(&[], &mut bytes);
        self.write_body(&mut bytes)?;
        Ok(bytes.len() as u64)
    }

    fn write_body(&self, out: &mut Vec<u8>) -> Result<(), &io::Error> {
        match &self.content {
            Content::One(data) => data.write(out),
            Content::Parts { .. } => self.write_parts(out),
            Content::Stored(body) => {
                out.extend_from_slice(body);
                Ok(())
            }
        }
    }

    fn write_parts(&self, out: &mut Vec<u8>) -> Result<(), &io::Error> {
        let Content::Parts { boundary, parts } = &self.content else {
            return Ok(());
        };
        for part in parts {
            out.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
            part.headers.write(&[], out);
            part.data.write(out)?;
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        Ok(())
    }

    /// The body that JMeter stores as the response: texts are not encoded, parts are. It ends in front of a file that could not be
    /// read. `None` for a stored mail with an unknown encoding.
    pub fn shown_body(&self) -> Option<Cow<'_, [u8]>> {
        match &self.content {
            Content::One(data) => Some(Cow::Borrowed(data.bytes.as_deref().unwrap_or_default())),
            Content::Parts { .. } => {
                let mut out = Vec::new();
                // The body ends there.
                let _ = self.write_parts(&mut out);
                Some(Cow::Owned(out))
            }
            Content::Stored(body) => {
                let encoding = self.headers.get("Content-Transfer-Encoding");
                decode(body, encoding.map(str::trim)).ok()
            }
        }
    }

    /// The header as JMeter shows it.
    pub fn shown_headers(&self) -> String {
        let mut out = String::new();
        show_headers(&self.headers, &mut out);
        out
    }

    /// The content as JMeter shows it with the request (`SmtpSampler#getSamplerData`).
    ///
    /// # Errors
    /// JavaMail's exception, if a stored mail cannot be decoded.
    pub fn shown_content(&self) -> Result<String, Exception> {
        Ok(match &self.content {
            Content::One(data) => data.shown.clone().unwrap_or_default(),
            Content::Parts { boundary, parts } => {
                let parts = parts.iter().map(|part| {
                    let text = match &part.data.shown {
                        Some(text) => text.as_str(),
                        None => ATTACHED,
                    };
                    (&part.headers, Cow::Borrowed(text))
                });
                show_parts(boundary, parts)
            }
            Content::Stored(body) => return shown_stored(&self.headers, body),
        })
    }

    /// The address of the sender, for SMTP. `None` if no header names it.
    ///
    /// # Errors
    /// The header is malformed.
    pub fn sender(&self) -> Result<Option<String>, AddressError> {
        let named = |name: &str| self.addresses(name).transpose();
        let list = match named("From")? {
            Some(list) => Some(list),
            None => named("Sender")?,
        };
        Ok(list.and_then(|list| list.into_iter().next().map(|one| one.address)))
    }

    /// The addresses of all receivers, for SMTP. `None` if no header names one.
    ///
    /// # Errors
    /// A header is malformed.
    pub fn receivers(&self) -> Result<Option<Vec<Address>>, AddressError> {
        let mut all = None;
        for name in ["To", "Cc", "Bcc"] {
            if let Some(list) = self.addresses(name) {
                all.get_or_insert_with(Vec::new).extend(list?);
            }
        }
        Ok(all)
    }

    fn addresses(&self, name: &str) -> Option<Result<Vec<Address>, AddressError>> {
        let values: Vec<&str> = self.headers.values(name).collect();
        (!values.is_empty()).then(|| parse_list(&values.join(",")))
    }
}

const ATTACHED: &str = "<attachment content not shown>";

fn show_headers(headers: &Headers, out: &mut String) {
    for (name, value) in headers.iter() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name}: {value}");
    }
}

fn show_parts<'p>(
    boundary: &str,
    parts: impl Iterator<Item = (&'p Headers, Cow<'p, str>)>,
) -> String {
    let mut out = String::new();
    for (headers, text) in parts {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "--{boundary}");
        show_headers(headers, &mut out);
        let _ = write!(out, "\n{text}\n");
    }
    let _ = writeln!(out, "--{boundary}--");
    out
}

/// # Errors
/// JavaMail's exception, if the stored mail cannot be decoded.
fn shown_stored(headers: &Headers, body: &[u8]) -> Result<String, Exception> {
    let received = Received::of(headers.clone(), body);
    let parts = match received.content()? {
        ReceivedContent::Text(text) => return Ok(text),
        ReceivedContent::Bytes(_, class) => return Ok(format!("Content has class: {class}")),
        ReceivedContent::Parts(parts) => parts.parts,
    };
    let boundary = received.boundary().unwrap_or_default();
    let mut shown = Vec::new();
    for part in &parts {
        let text = match part.content()? {
            _ if part.is_attached() => ATTACHED.to_owned(),
            ReceivedContent::Text(text) => text,
            // Java appends a random number to these classes.
            ReceivedContent::Bytes(_, class) => class.to_owned(),
            ReceivedContent::Parts(_) => "javax.mail.internet.MimeMultipart".to_owned(),
        };
        shown.push((&part.headers, Cow::Owned(text)));
    }
    Ok(show_parts(&boundary, shown.into_iter()))
}
