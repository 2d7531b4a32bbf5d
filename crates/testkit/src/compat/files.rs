//! The FTP server for the plans in `compat/`. Names of users and files ask it for odd behaviour.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::exchanges::{Files, MAILS, command};
use crate::smtp::ACCOUNT;

/// The file with the commands that the server received.
const COMMANDS: &str = "commands.txt";

/// The server's greeting.
const READY: &str = "220-files\r\n220 ready\r\n";

/// The greetings of [`greet`], one after the other.
const GREETINGS: [&str; 12] = [
    "120 soon\r\n220 ready\r\n",
    "220-a\r\nb\r\n\r\n220-c\r\n331 d\r\n",
    "500 go away\r\n",
    "500-go\r\n500 away\r\n",
    "421 busy\r\n",
    "what?\r\n",
    "22\r\n",
    "220\r\n",
    "220 \r\n",
    "220_ready\r\n",
    "",
    "220 re\nady\r\n",
];

/// The files of a new server.
pub(super) fn stock(files: &Files) {
    let text = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    let lines = (0..7_000).map(|line| format!("line {line}\r\n"));
    files.locked().extend([
        text("hello.txt", "hello\r\nworld\r\n"),
        text("empty.txt", ""),
        text("odd lines.txt", "a\r\rb\r\n\r\r\nc\n\rd\r"),
        text("gr\u{fc}\u{df}e.txt", "hello\r\n"),
        text("gr\u{fc}\u{df}e ?.txt", "hello\r\n"),
        ("bytes".to_owned(), (0..=u8::MAX).collect()),
        (
            "large.txt".to_owned(),
            lines.collect::<String>().into_bytes(),
        ),
    ]);
}

/// The name of the transcript of a new session. A client says QUIT and connects again without a wait, so one transcript for
/// all sessions would have their lines in any order.
fn begin_session(files: &Files) -> String {
    let mut files = files.locked();
    let names = files.keys();
    let count = names.filter(|name| name.starts_with(COMMANDS)).count();
    let name = format!("{COMMANDS} {count:04}");
    files.insert(name.clone(), Vec::new());
    name
}

/// The content of a file; that of [`COMMANDS`] is the transcripts of all sessions, and that of [`MAILS`] is the mails that were taken.
fn held(files: &Files, name: &str) -> Option<Vec<u8>> {
    if name == MAILS {
        return files.mails().map(String::into_bytes);
    }
    let files = files.locked();
    if name != COMMANDS {
        return files.get(name).cloned();
    }
    let sessions = files.iter().filter(|(name, _)| name.starts_with(COMMANDS));
    Some(sessions.flat_map(|(_, lines)| lines.clone()).collect())
}

/// One session.
pub(super) fn serve(stream: TcpStream, files: &Files) -> io::Result<()> {
    session(stream, files, READY)
}

/// One session that begins with the next of [`GREETINGS`].
pub(super) fn greet(stream: TcpStream, files: &Files, sessions: &AtomicUsize) -> io::Result<()> {
    let index = sessions.fetch_add(1, Ordering::Relaxed) % GREETINGS.len();
    session(stream, files, GREETINGS[index])
}

/// The commands that a client has sent so far.
#[derive(Default)]
struct Session {
    user: String,
    is_known: bool,
    passive: Option<TcpListener>,
}

fn session(mut stream: TcpStream, files: &Files, greeting: &str) -> io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).split(b'\n');
    let mut session = Session::default();
    let transcript = begin_session(files);
    stream.write_all(greeting.as_bytes())?;
    if greeting.is_empty() {
        return Ok(());
    }
    while let Some(line) = lines.next().transpose()? {
        let line: String = line.into_iter().map(char::from).collect();
        let line = line.trim_end_matches('\r');
        files.append(&transcript, line);
        let (word, rest) = command(line);
        let Some(reply) = session.answer(&mut stream, files, &word, rest)? else {
            return Ok(());
        };
        write!(stream, "{reply}\r\n")?;
        if word == "QUIT" {
            return Ok(());
        }
    }
    Ok(())
}

