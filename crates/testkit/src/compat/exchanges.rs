//! The FTP, SMTP and gRPC servers for the plans in `compat/` that name their ports.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::files;
use crate::grpc::GrpcServer;

/// The account of both servers.
pub(super) const ACCOUNT: (&str, &str) = ("user", "secret");
/// The file with the mails that the SMTP server took.
const MAILS: &str = "mails.txt";

pub(super) type Files = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// A server that a plan asks for.
pub(super) struct Exchange {
    /// The property from which the plan reads the port.
    pub property: &'static str,
    /// The port on 127.0.0.1.
    pub port: u16,
}

/// Starts the servers whose ports the plan reads. A plan gets what they received from the FTP server's files `commands.txt` and
/// `mails.txt`.
pub(super) fn asked_by(plan: &str) -> std::io::Result<Vec<Exchange>> {
    let files = Files::default();
    files::stock(&files);
    let mut started = Vec::new();
    let sessions = AtomicUsize::new(0);
    let greet = move |stream, files: &Files| files::greet(stream, files, &sessions);
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let kinds: [(&'static str, IpAddr, Talk); 4] = [
        ("ftp_port", local, Arc::new(files::serve)),
        ("ftp_greetings_port", local, Arc::new(greet)),
        (
            "ftp6_port",
            Ipv6Addr::LOCALHOST.into(),
            Arc::new(files::serve),
        ),
        ("smtp_port", local, Arc::new(take_mails)),
    ];
    for (property, address, talk) in kinds {
        if plan.contains(&format!("__P({property})")) {
            let listener = TcpListener::bind((address, 0))?;
            let port = listener.local_addr()?.port();
            let files = Arc::clone(&files);
            std::thread::spawn(move || serve(&listener, &files, &talk));
            started.push(Exchange { property, port });
        }
    }
    for (property, is_secure) in [("grpc_port", false), ("grpcs_port", true)] {
        if plan.contains(&format!("__P({property})")) {
            let server = match is_secure {
                true => GrpcServer::start_tls()?,
                false => GrpcServer::start(Vec::new())?,
            };
            let port = server.address().port();
            started.push(Exchange { property, port });
        }
    }
    Ok(started)
}

/// One conversation.
type Talk = Arc<dyn Fn(TcpStream, &Files) -> std::io::Result<()> + Send + Sync>;

fn serve(listener: &TcpListener, files: &Files, talk: &Talk) {
    for stream in listener.incoming().flatten() {
        let (files, talk) = (Arc::clone(files), Arc::clone(talk));
        // A client that goes away ends the conversation.
        std::thread::spawn(move || talk(stream, &files));
    }
}

pub(super) fn locked(files: &Files) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn append(files: &Files, name: &str, line: &str) {
    let mut files = locked(files);
    let file = files.entry(name.to_owned()).or_default();
    file.extend_from_slice(line.as_bytes());
    file.push(b'\n');
}

/// Splits a line into its command and the rest.
pub(super) fn command(line: &str) -> (String, &str) {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    (word.to_uppercase(), rest)
}

/// One SMTP session. It refuses senders that begin with `banned`, recipients that begin with `unknown`, and mails with the word
/// `spam`.
fn take_mails(stream: TcpStream, files: &Files) -> std::io::Result<()> {
    let mut answers = stream.try_clone()?;
    let mut lines = BufReader::new(stream).lines();
    let mut envelope = String::new();
    answers.write_all(b"220 mail.test\r\n")?;
    while let Some(line) = lines.next().transpose()? {
        let (word, rest) = command(&line);
        let reply = match word.as_str() {
            "EHLO" => "250-mail.test\r\n250 AUTH LOGIN",
            "AUTH" => {
                let mut said = Vec::new();
                for question in ["Username:", "Password:"] {
                    write!(answers, "334 {}\r\n", BASE64_STANDARD.encode(question))?;
                    let answer = lines.next().transpose()?.unwrap_or_default();
                    said.push(BASE64_STANDARD.decode(answer).unwrap_or_default());
                }
                let is_known = said == [ACCOUNT.0.as_bytes(), ACCOUNT.1.as_bytes()];
                if is_known { "235 in" } else { "535 not you" }
            }
            "MAIL" if rest.contains("<banned") => "553 not you",
            "RCPT" if rest.contains("<unknown") => "550 nobody of that name",
            "MAIL" | "RCPT" => {
                envelope.push_str(&line);
                envelope.push('\n');
                "250 ok"
            }
            "DATA" => {
                answers.write_all(b"354 go on\r\n")?;
                let mut mail = std::mem::take(&mut envelope);
                for line in lines.by_ref() {
                    match line? {
                        line if line == "." => break,
                        line if line.starts_with("Message-ID:") => {} // it is random
                        line => mail.extend([line.as_str(), "\n"]),
                    }
                }
                append(files, MAILS, &mail);
                let is_spam = mail.contains("spam");
                if is_spam { "554 no" } else { "250 taken" }
            }
            "QUIT" => {
                answers.write_all(b"221 bye\r\n")?;
                break;
            }
            _ => "250 ok",
        };
        write!(answers, "{reply}\r\n")?;
    }
    Ok(())
}
