//! A private MQTT broker, if Mosquitto is installed. Dropping it ends it.

use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::databases::free_port;

/// How long the broker may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

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
        let program = if usual.exists() { usual } else { Path::new("mosquitto") };
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let [port, tls_port, websocket_port, locked_port] = [(); 4].map(|()| free_port());
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]);
        let made = made.expect("a certificate can be made");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("the folder is writable");
            path.display().to_string()
        };
        let chain = file("server.crt", &made.cert.pem());
        let key = file("server.key", &made.signing_key.serialize_pem());
        let passwords = file("passwords", "");
        let added = Command::new("mosquitto_passwd").args(["-b", &passwords, "jm", "pw"]).status();
        let settings = format!(
            "user root\nper_listener_settings true\nmax_queued_messages 100000\nmax_packet_size 2000000\n\
             listener {port} 127.0.0.1\nallow_anonymous true\n\
             listener {tls_port} 127.0.0.1\nallow_anonymous true\ncertfile {chain}\nkeyfile {key}\n\
             listener {websocket_port} 127.0.0.1\nprotocol websockets\nallow_anonymous true\n\
             listener {locked_port} 127.0.0.1\nallow_anonymous false\npassword_file {passwords}\n"
        );
        let server = Command::new(program)
            .args(["-c", &file("mosquitto.conf", &settings)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let (Ok(server), Ok(_)) = (server, added) else {
            println!("skipped: this machine has no Mosquitto (package mosquitto)");
            return None;
        };
        let broker = Mosquitto {
            port,
            tls_port,
            websocket_port,
            locked_port,
            server,
            _folder: folder,
        };
        let begin = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, locked_port)).is_err() {
            assert!(begin.elapsed() < PATIENCE, "mosquitto did not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(broker)
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
