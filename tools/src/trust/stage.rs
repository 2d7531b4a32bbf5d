//! Stages a situation: the target, the generator, and the disturbance.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use drumfire_testkit::program::{Finished, finish};
use drumfire_testkit::server::{ResponseStep, Server, ok, respond};

use super::situations::{Situation, StagedTarget, Staging};

/// A run that takes longer is considered stuck.
const LIMIT: Duration = Duration::from_secs(180);
/// The interval between reads of a slow pipe.
const SIP: Duration = Duration::from_millis(50);

/// Stages a situation once and returns the program's output.
pub fn stage(situation: &Situation, program: &Path) -> anyhow::Result<Finished> {
    let folder = tempfile::tempdir()?;
    let server = server(situation.target);
    let is_inside = situation
        .staging
        .iter()
        .any(|staging| matches!(staging, Staging::Ports(_)));
    let port = server.address().port().to_string();
    let plan = (situation.plan)();
    let plan = if is_inside {
        plan.replace("${__P(port)}", "${__P(demo.port)}")
    } else {
        plan.replace("${__P(port)}", &port)
    };
    std::fs::write(folder.path().join("plan.jmx"), plan)?;
    let mut command = command(situation, program, folder.path(), is_inside)?;
    command
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().with_context(|| format!("{command:?}"))?;
    let ended = Arc::new(AtomicBool::new(false));
    let disturbers: Vec<_> = situation
        .staging
        .iter()
        .filter_map(|staging| disturb(*staging, &child, folder.path(), &ended))
        .collect();
    let finished = finish(child, LIMIT);
    ended.store(true, Ordering::SeqCst);
    for disturber in disturbers {
        let _ = disturber.join();
    }
    Ok(finished)
}

fn server(target: StagedTarget) -> Server {
    let first = OnceLock::new();
    Server::start(move |_| match target {
        StagedTarget::Quick => vec![ResponseStep::Send(ok("here"))],
        StagedTarget::Long(bytes) => vec![ResponseStep::Send(ok(&"x".repeat(bytes)))],
        StagedTarget::Slow(pause) => {
            vec![ResponseStep::Pause(pause), ResponseStep::Send(ok("here"))]
        }
        StagedTarget::Busy(long) => {
            let begin = Instant::now();
            while begin.elapsed() < long {
                std::hint::spin_loop();
            }
            vec![ResponseStep::Send(ok("here"))]
        }
        StagedTarget::Stalled(from, to) => {
            let at = first.get_or_init(Instant::now).elapsed();
            let pause = if at >= from && at < to {
                to - at
            } else {
                Duration::ZERO
            };
            vec![ResponseStep::Pause(pause), ResponseStep::Send(ok("here"))]
        }
        StagedTarget::Failing => vec![ResponseStep::Send(respond("500 Broken", "", "broken"))],
    })
}

/// The command for the program, with its environment and limits.
fn command(
    situation: &Situation,
    program: &Path,
    folder: &Path,
    is_inside: bool,
) -> anyhow::Result<Command> {
    let mut words: Vec<String> = vec![program.display().to_string()];
    words.extend(["run", "plan.jmx"].map(str::to_owned));
    // Add them before the arguments go into the script of a namespace.
    words.extend(is_inside.then(|| "--demo".to_owned()));
    words.extend(situation.options.iter().map(|word| (*word).to_owned()));
    let mut variables: Vec<(&str, String)> = Vec::new();
    for staging in situation.staging {
        match *staging {
            Staging::Ports(count) => {
                let last = 40_000 + count - 1;
                let set_up = format!(
                    "ip link set lo up && echo 40000 {last} > /proc/sys/net/ipv4/ip_local_port_range && echo 0 > /proc/sys/net/ipv4/tcp_tw_reuse"
                );
                words = in_namespace("--net", &set_up, &words);
            }
            Staging::Files(count) => {
                let limit = ["prlimit".to_owned(), format!("--nofile={count}:{count}")];
                words.splice(0..0, limit);
            }
            Staging::Disk(kib) => {
                std::fs::create_dir(folder.join("disk"))?;
                words.extend(["-l", "disk/results.jtl"].map(str::to_owned));
                let set_up = format!("mount -t tmpfs -o size={kib}k disk disk");
                words = in_namespace("--mount", &set_up, &words);
            }
            Staging::Pipe(_) => {
                let made = Command::new("mkfifo")
                    .arg(folder.join("results.xml"))
                    .status();
                if !made.is_ok_and(|status| status.success()) {
                    bail!("no pipe can be made");
                }
                words.extend(["-l", "results.xml"].map(str::to_owned));
            }
            Staging::Clock(step_s) => {
                let library = clock_library(folder, step_s)?;
                variables.push(("LD_PRELOAD", library.display().to_string()));
            }
            Staging::Heap(mib) => variables.push(("JVM_ARGS", format!("-Xmx{mib}m -Xms{mib}m"))),
            Staging::Stop(..) | Staging::Compete(..) => {}
        }
    }
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .env("HOME", folder)
        .envs(variables);
    Ok(command)
}

