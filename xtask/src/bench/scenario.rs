//! What is measured: each scenario and the programs that run it.

use super::peers::Program;

/// Users or connections of a scenario that says nothing else.
const USERS: u32 = 10;
/// Users of the largest case.
const MANY_USERS: u32 = 20_000;

/// A set of cases that are printed in one table.
pub struct Scenario {
    pub name: &'static str,
    pub about: &'static str,
    pub entries: Vec<Entry>,
    /// Shortest round, where a scenario needs more than the others.
    pub least_seconds: u32,
}

/// One program with its settings.
pub struct Entry {
    /// What is compared with each other has the same case.
    pub case: String,
    pub program: Program,
    pub plan: &'static str,
    pub users: u32,
    pub path: &'static str,
    pub tls: bool,
    /// Over plain TCP, without asking.
    pub http2: bool,
    /// For programs without a plan: a new connection for each request.
    pub reconnects: bool,
    /// Properties of the plan besides port, users and seconds.
    pub properties: Vec<(&'static str, String)>,
}

impl Entry {
    fn new(program: Program, plan: &'static str) -> Entry {
        Entry {
            case: String::new(),
            program,
            plan,
            users: USERS,
            path: "/",
            tls: false,
            http2: false,
            reconnects: false,
            properties: Vec::new(),
        }
    }

    fn with(mut self, name: &'static str, value: impl ToString) -> Entry {
        self.properties.push((name, value.to_string()));
        self
    }

    fn case(mut self, case: impl ToString, users: u32) -> Entry {
        self.case = case.to_string();
        self.users = users;
        self
    }
}

/// All scenarios, in the order in which they are run.
pub fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "keepalive",
            "ten requests an iteration over kept-alive connections",
            each(
                &[
                    Program::Drumfire,
                    Program::Wrk,
                    Program::Oha,
                    Program::K6,
                    Program::Gatling,
                    Program::JMeter,
                ],
                |program| Entry::new(program, "requests.jmx"),
            ),
        ),
        scenario(
            "extract",
            "three variables in the path, a Response Assertion and a Boundary Extractor; wrk only asks",
            each(
                &[Program::Drumfire, Program::Wrk, Program::JMeter],
                |program| Entry {
                    path: "/shop/index.html?user=42",
                    ..Entry::new(program, "extract.jmx")
                },
            ),
        ),
        scenario(
            "newstate",
            "connections thrown away at each iteration of ten requests; oha: at each request; wrk: never",
            each(
                &[
                    Program::Drumfire,
                    Program::Wrk,
                    Program::Oha,
                    Program::JMeter,
                ],
                new_state,
            ),
        ),
        scenario(
            "newstate-tls",
            "the same over HTTPS",
            each(
                &[
                    Program::Drumfire,
                    Program::Wrk,
                    Program::Oha,
                    Program::JMeter,
                ],
                |program| Entry {
                    tls: true,
                    ..new_state(program).with("scheme", "https")
                },
            ),
        ),
        scenario(
            "http2",
            "ten requests an iteration over kept-alive HTTP/2 connections, one stream each",
            each(&[Program::Drumfire, Program::H2load], |program| Entry {
                http2: true,
                ..Entry::new(program, "requests.jmx").with("drumfire.http.version", 2)
            }),
        ),
        scenario(
            "download",
            "ten downloads of 1 GiB, one user",
            each(
                &[Program::Drumfire, Program::Curl, Program::JMeter],
                download,
            ),
        ),
        Scenario {
            // Ramp-up of 20 s (JMeter rounds the distance of starts to whole milliseconds), then two rounds of requests.
            least_seconds: 42,
            ..scenario(
                "users",
                "memory and CPU of many users that think 10 s",
                users(),
            )
        },
        scenario(
            "pacing",
            "5,000 requests a second by a Precise Throughput Timer",
            vec![
                Entry::new(Program::Drumfire, "pacing.jmx")
                    .case("5,000/s", 100)
                    .with("rate", 5_000),
            ],
        ),
        scenario(
            "seed",
            "requests of an iteration, with and without keep-alive, few users",
            seed(),
        ),
    ]
}

fn scenario(name: &'static str, about: &'static str, entries: Vec<Entry>) -> Scenario {
    Scenario {
        name,
        about,
        entries,
        least_seconds: 1,
    }
}

fn each(programs: &[Program], entry: impl Fn(Program) -> Entry) -> Vec<Entry> {
    programs.iter().map(|program| entry(*program)).collect()
}

fn new_state(program: Program) -> Entry {
    Entry {
        reconnects: true,
        ..Entry::new(program, "requests.jmx").with("same_user", false)
    }
}

fn download(program: Program) -> Entry {
    let entry = Entry {
        users: 1,
        path: "/big",
        ..Entry::new(program, "requests.jmx")
    };
    let entry = entry
        .with("path", "/big")
        .with("loops", 1)
        .with("seconds", 600);
    // JMeter by its defaults keeps the body and runs out of memory.
    entry.with("httpsampler.max_bytes_to_store_per_request", 1)
}

fn users() -> Vec<Entry> {
    let thinking = |users: u32, think_ms: u32| {
        Entry::new(Program::Drumfire, "users.jmx")
            .case(format!("{users} with connections"), users)
            .with("think_ms", think_ms)
            .with("ramp_up", if users > 100 { 20 } else { 0 })
    };
    let idle = |users: u32| {
        Entry::new(Program::Drumfire, "idle.jmx")
            .case(format!("{users} without"), users)
            .with("think_ms", 10_000)
    };
    vec![
        // The same rate of requests for the ratio of their costs.
        thinking(100, 50),
        thinking(MANY_USERS, 10_000),
        idle(100),
        idle(5 * MANY_USERS),
    ]
}

fn seed() -> Vec<Entry> {
    let mut entries = Vec::new();
    for keep_alive in [true, false] {
        for requests in [1, 10, 50, 100] {
            for users in 1..=3 {
                let kept = if keep_alive { "kept" } else { "closed" };
                let case = format!("{requests} {kept}, {users} user(s)");
                for program in [Program::Drumfire, Program::JMeter] {
                    entries.push(
                        Entry::new(program, "requests.jmx")
                            .case(&case, users)
                            .with("requests", requests)
                            .with("keep_alive", keep_alive)
                            .with("same_user", false),
                    );
                }
            }
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_is_there_and_knows_the_properties() {
        for entry in all().iter().flat_map(|scenario| &scenario.entries) {
            let file = crate::root().join("benches").join(entry.plan);
            let plan = std::fs::read_to_string(&file).expect(entry.plan);
            for (name, _) in &entry.properties {
                let known = plan.contains(&format!("__P({name}")) || name.contains('.');
                assert!(known, "{}: {name}", entry.plan);
            }
        }
    }

    #[test]
    fn names_are_unique_and_ours_comes_first() {
        let all = all();
        for (index, scenario) in all.iter().enumerate() {
            assert_eq!(scenario.entries[0].program, Program::Drumfire);
            assert!(all[..index].iter().all(|other| other.name != scenario.name));
        }
    }
}
