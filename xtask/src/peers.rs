//! What is measured: nginx as the server, and the programs that ask it.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::measure::{Cost, measured};

/// Users or connections of every program.
pub const USERS: u32 = 10;
const PAGE_BYTES: usize = 510;

/// nginx on a port of its own; dropping it ends it.
pub struct Nginx {
    pub port: u16,
    child: Child,
    folder: PathBuf,
}

impl Nginx {
    /// Starts nginx with `benches/nginx.conf` and a page of 510 bytes, and waits until it answers.
    pub fn start() -> anyhow::Result<Nginx> {
        let folder = std::env::temp_dir().join(format!("drumfire-bench-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("html"))?;
        std::fs::write(folder.join("html/index.html"), page())?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let template = std::fs::read_to_string(super::root().join("benches/nginx.conf"))?;
        let config = folder.join("nginx.conf");
        std::fs::write(&config, template.replace("@PORT@", &port.to_string()))?;
        let mut command =
            Command::new(find("nginx").context("nginx is not installed (Debian: nginx-light)")?);
        command
            .arg("-p")
            .arg(&folder)
            .arg("-c")
            .arg(&config)
            .args(["-e", "error.log"]);
        let child = command.stdin(Stdio::null()).spawn().context("nginx")?;
        let nginx = Nginx {
            port,
            child,
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

fn page() -> String {
    let text = "<!DOCTYPE html><title>510 bytes</title><p>";
    format!("{text}{}\n", "x".repeat(PAGE_BYTES - text.len() - 1))
}

/// A program by its name, also where administrators' programs lie.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// A program that asks the server.
pub enum Peer {
    Drumfire(PathBuf),
    Wrk(PathBuf),
}

/// One round of one program.
pub struct Round {
    pub peer: &'static str,
    pub requests: u64,
    pub cost: Cost,
    /// What the program printed.
    pub said: String,
}

impl Peer {
    /// All that are compared, ours first.
    pub fn all() -> anyhow::Result<Vec<Peer>> {
        let wrk = find("wrk").context("wrk is not installed")?;
        Ok(vec![
            Peer::Drumfire(super::release_binary()?),
            Peer::Wrk(wrk),
        ])
    }

    pub fn name(&self) -> &'static str {
        match self {
            Peer::Drumfire(_) => "drumfire",
            Peer::Wrk(_) => "wrk",
        }
    }

    /// Asks the server for so many seconds.
    pub fn run(&self, port: u16, seconds: u32, folder: &Path) -> anyhow::Result<Round> {
        let (said, cost) = measured(&self.command(port, seconds), folder)?;
        let requests = match self {
            Peer::Drumfire(_) => count_rows(&folder.join("out.jtl"))?,
            Peer::Wrk(_) => {
                wrk_requests(&said).context("wrk did not say how many requests it made")?
            }
        };
        Ok(Round {
            peer: self.name(),
            requests,
            cost,
            said,
        })
    }

    fn command(&self, port: u16, seconds: u32) -> Vec<String> {
        match self {
            Peer::Drumfire(program) => {
                let plan = super::root().join("benches/keepalive.jmx");
                let (program, plan) = (program.display(), plan.display());
                [
                    format!("{program}"),
                    "-n".to_owned(),
                    format!("-t{plan}"),
                    "-f".to_owned(),
                    "-lout.jtl".to_owned(),
                    "-jrun.log".to_owned(),
                    format!("-Jport={port}"),
                    format!("-Jusers={USERS}"),
                    format!("-Jseconds={seconds}"),
                ]
                .into()
            }
            Peer::Wrk(program) => {
                let threads = std::thread::available_parallelism()
                    .map_or(1, usize::from)
                    .min(USERS as usize);
                let options =
                    format!("-t{threads} -c{USERS} -d{seconds}s http://127.0.0.1:{port}/");
                let mut command = vec![program.display().to_string()];
                command.extend(options.split(' ').map(str::to_owned));
                command
            }
        }
    }
}

/// The samples of a results file; one that failed spoils the measurement.
fn count_rows(file: &Path) -> anyhow::Result<u64> {
    let text = std::fs::read_to_string(file)?;
    if let Some(failed) = text.lines().find(|row| row.contains(",false,")) {
        bail!("a request failed: {failed}");
    }
    Ok(text.lines().count().saturating_sub(1) as u64)
}

/// `N requests in` of wrk's report.
fn wrk_requests(said: &str) -> Option<u64> {
    let line = said.lines().find(|line| line.contains(" requests in "))?;
    line.trim().split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_its_size() {
        assert_eq!(page().len(), 510);
    }

    #[test]
    fn wrk_says_how_many_requests_it_made() {
        assert_eq!(
            wrk_requests("  Latency\n  1234 requests in 1.00s, 2MB read\n"),
            Some(1234)
        );
        assert_eq!(wrk_requests("unable to connect"), None);
    }
}
