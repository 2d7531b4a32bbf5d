//! An SMTP server that keeps the mails that it takes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The account of the server.
pub const ACCOUNT: (&str, &str) = ("user", "secret");

/// A server on 127.0.0.1. It refuses senders that begin with `banned`, recipients that begin with `unknown`, and mails with the word
/// `spam`.
pub struct SmtpServer {
    /// The port without TLS, which knows `AUTH LOGIN`.
    pub port: u16,
    /// The port that offers STARTTLS, and `AUTH PLAIN` after it.
    pub start_tls_port: u16,
    /// The port whose connections begin with TLS.
    pub tls_port: u16,
    taken: Mails,
}

type Mails = Arc<Mutex<Vec<String>>>;

/// When a port uses TLS.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Secure {
    Never,
    Later,
    AtOnce,
}

impl SmtpServer {
    /// Starts a server. Its certificate is in the files `server.pem` and `server.key` of `folder`, or else a new one.
    ///
    /// # Errors
    /// No port is free, or the certificate cannot be read.
    pub fn start(folder: Option<&Path>) -> std::io::Result<SmtpServer> {
        let tls = server_config(folder)?;
        let taken = Mails::default();
        let listen = |secure| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let port = listener.local_addr()?.port();
            let (tls, taken) = (Arc::clone(&tls), Arc::clone(&taken));
            std::thread::spawn(move || serve(&listener, secure, &tls, &taken));
            Ok::<u16, std::io::Error>(port)
        };
        Ok(SmtpServer {
            port: listen(Secure::Never)?,
            start_tls_port: listen(Secure::Later)?,
            tls_port: listen(Secure::AtOnce)?,
            taken,
        })
    }

    /// The mails in the order in which they came: their envelopes, an empty line, and their texts without the message identifier.
    pub fn mails(&self) -> Vec<String> {
        let taken = self.taken.lock();
        taken.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The files with the certificate and the key of a server in tests: `server.pem` and `server.key` of `given`, or else new ones
/// in `folder`.
pub(crate) fn certificate_files(
    given: Option<&Path>,
    folder: &Path,
) -> std::io::Result<(PathBuf, PathBuf)> {
    let files = |folder: &Path| (folder.join("server.pem"), folder.join("server.key"));
    if let Some(given) = given.filter(|given| given.join("server.pem").is_file()) {
        let (chain, key) = files(given);
        return Ok((std::path::absolute(chain)?, std::path::absolute(key)?));
    }
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).map_err(std::io::Error::other)?;
    let (chain, key) = files(folder);
    std::fs::write(&chain, made.cert.pem())?;
    std::fs::write(&key, made.signing_key.serialize_pem())?;
    Ok((chain, key))
}

fn server_config(given: Option<&Path>) -> std::io::Result<Arc<ServerConfig>> {
    let folder = tempfile::tempdir()?;
    let (chain, key) = certificate_files(given, folder.path())?;
    let chain = CertificateDer::from_pem_file(chain).map_err(std::io::Error::other)?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(std::io::Error::other)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(std::io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![chain], key);
    Ok(Arc::new(config.map_err(std::io::Error::other)?))
}

