//! Private database servers, if the machine has them installed. Dropping one ends it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::ports::{free_port, wait_for_port};

/// A certificate and its key.
pub struct Pem {
    /// The certificate, in PEM.
    pub chain: String,
    /// The private key, in PEM.
    pub key: String,
}

impl Pem {
    /// Writes both as files that only their owner may read, as the servers demand.
    fn write(&self, folder: &Path, owner: Option<(u32, u32)>) -> [PathBuf; 2] {
        [("server.crt", &self.chain), ("server.key", &self.key)].map(|(name, text)| {
            let path = folder.join(name);
            fs::write(&path, text).expect("the folder is writable");
            let own = fs::Permissions::from_mode(0o600);
            fs::set_permissions(&path, own).expect("the file is this process's");
            if let Some((user, group)) = owner {
                chown(&path, Some(user), Some(group)).expect("root may give files away");
            }
            path
        })
    }
}

/// A PostgreSQL server; its user `jm` has the password `pw`.
pub struct Postgres {
    /// The port on 127.0.0.1.
    pub port: u16,
    server: Child,
    _folder: tempfile::TempDir,
}

impl Postgres {
    /// Starts a server. Without an installation it prints a line about that and returns `None`.
    ///
    /// # Panics
    /// The server does not start.
    pub fn start() -> Option<Postgres> {
        Postgres::start_as(None)
    }

    /// Starts a server that offers encryption with this certificate. Its database `postgres` takes both kinds of
    /// connections, `tls` only encrypted ones, and `plain` only others.
    ///
    /// # Panics
    /// The server does not start.
    pub fn start_encrypted(certificate: &Pem) -> Option<Postgres> {
        Postgres::start_as(Some(certificate))
    }

    fn start_as(certificate: Option<&Pem>) -> Option<Postgres> {
        let Some(programs) = programs() else {
            println!("skipped: this machine has no PostgreSQL (package postgresql)");
            return None;
        };
        let account = account("postgres:");
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let password = folder.path().join("password");
        fs::write(&password, "pw\n").expect("the folder is writable");
        if let Some((user, group)) = account {
            for path in [folder.path(), &password] {
                chown(path, Some(user), Some(group)).expect("root may give files away");
            }
        }
        let data = folder.path().join("data");
        let run = |program: &str| {
            let mut command = Command::new(programs.join(program));
            command
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            if let Some((user, group)) = account {
                command.uid(user).gid(group);
            }
            command
        };
        let made = run("initdb")
            .args(["-A", "scram-sha-256", "-U", "jm", "-E", "UTF8", "--no-sync"])
            .arg(format!("--pwfile={}", password.display()))
            .arg("-D")
            .arg(&data)
            .status();
        assert!(made.expect("initdb can be run").success());
        let encryption = certificate.map(|certificate| {
            let [chain, key] = certificate.write(folder.path(), account);
            let rules = "hostssl tls all all scram-sha-256\nhostnossl plain all all scram-sha-256\nhost postgres all all scram-sha-256\n";
            fs::write(data.join("pg_hba.conf"), rules).expect("root may write");
            [
                "ssl=on".to_owned(),
                format!("ssl_cert_file={}", chain.display()),
                format!("ssl_key_file={}", key.display()),
            ]
        });
        let port = free_port();
        let server = run("postgres")
            .args(encryption.iter().flatten().flat_map(|set| ["-c", set]))
            .arg("-D")
            .arg(&data)
            .args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"])
            .args(["-c", "unix_socket_directories=", "-c", "fsync=off"])
            .spawn()
            .expect("postgres can be run");
        let postgres = Postgres {
            port,
            server,
            _folder: folder,
        };
        wait_until_ready(&data);
        Some(postgres)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The server's other processes exit once this one is gone.
        self.server.kill().expect("the server runs");
        self.server.wait().expect("it is this process's child");
    }
}

/// A MariaDB server; its user `jm` has the password `pw` and the database `d`.
pub struct MariaDb {
    /// The port on 127.0.0.1.
    pub port: u16,
    server: Child,
    _folder: tempfile::TempDir,
}

impl MariaDb {
    /// Starts a server. Without an installation it prints a line about that and returns `None`.
    ///
    /// # Panics
    /// The server does not start.
    pub fn start() -> Option<MariaDb> {
        MariaDb::start_as(None)
    }

    /// Starts a server that only takes connections encrypted with this certificate.
    ///
    /// # Panics
    /// The server does not start.
    pub fn start_encrypted(certificate: &Pem) -> Option<MariaDb> {
        MariaDb::start_as(Some(certificate))
    }

