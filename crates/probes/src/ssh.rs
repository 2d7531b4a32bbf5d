//! Reads numbers that commands print on another machine. It uses one connection of the program `ssh`, which supports the user's
//! keys, agents, jump hosts and configuration files.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use drumfire_platform::causes::cause;
use drumfire_platform::files::{EMPTY, private, private_program};
use drumfire_platform::processes::own_group;
use tempfile::TempDir;

use crate::series::MetricReading;
use crate::source::PollFailure;

/// How long connecting may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// The interval between checks of a process.
const LOOK: Duration = Duration::from_millis(10);
/// How many bytes of a command's output are read. The number is at its start.
const OUTPUT_LIMIT: u64 = 4096;
/// The environment variable that passes the password to `ssh` and to no other program.
const SECRET: &str = "DRUMFIRE_SSH_SECRET";
/// The program that answers the password prompt of `ssh`.
const ASKPASS: &str = "#!/bin/sh\nprintf '%s\\n' \"$DRUMFIRE_SSH_SECRET\"\n";
/// Languages with a decimal comma.
const DECIMAL_COMMAS: [&str; 22] = [
    "bg", "cs", "da", "de", "el", "es", "fi", "fr", "hr", "hu", "id", "it", "nb", "nl", "pl", "pt",
    "ro", "ru", "sk", "sv", "tr", "uk",
];

/// A machine and the commands that are run there periodically.
#[derive(Clone, PartialEq, Eq)]
pub struct SshWatch {
    /// The machine.
    pub host: String,
    /// The port of its SSH server.
    pub port: u16,
    /// The user name on the machine; if empty, `ssh` chooses it.
    pub user: String,
    /// The password of the user or the passphrase of the key; may be empty.
    pub password: String,
    /// A private key as PEM; may be empty.
    pub private_key: String,
    /// A file of host keys. Host keys are only checked if it is set.
    pub known_hosts: Option<PathBuf>,
    /// A configuration file for `ssh`. Without one, `ssh` reads none.
    pub config: Option<PathBuf>,
    /// The interval between two rounds.
    pub interval: Duration,
    /// The timeout of a command.
    pub limit: Duration,
    /// The language of the numbers that the commands print, such as `de`; English if empty.
    pub language: String,
    /// The commands.
    pub commands: Vec<SshCommand>,
}

/// A command that prints one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshCommand {
    /// The name of its curve.
    pub label: String,
    /// The command line for the remote shell.
    pub text: String,
    /// Whether the curve shows the differences between successive numbers.
    pub is_delta: bool,
}

impl std::fmt::Debug for SshWatch {
    /// Hides the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.place(), self.commands)
    }
}

impl SshWatch {
    /// The user, the machine and the port as one text.
    pub(crate) fn place(&self) -> String {
        let user = match self.user.as_str() {
            "" => String::new(),
            user => format!("{user}@"),
        };
        format!("{user}{}:{}", self.host, self.port)
    }

    /// Whether one connection can serve both.
    #[must_use]
    pub fn is_same_place(&self, other: &SshWatch) -> bool {
        let commands = Vec::new();
        let this = SshWatch {
            commands: commands.clone(),
            ..self.clone()
        };
        this == SshWatch {
            commands,
            ..other.clone()
        }
    }
}

/// A machine that is polled.
pub(crate) struct SshSource {
    watch: SshWatch,
    session: Option<SshConnection>,
    /// The previous number of each command.
    last: Vec<Option<f64>>,
}

impl SshSource {
    pub fn new(watch: SshWatch) -> SshSource {
        SshSource {
            last: vec![None; watch.commands.len()],
            session: None,
            watch,
        }
    }

    pub fn interval(&self) -> Duration {
        self.watch.interval
    }

    /// Runs each command once. Returns the numbers, and why some are missing. Stops waiting once `is_over` returns true.
    pub fn read(&mut self, is_over: &dyn Fn() -> bool) -> (Vec<MetricReading>, Option<String>) {
        let session = match self.session.take() {
            Some(session) => Ok(session),
            None => SshConnection::open(&self.watch, is_over),
        };
        let mut session = match session {
            Ok(session) => session,
            Err(failure) => return (Vec::new(), Some(failure.into())),
        };
        let mut readings = Vec::new();
        let mut problem = None;
        for (command, last) in self.watch.commands.iter().zip(&mut self.last) {
            let number = session
                .run(&self.watch, &command.text, is_over)
                .and_then(|printed| number(&printed, &self.watch.language));
            match number {
                Ok(number) => {
                    let before = last.replace(number);
                    let value = if command.is_delta {
                        before.map(|before| number - before)
                    } else {
                        Some(number)
                    };
                    readings.extend(value.map(|value| {
                        MetricReading::new(command.label.clone(), "", "value", value)
                    }));
                }
                Err(why) => problem = Some(format!("`{}`: {why}", command.label)),
            }
        }
        if session.is_alive() {
            self.session = Some(session);
        }
        (readings, problem)
    }
}

