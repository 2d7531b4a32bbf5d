//! The connection of commands and replies (`FTPClient`).

use std::net::SocketAddr;
use std::time::Instant;

use drumfire_http::{StampedReads, stamp_arrivals};
use drumfire_java::charset::Charset;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::failure::FtpFailure;
use super::reply::{Reply, port};
use crate::elements::samplers::http::settings::MAX_HEAD_BYTES;
use crate::elements::samplers::java_socket::{connect_failure, resolve};
use crate::elements::samplers::own_part::OwnTurns;

/// The port if the plan names none.
const DEFAULT_PORT: i32 = 21;
/// Bytes of one read.
const READ_BYTES: usize = 1024;

/// A connection to a server, and its last reply.
pub struct Control {
    stream: TcpStream,
    server: SocketAddr,
    /// Bytes that belong to the next reply.
    received: Vec<u8>,
    pub reply: Reply,
    max_reply_bytes: usize,
    turns: OwnTurns,
    /// When the kernel had received the bytes that were read since the last command, as far as it says.
    arrived: Option<Instant>,
}

impl Control {
    /// Connects, without waiting for the greeting. Replies of more than `max_reply_bytes` fail.
    ///
    /// # Errors
    /// There is no connection.
    pub async fn connect(
        name: &str,
        number: i32,
        max_reply_bytes: usize,
    ) -> Result<Control, FtpFailure> {
        let number = if number > 0 { number } else { DEFAULT_PORT };
        let port = port(number)?;
        let Some(address) = resolve(name).await else {
            return Err(FtpFailure::io("java.net.UnknownHostException", name));
        };
        let server = SocketAddr::new(address, port);
        Ok(Control {
            stream: connect(server).await?,
            server,
            received: Vec::new(),
            reply: Reply::default(),
            max_reply_bytes,
            turns: OwnTurns::begun_by_server(),
            arrived: None,
        })
    }

    /// Waits for the greeting. A server that is not ready yet says so first.
    ///
    /// # Errors
    /// Those of any reply.
    pub async fn greeting(&mut self) -> Result<(), FtpFailure> {
        self.receive().await?;
        if self.reply.is_preliminary() {
            self.receive().await?;
        }
        Ok(())
    }

    /// Logs in. False if the server refuses.
    ///
    /// # Errors
    /// Those of any reply.
    pub async fn login(&mut self, user: &str, password: &str) -> Result<bool, FtpFailure> {
        self.command("USER", Some(user)).await?;
        if self.reply.is_intermediate() {
            self.command("PASS", Some(password)).await?;
        }
        Ok(self.reply.is_completion())
    }

    /// Asks for bytes as they are. False if the server refuses.
    ///
    /// # Errors
    /// Those of any reply.
    pub async fn set_binary(&mut self) -> Result<bool, FtpFailure> {
        self.command("TYPE", Some("I")).await?;
        Ok(self.reply.is_completion())
    }

    /// Opens a data connection for a command in passive mode; `None` if the server refuses. The connection goes to the server's
    /// address, whatever the reply says.
    ///
    /// # Errors
    /// Those of any reply; there is no port in it; the port refuses the connection.
    pub async fn transfer(
        &mut self,
        command: &str,
        file: &str,
    ) -> Result<Option<TcpStream>, FtpFailure> {
        let (passive, code) = match self.server.is_ipv6() {
            true => ("EPSV", 229),
            false => ("PASV", 227),
        };
        self.command(passive, None).await?;
        if self.reply.code != code {
            return Ok(None);
        }
        let mut address = self.server;
        address.set_port(match self.server.is_ipv6() {
            true => self.reply.extended_port()?,
            false => self.reply.passive_port()?,
        });
        self.note_answer();
        let data = connect(address).await?;
        self.command(command, Some(file)).await?;
        Ok(self.reply.is_preliminary().then_some(data))
    }

