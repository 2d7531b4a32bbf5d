//! Calculates from measured figures how many machines a load needs.

use std::fmt::Write as _;

use super::kept::Kept;

/// The size of a typical cloud machine.
const CORES: f64 = 16.0;
const MEMORY_GIB: f64 = 64.0;
const NETWORK_GBIT: f64 = 12.5;
/// How many packets per second a virtual network card of that size is said to handle, in both directions.
const PACKETS_PER_SECOND: f64 = 2_000_000.0;
/// The on-demand price of a core per hour, in dollars.
const CORE_HOUR: f64 = 0.05;
/// The utilisation to plan for; above 0.9 the verdict is no longer VALID.
const LOAD: f64 = 0.7;
/// The number of ports that Linux uses for connections from one address to one target (`net.ipv4.ip_local_port_range`).
const PORTS: f64 = 28_232.0;
/// The most agents with which one coordinator was measured.
const AGENTS: f64 = 1_000.0;
/// The think time of a user in the second table.
const THINK_S: f64 = 10.0;
/// The kernel's memory for one end of an idle TCP connection, in KiB. Measured as the growth of `Slab` in `/proc/meminfo` when
/// 9,000 connections were opened within one machine, divided by 18,000.
const SOCKET_KIB: f64 = 4.7;
const LOADS: [f64; 3] = [1e6, 1e7, 1e8];

const SHOP: &str = "shop: drumfire";
const THINKING: &str = "many with connections: drumfire";
const USER_KIB: &str = "many with connections: KiB a user beyond '100 with connections'";

/// The resource that limits a load.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    Cpu,
    Memory,
    Network,
    Packets,
}

impl Limit {
    fn name(self) -> &'static str {
        match self {
            Limit::Cpu => "CPU",
            Limit::Memory => "memory",
            Limit::Network => "bandwidth",
            Limit::Packets => "packets",
        }
    }
}

/// The measured figures.
#[derive(Clone, Copy, Debug)]
struct Inputs {
    /// CPU time per request of the shop.
    request_us: f64,
    /// Packets and bytes per request on the wire, in both directions.
    packets: f64,
    bytes: f64,
    /// CPU time per request of a user with think time, among many users.
    thinking_us: f64,
    /// The program's memory for such a user.
    user_kib: f64,
}

impl Inputs {
    fn read(kept: &Kept) -> Option<Inputs> {
        let (shop, users) = (kept.get("shop")?, kept.get("users")?);
        let (packets, bytes) = shop.wire(SHOP)?;
        Some(Inputs {
            request_us: shop.row(SHOP)?.cpu_us,
            packets,
            bytes,
            thinking_us: users.row(THINKING)?.cpu_us,
            user_kib: users.aim(USER_KIB)?,
        })
    }
}

/// The resources that a load needs.
#[derive(Clone, Copy, Debug)]
struct Need {
    cores: f64,
    memory_gib: f64,
    gbit: f64,
    packets: f64,
}

impl Need {
    /// The needs of `rate` requests per second, each taking `cpu_us`, by `users` users.
    fn of(rate: f64, cpu_us: f64, users: f64, inputs: &Inputs) -> Need {
        Need {
            cores: rate * cpu_us / 1e6,
            memory_gib: users * (inputs.user_kib + SOCKET_KIB) / 1024.0 / 1024.0,
            gbit: rate * inputs.bytes * 8.0 / 1e9,
            packets: rate * inputs.packets,
        }
    }

    /// The number of machines, and the resource that runs out first.
    fn machines(self) -> (f64, Limit) {
        let wants = [
            (self.cores / CORES, Limit::Cpu),
            (self.memory_gib / MEMORY_GIB, Limit::Memory),
            (self.gbit / NETWORK_GBIT, Limit::Network),
            (self.packets / PACKETS_PER_SECOND, Limit::Packets),
        ];
        let (most, limit) = wants
            .into_iter()
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .expect("there are four");
        ((most / LOAD).ceil().max(1.0), limit)
    }
}