/// A shared connection: one `ssh` process holds it open, and others use it through its socket.
struct SshConnection {
    /// Contains the socket. Only its owner can read it.
    folder: TempDir,
    master: Child,
}

impl SshConnection {
    fn open(watch: &SshWatch, is_over: &dyn Fn() -> bool) -> Result<SshConnection, PollFailure> {
        if cfg!(windows) {
            return Err("Windows's `ssh` cannot share a connection; run Drumfire in WSL".into());
        }
        let folder = tempfile::Builder::new().prefix("df-ssh").tempdir();
        let folder = folder.map_err(cause_of)?;
        let errors = File::create(folder.path().join("errors")).map_err(cause_of)?;
        let mut command = connecting(watch, folder.path()).map_err(cause_of)?;
        // `cat` ends with its input, and so with this process, even if it crashes.
        command.arg("--").arg(&watch.host).arg("cat");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(errors);
        let master = command.spawn().map_err(no_program)?;
        let mut session = SshConnection { folder, master };
        let deadline = Instant::now() + CONNECT_LIMIT;
        while !session.socket().exists() {
            if !session.is_alive() {
                return Err(session.last_error().into());
            }
            if is_over() || Instant::now() > deadline {
                return Err(format!("no connection within {} s", CONNECT_LIMIT.as_secs()).into());
            }
            std::thread::sleep(LOOK);
        }
        // The key is only needed to log in.
        let _ = fs::remove_file(session.folder.path().join("key"));
        Ok(session)
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.master.try_wait(), Ok(None))
    }

    /// The last line that `ssh` wrote to stderr.
    fn last_error(&self) -> String {
        let text = fs::read_to_string(self.folder.path().join("errors")).unwrap_or_default();
        let mut lines = text.lines().map(str::trim);
        let last = lines.rfind(|line| !line.is_empty());
        last.unwrap_or("`ssh` ended without a message").to_owned()
    }

    /// Runs a command and returns its output.
    fn run(
        &mut self,
        watch: &SshWatch,
        text: &str,
        is_over: &dyn Fn() -> bool,
    ) -> Result<String, PollFailure> {
        let mut command = Command::new("ssh");
        // These options make `ssh` fail unless it can use the existing connection.
        command
            .args([
                "-F",
                "none",
                "-o",
                "BatchMode=yes",
                "-o",
                "ProxyCommand=false",
                "-S",
            ])
            .arg(self.socket());
        command.arg("--").arg(&watch.host).arg(text);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = own_group(&mut command).spawn().map_err(no_program)?;
        let output = child.stdout.take().expect("it is piped");
        let reader = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = output.take(OUTPUT_LIMIT).read_to_end(&mut text);
            text
        });
        let deadline = Instant::now() + watch.limit;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| cause(&error))? {
                break status;
            }
            if is_over() || Instant::now() > deadline {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no answer within {} ms", watch.limit.as_millis()).into());
            }
            std::thread::sleep(LOOK);
        };
        if !status.success() {
            return Err(match status.code() {
                Some(255) => "the connection is gone".into(),
                _ => format!("the command failed ({status})").into(),
            });
        }
        let text = reader.join().map_err(|_| "its output is lost".to_owned())?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

fn cause_of(error: std::io::Error) -> String {
    cause(&error)
}

impl Drop for SshConnection {
    fn drop(&mut self) {
        let _ = self.master.kill();
        let _ = self.master.wait();
    }
}

fn no_program(error: std::io::Error) -> String {
    format!(
        "`ssh` cannot be started: {}; install OpenSSH's client",
        cause(&error)
    )
}

