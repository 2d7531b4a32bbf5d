//! Simulates a network of machines: each has a network namespace, and a bridge joins them. A namespace disappears with its
//! processes, so nothing is left behind.

use std::io::{BufRead as _, BufReader};
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, ensure};
use drumfire_testkit::program::Workshop;

use crate::faults::bench::{Running, start};

const BRIDGE: &str = "lan";
/// The address of the machine with the server, the target and the coordinator. Agents get the addresses after it.
const HOST: Ipv4Addr = Ipv4Addr::new(10, 93, 0, 1);

/// Machines on one network.
pub struct Lan {
    /// The address at which agents reach the target and the links to NATS.
    pub host: IpAddr,
    machines: Vec<Machine>,
}

/// A machine on which an agent runs.
struct Machine(Option<Child>);

impl Lan {
    /// Creates a bridge in this process's network namespace, which must be a private one, with this many machines behind it.
    ///
    /// # Errors
    /// `ip` or `unshare` fails.
    pub fn start(machines: usize) -> anyhow::Result<Lan> {
        ip("link set lo up")?;
        ip(&format!("link add {BRIDGE} type bridge"))?;
        ip(&format!("addr add {HOST}/24 dev {BRIDGE}"))?;
        ip(&format!("link set {BRIDGE} up"))?;
        let machines = (0..machines).map(Machine::join);
        Ok(Lan {
            host: HOST.into(),
            machines: machines.collect::<anyhow::Result<_>>()?,
        })
    }

    /// Uses this machine for all of them, without namespaces.
    pub fn loopback(machines: usize) -> Lan {
        Lan {
            host: Ipv4Addr::LOCALHOST.into(),
            machines: (0..machines).map(|_| Machine(None)).collect(),
        }
    }

    /// Starts the program on one of the machines, in a new folder.
    pub fn start_on(
        &self,
        machine: usize,
        program: &std::path::Path,
        words: &[&str],
    ) -> anyhow::Result<(Workshop, Running)> {
        let machine = self.machines.get(machine).context("a machine")?;
        let Some(holder) = &machine.0 else {
            let place = Workshop::new(program);
            let child = start(&place, words);
            return Ok((place, child));
        };
        let place = Workshop::new("nsenter");
        let namespace = format!("--net=/proc/{}/ns/net", holder.id());
        let program = program.to_str().context("a path in UTF-8")?;
        let child = start(&place, &[&[&namespace, program], words].concat());
        Ok((place, child))
    }
}

impl Machine {
    /// Creates a namespace with its own address on the bridge.
    fn join(number: usize) -> anyhow::Result<Machine> {
        // It ends when its standard input closes, even if this process is killed.
        let mut child = Command::new("unshare")
            .args([
                "--net",
                "sh",
                "-c",
                "ip link set lo up && echo up && exec cat",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("unshare (util-linux)")?;
        let out = child.stdout.take().context("a pipe")?;
        let machine = Machine(Some(child));
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        ensure!(line.trim() == "up", "machine {number} has no network");
        let holder = machine.0.as_ref().map(Child::id).unwrap_or(0);
        let (near, far) = (format!("near{number}"), format!("far{number}"));
        ip(&format!("link add {near} type veth peer name {far}"))?;
        ip(&format!("link set {near} master {BRIDGE} up"))?;
        ip(&format!("link set {far} netns {holder}"))?;
        let address = Ipv4Addr::from(u32::from(HOST) + 1 + number as u32);
        inside(holder, &format!("addr add {address}/24 dev {far}"))?;
        inside(holder, &format!("link set {far} up"))?;
        Ok(machine)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(holder) = &mut self.0 {
            let _ = holder.kill();
            let _ = holder.wait();
        }
    }
}

fn ip(words: &str) -> anyhow::Result<()> {
    ran(Command::new("ip").args(words.split(' ')))
}

fn inside(holder: u32, words: &str) -> anyhow::Result<()> {
    let namespace = format!("--net=/proc/{holder}/ns/net");
    let mut command = Command::new("nsenter");
    ran(command.args([&namespace, "ip"]).args(words.split(' ')))
}

fn ran(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}