    fn start_as(certificate: Option<&Pem>) -> Option<MariaDb> {
        let folders = ["/usr/sbin", "/usr/bin"].map(Path::new);
        let find = |name: &str| {
            folders
                .iter()
                .map(|folder| folder.join(name))
                .find(|path| path.exists())
        };
        let (Some(installer), Some(program)) = (find("mariadb-install-db"), find("mariadbd"))
        else {
            println!("skipped: this machine has no MariaDB (package mariadb-server)");
            return None;
        };
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let first = folder.path().join("first.sql");
        fs::write(&first, first_statements()).expect("the folder is writable");
        let data = folder.path().join("data");
        let run = |program: &Path| {
            let mut command = Command::new(program);
            command
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .arg("--no-defaults")
                .arg(format!("--datadir={}", data.display()))
                // A server that starts deletes the temporary tables that it finds there.
                .arg(format!("--tmpdir={}", folder.path().display()));
            if let Some((user, group)) = account("mysql:") {
                chown(folder.path(), Some(user), Some(group)).expect("root may give files away");
                command.arg("--user=mysql");
            }
            command
        };
        let mut installing = run(&installer);
        installing.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
        let made = installing.stdout(Stdio::piped()).output();
        let made = made.expect("mariadb-install-db can be run");
        let said = String::from_utf8_lossy(&made.stdout);
        assert!(made.status.success(), "{said}");
        let encryption = certificate.map(|certificate| {
            let [chain, key] = certificate.write(folder.path(), account("mysql:"));
            [
                "--require-secure-transport=ON".to_owned(),
                format!("--ssl-cert={}", chain.display()),
                format!("--ssl-key={}", key.display()),
            ]
        });
        let port = free_port();
        let mut server = run(&program)
            .args(encryption.iter().flatten())
            .args([
                format!("--port={port}"),
                format!("--init-file={}", first.display()),
            ])
            .args([
                "--bind-address=127.0.0.1",
                "--socket=s.sock",
                "--pid-file=pid",
            ])
            .spawn()
            .expect("mariadbd can be run");
        wait_for_port("mariadbd", &mut server, port);
        Some(MariaDb {
            port,
            server,
            _folder: folder,
        })
    }
}

/// Makes the database and its user.
fn first_statements() -> String {
    let users = ["localhost", "127.0.0.1"].map(|host| {
        format!("CREATE USER jm@'{host}' IDENTIFIED BY 'pw';\nGRANT ALL ON d.* TO jm@'{host}';\n")
    });
    format!("CREATE DATABASE d;\n{}", users.concat())
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        self.server.kill().expect("the server runs");
        self.server.wait().expect("it is this process's child");
    }
}

/// The folder of the server's programs.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let packaged = versions.map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    packaged
        .chain(std::env::split_paths(&path))
        .find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
}

/// The user and group for the server if this process is root, because the server refuses to run as
/// root.
fn account(name: &str) -> Option<(u32, u32)> {
    let own = fs::metadata("/proc/self").map(|own| std::os::unix::fs::MetadataExt::uid(&own));
    if own.unwrap_or(0) != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let fields = |line: &str| -> Option<(u32, u32)> {
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let found = users.lines().find(|line| line.starts_with(name));
    found.and_then(fields)
}

/// Waits until the server's state file says that it is ready.
fn wait_until_ready(data: &Path) {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        let state = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
        if state
            .lines()
            .nth(7)
            .is_some_and(|line| line.trim() == "ready")
        {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the server does not get ready");
}

/// A Redis server without persistence.
pub struct Redis {
    /// The port on 127.0.0.1.
    pub port: u16,
    server: Child,
    _folder: tempfile::TempDir,
}

impl Redis {
    /// Starts a server. Without an installation it prints a line about that and returns `None`.
    ///
    /// # Panics
    /// The server does not start.
    pub fn start() -> Option<Redis> {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let port = free_port();
        let server = Command::new("redis-server")
            .current_dir(folder.path())
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no", "--requirepass", "pw"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut server) = server else {
            println!("skipped: this machine has no Redis (package redis-server)");
            return None;
        };
        wait_for_port("redis-server", &mut server, port);
        Some(Redis {
            port,
            server,
            _folder: folder,
        })
    }

    /// Runs a command with the client of the installation, in a database.
    ///
    /// # Panics
    /// The client fails, or the server refuses the command.
    pub fn command(&self, database: u8, words: &[&str]) {
        let output = Command::new("redis-cli")
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string()])
            .args(["-n", &database.to_string(), "--no-auth-warning", "-e"])
            .args(words)
            .env("REDISCLI_AUTH", "pw")
            .output()
            .expect("redis-cli is installed with the server");
        assert!(output.status.success(), "{words:?}: {output:?}");
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.server.kill().expect("the server runs");
        self.server.wait().expect("it is this process's child");
    }
}
