//! The FTP, SMTP and gRPC servers for the plans in `compat/` that name their ports.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::grpc::GrpcServer;

/// The account of both servers.
const ACCOUNT: (&str, &str) = ("user", "secret");
/// The file with the commands that the FTP server received.
const COMMANDS: &str = "commands.txt";
/// The file with the mails that the SMTP server took.
const MAILS: &str = "mails.txt";

type Files = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

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
    let text = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    locked(&files).extend([
        text("hello.txt", "hello\r\nworld\r\n"),
        text("empty.txt", ""),
        ("bytes".to_owned(), (0..=u8::MAX).collect()),
    ]);
    let mut started = Vec::new();
    let kinds: [(&'static str, Talk); 2] = [("ftp_port", serve_files), ("smtp_port", take_mails)];
    for (property, talk) in kinds {
        if plan.contains(&format!("__P({property})")) {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let port = listener.local_addr()?.port();
            let files = Arc::clone(&files);
            std::thread::spawn(move || serve(&listener, &files, talk));
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

type Talk = fn(TcpStream, &Files) -> std::io::Result<()>;

fn serve(listener: &TcpListener, files: &Files, talk: Talk) {
    for stream in listener.incoming().flatten() {
        let files = Arc::clone(files);
        // A client that goes away ends the conversation.
        std::thread::spawn(move || talk(stream, &files));
    }
}

fn locked(files: &Files) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

fn append(files: &Files, name: &str, line: &str) {
    let mut files = locked(files);
    let file = files.entry(name.to_owned()).or_default();
    file.extend_from_slice(line.as_bytes());
    file.push(b'\n');
}

/// Splits a line into its command and the rest.
fn command(line: &str) -> (String, &str) {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    (word.to_uppercase(), rest)
}

/// The name of the transcript of a new session. A client says QUIT and connects again without a wait, so one transcript for
/// all sessions would have their lines in any order.
fn begin_session(files: &Files) -> String {
    let mut files = locked(files);
    let count = files
        .keys()
        .filter(|name| name.starts_with(COMMANDS))
        .count();
    let name = format!("{COMMANDS} {count:04}");
    files.insert(name.clone(), Vec::new());
    name
}

/// The content of a file; that of [`COMMANDS`] is the transcripts of all sessions.
fn held(files: &Files, name: &str) -> Option<Vec<u8>> {
    let files = locked(files);
    if name != COMMANDS {
        return files.get(name).cloned();
    }
    let sessions = files.iter().filter(|(name, _)| name.starts_with(COMMANDS));
    Some(sessions.flat_map(|(_, lines)| lines.clone()).collect())
}

/// One FTP session. The user `leave` is left without an answer.
fn serve_files(stream: TcpStream, files: &Files) -> std::io::Result<()> {
    let mut answers = stream.try_clone()?;
    let mut lines = BufReader::new(stream).lines();
    let mut passive = None;
    let mut user = String::new();
    let mut is_known = false;
    let session = begin_session(files);
    answers.write_all(b"220-files\r\n220 ready\r\n")?;
    while let Some(line) = lines.next().transpose()? {
        let (word, rest) = command(&line);
        append(files, &session, &line);
        let reply = match word.as_str() {
            "USER" if rest == "leave" => break,
            "USER" => {
                rest.clone_into(&mut user);
                "331 password"
            }
            "PASS" => {
                is_known = (&*user, rest) == ACCOUNT;
                if is_known { "230 in" } else { "530 not you" }
            }
            "QUIT" => {
                answers.write_all(b"221 bye\r\n")?;
                break;
            }
            _ if !is_known => "530 log in first",
            "TYPE" => "200 as you like",
            "PASV" => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                let port = listener.local_addr()?.port();
                passive = Some(listener);
                let (high, low) = (port >> 8, port & 0xff);
                write!(answers, "227 here (127,0,0,1,{high},{low})\r\n")?;
                continue;
            }
            "RETR" => match (held(files, rest), passive.take()) {
                (Some(bytes), Some(data)) => {
                    answers.write_all(b"150 coming\r\n")?;
                    data.accept()?.0.write_all(&bytes)?;
                    "226 sent"
                }
                _ => "550 no such file",
            },
            "STOR" => match passive.take() {
                Some(data) if !rest.starts_with("locked") => {
                    answers.write_all(b"150 go on\r\n")?;
                    let mut bytes = Vec::new();
                    data.accept()?.0.read_to_end(&mut bytes)?;
                    locked(files).insert(rest.to_owned(), bytes);
                    "226 stored"
                }
                _ => "553 not that name",
            },
            _ => "502 not here",
        };
        write!(answers, "{reply}\r\n")?;
    }
    Ok(())
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