    /// Takes leave, whether or not the server still answers.
    pub async fn quit(&mut self) {
        // A failure here has no part in the sample (`FTPSampler#sample`).
        let _ = self.command("QUIT", None).await;
    }

    /// The kernel had received the last byte of a fetched file at this time.
    pub fn note_data(&mut self, arrived: Option<Instant>) {
        self.arrived = arrived;
    }

    /// The generator's own part of the conversation so far, in microseconds. `None` if the last command has no reply.
    pub fn own_us(&mut self) -> Option<u64> {
        self.note_answer();
        self.turns.own_us()
    }

    fn note_answer(&mut self) {
        self.turns.answered(self.arrived.take());
    }

    async fn command(&mut self, command: &str, argument: Option<&str>) -> Result<(), FtpFailure> {
        let line = match argument {
            Some(argument) => format!("{command} {argument}\r\n"),
            None => format!("{command}\r\n"),
        };
        let bytes = Charset::ISO_8859_1.encode(&line);
        self.note_answer();
        self.turns.asks();
        let sent = self.stream.write_all(&bytes).await;
        sent.map_err(|error| FtpFailure::writing(&error))?;
        self.receive().await
    }

    /// Waits for a reply.
    ///
    /// # Errors
    /// The connection ends or breaks, the reply is malformed or too large, or the server says that it leaves.
    pub async fn receive(&mut self) -> Result<(), FtpFailure> {
        const CLOSED: &str = "org.apache.commons.net.ftp.FTPConnectionClosedException";
        let mut goes_on = None;
        while goes_on != Some(false) {
            let Some(line) = self.line(self.reply_bytes(goes_on.is_some())).await? else {
                let message = "Connection closed without indication.";
                return Err(FtpFailure::io(CLOSED, message));
            };
            let line = Charset::ISO_8859_1.decode(&line);
            goes_on = Some(match goes_on {
                None => self.reply.begin(&line)?,
                Some(_) => self.reply.go_on(&line),
            });
        }
        if self.reply.code == 421 {
            let message = "FTP response 421 received.  Server closed connection.";
            return Err(FtpFailure::io(CLOSED, message));
        }
        Ok(())
    }

    /// The bytes of the reply at hand so far.
    fn reply_bytes(&self, has_begun: bool) -> usize {
        if has_begun { self.reply.text.len() } else { 0 }
    }

    /// A line up to CR and LF, or up to the end of the connection; `None` at that end (`CRLFLineReader#readLine`). `before` is
    /// the size of the reply's earlier lines.
    async fn line(&mut self, before: usize) -> Result<Option<Vec<u8>>, FtpFailure> {
        let mut searched = 0;
        loop {
            let ends = self.received[searched..].windows(2);
            if let Some(at) = ends.clone().position(|pair| pair == b"\r\n") {
                let end = searched + at;
                let line = self.received[..end].to_vec();
                self.received.drain(..end + 2);
                return Ok(Some(line));
            }
            searched = self.received.len().saturating_sub(1);
            if before + self.received.len() > self.max_reply_bytes {
                let limit = self.max_reply_bytes as u64;
                return Err(FtpFailure::too_large("reply", limit, MAX_HEAD_BYTES));
            }
            self.received.reserve(READ_BYTES);
            let mut reads = StampedReads::new(&self.stream);
            let read = reads.read_buf(&mut self.received).await;
            self.arrived = reads.arrived();
            if read.map_err(|error| FtpFailure::reading(&error))? == 0 {
                let rest = std::mem::take(&mut self.received);
                return Ok((!rest.is_empty()).then_some(rest));
            }
        }
    }
}

async fn connect(address: SocketAddr) -> Result<TcpStream, FtpFailure> {
    let connected = TcpStream::connect(address).await;
    let stream = connected.map_err(|error| FtpFailure::Io(connect_failure(&error)))?;
    stamp_arrivals(&stream);
    Ok(stream)
}