/// The command that logs in. It places the files that it needs in the folder.
fn connecting(watch: &SshWatch, folder: &Path) -> std::io::Result<Command> {
    let mut command = Command::new("ssh");
    // A Ctrl-C in the terminal must only reach this program.
    own_group(&mut command);
    command.args(["-M", "-o", "ControlPersist=no", "-S"]);
    command.arg(folder.join("socket"));
    command.arg("-F").arg(match &watch.config {
        Some(file) => file.as_path(),
        None => Path::new("none"),
    });
    let checking = match &watch.known_hosts {
        Some(file) => format!("UserKnownHostsFile={}", file.display()),
        None => format!("UserKnownHostsFile={EMPTY}"),
    };
    let is_strict = match watch.known_hosts {
        Some(_) => "StrictHostKeyChecking=yes",
        None => "StrictHostKeyChecking=no",
    };
    let global = format!("GlobalKnownHostsFile={EMPTY}");
    let options = [
        checking.as_str(),
        is_strict,
        global.as_str(),
        "ConnectTimeout=10",
        "NumberOfPasswordPrompts=1",
        "ServerAliveInterval=5",
        "ServerAliveCountMax=2",
        "LogLevel=ERROR",
        "EscapeChar=none",
    ];
    for option in options {
        command.args(["-o", option]);
    }
    command.arg("-T").arg("-p").arg(watch.port.to_string());
    if !watch.user.is_empty() {
        command.arg("-l").arg(&watch.user);
    }
    if !watch.private_key.trim().is_empty() {
        let key = folder.join("key");
        writeln!(private(&key)?, "{}", watch.private_key.trim())?;
        command.arg("-i").arg(key);
        command.args(["-o", "IdentitiesOnly=yes"]);
        command.args(["-o", "PreferredAuthentications=publickey"]);
    }
    if watch.password.is_empty() {
        command.args(["-o", "BatchMode=yes"]);
    } else {
        let script = folder.join("askpass");
        private_program(&script)?.write_all(ASKPASS.as_bytes())?;
        command.env("SSH_ASKPASS", script);
        command.env("SSH_ASKPASS_REQUIRE", "force");
        command.env("DISPLAY", ":0");
        command.env(SECRET, &watch.password);
    }
    Ok(command)
}

/// Parses the number at the start of a text, as Java's `NumberFormat` does in this language.
fn number(printed: &str, language: &str) -> Result<f64, PollFailure> {
    let language = language.split(['_', '-']).next().unwrap_or_default();
    let (decimal, group) = if DECIMAL_COMMAS.contains(&language) {
        (',', '.')
    } else {
        ('.', ',')
    };
    let text = printed.trim_start();
    let mut digits = String::new();
    for (place, c) in text.char_indices() {
        match c {
            '-' if place == 0 => digits.push('-'),
            '0'..='9' => digits.push(c),
            c if c == decimal && !digits.contains('.') => digits.push('.'),
            c if c == group && !digits.contains('.') => {}
            _ => break,
        }
    }
    digits.parse().map_err(|_| {
        let shown: String = text.trim_end().chars().take(40).collect();
        format!("`{shown}` is not a number").into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_java_reads_them() {
        let english = |text: &str| number(text, "").ok();
        assert_eq!(english("12.5\n"), Some(12.5));
        assert_eq!(english("-1,234.5 kB"), Some(-1234.5));
        assert_eq!(english("  7"), Some(7.0));
        assert_eq!(english("1.2.3"), Some(1.2));
        assert_eq!(english("."), None);
        assert_eq!(english(""), None);
        assert_eq!(number("1.234,5", "de_DE"), Ok(1234.5));
        let why = number("sar: not found", "").expect_err("no number");
        assert_eq!(why.as_ref(), "`sar: not found` is not a number");
    }

    #[test]
    fn a_host_that_refuses_is_said_and_secrets_are_not() {
        let watch = SshWatch {
            host: "127.0.0.1".to_owned(),
            port: 1,
            user: "me".to_owned(),
            password: "secret".to_owned(),
            private_key: String::new(),
            known_hosts: None,
            config: None,
            interval: Duration::from_secs(1),
            limit: Duration::from_secs(1),
            language: String::new(),
            commands: vec![SshCommand {
                label: "CPU".to_owned(),
                text: "echo 1".to_owned(),
                is_delta: false,
            }],
        };
        assert!(!format!("{watch:?}").contains("secret"));
        assert_eq!(watch.place(), "me@127.0.0.1:1");
        let (readings, problem) = SshSource::new(watch).read(&|| false);
        assert!(readings.is_empty());
        let problem = problem.expect("nothing listens there");
        assert!(problem.contains("ssh"), "{problem}");
    }
}
