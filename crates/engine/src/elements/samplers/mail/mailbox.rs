//! A mailbox on a POP3 or an IMAP server, as a Mail Reader Sampler opens it.

use drumfire_http::{Session, Times};

use super::imap::Imap;
use super::pop3::Pop3;
use super::security::Security;
use super::wire::{Server, Unconnected};

/// The mailbox to open, and the account.
pub struct MailboxValues {
    /// `pop3`, `pop3s`, `imap` or `imaps`.
    pub protocol: Protocol,
    pub server: Server,
    pub security: Security,
    pub user: String,
    pub password: String,
    pub folder: String,
    pub deletes: bool,
    /// The most bytes of all mails of a sample.
    pub max_bytes: u64,
}

/// A protocol of a mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Pop3,
    Pop3s,
    Imap,
    Imaps,
}

impl Protocol {
    /// A protocol by the name that JavaMail gives it.
    pub fn of(name: &str) -> Option<Protocol> {
        Some(match name {
            "pop3" => Protocol::Pop3,
            "pop3s" => Protocol::Pop3s,
            "imap" => Protocol::Imap,
            "imaps" => Protocol::Imaps,
            _ => return None,
        })
    }

    pub fn is_secure(self) -> bool {
        matches!(self, Protocol::Pop3s | Protocol::Imaps)
    }

    pub fn default_port(self) -> u16 {
        match self {
            Protocol::Pop3 => 110,
            Protocol::Pop3s => 995,
            Protocol::Imap => 143,
            Protocol::Imaps => 993,
        }
    }
}

/// An open mailbox.
pub enum Mailbox {
    Pop3(Box<Pop3>),
    Imap(Box<Imap>),
}

/// Why a mailbox cannot be read: Java's exception with its causes, as `MessagingException#toString` writes it.
#[derive(Debug, PartialEq, Eq)]
pub struct ReadFailure(pub String);

impl ReadFailure {
    /// A `MessagingException`.
    pub fn new(message: &str) -> ReadFailure {
        ReadFailure(format!("javax.mail.MessagingException: {message}"))
    }

    /// A `MessagingException` around another exception.
    pub fn around(message: &str, cause: &str) -> ReadFailure {
        let nested = ";\n  nested exception is:\n\t";
        ReadFailure(format!(
            "javax.mail.MessagingException: {message}{nested}{cause}"
        ))
    }

    /// A login that was refused.
    pub fn login(why: &str) -> ReadFailure {
        ReadFailure(format!("javax.mail.AuthenticationFailedException: {why}"))
    }
}

impl Mailbox {
    /// Connects, logs in and opens the folder; also gives the number of its mails.
    pub async fn open(
        session: &Session,
        values: &MailboxValues,
    ) -> Result<(Mailbox, usize, Times), ReadFailure> {
        match values.protocol {
            Protocol::Pop3 | Protocol::Pop3s => {
                let (pop3, total, times) = Pop3::open(session, values).await?;
                Ok((Mailbox::Pop3(Box::new(pop3)), total, times))
            }
            Protocol::Imap | Protocol::Imaps => {
                let (imap, total, times) = Imap::open(session, values).await?;
                Ok((Mailbox::Imap(Box::new(imap)), total, times))
            }
        }
    }

    /// The header of a mail; mails are counted from 1.
    pub async fn header(&mut self, number: usize) -> Result<Vec<u8>, ReadFailure> {
        match self {
            Mailbox::Pop3(pop3) => pop3.header(number).await,
            Mailbox::Imap(imap) => imap.fetch(number, "BODY[HEADER]").await,
        }
    }

    /// A whole mail.
    pub async fn mail(&mut self, number: usize) -> Result<Vec<u8>, ReadFailure> {
        match self {
            Mailbox::Pop3(pop3) => pop3.mail(number).await,
            Mailbox::Imap(imap) => imap.fetch(number, "BODY[]").await,
        }
    }

    /// Marks a mail as deleted.
    pub async fn delete(&mut self, number: usize) -> Result<(), ReadFailure> {
        match self {
            Mailbox::Pop3(pop3) => {
                pop3.delete(number);
                Ok(())
            }
            Mailbox::Imap(imap) => imap.delete(number).await,
        }
    }

    /// The generator's own part of the conversation so far, in microseconds.
    pub fn own_us(&mut self) -> Option<u64> {
        match self {
            Mailbox::Pop3(pop3) => pop3.own_us(),
            Mailbox::Imap(imap) => imap.own_us(),
        }
    }

    /// Deletes the marked mails, and says goodbye. Returns the generator's own part of the whole conversation.
    pub async fn close(self) -> Option<u64> {
        match self {
            Mailbox::Pop3(pop3) => pop3.close().await,
            Mailbox::Imap(imap) => imap.close().await,
        }
    }

    /// Whether JavaMail gives the text in front of the first part, which IMAP has no command for.
    pub fn has_preambles(&self) -> bool {
        matches!(self, Mailbox::Pop3(_))
    }
}

/// Java's exception for a connection that could not be made.
pub fn socket_exception(server: &Server, why: Unconnected) -> String {
    match why {
        Unconnected::Failed(failure) => super::wire::io_exception(&failure.kind, &server.host),
        Unconnected::Handshake(exception) => exception,
        Unconnected::UnknownProtocol(name) => {
            format!("java.lang.IllegalArgumentException: Unsupported protocol{name}")
        }
    }
}
