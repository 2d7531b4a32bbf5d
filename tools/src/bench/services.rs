//! Servers that only some scenarios need: a WebSocket echo, a gRPC service, an FTP server, a mail server, an MQTT broker, and a database.
//! Each is started on first use.

use std::cell::OnceCell;
use std::net::Ipv4Addr;
use std::sync::mpsc::channel;

use anyhow::{Context as _, bail};
use drumfire_testkit::databases::Postgres;
use drumfire_testkit::grpc::GrpcServer;
use drumfire_testkit::mosquitto::Mosquitto;
use drumfire_testkit::smtp::SmtpServer;
use drumfire_testkit::vsftpd::Vsftpd;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::{TcpListener, TcpStream as AsyncStream};
use tokio_websockets::ServerBuilder;

/// The services that have been started. Dropping this ends them.
#[derive(Default)]
pub struct Services {
    echo: OnceCell<u16>,
    database: OnceCell<Postgres>,
    grpc: OnceCell<GrpcServer>,
    ftp: OnceCell<Vsftpd>,
    mail: OnceCell<SmtpServer>,
    mqtt: OnceCell<Mosquitto>,
}

impl Services {
    /// The port of the WebSocket echo.
    ///
    /// # Errors
    /// No port is free.
    pub fn echo_port(&self) -> anyhow::Result<u16> {
        if let Some(port) = self.echo.get() {
            return Ok(*port);
        }
        let port = start_echo()?;
        Ok(*self.echo.get_or_init(|| port))
    }

    /// The port of the gRPC service of the tests.
    ///
    /// # Errors
    /// No port is free.
    pub fn grpc_port(&self) -> anyhow::Result<u16> {
        if let Some(server) = self.grpc.get() {
            return Ok(server.address().port());
        }
        let server = GrpcServer::start(Vec::new())?;
        Ok(self.grpc.get_or_init(|| server).address().port())
    }

    /// The port of an FTP server. Its user `anonymous` may fetch `file`, of 1 KiB.
    ///
    /// # Errors
    /// vsftpd is not installed.
    pub fn ftp_port(&self) -> anyhow::Result<u16> {
        if let Some(server) = self.ftp.get() {
            return Ok(server.port);
        }
        let server = Vsftpd::start().context("vsftpd is not installed")?;
        std::fs::write(server.file("file"), [b'x'; 1024])?;
        Ok(self.ftp.get_or_init(|| server).port)
    }

    /// The port of the SMTP server of the tests.
    ///
    /// # Errors
    /// No port is free.
    pub fn mail_port(&self) -> anyhow::Result<u16> {
        if let Some(server) = self.mail.get() {
            return Ok(server.port);
        }
        let server = SmtpServer::start(None)?;
        Ok(self.mail.get_or_init(|| server).port)
    }

    /// The port of an MQTT broker.
    ///
    /// # Errors
    /// Mosquitto is not installed.
    pub fn mqtt_port(&self) -> anyhow::Result<u16> {
        if let Some(broker) = self.mqtt.get() {
            return Ok(broker.port);
        }
        let broker = Mosquitto::start().context("Mosquitto is not installed")?;
        Ok(self.mqtt.get_or_init(|| broker).port)
    }

    /// The port of a PostgreSQL server. Its user `jm` has the password `pw`.
    ///
    /// # Errors
    /// PostgreSQL is not installed.
    pub fn database_port(&self) -> anyhow::Result<u16> {
        if let Some(database) = self.database.get() {
            return Ok(database.port);
        }
        let database = Postgres::start().context("PostgreSQL is not installed")?;
        Ok(self.database.get_or_init(|| database).port)
    }
}

/// Runs the echo on threads of this process, so that its CPU is not attributed to a measured program.
fn start_echo() -> anyhow::Result<u16> {
    let (tell, port) = channel();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    std::thread::spawn(move || {
        runtime.block_on(async move {
            let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
            let port = bound.as_ref().map(TcpListener::local_addr);
            let port = port.map(|address| address.map(|address| address.port()).unwrap_or(0));
            let _ = tell.send(port.unwrap_or(0));
            let Ok(listener) = bound else { return };
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(echo(stream));
            }
        });
    });
    match port.recv() {
        Ok(port) if port > 0 => Ok(port),
        _ => bail!("the WebSocket that echoes has no port"),
    }
}

async fn echo(stream: AsyncStream) {
    let _ = stream.set_nodelay(true);
    let Ok((_, mut socket)) = ServerBuilder::new().accept(stream).await else {
        return;
    };
    while let Some(Ok(message)) = socket.next().await {
        let is_data = message.is_text() || message.is_binary();
        if is_data && socket.send(message).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn messages_come_back() {
        let services = Services::default();
        let port = services.echo_port().expect("it starts");
        assert_eq!(services.echo_port().expect("it runs"), port);
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
        let ask = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
        stream.write_all(ask.as_bytes()).expect("it reads");
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).expect("it answers");
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101"));
        // A masked text frame of two letters with a mask of zero.
        stream
            .write_all(&[0x81, 0x82, 0, 0, 0, 0, b'h', b'i'])
            .expect("it reads");
        let mut frame = [0; 4];
        stream.read_exact(&mut frame).expect("it answers");
        assert_eq!(frame, [0x81, 2, b'h', b'i']);
    }
}
