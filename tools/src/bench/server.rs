//! nginx as the server of most scenarios. It serves a page of 510 bytes and large files, with and without TLS, and accepts
//! uploads. `services.rs` has the servers that only some scenarios need.

use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use drumfire_testkit::ports::free_port;

use super::pages;
use super::scenario::Door;

/// The number of nginx's ports.
const DOORS: usize = 6;

/// An nginx with its own ports. Dropping it ends it.
pub struct Nginx {
    /// Ordered as in [`Nginx::port`].
    ports: [u16; DOORS],
    child: Child,
    folder: PathBuf,
}

impl Nginx {
    /// Starts nginx with `benches/nginx.conf` for this many connections, and waits until it answers.
    pub fn start(connections: u32) -> anyhow::Result<Nginx> {
        let folder = std::env::temp_dir().join(format!("drumfire-bench-{}", std::process::id()));
        for pages in ["html", "html/shop"] {
            std::fs::create_dir_all(folder.join(pages))?;
            std::fs::write(folder.join(pages).join("index.html"), pages::small())?;
        }
        pages::write(&folder.join("html"))?;
        certificates(&folder)?;
        let mut ports = [0; DOORS];
        for port in &mut ports {
            *port = free_port();
        }
        let template = std::fs::read_to_string(xtask::root().join("benches/nginx.conf"))?;
        let settings = template
            .replace("@PORT@", &ports[0].to_string())
            .replace("@TLS_PORT@", &ports[1].to_string())
            .replace("@CLIENT_PORT@", &ports[2].to_string())
            .replace("@HTTP2_PORT@", &ports[3].to_string())
            .replace("@HTTP2_TLS_PORT@", &ports[4].to_string())
            .replace("@TEN_PORT@", &ports[5].to_string())
            .replace("@PRODUCTS@", &pages::products())
            .replace("@ITEMS@", &pages::items())
            .replace("@CONNECTIONS@", &(connections + 64).to_string());
        let config = folder.join("nginx.conf");
        std::fs::write(&config, settings)?;
        let program = find("nginx").context("nginx is not installed (Debian: nginx-light)")?;
        let mut command = Command::new(program);
        command.arg("-p").arg(&folder).arg("-c").arg(&config);
        command.args(["-e", "error.log"]).stdin(Stdio::null());
        let nginx = Nginx {
            ports,
            child: command.spawn().context("nginx")?,
            folder,
        };
        let deadline = Instant::now() + Duration::from_secs(5);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, ports[0])).is_err() {
            if Instant::now() > deadline {
                bail!("nginx does not answer on port {}", ports[0]);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(nginx)
    }

    pub fn port(&self, door: Door) -> u16 {
        let [plain, tls, client, http2, http2_tls, ten] = self.ports;
        match door {
            // Services of their own, see `services.rs`; a plan for one uses no port of nginx.
            Door::Plain | Door::Echo | Door::Grpc | Door::Ftp | Door::Mail | Door::Mqtt => plain,
            Door::Tls => tls,
            Door::ClientCertificate => client,
            Door::Http2 => http2,
            Door::Http2Tls => http2_tls,
            Door::TenRequests => ten,
        }
    }

    /// The folder with nginx's files and those of the scenarios.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Suspends nginx's worker processes for a second, after a delay.
    pub fn stall_after(&self, delay: Duration) -> JoinHandle<anyhow::Result<()>> {
        let master = self.child.id();
        std::thread::spawn(move || {
            std::thread::sleep(delay);
            let list = format!("/proc/{master}/task/{master}/children");
            let workers = std::fs::read_to_string(list)?;
            let tell = |signal: &str| -> anyhow::Result<()> {
                let mut kill = Command::new("kill");
                xtask::run(kill.arg(signal).args(workers.split_whitespace()))
            };
            tell("-STOP")?;
            std::thread::sleep(Duration::from_secs(1));
            tell("-CONT")
        })
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The master process only ends its workers when it is terminated, not when it is killed.
        let _ = Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Writes a self-signed certificate for 127.0.0.1, and one for clients; the latter as PKCS#12 and JKS if openssl and keytool are
/// installed.
fn certificates(folder: &Path) -> anyhow::Result<()> {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    std::fs::write(folder.join("cert.pem"), made.cert.pem())?;
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem())?;
    let client = rcgen::generate_simple_self_signed(["client".to_owned()])?;
    std::fs::write(folder.join("client.pem"), client.cert.pem())?;
    std::fs::write(
        folder.join("client-key.pem"),
        client.signing_key.serialize_pem(),
    )?;
    let tools = [
        (
            "openssl",
            "pkcs12 -export -name client -passout pass:changeit -in client.pem -inkey client-key.pem -out client.p12",
        ),
        (
            "keytool",
            "-importkeystore -noprompt -srcstoretype PKCS12 -deststoretype JKS -srckeystore client.p12 \
             -destkeystore client.jks -srcstorepass changeit -deststorepass changeit",
        ),
    ];
    for (tool, words) in tools {
        // Without the file, the scenario that needs it is reported as failed.
        let _ = Command::new(tool)
            .args(words.split_whitespace())
            .current_dir(folder)
            .output();
    }
    Ok(())
}

/// Finds a program by name, also in the folders of system administration tools and of cargo.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("HOME").map_or_else(PathBuf::new, PathBuf::from);
    let others = [
        "/usr/sbin".into(),
        "/usr/local/sbin".into(),
        home.join(".cargo/bin"),
        home.join("go/bin"),
    ];
    std::env::split_paths(&path)
        .chain(others)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
