//! Agents on this machine: processes of this program, with a NATS server of their own. They end with the
//! run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use drumfire_expr::Random;
use drumfire_platform::causes::cause;
use drumfire_platform::processes;

use crate::error::FleetError;

/// The server's program.
const SERVER: &str = if cfg!(windows) {
    "nats-server.exe"
} else {
    "nats-server"
};
/// The environment variable from which agents read the address.
pub const NATS_VARIABLE: &str = "DRUMFIRE_NATS";
/// How long the server may take to listen.
const START: Duration = Duration::from_secs(20);
/// How long agents have to end on their own.
const LEAVE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);
/// How many lines of an agent's log are shown if the agent fails.
const SHOWN: usize = 5;

/// A NATS server and agents.
#[derive(Debug)]
pub struct Local {
    folder: tempfile::TempDir,
    server: Server,
    agents: Vec<Child>,
    url: String,
}

impl Local {
    /// Starts a server on a free loopback port, and this many agents.
    ///
    /// # Errors
    /// If there is no server on the path, or it does not start.
    pub fn start(agents: usize) -> Result<Local, FleetError> {
        let program = find(SERVER).ok_or_else(|| {
            FleetError::Other(
                "`--agents local:N` needs nats-server 2.9 or newer on the path; install it, such as by `apt-get install nats-server` or `brew install nats-server`, or take its release for Windows".to_owned(),
            )
        })?;
        let folder = tempfile::Builder::new()
            .prefix("drumfire-fleet-")
            .tempdir()
            .map_err(failed)?;
        let token = format!("{:016x}", Random::from_entropy().next_u64());
        let config = write_config(folder.path(), &token).map_err(failed)?;
        let server = Server::start(&program, &config, folder.path()).map_err(failed)?;
        let mut local = Local {
            url: String::new(),
            folder,
            server,
            agents: Vec::new(),
        };
        let address = local.wait_for_server()?;
        local.url = format!("nats://fleet:{token}@{address}");
        // The agents share the cores of this machine.
        let cores = processes::cores();
        let workers = cores.div_ceil(agents.max(1));
        for number in 1..=agents {
            let agent = local.start_agent(number, workers).map_err(|error| {
                FleetError::Other(format!("agent {number} does not start: {}", cause(&error)))
            })?;
            local.agents.push(agent);
        }
        Ok(local)
    }

    /// The URL of the server, with its password.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The data folder of the server.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Waits for the server's address, from the ports file that it writes.
    fn wait_for_server(&mut self) -> Result<String, FleetError> {
        let since = Instant::now();
        while since.elapsed() < START {
            if let Some(address) = ports(self.folder.path()) {
                return Ok(address);
            }
            if let Ok(Some(_)) = self.server.process.try_wait() {
                break;
            }
            std::thread::sleep(LOOK);
        }
        let log = tail(&self.folder.path().join("nats.log"));
        Err(FleetError::Other(format!("{SERVER} does not start:{log}")))
    }

    fn start_agent(&self, number: usize, workers: usize) -> io::Result<Child> {
        let log = fs::File::create(self.folder.path().join(format!("agent-{number}.log")))?;
        // Ctrl-C in the terminal is meant for the coordinator. The agents end with their standard input.
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["agent", "--tied", "--name", &format!("local-{number:03}")])
            .args(["--workers", &workers.to_string(), "--cache"])
            .arg(self.folder.path().join(format!("agent-{number}")))
            .env(NATS_VARIABLE, &self.url)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log);
        processes::own_group(&mut command).spawn()
    }

    /// The last log lines of the agents that have ended.
    pub fn faults(&mut self) -> String {
        let mut text = String::new();
        for (number, agent) in (1..).zip(&mut self.agents) {
            if let Ok(Some(_)) = agent.try_wait() {
                let log = self.folder.path().join(format!("agent-{number}.log"));
                text += &format!("\nagent {number} has ended:{}", tail(&log));
            }
        }
        text
    }

    /// Waits for the agents to end, then ends the server.
    pub fn end(mut self) {
        let since = Instant::now();
        for agent in &mut self.agents {
            while since.elapsed() < LEAVE && matches!(agent.try_wait(), Ok(None)) {
                std::thread::sleep(LOOK);
            }
        }
    }
}

fn failed(error: io::Error) -> FleetError {
    FleetError::Other(format!("`{SERVER}` does not start: {}", cause(&error)))
}

impl Drop for Local {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            // Killing an agent that has already ended fails, which is harmless.
            let _ = agent.kill();
            let _ = agent.wait();
        }
        self.server.end();
    }
}

/// Finds a program on the path.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

fn write_config(folder: &Path, token: &str) -> io::Result<PathBuf> {
    let config = folder.join("nats.conf");
    // A backslash would escape the next character.
    let folder = folder.display().to_string().replace('\\', "/");
    let text = format!(
        "host: 127.0.0.1\nport: -1\nports_file_dir: \"{folder}\"\nlog_file: \"{folder}/nats.log\"\nauthorization {{ user: \"fleet\", password: \"{token}\" }}\njetstream {{ store_dir: \"{folder}/store\" }}\n"
    );
    crate::init::write_private(&config, &text)?;
    Ok(config)
}

/// The server, which ends with this process, even when that is killed.
#[derive(Debug)]
struct Server {
    /// On Unix a shell that ends the server at the end of its standard input.
    process: Child,
    #[cfg(windows)]
    _job: processes::Job,
}

impl Server {
    fn start(program: &Path, config: &Path, folder: &Path) -> io::Result<Server> {
        let mut command = server_command(program, config);
        command
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = processes::own_group(&mut command).spawn()?;
        Ok(Server {
            #[cfg(windows)]
            _job: processes::Job::of(&process)?,
            process,
        })
    }

    fn end(&mut self) {
        drop(self.process.stdin.take());
        if cfg!(windows) {
            // A server that has already ended cannot be killed, which is harmless.
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

#[cfg(unix)]
fn server_command(program: &Path, config: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg("\"$1\" -c \"$2\" </dev/null & server=$!; cat >/dev/null; kill $server; wait $server")
        .arg("sh")
        .args([program, config]);
    command
}

#[cfg(windows)]
fn server_command(program: &Path, config: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("-c").arg(config);
    command
}

/// The address that the server has written to its ports file.
fn ports(folder: &Path) -> Option<String> {
    let entries = fs::read_dir(folder).ok()?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let file = paths.find(|path| path.extension().is_some_and(|kind| kind == "ports"))?;
    let ports: serde_json::Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    let url = ports.get("nats")?.get(0)?.as_str()?;
    Some(url.trim_start_matches("nats://").to_owned())
}

/// The last lines of a file, each on a line of its own.
fn tail(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines.len().saturating_sub(SHOWN);
    lines[shown..]
        .iter()
        .map(|line| format!("\n  {line}"))
        .collect()
}
