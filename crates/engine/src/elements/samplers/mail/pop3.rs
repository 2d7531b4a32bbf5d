//! POP3 (RFC 1939) as JavaMail speaks it (`com.sun.mail.pop3.Protocol`).

use drumfire_http::{FailureKind, Session, Times};

use super::mailbox::{MailboxValues, ReadFailure, socket_exception};
use super::security::{Begin, Secure};
use super::wire::{Wire, io_exception};

/// An open mailbox.
pub struct Pop3 {
    wire: Wire,
    host: String,
    /// The commands that the server knows; `None` if it does not say.
    capabilities: Option<Vec<String>>,
    deleted: Vec<usize>,
    /// The bytes that mails may still have.
    room: u64,
}

/// A reply: whether the command succeeded, and the rest of the line.
struct Reply {
    is_ok: bool,
    text: String,
}

/// A failure below the protocol, as an exception of Java.
struct Broken {
    exception: String,
    /// Whether JavaMail throws an `EOFException`, which it takes for a refused login.
    is_end: bool,
}

impl Broken {
    fn end(message: &str) -> Broken {
        Broken {
            exception: message.to_owned(),
            is_end: true,
        }
    }

    fn other(exception: String) -> Broken {
        let is_end = false;
        Broken { exception, is_end }
    }

    /// While the connection is made and the user logs in.
    fn connecting(self) -> ReadFailure {
        match self.is_end {
            true => ReadFailure::login(&self.exception),
            false => ReadFailure::around("Connect failed", &self.exception),
        }
    }

    fn exception(self) -> String {
        match self.is_end {
            true => format!("java.io.EOFException: {}", self.exception),
            false => self.exception,
        }
    }
}

impl Pop3 {
    pub async fn open(
        session: &Session,
        values: &MailboxValues,
    ) -> Result<(Pop3, usize, Times), ReadFailure> {
        let opened = Wire::open(session, &values.server, &values.security, false).await;
        let (wire, times) = opened.map_err(|why| {
            let exception = socket_exception(&values.server, why);
            ReadFailure::around("Connect failed", &exception)
        })?;
        let mut pop3 = Pop3 {
            wire,
            host: values.server.host.to_string(),
            capabilities: None,
            deleted: Vec::new(),
            room: values.max_bytes,
        };
        pop3.log_in(values).await.map_err(Broken::connecting)?;
        if !values.folder.eq_ignore_ascii_case("INBOX") {
            pop3.close().await;
            let why = "javax.mail.FolderNotFoundException: folder is not INBOX";
            return Err(ReadFailure(why.to_owned()));
        }
        let status = pop3.command("STAT").await;
        let status = status.and_then(|status| match status.is_ok {
            true => Ok(status.text),
            false => Err(Broken::other(format!(
                "java.io.IOException: STAT command failed: {}",
                status.text
            ))),
        });
        let status =
            status.map_err(|broken| ReadFailure::around("Open failed", &broken.exception()))?;
        let total = status.split_ascii_whitespace().next();
        let total = total.and_then(|total| total.parse().ok()).unwrap_or(0);
        Ok((pop3, total, times))
    }

    async fn log_in(&mut self, values: &MailboxValues) -> Result<(), Broken> {
        let greeting = self.reply().await?;
        if !greeting.is_ok {
            return Err(Broken::other(
                "java.io.IOException: Connect failed".to_owned(),
            ));
        }
        self.ask_capabilities().await?;
        if values.security.begin == Begin::Later
            && self.knows("STLS")
            && self.command("STLS").await?.is_ok
        {
            let secure = values.security.tls.first().unwrap_or(&Secure::Hopeless);
            let started = self.wire.start_tls(&values.server, secure).await;
            started.map_err(|_| {
                Broken::other("java.io.IOException: Could not convert socket to TLS".to_owned())
            })?;
            self.ask_capabilities().await?;
        }
        for command in [
            format!("USER {}", values.user),
            format!("PASS {}", values.password),
        ] {
            let reply = self.command(&command).await?;
            if !reply.is_ok {
                // The answer does not matter.
                let _ = self.command("QUIT").await;
                return Err(Broken::end(&reply.text));
            }
        }
        Ok(())
    }

