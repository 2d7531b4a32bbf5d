//! A NATS server on loopback.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::ports::{free_port, wait_for_port};

/// Whether nats-server is on the path; prints that the test is skipped if not.
pub fn has_server() -> bool {
    let has = Command::new("nats-server")
        .arg("--version")
        .output()
        .is_ok();
    if !has {
        println!("skipped: there is no nats-server on the path");
    }
    has
}

/// A server on a loopback port, which it can bind again after a restart.
pub struct Nats {
    folder: tempfile::TempDir,
    /// Its configuration, if it has one.
    config: Option<PathBuf>,
    /// The port on loopback.
    pub port: u16,
    server: Option<Child>,
}

impl Nats {
    /// Starts a server with JetStream.
    pub fn start() -> Nats {
        Nats::start_with(|_, _| None)
    }

    /// Starts a server with the configuration that `write` makes for a folder and a port; without one, with JetStream
    /// alone.
    pub fn start_with(write: impl FnOnce(&std::path::Path, u16) -> Option<PathBuf>) -> Nats {
        let folder = tempfile::tempdir().expect("there is room");
        let port = free_port();
        let config = write(folder.path(), port);
        let mut nats = Nats {
            folder,
            config,
            port,
            server: None,
        };
        nats.resume();
        nats
    }

    /// Starts the server with its stored data.
    pub fn resume(&mut self) {
        let mut command = Command::new("nats-server");
        match &self.config {
            Some(config) => command.arg("-c").arg(config),
            None => command
                .args([
                    "-a",
                    "127.0.0.1",
                    "-p",
                    &self.port.to_string(),
                    "-js",
                    "-sd",
                ])
                .arg(self.folder.path().join("store")),
        };
        let mut server = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it is on the path");
        wait_for_port("nats-server", &mut server, self.port);
        self.server = Some(server);
    }

    /// Kills the server; its stored data stays.
    pub fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }

    /// Kills the server and starts it again after a delay.
    pub fn restart(&mut self, away: Duration) {
        self.stop();
        std::thread::sleep(away);
        self.resume();
    }

    /// Its process id.
    ///
    /// # Errors
    /// The server does not run.
    pub fn pid(&self) -> std::io::Result<u32> {
        let server = self.server.as_ref().map(Child::id);
        server.ok_or_else(|| std::io::Error::other("the server does not run"))
    }

    /// The URL of the server.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.stop();
    }
}
