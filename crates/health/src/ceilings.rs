//! Predicts which limits of this machine a plan would reach, and how to raise them.

use drumfire_platform::words::{count, counted};

use crate::machine::{Limits, cores_told};

/// How long a closed connection holds its port: Linux's `TCP_TIMEWAIT_LEN`, which no setting changes.
const TIME_WAIT_S: f64 = 60.0;
/// After this long, a port in TIME_WAIT may be reused if `tcp_tw_reuse` allows it.
const REUSE_AFTER_S: f64 = 1.0;
/// File descriptors for anything but connections: results, log, event queues.
const OWN_FILES: u64 = 32;
/// The memory of the program itself.
const OWN_MEMORY_BYTES: u64 = 32 << 20;
/// How long the firewall tracks a connection that has ended, if the system does not say
/// (`nf_conntrack_tcp_timeout_time_wait`).
const TRACKED_AFTER_END_S: u64 = 120;
/// Linux's default of `fs.nr_open`.
const DEFAULT_NR_OPEN: u64 = 1 << 20;
/// A value of `tcp_max_tw_buckets` below this is less than the number of ports to one target.
const FEW_BUCKETS: u64 = 28_232;

/// The demands that a plan makes on the machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanDemands {
    /// The largest number of users that run at the same time, if the plan states it.
    pub users: Option<u64>,
    /// Whether each iteration begins with new connections.
    pub new_connections: bool,
    /// Whether any request goes over TLS.
    pub tls: bool,
    /// Whether all targets are on this machine.
    pub loopback: bool,
    /// The number of source addresses for connections, at least 1.
    pub source_addresses: u64,
    /// The memory of a user, in bytes.
    pub bytes_per_user: u64,
    /// CPU time of a sample over an existing connection, in microseconds.
    pub sample_us: f64,
    /// CPU time that a new connection adds, handshakes included, in microseconds.
    pub connection_us: f64,
    /// CPU time that scripts and other Java code add to a sample on average, in microseconds; `None` if no plan is given.
    pub java_us: Option<f64>,
}

/// One limit, in the plan's terms.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Ceiling {
    /// The limited quantity, with its unit: `connections`, `samples a second`.
    pub of: &'static str,
    /// The maximum.
    pub most: u64,
    /// How much the plan asks for, if it says so.
    pub asked: Option<u64>,
    /// The reason for the limit.
    pub because: String,
    /// The remedy that raises the limit, and the new limit.
    pub remedy: String,
}

impl Ceiling {
    /// Whether the plan asks for more than the maximum.
    pub fn is_exceeded(&self) -> bool {
        self.asked.is_some_and(|asked| asked > self.most)
    }
}

