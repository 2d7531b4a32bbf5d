//! The conversation of an SMTP Sampler with its server (`SMTPTransport`).

use std::time::Instant;

use drumfire_http::{Failure, FailureKind, Session, Times};
use drumfire_mail::smtp::{Extensions, Mechanism, Reply, auth_answer, auth_command, data, path};
use drumfire_mail::{Address, Message};

use super::machine;
use super::security::{Begin, Secure, Security};
use super::settings::SmtpValues;
use super::wire::{Server, Unconnected, Wire};

/// The most bytes of a reply with several lines, in lines.
const MAX_REPLY_LINES: usize = 1000;

/// Why a mail was not sent.
#[derive(Debug, PartialEq, Eq)]
pub enum SendFailure {
    /// The text of an `AuthenticationFailedException`.
    Login(String),
    /// The message of any other exception.
    Other(String),
}

impl From<String> for SendFailure {
    fn from(message: String) -> SendFailure {
        SendFailure::Other(message)
    }
}

impl From<&str> for SendFailure {
    fn from(message: &str) -> SendFailure {
        SendFailure::Other(message.to_owned())
    }
}

/// Why a conversation ended, and what is known of the time that it took.
pub struct Sending {
    pub outcome: Result<(), SendFailure>,
    /// `None` if there was no connection.
    pub times: Option<Times>,
    /// The generator's own part, in microseconds, of a conversation that went to its end.
    pub own_us: Option<u64>,
    /// The failure to connect, for hints.
    pub unconnected: Option<Box<Failure>>,
}

/// Connects, sends a mail, and says goodbye.
pub async fn send(session: &Session, values: &SmtpValues, message: &Message) -> Sending {
    let server = &values.server;
    if let Some(fault) = &values.fault {
        return unsent(fault.clone(), None);
    }
    let opened = Wire::open(session, server, &values.security, values.is_logged).await;
    let (wire, times) = match opened {
        Ok(opened) => opened,
        Err(why) => return not_connected(server, why),
    };
    let mut transport = Transport {
        wire,
        server,
        security: &values.security,
        last: Reply::default(),
        extensions: Extensions::default(),
        times,
    };
    let mut outcome = transport.log_in(values).await;
    if outcome.is_ok() {
        outcome = transport.deliver(message, &values.local_address).await;
        if !matches!(&outcome, Err(SendFailure::Other(why)) if why == CUT_OFF) {
            // The mail is sent or not, whatever the server answers.
            let _ = transport.command("QUIT").await;
        }
    }
    let mut times = transport.times;
    times.end = Instant::now();
    let own_us = outcome.is_ok().then(|| transport.wire.own_us()).flatten();
    transport.wire.dialogue.close();
    Sending {
        outcome,
        times: Some(times),
        own_us,
        unconnected: None,
    }
}

/// The message of an exception that ends the connection in the middle of a mail.
const CUT_OFF: &str = "IOException while sending message";

fn not_connected(server: &Server, why: Unconnected) -> Sending {
    let (host, port) = (&server.host, server.port);
    let mut failed = None;
    let message = match why {
        Unconnected::Failed(failure) => {
            let is_unknown = matches!(failure.kind, FailureKind::UnknownHost);
            failed = Some(failure);
            match is_unknown {
                true => format!("Unknown SMTP host: {host}"),
                false => format!("Could not connect to SMTP host: {host}, port: {port}"),
            }
        }
        Unconnected::Handshake(_) => {
            format!("Could not connect to SMTP host: {host}, port: {port}")
        }
        Unconnected::UnknownProtocol(name) => format!("Unsupported protocol{name}"),
    };
    unsent(message, failed)
}

fn unsent(message: String, unconnected: Option<Box<Failure>>) -> Sending {
    Sending {
        outcome: Err(message.into()),
        times: None,
        own_us: None,
        unconnected,
    }
}

struct Transport<'v> {
    wire: Wire,
    server: &'v Server,
    security: &'v Security,
    last: Reply,
    extensions: Extensions,
    times: Times,
}