/// The measured inputs of the calculation, each with the command that measures it.
pub fn inputs(kept: &Kept) -> String {
    let Some(inputs) = Inputs::read(kept) else {
        return missing();
    };
    let rows = [
        (
            "CPU of a request of a script",
            format!("{:.1} µs", inputs.request_us),
            "cargo xtask bench shop",
        ),
        (
            "packets of such a request, both ways",
            format!("{:.1}", inputs.packets),
            "cargo xtask bench shop",
        ),
        (
            "bytes of it on the wire, both ways",
            format!("{:.0}", inputs.bytes),
            "cargo xtask bench shop",
        ),
        (
            "CPU of a request of one among many users that think",
            format!("{:.1} µs", inputs.thinking_us),
            "cargo xtask bench users",
        ),
        (
            "memory of such a user, connection included",
            format!("{:.1} KiB", inputs.user_kib),
            "cargo xtask bench users",
        ),
        (
            "memory of the kernel for its connection",
            format!("{SOCKET_KIB} KiB"),
            "grep Slab /proc/meminfo",
        ),
        (
            "connections from one address to one target",
            format!("{PORTS:.0}"),
            "cat /proc/sys/net/ipv4/ip_local_port_range",
        ),
        (
            "agents of one coordinator: 0.25 cores, 159 MiB",
            format!("{AGENTS:.0}"),
            "cargo xtask fleet agents",
        ),
    ];
    rows.iter().fold(
        "| measured | | command |\n|---|---:|---|\n".to_owned(),
        |mut table, (what, value, command)| {
            let _ = writeln!(table, "| {what} | {value} | `{command}` |");
            table
        },
    )
}

/// The table for requests of the shop's kind, without think time.
pub fn requests(kept: &Kept) -> String {
    let Some(inputs) = Inputs::read(kept) else {
        return missing();
    };
    let mut table = "| requests a second | cores at work | Gbit/s | packets a second | machines | limit | a coordinator's agents | $ an hour |\n\
                     |---:|---:|---:|---:|---:|---|---:|---:|\n"
        .to_owned();
    for rate in LOADS {
        let need = Need::of(rate, inputs.request_us, 0.0, &inputs);
        let (machines, limit) = need.machines();
        let _ = writeln!(
            table,
            "| {} | {:.0} | {:.0} | {} | {machines:.0} | {} | {} | {:.2} |",
            millions(rate),
            need.cores,
            need.gbit,
            millions(need.packets),
            limit.name(),
            share_of_agents(machines),
            machines * CORES * CORE_HOUR
        );
    }
    table
}

/// The table for users with a think time of ten seconds.
pub fn users(kept: &Kept) -> String {
    let Some(inputs) = Inputs::read(kept) else {
        return missing();
    };
    let mut table = "| users | requests a second | cores at work | memory, GiB | packets a second | machines | limit | source addresses | $ an hour |\n\
                     |---:|---:|---:|---:|---:|---:|---|---:|---:|\n"
        .to_owned();
    for users in LOADS {
        let rate = users / THINK_S;
        let need = Need::of(rate, inputs.thinking_us, users, &inputs);
        let (machines, limit) = need.machines();
        let addresses = (users / PORTS).ceil().max(machines);
        let _ = writeln!(
            table,
            "| {} | {} | {:.0} | {:.0} | {} | {machines:.0} | {} | {addresses:.0} | {:.2} |",
            millions(users),
            millions(rate),
            need.cores,
            need.memory_gib,
            millions(need.packets),
            limit.name(),
            machines * CORES * CORE_HOUR
        );
    }
    table
}

fn share_of_agents(machines: f64) -> String {
    format!("{:.1} %", machines / AGENTS * 100.0)
}

fn millions(number: f64) -> String {
    let millions = number / 1e6;
    match millions {
        small if small < 10.0 && small.fract() > 1e-9 => format!("{millions:.1} million"),
        _ => format!("{millions:.0} million"),
    }
}

fn missing() -> String {
    "`cargo xtask bench shop users`: no run yet.\n".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUTS: Inputs = Inputs {
        request_us: 20.0,
        packets: 4.0,
        bytes: 1_000.0,
        thinking_us: 30.0,
        user_kib: 3.4,
    };

    #[test]
    fn a_load_needs_the_machines_of_what_runs_out_first() {
        // 20 busy cores at 16 per machine, 8 of 12.5 Gbit/s, 4 of 2 million packets: packets are the limit, at 70 % utilisation.
        let need = Need::of(1e6, INPUTS.request_us, 0.0, &INPUTS);
        assert_eq!((need.cores, need.gbit), (20.0, 8.0));
        assert_eq!(need.machines(), (3.0, Limit::Packets));
        // Ten million users of 8 KiB need 77 GiB, at 64 GiB per machine.
        let idle = Need::of(1.0, INPUTS.thinking_us, 1e7, &INPUTS);
        assert_eq!(idle.machines(), (2.0, Limit::Memory));
        let none = Need::of(1.0, 1.0, 1.0, &INPUTS);
        assert_eq!(none.machines().0, 1.0);
    }

    #[test]
    fn numbers_are_told_in_millions() {
        assert_eq!(millions(1e7), "10 million");
        assert_eq!(millions(100_000.0), "0.1 million");
        assert_eq!(millions(2_345_678.0), "2.3 million");
    }

    #[test]
    fn without_runs_nothing_is_calculated() {
        let kept = Kept::new();
        for text in [inputs(&kept), requests(&kept), users(&kept)] {
            assert!(text.contains("no run"), "{text}");
        }
    }
}