/// The ceilings of a load on a machine with these limits. Limits that the machine does not show are left out.
pub fn ceilings(limits: &Limits, load: &PlanDemands) -> Vec<Ceiling> {
    [
        memory(limits, load),
        open_files(limits, load),
        ports_in_use(limits, load),
        new_connections(limits, load),
        tracked(limits, load),
        newly_tracked(limits),
        Some(cpu(limits, load)),
        Some(cpu_of_connections(limits, load)),
        link(limits, load),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn memory(limits: &Limits, load: &PlanDemands) -> Option<Ceiling> {
    let bytes = limits.memory_bytes?;
    Some(Ceiling {
        of: "users, by memory",
        most: bytes.saturating_sub(OWN_MEMORY_BYTES) / load.bytes_per_user.max(1),
        asked: load.users,
        because: format!(
            "{} MiB of memory, {:.1} KiB a user",
            bytes >> 20,
            load.bytes_per_user as f64 / 1024.0
        ),
        remedy: "more memory; Drumfire does not keep bodies that nothing reads".to_owned(),
    })
}

fn open_files(limits: &Limits, load: &PlanDemands) -> Option<Ceiling> {
    let soft = limits.open_files?;
    Some(Ceiling {
        of: "connections, by open files",
        most: soft.saturating_sub(OWN_FILES),
        asked: load.users,
        because: format!("ulimit -n is {soft}"),
        remedy: match limits.open_files_hard {
            Some(hard) if hard > soft => {
                format!(
                    "ulimit -n {hard} makes it {}",
                    hard.saturating_sub(OWN_FILES)
                )
            }
            _ => "LimitNOFILE of the service, or nofile in limits.conf".to_owned(),
        },
    })
}

fn port_count(limits: &Limits) -> Option<u64> {
    let (first, last) = limits.ports?;
    let all = (u64::from(last) + 1).saturating_sub(u64::from(first));
    Some(all.saturating_sub(u64::from(limits.reserved_ports)))
}

fn ports_in_use(limits: &Limits, load: &PlanDemands) -> Option<Ceiling> {
    let ports = port_count(limits)?;
    Some(Ceiling {
        of: "connections to one target, by local ports",
        most: ports * load.source_addresses,
        asked: load.users,
        because: format!(
            "{ports} ports in net.ipv4.ip_local_port_range, {}",
            counted(load.source_addresses, "source address")
        ),
        remedy: format!(
            "another source address (ipSource) adds {ports}; ip_local_port_range = 1024 65535 makes it 64512"
        ),
    })
}

fn new_connections(limits: &Limits, load: &PlanDemands) -> Option<Ceiling> {
    let ports = port_count(limits)?;
    let is_reused = match limits.time_wait_reuse {
        Some(1) => true,
        Some(2) => load.loopback,
        _ => false,
    };
    let held_s = if is_reused {
        REUSE_AFTER_S
    } else {
        TIME_WAIT_S
    };
    let most = |held_s: f64| (ports as f64 * load.source_addresses as f64 / held_s) as u64;
    Some(Ceiling {
        of: "new connections a second to one target",
        most: most(held_s),
        asked: None,
        because: format!(
            "{ports} ports, each held {held_s:.0} s after its connection ends{}",
            if load.new_connections {
                ", and the plan opens new ones in each iteration"
            } else {
                ""
            }
        ),
        remedy: if is_reused {
            "more source addresses (ipSource)".to_owned()
        } else {
            format!(
                "net.ipv4.tcp_tw_reuse = 1 makes it {} where the target sends timestamps; more source addresses; connections that are kept (httpclient.reset_state_on_thread_group_iteration=false); drumfire.http.close_with_reset=true",
                most(REUSE_AFTER_S)
            )
        },
    })
}

fn tracked(limits: &Limits, load: &PlanDemands) -> Option<Ceiling> {
    let most = limits.tracked_connections?;
    Some(Ceiling {
        of: "connections, by the firewall's table",
        most,
        asked: load.users,
        because: format!("net.netfilter.nf_conntrack_max is {most}, closed connections included"),
        remedy: "raise nf_conntrack_max, or exempt the load with a NOTRACK rule".to_owned(),
    })
}

fn newly_tracked(limits: &Limits) -> Option<Ceiling> {
    let most = limits.tracked_connections?;
    let held_s = limits
        .tracked_after_end_s
        .unwrap_or(TRACKED_AFTER_END_S)
        .max(1);
    Some(Ceiling {
        of: "new connections a second, by the firewall's table",
        most: most / held_s,
        asked: None,
        because: format!("{most} entries, each kept {held_s} s after its connection ends"),
        remedy:
            "nf_conntrack_tcp_timeout_time_wait = 1, a higher nf_conntrack_max, or a NOTRACK rule"
                .to_owned(),
    })
}

fn cpu_of_connections(limits: &Limits, load: &PlanDemands) -> Ceiling {
    let each_us = load.sample_us + load.connection_us + load.java_us.unwrap_or(0.0);
    Ceiling {
        of: "new connections a second, by CPU",
        most: (limits.cores * 1e6 / each_us) as u64,
        asked: None,
        because: format!(
            "{} µs of CPU for a connection{} and a request{}",
            count(each_us as u64),
            if load.tls { ", its TLS handshake" } else { "" },
            if load.java_us > Some(0.0) {
                " with its scripts"
            } else {
                ""
            },
        ),
        remedy: if load.tls {
            "connections that are kept; resumed sessions cost about half of a full handshake"
                .to_owned()
        } else {
            "connections that are kept".to_owned()
        },
    }
}

fn link(limits: &Limits, load: &PlanDemands) -> Option<Ceiling> {
    let most = limits.link_bytes_per_s.filter(|_| !load.loopback)?;
    Some(Ceiling {
        of: "bytes a second, by the network interface",
        most,
        asked: None,
        because: format!("its link has {} Mbit/s", most * 8 / 1_000_000),
        remedy:
            "Accept-Encoding: gzip, as browsers send it, where bodies are large; another generator"
                .to_owned(),
    })
}

fn cpu(limits: &Limits, load: &PlanDemands) -> Ceiling {
    let each_us = load.sample_us + load.java_us.unwrap_or(0.0);
    let kept = limits.cores * 1e6 / each_us;
    let opened = limits.cores * 1e6 / (each_us + load.connection_us);
    Ceiling {
        of: "samples a second, by CPU",
        most: if load.new_connections { opened } else { kept } as u64,
        asked: None,
        because: format!(
            "{}; a plain sample costs {:.0} µs, a new connection{} {:.0} µs{}",
            cores_told(limits.cores),
            load.sample_us,
            if load.tls { " with its handshake" } else { "" },
            load.connection_us,
            match load.java_us {
                None => "; less with scripts, of which a compiled one costs about 20 µs and an interpreted one 5,000 µs".to_owned(),
                Some(0.0) => String::new(),
                Some(us) => format!(
                    ", the scripts and Java classes of this plan about {} µs a sample, and more if they are long",
                    count(us.ceil() as u64)
                ),
            }
        ),
        remedy: if load.new_connections {
            format!("keeping connections lifts it towards {}", count(kept as u64))
        } else {
            format!(
                "{} cores make it {}",
                limits.cores * 2.0,
                count(2 * kept as u64)
            )
        },
    }
}

/// Settings that advice on the web recommends but that are harmful or useless: which are set, and what is wrong with them.
pub fn dangerous_settings(limits: &Limits) -> Vec<String> {
    let mut found = Vec::new();
    if limits.time_wait_recycle.is_some_and(|value| value != 0) {
        found.push(
            "net.ipv4.tcp_tw_recycle is on: it drops connections of clients that share an address; Linux removed it in 4.12"
                .to_owned(),
        );
    }
    if let Some(buckets) = limits
        .time_wait_buckets
        .filter(|buckets| *buckets < FEW_BUCKETS)
    {
        found.push(format!(
            "net.ipv4.tcp_max_tw_buckets is {buckets}: beyond that sockets leave TIME_WAIT at once, and late segments of an old connection can reach a new one"
        ));
    }
    if let Some(seconds) = limits.fin_timeout_s.filter(|seconds| *seconds != 60) {
        found.push(format!(
            "net.ipv4.tcp_fin_timeout is {seconds}: it sets the time of FIN_WAIT_2 and does not shorten TIME_WAIT, which is always 60 s"
        ));
    }
    if let Some(nr_open) = limits.nr_open.filter(|nr_open| *nr_open < DEFAULT_NR_OPEN) {
        found.push(format!(
            "fs.nr_open is {nr_open}, below its default of {DEFAULT_NR_OPEN}: services that ask for more files do not start, and logins may fail"
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits {
            cores: 2.0,
            open_files: Some(1024),
            open_files_hard: Some(524_288),
            memory_bytes: Some(1 << 30),
            ports: Some((32768, 60999)),
            time_wait_reuse: Some(2),
            ..Limits::default()
        }
    }

    fn load() -> PlanDemands {
        PlanDemands {
            users: Some(5000),
            new_connections: true,
            tls: true,
            loopback: false,
            source_addresses: 1,
            bytes_per_user: 12 << 10,
            sample_us: 10.0,
            connection_us: 190.0,
            java_us: Some(0.0),
        }
    }

    fn most(limits: &Limits, load: &PlanDemands, of: &str) -> u64 {
        ceilings(limits, load)
            .into_iter()
            .find(|ceiling| ceiling.of.starts_with(of))
            .map_or(0, |ceiling| ceiling.most)
    }

    #[test]
    fn a_plan_meets_files_first() {
        let exceeded: Vec<_> = ceilings(&limits(), &load())
            .into_iter()
            .filter(Ceiling::is_exceeded)
            .map(|ceiling| (ceiling.of, ceiling.most, ceiling.remedy))
            .collect();
        assert_eq!(
            exceeded,
            [(
                "connections, by open files",
                992,
                "ulimit -n 524288 makes it 524256".to_owned()
            )]
        );
    }

    #[test]
    fn ports_are_held_a_minute_unless_they_may_be_taken_again() {
        let of = "new connections a second to one target";
        assert_eq!(most(&limits(), &load(), of), 28_232 / 60);
        let loopback = PlanDemands {
            loopback: true,
            ..load()
        };
        assert_eq!(most(&limits(), &loopback, of), 28_232);
        let two = PlanDemands {
            source_addresses: 2,
            ..load()
        };
        assert_eq!(most(&limits(), &two, of), 28_232 * 2 / 60);
        let reused = Limits {
            time_wait_reuse: Some(1),
            ..limits()
        };
        assert_eq!(most(&reused, &load(), of), 28_232);
    }

    #[test]
    fn new_connections_cost_cpu() {
        assert_eq!(most(&limits(), &load(), "samples"), 10_000);
        let kept = PlanDemands {
            new_connections: false,
            ..load()
        };
        assert_eq!(most(&limits(), &kept, "samples"), 200_000);
    }

    #[test]
    fn scripts_lower_the_promise_and_are_told() {
        let cpu = |java_us| {
            let load = PlanDemands {
                new_connections: false,
                java_us,
                ..load()
            };
            let all = ceilings(&limits(), &load);
            let cpu = all.into_iter().find(|one| one.of.starts_with("samples"));
            cpu.expect("there is CPU")
        };
        let scripted = cpu(Some(19_990.0));
        assert_eq!(scripted.most, 100);
        assert!(scripted.because.contains("about 19,990 µs"), "{scripted:?}");
        assert_eq!(cpu(Some(0.0)).most, 200_000);
        assert!(!cpu(Some(0.0)).because.contains("script"));
        assert!(cpu(None).because.contains("less with scripts"));
    }

    #[test]
    fn unknown_limits_predict_nothing() {
        let bare = Limits {
            cores: 1.0,
            ..Limits::default()
        };
        let found: Vec<_> = ceilings(&bare, &load())
            .iter()
            .map(|ceiling| ceiling.of)
            .collect();
        assert_eq!(
            found,
            [
                "samples a second, by CPU",
                "new connections a second, by CPU"
            ]
        );
    }

    #[test]
    fn the_firewalls_table_and_the_link_have_ceilings_of_their_own() {
        let limits = Limits {
            tracked_connections: Some(262_144),
            link_bytes_per_s: Some(125_000_000),
            ..limits()
        };
        let of = "new connections a second, by the firewall";
        assert_eq!(most(&limits, &load(), of), 262_144 / 120);
        assert_eq!(most(&limits, &load(), "bytes"), 125_000_000);
        let loopback = PlanDemands {
            loopback: true,
            ..load()
        };
        assert_eq!(most(&limits, &loopback, "bytes"), 0, "it is not in the way");
        assert_eq!(
            most(&limits, &load(), "new connections a second, by CPU"),
            10_000
        );
    }

    #[test]
    fn each_bad_advice_is_named_by_its_setting() {
        let good = [
            ("net/ipv4/tcp_max_tw_buckets", "262144"),
            ("net/ipv4/tcp_fin_timeout", "60"),
            ("fs/nr_open", "1073741816"),
        ];
        let bad = [
            ("net/ipv4/tcp_tw_recycle", "1"),
            ("net/ipv4/tcp_max_tw_buckets", "8192"),
            ("net/ipv4/tcp_fin_timeout", "10"),
            ("fs/nr_open", "65536"),
        ];
        let named = |settings: &[(&str, &str)]| {
            let folder = tempfile::tempdir().expect("a temporary folder can be made");
            for (name, value) in settings {
                let path = folder.path().join("proc/sys").join(name);
                std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("room");
                std::fs::write(path, format!("{value}\n")).expect("there is room");
            }
            dangerous_settings(&crate::Machine::at(folder.path()).limits())
        };
        assert!(named(&good).is_empty());
        for (name, value) in bad {
            let others = good.iter().filter(|(known, _)| *known != name);
            let settings: Vec<_> = others.copied().chain([(name, value)]).collect();
            let found = named(&settings);
            let [only] = found.as_slice() else {
                panic!("{name}: {found:?}")
            };
            assert!(only.starts_with(&name.replace('/', ".")), "{only}");
        }
    }

    #[test]
    fn the_firewalls_table_is_read_from_its_files() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let netfilter = folder.path().join("proc/sys/net/netfilter");
        std::fs::create_dir_all(&netfilter).expect("there is room");
        for (name, value) in [
            ("nf_conntrack_max", "65536\n"),
            ("nf_conntrack_tcp_timeout_time_wait", "120\n"),
        ] {
            std::fs::write(netfilter.join(name), value).expect("there is room");
        }
        let limits = crate::Machine::at(folder.path()).limits();
        assert_eq!(limits.tracked_connections, Some(65_536));
        assert_eq!(limits.tracked_after_end_s, Some(120));
    }
}