/// A connection with or without TLS.
enum Stream {
    Plain(TcpStream),
    Secure(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Stream {
    /// Continues a connection over TLS.
    fn secure(stream: TcpStream, tls: &Arc<ServerConfig>) -> std::io::Result<Stream> {
        let session = ServerConnection::new(Arc::clone(tls)).map_err(std::io::Error::other)?;
        Ok(Stream::Secure(Box::new(StreamOwned::new(session, stream))))
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read(buffer),
            Stream::Secure(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.write(bytes),
            Stream::Secure(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.flush(),
            Stream::Secure(stream) => stream.flush(),
        }
    }
}

fn serve(listener: &TcpListener, secure: Secure, tls: &Arc<ServerConfig>, taken: &Mails) {
    for stream in listener.incoming().flatten() {
        let (tls, taken) = (Arc::clone(tls), Arc::clone(taken));
        // A client that goes away ends the conversation.
        std::thread::spawn(move || {
            let stream = match secure {
                Secure::AtOnce => Stream::secure(stream, &tls)?,
                Secure::Never | Secure::Later => Stream::Plain(stream),
            };
            let offered = (secure == Secure::Later).then_some(&tls);
            talk(stream, offered, &taken)
        });
    }
}

/// A conversation; `offered` is what STARTTLS uses.
fn talk(stream: Stream, offered: Option<&Arc<ServerConfig>>, taken: &Mails) -> std::io::Result<()> {
    let mut wire = BufReader::new(stream);
    let mut envelope = String::new();
    wire.get_mut().write_all(b"220 mail.test\r\n")?;
    while let Some(line) = read_line(&mut wire)? {
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let reply = match word.to_uppercase().as_str() {
            "EHLO" => match (offered, wire.get_ref()) {
                (Some(_), Stream::Plain(_)) => "250-mail.test\r\n250 STARTTLS",
                (Some(_), Stream::Secure(_)) => "250-mail.test\r\n250 AUTH PLAIN",
                (None, _) => "250-mail.test\r\n250 AUTH LOGIN",
            },
            "STARTTLS" => match (offered, wire.into_inner()) {
                (Some(tls), Stream::Plain(mut plain)) => {
                    plain.write_all(b"220 go ahead\r\n")?;
                    wire = BufReader::new(Stream::secure(plain, tls)?);
                    continue;
                }
                (_, stream) => {
                    wire = BufReader::new(stream);
                    "502 not here"
                }
            },
            "AUTH" => log_in(&mut wire, rest)?,
            "MAIL" if rest.contains("<banned") => "553 not you",
            "RCPT" if rest.contains("<unknown") => "550 nobody of that name",
            "MAIL" | "RCPT" => {
                envelope.push_str(&line);
                envelope.push('\n');
                "250 ok"
            }
            "DATA" => {
                wire.get_mut().write_all(b"354 go on\r\n")?;
                let Some(mail) = read_mail(&mut wire)? else {
                    break;
                };
                let is_spam = mail.contains("spam");
                let mail = format!("{}\n{mail}", std::mem::take(&mut envelope));
                let mut all = taken.lock().unwrap_or_else(PoisonError::into_inner);
                all.push(mail);
                if is_spam { "554 no" } else { "250 taken" }
            }
            "QUIT" => {
                wire.get_mut().write_all(b"221 bye\r\n")?;
                break;
            }
            _ => "250 ok",
        };
        wire.get_mut()
            .write_all(format!("{reply}\r\n").as_bytes())?;
    }
    Ok(())
}

/// A line without its end; each byte is a character. `None` at the end of the stream.
fn read_line(wire: &mut BufReader<Stream>) -> std::io::Result<Option<String>> {
    let mut line = Vec::new();
    if wire.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let line = line.strip_suffix(b"\n").unwrap_or(&line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Ok(Some(line.iter().map(|byte| char::from(*byte)).collect()))
}

fn log_in(wire: &mut BufReader<Stream>, rest: &str) -> std::io::Result<&'static str> {
    let decode = |text: &str| BASE64_STANDARD.decode(text).unwrap_or_default();
    let mut said = Vec::new();
    match rest.split_once(' ') {
        Some((_, plain)) => {
            let plain = decode(plain);
            said.extend(plain.split(|byte| *byte == 0).skip(1).map(<[u8]>::to_vec));
        }
        None => {
            for question in ["Username:", "Password:"] {
                let question = BASE64_STANDARD.encode(question);
                wire.get_mut()
                    .write_all(format!("334 {question}\r\n").as_bytes())?;
                said.push(decode(&read_line(wire)?.unwrap_or_default()));
            }
        }
    }
    let is_known = said == [ACCOUNT.0.as_bytes(), ACCOUNT.1.as_bytes()];
    Ok(if is_known { "235 in" } else { "535 not you" })
}

/// A mail up to its dot; `None` if the client leaves before it.
fn read_mail(wire: &mut BufReader<Stream>) -> std::io::Result<Option<String>> {
    let mut mail = String::new();
    while let Some(line) = read_line(wire)? {
        match line {
            line if line == "." => return Ok(Some(mail)),
            line if line.to_lowercase().starts_with("message-id:") => {} // it is random
            line => mail.extend([line.as_str(), "\n"]),
        }
    }
    Ok(None)
}
