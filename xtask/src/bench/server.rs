//! nginx as the server of all scenarios: a page of 510 bytes, a file of 1 GiB, both also over TLS.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

const PAGE_BYTES: usize = 510;
const BIG_BYTES: u64 = 1 << 30;

/// nginx on ports of its own; dropping it ends it.
pub struct Nginx {
    pub port: u16,
    pub tls_port: u16,
    /// Speaks HTTP/2 and nothing else, over plain TCP.
    pub http2_port: u16,
    child: Child,
    folder: PathBuf,
}

impl Nginx {
    /// Starts nginx with `benches/nginx.conf` for so many connections, and waits until it answers.
    pub fn start(connections: u32) -> anyhow::Result<Nginx> {
        let folder = std::env::temp_dir().join(format!("drumfire-bench-{}", std::process::id()));
        for pages in ["html", "html/shop"] {
            std::fs::create_dir_all(folder.join(pages))?;
            std::fs::write(folder.join(pages).join("index.html"), page())?;
        }
        // Without blocks: reading it costs the server little.
        std::fs::File::create(folder.join("html/big"))?.set_len(BIG_BYTES)?;
        certificate(&folder)?;
        let (port, tls_port, http2_port) = (free_port()?, free_port()?, free_port()?);
        let template = std::fs::read_to_string(crate::root().join("benches/nginx.conf"))?;
        let settings = template
            .replace("@PORT@", &port.to_string())
            .replace("@TLS_PORT@", &tls_port.to_string())
            .replace("@HTTP2_PORT@", &http2_port.to_string())
            .replace("@CONNECTIONS@", &(connections + 64).to_string());
        let config = folder.join("nginx.conf");
        std::fs::write(&config, settings)?;
        let program = find("nginx").context("nginx is not installed (Debian: nginx-light)")?;
        let mut command = Command::new(program);
        command.arg("-p").arg(&folder).arg("-c").arg(&config);
        command.args(["-e", "error.log"]).stdin(Stdio::null());
        let nginx = Nginx {
            port,
            tls_port,
            http2_port,
            child: command.spawn().context("nginx")?,
            folder,
        };
        let deadline = Instant::now() + Duration::from_secs(5);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if Instant::now() > deadline {
                bail!("nginx does not answer on port {port}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(nginx)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The master process ends its workers when it is asked, not when it is killed.
        let _ = Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// A certificate for 127.0.0.1 that nobody has signed.
fn certificate(folder: &Path) -> anyhow::Result<()> {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    std::fs::write(folder.join("cert.pem"), made.cert.pem())?;
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem())?;
    Ok(())
}

fn page() -> String {
    let text = "<!DOCTYPE html><title>510 bytes</title><p>";
    format!("{text}{}\n", "x".repeat(PAGE_BYTES - text.len() - 1))
}

/// A program by its name, also where administrators' and cargo's programs lie.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_its_size_and_what_the_plans_look_for() {
        assert_eq!(page().len(), 510);
        assert!(page().contains("<title>510 bytes</title>"));
    }
}