impl Transport<'_> {
    /// `SMTPTransport#protocolConnect`, from the greeting on.
    async fn log_in(&mut self, values: &SmtpValues) -> Result<(), SendFailure> {
        let greeting = self.reply().await?;
        if greeting != 220 {
            let Server { host, port, .. } = self.server;
            let message = format!(
                "Could not connect to SMTP host: {host}, port: {port}, response: {greeting}"
            );
            return Err(message.into());
        }
        if !self.greet().await? {
            self.expect(&format!("HELO {}", machine::host()), 250)
                .await?;
        }
        if self.security.begin == Begin::Later && self.extensions.has("STARTTLS") {
            self.start_tls().await?;
            self.greet().await?;
        }
        match &values.account {
            Some((user, password))
                if self.extensions.has("AUTH") || self.extensions.has("AUTH=LOGIN") =>
            {
                self.authenticate(user, password).await
            }
            _ => Ok(()),
        }
    }

    /// EHLO. False if the server does not know it.
    async fn greet(&mut self) -> Result<bool, SendFailure> {
        let code = self.command(&format!("EHLO {}", machine::host())).await?;
        if code == 250 {
            self.extensions = self.last.extensions();
        }
        Ok(code == 250)
    }

    async fn start_tls(&mut self) -> Result<(), SendFailure> {
        self.expect("STARTTLS", 220).await?;
        let secure = self.security.tls.first().unwrap_or(&Secure::Hopeless);
        let started = self.wire.start_tls(self.server, secure).await;
        started.map_err(|_| "Could not convert socket to TLS".into())
    }

    async fn authenticate(&mut self, user: &str, password: &str) -> Result<(), SendFailure> {
        let Some(mechanism) = self.extensions.mechanism() else {
            let why = "No authentication mechansims supported by both server and client";
            return Err(SendFailure::Login(login_exception(why)));
        };
        let command = auth_command(mechanism, user, password);
        let shown = format!("AUTH {mechanism:?} …");
        let mut code = self.secret(&command, &shown).await?;
        if code == 530 {
            // The server wants TLS first.
            self.start_tls().await?;
            code = self.secret(&command, &shown).await?;
        }
        if code == 334 && mechanism == Mechanism::Plain {
            let why = "PLAIN asked for more";
            return Err(SendFailure::Login(login_exception(why)));
        }
        for answer in [user, password] {
            if code == 334 {
                code = self.secret(&auth_answer(answer), "…").await?;
            }
        }
        match code {
            235 => Ok(()),
            _ => Err(SendFailure::Login(login_exception(&self.last.text))),
        }
    }

    /// `SMTPTransport#sendMessage`.
    async fn deliver(&mut self, message: &Message, local: &str) -> Result<(), SendFailure> {
        let fault = |error: drumfire_mail::AddressError| SendFailure::from(error.message());
        let receivers = message.receivers().map_err(fault)?.ok_or(NO_RECEIVERS)?;
        if receivers.is_empty() {
            return Err("No recipient addresses".into());
        }
        let receivers = receivers.into_iter().flat_map(|one| match one.group() {
            Some(members) => members,
            None => vec![one],
        });
        let receivers: Vec<Address> = receivers.collect();
        let sender = message.sender().map_err(fault)?;
        let sender = sender.unwrap_or_else(|| local.to_owned());
        self.expect_or_reset(&format!("MAIL FROM:{}", path(&sender)), 250)
            .await?;
        self.receivers(&receivers).await?;
        self.expect_or_reset("DATA", 354).await?;
        let mut mail = Vec::new();
        message.write(&mut mail).map_err(|error| {
            tracing::warn!("A file cannot be attached: {error}");
            CUT_OFF
        })?;
        let sent = self.wire.send_bytes(&data(&mail)).await;
        sent.map_err(|_| CUT_OFF)?;
        self.times.sent = Some(Instant::now());
        let code = self.reply().await?;
        self.times.first_byte = Some(Instant::now());
        self.reset_unless(code == 250).await
    }

    /// RCPT for each receiver; one that is refused spoils the mail for all.
    async fn receivers(&mut self, receivers: &[Address]) -> Result<(), SendFailure> {
        let mut is_refused = false;
        for receiver in receivers {
            let command = format!("RCPT TO:{}", path(&receiver.address));
            match self.command(&command).await? {
                250 | 251 => {}
                400..=599 => is_refused = true,
                _ => return self.reset_unless(false).await,
            }
        }
        if is_refused {
            // The answer does not matter.
            let _ = self.command("RSET").await;
            return Err("Invalid Addresses".into());
        }
        Ok(())
    }

    /// Sends a command. After another code the mail is reset, and the reply is the failure (`issueSendCommand`).
    async fn expect_or_reset(&mut self, command: &str, code: i32) -> Result<(), SendFailure> {
        let is_expected = self.command(command).await? == code;
        self.reset_unless(is_expected).await
    }

    async fn reset_unless(&mut self, is_expected: bool) -> Result<(), SendFailure> {
        if is_expected {
            return Ok(());
        }
        let why = std::mem::take(&mut self.last.text);
        // The answer does not matter.
        let _ = self.command("RSET").await;
        Err(why.into())
    }

    /// Sends a command; another code is a failure with the reply.
    async fn expect(&mut self, command: &str, code: i32) -> Result<(), SendFailure> {
        match self.command(command).await? == code {
            true => Ok(()),
            false => Err(self.last.text.clone().into()),
        }
    }

    async fn command(&mut self, command: &str) -> Result<i32, SendFailure> {
        self.secret(command, command).await
    }

    /// Sends a command that has another form in the log.
    async fn secret(&mut self, command: &str, shown: &str) -> Result<i32, SendFailure> {
        let sent = self.wire.send_line(command, shown).await;
        sent.map_err(|_| "Can't send command to SMTP host")?;
        self.reply().await
    }

    /// Receives a reply, and gives its code.
    async fn reply(&mut self) -> Result<i32, SendFailure> {
        let mut reply = Reply::default();
        for _ in 0..MAX_REPLY_LINES {
            match self.wire.line().await.map_err(unreadable)? {
                Some(line) if !reply.push(&line) => {}
                Some(_) => break,
                None => {
                    reply.end();
                    break;
                }
            }
        }
        self.last = reply;
        Ok(self.last.code)
    }
}

/// A reply that does not come, or whose line is too long.
fn unreadable(kind: FailureKind) -> SendFailure {
    tracing::warn!("A mail server's reply cannot be read: {kind:?}");
    "Exception reading response".into()
}

/// JMeter's exception for a mail without a receiver.
const NO_RECEIVERS: &str = "Cannot read the array length because \"addresses\" is null";

fn login_exception(why: &str) -> String {
    format!("javax.mail.AuthenticationFailedException: {why}")
}