/// Wraps a command so that it runs in a new namespace, after a setup script.
fn in_namespace(kind: &str, set_up: &str, words: &[String]) -> Vec<String> {
    let quoted: Vec<String> = words
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
        .collect();
    let script = format!("{set_up} && exec {}", quoted.join(" "));
    [
        "unshare",
        "--user",
        "--map-root-user",
        kind,
        "sh",
        "-c",
        &script,
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Compiles a library that replaces the system's clock. It sets the clock forward three seconds after the
/// first query.
fn clock_library(folder: &Path, step_s: i32) -> anyhow::Result<PathBuf> {
    let source = format!(
        r#"#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
typedef int (*asked)(clockid_t, struct timespec *);
int clock_gettime(clockid_t id, struct timespec *at) {{
    static asked real;
    static time_t first;
    struct timespec now;
    if (!real) real = (asked)dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, at);
    real(CLOCK_MONOTONIC, &now);
    if (!first) first = now.tv_sec;
    if (id == CLOCK_REALTIME && now.tv_sec - first >= 3) at->tv_sec += {step_s};
    return result;
}}
"#
    );
    let (file, library) = (folder.join("clock.c"), folder.join("clock.so"));
    std::fs::write(&file, source)?;
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &file])
        .status();
    if !built.is_ok_and(|status| status.success()) {
        bail!("no C compiler makes a library here");
    }
    Ok(library)
}

/// Applies a situation's disturbance to the generator, on a separate thread.
fn disturb(
    staging: Staging,
    child: &Child,
    folder: &Path,
    ended: &Arc<AtomicBool>,
) -> Option<std::thread::JoinHandle<()>> {
    let process = child.id();
    match staging {
        Staging::Stop(after, long) => Some(std::thread::spawn(move || {
            std::thread::sleep(after);
            signal(process, "STOP");
            std::thread::sleep(long);
            signal(process, "CONT");
        })),
        Staging::Compete(from, to) => Some(std::thread::spawn(move || {
            std::thread::sleep(from);
            let _competitors = Competitors::start();
            std::thread::sleep(to.saturating_sub(from));
        })),
        Staging::Pipe(bytes_per_s) => {
            let (pipe, ended) = (folder.join("results.xml"), Arc::clone(ended));
            Some(std::thread::spawn(move || sip(&pipe, bytes_per_s, &ended)))
        }
        _ => None,
    }
}

fn signal(process: u32, name: &str) {
    // A process that has ended needs no signal.
    let _ = Command::new("kill")
        .args([format!("-{name}"), process.to_string()])
        .stderr(Stdio::null())
        .status();
}

/// Reads a pipe at a limited rate until its other end is closed.
fn sip(pipe: &Path, bytes_per_s: u64, ended: &AtomicBool) {
    let Ok(mut file) = File::open(pipe) else {
        return;
    };
    let most = (bytes_per_s as f64 * SIP.as_secs_f64()).min(4e6) as usize;
    let mut room = vec![0; most];
    let begin = Instant::now();
    let mut got = 0u64;
    while let Ok(count @ 1..) = file.read(&mut room) {
        got += count as u64;
        let due = Duration::from_secs_f64(got as f64 / bytes_per_s as f64);
        let early = due.saturating_sub(begin.elapsed());
        // The users have ended by then. The rest is read at full speed, so that the run can end.
        let is_over = ended.load(Ordering::SeqCst) || begin.elapsed() > Duration::from_secs(9);
        if !is_over {
            std::thread::sleep(early.min(SIP));
        }
    }
}

/// Programs that use all cores, in a separate process group, until dropped.
struct Competitors(Vec<Child>);

impl Competitors {
    fn start() -> Competitors {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = |_| {
            Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .stdin(Stdio::null())
                .spawn()
        };
        Competitors((0..4 * cores).map(spin).filter_map(Result::ok).collect())
    }
}

impl Drop for Competitors {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A process that uses half a core until dropped.
pub struct Neighbour(Child);

impl Neighbour {
    /// Starts this program again to run [`half_a_core`].
    pub fn start() -> anyhow::Result<Neighbour> {
        let own = std::env::current_exe()?;
        let child = Command::new(own).args(["trust", "half-a-core"]).spawn()?;
        Ok(Neighbour(child))
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Alternates between computing and sleeping for 5 ms each, for at most ten minutes.
pub fn half_a_core() {
    const TURN: Duration = Duration::from_millis(5);
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(600) {
        let turn = Instant::now();
        while turn.elapsed() < TURN {
            std::hint::spin_loop();
        }
        std::thread::sleep(TURN);
    }
}
