//! A new mail, as JMeter's `SendMailCommand` builds it with JavaMail.

use std::borrow::Cow;
use std::io;

use drumfire_java::Exception;
use drumfire_java::charset::Charset;

use crate::address::{Address, join};
use crate::ascii::{Ascii, TransferEncoding};
use crate::file_types;
use crate::headers::Headers;
use crate::message::{Content, Message, Part, PartData};
use crate::parameters::ParameterWriter;
use crate::received::Received;
use crate::words::{self, WordPlace};

/// Everything that a mail consists of.
pub struct Draft<'d> {
    /// The sender.
    pub from: Option<&'d Address>,
    /// Where answers go.
    pub reply_to: &'d [Address],
    /// The receivers.
    pub to: &'d [Address],
    /// The receivers of a copy.
    pub cc: &'d [Address],
    /// The receivers of a copy that others do not see.
    pub bcc: &'d [Address],
    /// The subject; `None` leaves the header out.
    pub subject: Option<&'d str>,
    /// Headers that replace others of their names.
    pub headers: &'d [(String, String)],
    /// The content.
    pub content: DraftContent<'d>,
}

/// The content of a mail.
pub enum DraftContent<'d> {
    /// A text.
    Text(Cow<'d, str>),
    /// A text and files in parts.
    Parts(Cow<'d, str>, Vec<Attachment>),
    /// A stored mail, whose header changes.
    Stored(&'d [u8]),
}

/// A file to attach.
pub struct Attachment {
    /// Its name without the folder.
    pub name: String,
    /// Its bytes, or why it could not be read.
    pub bytes: io::Result<Vec<u8>>,
}

/// The values that differ between mails.
pub struct Stamp {
    /// The boundary between parts.
    pub boundary: String,
    /// The message identifier, in angle brackets.
    pub message_id: String,
}

impl Stamp {
    /// Boundary and identifier in the form of `UniqueValue`: two hash codes, a count and a time in milliseconds; `address` is that
    /// of the user on this machine.
    pub fn new(hashes: [u32; 2], count: u64, now_ms: i64, address: &str) -> Stamp {
        let [first, second] = hashes.map(|hash| hash >> 1);
        let next = count + 1;
        Stamp {
            boundary: format!("----=_Part_{count}_{first}.{now_ms}"),
            message_id: format!("<{second}.{next}.{now_ms}.JavaMail.{address}>"),
        }
    }
}

impl Draft<'_> {
    /// The mail. Texts outside ASCII are written in `charset`.
    ///
    /// # Errors
    /// JavaMail's exception, if the parts of a stored mail cannot be told apart.
    pub fn build(self, charset: &Charset, stamp: &Stamp) -> Result<Message, Exception> {
        let (mut headers, content) = match &self.content {
            DraftContent::Stored(bytes) => {
                Received::read(bytes).check_parts()?;
                let (headers, body) = Headers::read(bytes);
                (headers, Content::Stored(bytes[body..].to_vec()))
            }
            _ => (Headers::new(), Content::Stored(Vec::new())),
        };
        if let Some(from) = self.from {
            headers.set("From", &from.to_string());
        }
        let lists = [
            ("Reply-To", self.reply_to),
            ("To", self.to),
            ("Cc", self.cc),
            ("Bcc", self.bcc),
        ];
        for (name, list) in lists {
            if let Some(list) = join(list) {
                headers.set(name, &list);
            }
        }
        if let Some(subject) = self.subject {
            let subject = words::encode(subject, charset, WordPlace::Text);
            headers.set("Subject", &words::fold(9, &subject));
        }
        for (name, value) in self.headers {
            headers.set(name, value);
        }
        let content = match self.content {
            DraftContent::Text(text) => Content::One(text_data(&text, charset, &mut headers)),
            DraftContent::Parts(text, files) => {
                let mut of_text = Headers::new();
                let data = text_data(&text, charset, &mut of_text);
                let mut parts = vec![Part {
                    headers: of_text,
                    data,
                }];
                parts.extend(files.into_iter().map(|file| file.part(charset)));
                if headers.get("Content-Type").is_none() {
                    let kind = ParameterWriter::new("Content-Type", "multipart/mixed")
                        .with("boundary", &stamp.boundary);
                    headers.set("Content-Type", &kind.finish());
                }
                Content::Parts {
                    boundary: stamp.boundary.clone(),
                    parts,
                }
            }
            DraftContent::Stored(_) => content,
        };
        headers.set("MIME-Version", "1.0");
        headers.set("Message-ID", &stamp.message_id);
        Ok(Message { headers, content })
    }
}

/// A text and its headers (`MimeBodyPart#setText`). Headers of the plan stay.
fn text_data(text: &str, charset: &Charset, headers: &mut Headers) -> PartData {
    let (name, bytes) = match Ascii::of_text(text) {
        Ascii::All => ("us-ascii", text.as_bytes().to_vec()),
        _ => (charset.name(), charset.encode(text).into_owned()),
    };
    let encoding = TransferEncoding::choose(&bytes, true);
    if headers.get("Content-Type").is_none() {
        let kind = ParameterWriter::new("Content-Type", "text/plain").with("charset", name);
        // `setText` writes it without folding.
        headers.set("Content-Type", &kind.finish());
    }
    let encoding = own_encoding(headers, encoding);
    PartData {
        shown: Some(text.to_owned()),
        bytes: Ok(bytes),
        encoding,
    }
}

/// The encoding that the plan's headers name, or the chosen one, which is then named.
fn own_encoding(headers: &mut Headers, chosen: TransferEncoding) -> TransferEncoding {
    match headers.get("Content-Transfer-Encoding") {
        None => {
            headers.set("Content-Transfer-Encoding", chosen.name());
            chosen
        }
        Some(own) => match own.trim().to_ascii_lowercase().as_str() {
            "base64" => TransferEncoding::Base64,
            "quoted-printable" => TransferEncoding::QuotedPrintable,
            _ => TransferEncoding::SevenBit,
        },
    }
}

impl Attachment {
    /// The part with the file (`MimeBodyPart#updateHeaders`).
    fn part(self, charset: &Charset) -> Part {
        let mut headers = Headers::new();
        let media_type = file_types::of_name(&self.name);
        let is_text = media_type.starts_with("text/");
        let encoding = match &self.bytes {
            Ok(bytes) => TransferEncoding::choose(bytes, is_text),
            Err(_) => TransferEncoding::Base64,
        };
        let disposition = ParameterWriter::new("Content-Disposition", "attachment")
            .with("filename", &self.name)
            .finish();
        let mut kind = ParameterWriter::new("Content-Type", media_type);
        if is_text {
            kind = kind.with(
                "charset",
                match encoding {
                    TransferEncoding::SevenBit => "us-ascii",
                    _ => charset.name(),
                },
            );
        }
        headers.set("Content-Type", &kind.with("name", &self.name).finish());
        headers.set("Content-Transfer-Encoding", encoding.name());
        headers.set("Content-Disposition", &disposition);
        Part {
            headers,
            data: PartData {
                bytes: self.bytes,
                encoding,
                shown: None,
            },
        }
    }
}
