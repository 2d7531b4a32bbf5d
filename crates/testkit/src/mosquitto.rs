//! A private MQTT broker, if Mosquitto is installed. Dropping it ends it.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::ports::{free_port, wait_for_port};
use crate::websocket::{Frame, accept};

/// A Mosquitto broker with a listener for each transport, all on 127.0.0.1.
pub struct Mosquitto {
    /// The port without TLS.
    pub port: u16,
    /// The port with TLS and a self-signed certificate.
    pub tls_port: u16,
    /// The port of WebSocket connections.
    pub websocket_port: u16,
    /// The port that demands the user `jm` with the password `pw`.
    pub locked_port: u16,
    server: Child,
    _folder: tempfile::TempDir,
}

impl Mosquitto {
    /// Starts a broker. Without an installation it prints a line about that and returns `None`.
    ///
    /// # Panics
    /// The broker does not start.
    pub fn start() -> Option<Mosquitto> {
        let usual = Path::new("/usr/sbin/mosquitto");
        let program = if usual.exists() {
            usual
        } else {
            Path::new("mosquitto")
        };
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let [port, tls_port, locked_port] = [(); 3].map(|()| free_port());
        let made =
            rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]);
        let made = made.expect("a certificate can be made");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("the folder is writable");
            path.display().to_string()
        };
        let chain = file("server.crt", &made.cert.pem());
        let key = file("server.key", &made.signing_key.serialize_pem());
        let passwords = file("passwords", "");
        let added = Command::new("mosquitto_passwd")
            .args(["-b", &passwords, "jm", "pw"])
            .status();
        let settings = format!(
            "user root\nper_listener_settings true\nmax_queued_messages 100000\nmax_packet_size 2000000\n\
             listener {port} 127.0.0.1\nallow_anonymous true\n\
             listener {tls_port} 127.0.0.1\nallow_anonymous true\ncertfile {chain}\nkeyfile {key}\n\
             listener {locked_port} 127.0.0.1\nallow_anonymous false\npassword_file {passwords}\n"
        );
        let server = Command::new(program)
            .args(["-c", &file("mosquitto.conf", &settings)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let (Ok(mut server), Ok(_)) = (server, added) else {
            println!("skipped: this machine has no Mosquitto (package mosquitto)");
            return None;
        };
        wait_for_port("mosquitto", &mut server, locked_port);
        Some(Mosquitto {
            port,
            tls_port,
            websocket_port: bridge(port).expect("loopback has a free port"),
            locked_port,
            server,
            _folder: folder,
        })
    }

    /// The ports by the properties from which the plans of compat/ read them.
    pub fn ports(&self) -> [(&'static str, u16); 4] {
        [
            ("mqtt_port", self.port),
            ("mqtts_port", self.tls_port),
            ("mqttws_port", self.websocket_port),
            ("mqtt_locked_port", self.locked_port),
        ]
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Passes the bytes of WebSocket connections on to the broker at a port; returns its own port. Not every build of Mosquitto has
/// WebSockets.
fn bridge(broker: u16) -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // A client that goes away ends the conversation.
            std::thread::spawn(move || pass(client, broker));
        }
    });
    Ok(port)
}

fn pass(mut client: TcpStream, broker: u16) -> io::Result<()> {
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    while !head.ends_with(b"\r\n\r\n") {
        match client.read(&mut piece[..1])? {
            0 => return Ok(()),
            count => head.extend_from_slice(&piece[..count]),
        }
    }
    let head = String::from_utf8_lossy(&head);
    let key = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_key = name.eq_ignore_ascii_case("Sec-WebSocket-Key");
        is_key.then_some(value.trim())
    });
    let accept = accept(key.unwrap_or_default());
    write!(
        client,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n"
    )?;
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, broker))?;
    let (mut answers, mut back) = (server.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = answers.read(&mut piece) {
            if back
                .write_all(&Frame::binary(piece[..count].to_vec()).back())
                .is_err()
            {
                break;
            }
        }
        back.shutdown(std::net::Shutdown::Both)
    });
    let mut received = Vec::new();
    loop {
        while let Some(frame) = Frame::take(&mut received) {
            if frame.closes() {
                return server.shutdown(std::net::Shutdown::Both);
            }
            server.write_all(&frame.data)?;
        }
        match client.read(&mut piece)? {
            0 => return server.shutdown(std::net::Shutdown::Both),
            count => received.extend_from_slice(&piece[..count]),
        }
    }
}
