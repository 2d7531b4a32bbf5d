//! IMAP (RFC 3501) as far as a Mail Reader Sampler needs it.

use drumfire_http::{Session, Times};
use drumfire_mail::imap::{Response, literal_length, quote};
use drumfire_mail::smtp::{Mechanism, auth_command};

use super::mailbox::{MailboxValues, ReadFailure, socket_exception};
use super::security::{Begin, Secure};
use super::wire::{Wire, io_exception, too_large};

/// An open folder.
pub struct Imap {
    wire: Wire,
    host: String,
    tag: u32,
    capabilities: Vec<String>,
    /// The bytes that mails may still have.
    room: u64,
}

/// The answer to a command.
struct Answer {
    /// Whether the command succeeded, failed, or was not understood.
    status: String,
    /// The text behind the status.
    text: String,
    /// The other responses, with their literals.
    untagged: Vec<Response>,
}

impl Answer {
    fn is_ok(&self) -> bool {
        self.status == "OK"
    }
}

impl Imap {
    pub async fn open(
        session: &Session,
        values: &MailboxValues,
    ) -> Result<(Imap, usize, Times), ReadFailure> {
        let opened = Wire::open(session, &values.server, &values.security, false).await;
        let (wire, times) = opened.map_err(|why| {
            let exception = socket_exception(&values.server, why);
            let message = exception
                .split_once(": ")
                .map_or(&*exception, |(_, text)| text);
            ReadFailure::around(message, &exception)
        })?;
        let mut imap = Imap {
            wire,
            host: values.server.host.to_string(),
            tag: 0,
            capabilities: Vec::new(),
            room: values.max_bytes,
        };
        imap.log_in(values).await?;
        let total = imap.select(values).await?;
        Ok((imap, total, times))
    }

    /// `IMAPStore#login`.
    async fn log_in(&mut self, values: &MailboxValues) -> Result<(), ReadFailure> {
        let greeting = self.response().await?;
        if !greeting.text.starts_with("* OK") && !greeting.text.starts_with("* PREAUTH") {
            return Err(protocol_failure(&greeting.text));
        }
        self.ask_capabilities().await?;
        if values.security.begin == Begin::Later && self.knows("STARTTLS") {
            let failed = || protocol_failure("STARTTLS failure");
            if !self.command("STARTTLS").await?.is_ok() {
                return Err(failed());
            }
            let secure = values.security.tls.first().unwrap_or(&Secure::Hopeless);
            let started = self.wire.start_tls(&values.server, secure).await;
            started.map_err(|_| failed())?;
            self.ask_capabilities().await?;
        }
        if greeting.text.starts_with("* PREAUTH") {
            return Ok(());
        }
        let (user, password) = (&values.user, &values.password);
        let answer = if self.knows("AUTH=PLAIN") {
            let plain = auth_command(Mechanism::Plain, user, password);
            let text = plain.rsplit(' ').next().unwrap_or_default();
            self.begin("AUTHENTICATE PLAIN").await?;
            let asked = self.response().await?;
            if asked.text.starts_with('+') {
                self.send(text).await?;
                self.finish(Vec::new()).await?
            } else {
                self.finish(vec![asked]).await?
            }
        } else if self.knows("LOGINDISABLED") {
            return Err(protocol_failure("No login methods supported!"));
        } else {
            let command = format!("LOGIN {} {}", quote(user), quote(password));
            self.command(&command).await?
        };
        match answer.is_ok() {
            true => Ok(()),
            false => Err(ReadFailure::login(&answer.text)),
        }
    }

    async fn ask_capabilities(&mut self) -> Result<(), ReadFailure> {
        let answer = self.command("CAPABILITY").await?;
        let named = answer.untagged.iter();
        let named = named.filter_map(|one| one.text.strip_prefix("* CAPABILITY "));
        let named = named.flat_map(|list| list.split_ascii_whitespace());
        self.capabilities = named.map(str::to_uppercase).collect();
        Ok(())
    }

    fn knows(&self, name: &str) -> bool {
        self.capabilities.iter().any(|known| known == name)
    }

    /// Opens the folder (`IMAPFolder#open`), and gives the number of its mails.
    async fn select(&mut self, values: &MailboxValues) -> Result<usize, ReadFailure> {
        let folder = &values.folder;
        let word = if values.deletes { "SELECT" } else { "EXAMINE" };
        let answer = self.command(&format!("{word} {}", quote(folder))).await?;
        if !answer.is_ok() {
            // JavaMail asks whether the folder exists.
            let listed = self
                .command(&format!("LIST \"\" {}", quote(folder)))
                .await?;
            let exists = listed
                .untagged
                .iter()
                .any(|one| one.text.starts_with("* LIST "));
            return Err(match exists {
                true => ReadFailure::new(&answer.text),
                false => {
                    let class = "javax.mail.FolderNotFoundException";
                    ReadFailure(format!("{class}: {folder} not found"))
                }
            });
        }
        let counted = answer.untagged.iter().find_map(|one| {
            let count = one.text.strip_prefix("* ")?.strip_suffix(" EXISTS")?;
            count.parse().ok()
        });
        Ok(counted.unwrap_or(0))
    }