    async fn ask_capabilities(&mut self) -> Result<(), Broken> {
        self.capabilities = match self.command("CAPA").await?.is_ok {
            false => None,
            true => {
                let lines = self.lines().await?;
                let lines = String::from_utf8_lossy(&lines).to_uppercase();
                let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
                Some(lines.lines().map(name).collect())
            }
        };
        Ok(())
    }

    fn knows(&self, command: &str) -> bool {
        let known = self.capabilities.as_ref();
        known.is_some_and(|known| known.iter().any(|known| known == command))
    }

    /// The header of a mail, with TOP if the server knows it (`POP3Message#loadHeaders`).
    pub async fn header(&mut self, number: usize) -> Result<Vec<u8>, ReadFailure> {
        if self.capabilities.is_some() && !self.knows("TOP") {
            return self.mail(number).await;
        }
        self.retrieve(&format!("TOP {number} 0"), "error loading POP3 headers")
            .await
    }

    /// A whole mail.
    pub async fn mail(&mut self, number: usize) -> Result<Vec<u8>, ReadFailure> {
        self.retrieve(&format!("RETR {number}"), "error fetching POP3 content")
            .await
    }

    async fn retrieve(&mut self, command: &str, failed: &str) -> Result<Vec<u8>, ReadFailure> {
        let failure = |broken: Broken| ReadFailure::around(failed, &broken.exception());
        let reply = self.command(command).await.map_err(failure)?;
        if !reply.is_ok {
            return Err(ReadFailure(format!(
                "javax.mail.MessageRemovedException: can't retrieve it with {command}"
            )));
        }
        self.lines().await.map_err(failure)
    }

    /// Marks a mail, which is deleted at the end.
    pub fn delete(&mut self, number: usize) {
        self.deleted.push(number);
    }

    pub async fn close(mut self) -> Option<u64> {
        for number in std::mem::take(&mut self.deleted) {
            if self.command(&format!("DELE {number}")).await.is_err() {
                break;
            }
        }
        // JavaMail ignores the answer, too.
        let _ = self.command("QUIT").await;
        let own_us = self.own_us();
        self.wire.dialogue.close();
        own_us
    }

    /// See [`Wire::own_us`].
    pub fn own_us(&mut self) -> Option<u64> {
        self.wire.own_us()
    }

    async fn command(&mut self, command: &str) -> Result<Reply, Broken> {
        let sent = self.wire.send_line(command, command).await;
        sent.map_err(|kind| self.broken(&kind))?;
        self.reply().await
    }

    async fn reply(&mut self) -> Result<Reply, Broken> {
        let line = self.line().await?;
        let line: String = line.iter().map(|byte| char::from(*byte)).collect();
        let is_ok = line.starts_with("+OK");
        if !is_ok && !line.starts_with("-ERR") {
            let exception = format!("java.io.IOException: Unexpected response: {line}");
            return Err(Broken::other(exception));
        }
        let text = line.split_once(' ').map_or("", |(_, text)| text).to_owned();
        Ok(Reply { is_ok, text })
    }

    /// Lines up to the one with a dot.
    async fn lines(&mut self) -> Result<Vec<u8>, Broken> {
        let mut all = Vec::new();
        loop {
            let line = self.line().await?;
            let line = match line.as_slice() {
                b"." => break,
                [b'.', rest @ ..] => rest,
                line => line,
            };
            let length = line.len() as u64 + 2;
            let Some(room) = self.room.checked_sub(length) else {
                return Err(Broken::other(super::wire::too_large()));
            };
            self.room = room;
            all.extend_from_slice(line);
            all.extend_from_slice(b"\r\n");
        }
        Ok(all)
    }

    async fn line(&mut self) -> Result<Vec<u8>, Broken> {
        match self.wire.line().await {
            Ok(Some(line)) => Ok(line),
            Ok(None) => Err(Broken::end("EOF on socket")),
            Err(kind) => Err(self.broken(&kind)),
        }
    }

    /// `Protocol#readResponse` takes timeouts and broken connections for the end of the stream.
    fn broken(&self, kind: &FailureKind) -> Broken {
        let exception = io_exception(kind, &self.host);
        match kind {
            FailureKind::ReadTimeout | FailureKind::Reset | FailureKind::BrokenPipe => {
                let message = exception
                    .split_once(": ")
                    .map_or("", |(_, message)| message);
                Broken::end(message)
            }
            _ => Broken::other(exception),
        }
    }
}