impl Session {
    /// The answer to a command; `None` ends the session.
    fn answer(
        &mut self,
        stream: &mut TcpStream,
        files: &Files,
        word: &str,
        rest: &str,
    ) -> io::Result<Option<String>> {
        let reply = match word {
            "USER" => {
                rest.clone_into(&mut self.user);
                self.is_known = rest == "open";
                match rest {
                    "leave" => return Ok(None),
                    "open" => "230 come in",
                    "stranger" => "530 not you",
                    _ => "331 password",
                }
            }
            "PASS" if self.user == "account" => "332 account",
            "PASS" => {
                let is_odd = self.user.contains('-');
                self.is_known = is_odd || (&*self.user, rest) == ACCOUNT;
                if self.is_known {
                    "230 in"
                } else {
                    "530 not you"
                }
            }
            "QUIT" => "221 bye",
            _ if !self.is_known => "530 log in first",
            "TYPE" if self.user == "type-refused" => "504 texts only",
            "TYPE" => "200 as you like",
            "PASV" | "EPSV" => return self.listen(stream, word).map(Some),
            "RETR" => return self.send(stream, files, rest),
            "STOR" => return self.take(stream, files, rest),
            _ => "502 not here",
        };
        Ok(Some(reply.to_owned()))
    }

    /// Listens for a data connection. Users whose names begin with `passive-` get odd replies.
    fn listen(&mut self, stream: &TcpStream, word: &str) -> io::Result<String> {
        let address = stream.local_addr()?.ip();
        let listener = TcpListener::bind((address, 0))?;
        let port = listener.local_addr()?.port();
        let (high, low) = (port >> 8, port & 0xff);
        self.passive = Some(listener);
        Ok(match self.user.as_str() {
            "passive-refused" => "425 no ports".to_owned(),
            "passive-odd" => "227 nothing here".to_owned(),
            "passive-high" => "227 here (127,0,0,1,999,999)".to_owned(),
            "passive-dead" => {
                self.passive = None;
                format!("227 here (127,0,0,1,{high},{low})")
            }
            "passive-elsewhere" => format!("227 here (192,0,2,1,{high},{low})"),
            "passive-bare" => format!("227 127,0,0,1,{high},{low}"),
            "passive-lines" => format!("227-here (127,0,0,1,{high},{low})\r\n227 (1,2,3,4,5,6)"),
            _ if word == "EPSV" => format!("229 here (|||{port}|)"),
            _ => format!("227 here (127,0,0,1,{high},{low})"),
        })
    }

    fn send(
        &mut self,
        stream: &mut TcpStream,
        files: &Files,
        name: &str,
    ) -> io::Result<Option<String>> {
        let (content, passive) = match (name, self.passive.take()) {
            ("folder", _) => return Ok(Some("550-folder:\r\n550 not a plain file".to_owned())),
            ("done", _) => return Ok(Some("226 there is nothing".to_owned())),
            (_, Some(passive)) => match held(files, name.trim_start_matches("cut ")) {
                Some(content) => (content, passive),
                None => return Ok(Some("550 no such file".to_owned())),
            },
            (_, None) => return Ok(Some("425 where to?".to_owned())),
        };
        stream.write_all(b"150 coming\r\n")?;
        let mut data = passive.accept()?.0;
        if name.starts_with("cut ") {
            // The whole session ends in the middle of the file.
            data.write_all(&content[..content.len() / 2])?;
            return Ok(None);
        }
        data.write_all(&content)?;
        drop(data);
        // JMeter does not wait for this reply, and may be gone.
        Ok(Some("226 sent".to_owned()))
    }

    fn take(
        &mut self,
        stream: &mut TcpStream,
        files: &Files,
        name: &str,
    ) -> io::Result<Option<String>> {
        let passive = match self.passive.take() {
            Some(passive) if !name.starts_with("locked") && !name.is_empty() => passive,
            _ => return Ok(Some("553 not that name".to_owned())),
        };
        stream.write_all(b"150 go on\r\n")?;
        let mut content = Vec::new();
        passive.accept()?.0.read_to_end(&mut content)?;
        if name.starts_with("leave") {
            return Ok(None);
        }
        if name.starts_with("full") {
            return Ok(Some("552-no\r\n552 room".to_owned()));
        }
        files.locked().insert(name.to_owned(), content);
        Ok(Some("226 stored".to_owned()))
    }
}