    /// A part of a mail, such as `BODY[]`.
    pub async fn fetch(&mut self, number: usize, part: &str) -> Result<Vec<u8>, ReadFailure> {
        let answer = self.command(&format!("FETCH {number} ({part})")).await?;
        let begin = format!("* {number} FETCH ");
        let fetched = answer.untagged.into_iter().find(|one| {
            one.text.starts_with(&begin) && !(one.literals.is_empty() && one.quoted().is_none())
        });
        match fetched {
            Some(mut one) if !one.literals.is_empty() => Ok(one.literals.remove(0)),
            Some(one) => Ok(one.quoted().unwrap_or_default().into_bytes()),
            None if !answer.status.eq("OK") => Err(ReadFailure::new(&answer.text)),
            None => Err(ReadFailure("javax.mail.MessageRemovedException".to_owned())),
        }
    }

    /// Marks a mail as deleted.
    pub async fn delete(&mut self, number: usize) -> Result<(), ReadFailure> {
        let command = format!("STORE {number} +FLAGS (\\Deleted)");
        let answer = self.command(&command).await?;
        match answer.is_ok() {
            true => Ok(()),
            false => Err(ReadFailure::new(&answer.text)),
        }
    }

    /// CLOSE deletes the marked mails.
    pub async fn close(mut self) -> Option<u64> {
        for command in ["CLOSE", "LOGOUT"] {
            // JavaMail ignores the answers, too.
            if self.command(command).await.is_err() {
                break;
            }
        }
        let own_us = self.own_us();
        self.wire.dialogue.close();
        own_us
    }

    /// See [`Wire::own_us`].
    pub fn own_us(&mut self) -> Option<u64> {
        self.wire.own_us()
    }

    async fn command(&mut self, command: &str) -> Result<Answer, ReadFailure> {
        self.begin(command).await?;
        self.finish(Vec::new()).await
    }

    async fn begin(&mut self, command: &str) -> Result<(), ReadFailure> {
        self.tag += 1;
        let line = format!("A{} {command}", self.tag);
        self.send(&line).await
    }

    async fn send(&mut self, line: &str) -> Result<(), ReadFailure> {
        let sent = self.wire.send_line(line, line).await;
        sent.map_err(|kind| connection_failure(&io_exception(&kind, &self.host)))
    }

    /// Receives responses up to the one with the command's tag.
    async fn finish(&mut self, seen: Vec<Response>) -> Result<Answer, ReadFailure> {
        let tag = format!("A{} ", self.tag);
        let mut untagged = seen;
        loop {
            let own = untagged.last().and_then(|one| one.text.strip_prefix(&*tag));
            if let Some(status) = own {
                let (status, text) = status.split_once(' ').unwrap_or((status, ""));
                let (status, text) = (status.to_uppercase(), text.to_owned());
                untagged.pop();
                return Ok(Answer {
                    status,
                    text,
                    untagged,
                });
            }
            untagged.push(self.response().await?);
        }
    }

    /// A response with its literals.
    async fn response(&mut self) -> Result<Response, ReadFailure> {
        let mut response = Response::default();
        loop {
            let line = match self.wire.line().await {
                Ok(Some(line)) => line,
                Ok(None) => return Err(connection_failure("BYE")),
                Err(kind) => {
                    return Err(connection_failure(&io_exception(&kind, &self.host)));
                }
            };
            self.take_room(line.len() as u64)?;
            let Some(length) = literal_length(&line) else {
                response.push(&line);
                return Ok(response);
            };
            response.push(&line);
            self.take_room(length as u64)?;
            let mut literal = Vec::new();
            let received = self.wire.block(length, &mut literal).await;
            match received {
                Ok(true) => response.literals.push(literal),
                Ok(false) => return Err(connection_failure("BYE")),
                Err(kind) => {
                    return Err(connection_failure(&io_exception(&kind, &self.host)));
                }
            }
        }
    }

    fn take_room(&mut self, bytes: u64) -> Result<(), ReadFailure> {
        self.room = self.room.checked_sub(bytes).ok_or_else(|| {
            let exception = too_large();
            ReadFailure::around(&exception, &exception)
        })?;
        Ok(())
    }
}

fn protocol_failure(message: &str) -> ReadFailure {
    let cause = format!("com.sun.mail.iap.ProtocolException: {message}");
    ReadFailure::around(message, &cause)
}

fn connection_failure(message: &str) -> ReadFailure {
    let cause = format!("com.sun.mail.iap.ConnectionException: {message}");
    ReadFailure::around(message, &cause)
}
