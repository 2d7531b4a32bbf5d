//! The scenarios, and the programs that take part in each.

mod bodies;
mod growth;
mod load;
mod protocols;
mod requests;
mod scripts;
mod start;
mod work;

use super::aim::{Aim, Bound, Figure};
use super::made::Made;
use super::peers::LoadTester;
use crate::measure::RunPart;

/// The default number of users or connections.
const USERS: u32 = 10;

/// A set of cases that are printed in one table.
pub struct Scenario {
    pub name: &'static str,
    pub about: &'static str,
    pub entries: Vec<Contender>,
    /// The shortest round, if the scenario needs more time than others.
    pub least_seconds: u32,
    /// The longest round, if more time would show nothing new.
    pub most_seconds: u32,
    /// Whether it only runs when named, because it takes very long.
    pub on_request: bool,
    /// The unit of the cases, if they are numbers. They are then drawn as a curve.
    pub axis: Option<&'static str>,
    pub aims: Vec<Aim>,
}

impl Scenario {
    fn new(name: &'static str, about: &'static str, entries: Vec<Contender>) -> Scenario {
        Scenario {
            name,
            about,
            entries,
            least_seconds: 1,
            most_seconds: u32::MAX,
            on_request: false,
            axis: None,
            aims: Vec::new(),
        }
    }

    fn at_most(mut self, case: impl ToString, figure: Figure, most: f64) -> Scenario {
        self.aims.push(Aim {
            case: case.to_string(),
            figure,
            bound: Bound::AtMost(most),
        });
        self
    }

    fn at_least(mut self, case: impl ToString, figure: Figure, least: f64) -> Scenario {
        self.aims.push(Aim {
            case: case.to_string(),
            figure,
            bound: Bound::AtLeast(least),
        });
        self
    }
}

/// One program with its settings for a case.
pub struct Contender {
    /// Entries with the same case are compared with each other.
    pub case: String,
    pub program: LoadTester,
    /// Relative to `benches/`, or to the server's folder if the plan is generated.
    pub plan: String,
    /// A generated file that it needs.
    pub made: Option<Made>,
    /// The command to run on a result file, instead of running a plan.
    pub reads: Option<Reads>,
    pub users: u32,
    pub path: &'static str,
    pub door: Door,
    /// Whether each user has a connection.
    pub connects: bool,
    /// Whether programs without a plan open a new connection for each request.
    pub reconnects: bool,
    /// Whether a plan's results go to a file.
    pub writes_results: bool,
    /// The number of cores that the program may use; 0 for all.
    pub cores: u32,
    /// The duration of this entry, which overrides the command line; 0 to use the command line's.
    pub seconds: u32,
    /// The part of a round whose time, CPU and samples count. Peak memory is always that of the whole round.
    pub counted: Option<RunPart>,
    /// Whether Java's classes are prepared before the round (`drumfire jvm install`).
    pub prepares_java: bool,
    /// Whether the server stops answering for a second in the middle of the round.
    pub stalls: bool,
    /// Whether other threads keep all cores busy during the round.
    pub busy: bool,
    /// Properties of the plan in addition to port, users and seconds. Names that begin with `javax.` are system properties.
    /// `@FOLDER@` stands for the server's folder, `@PORT@` for its port, `@TLS_PORT@` for its TLS port, `@DB_PORT@` for a
    /// database's port, and `@JARS@` for the folder of jars (`BENCH_JARS`).
    pub properties: Vec<(&'static str, String)>,
}

/// A command that reads result files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// A report of one file.
    Report,
    /// A comparison of a file with itself.
    Compare,
    /// A merge of a file with itself.
    Merge,
}

/// The server port that receives the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    Plain,
    Tls,
    /// TLS that requires a client certificate.
    ClientCertificate,
    /// HTTP/2 over plain TCP with prior knowledge.
    Http2,
    /// HTTP/2 over TLS, for clients that negotiate it.
    Http2Tls,
    /// TLS connections that are closed after ten requests and cannot be resumed.
    TenRequests,
    /// The WebSocket echo.
    Echo,
    /// The gRPC service of the tests.
    Grpc,
    /// An FTP server.
    Ftp,
    /// The SMTP server of the tests.
    Mail,
    /// An MQTT broker.
    Mqtt,
}

impl Contender {
    fn new(program: LoadTester, plan: impl Into<String>) -> Contender {
        Contender {
            case: String::new(),
            program,
            plan: plan.into(),
            made: None,
            reads: None,
            users: USERS,
            path: "/",
            door: Door::Plain,
            connects: true,
            reconnects: false,
            writes_results: true,
            cores: 0,
            seconds: 0,
            counted: None,
            prepares_java: false,
            stalls: false,
            busy: false,
            properties: Vec::new(),
        }
    }

    fn with(mut self, name: &'static str, value: impl ToString) -> Contender {
        self.properties.push((name, value.to_string()));
        self
    }

    fn case(mut self, case: impl ToString, users: u32) -> Contender {
        self.case = case.to_string();
        self.users = users;
        self
    }

    fn needs(self, made: Made) -> Contender {
        Contender {
            made: Some(made),
            ..self
        }
    }

    /// Uses HTTPS on a port.
    fn secure(self, door: Door) -> Contender {
        Contender { door, ..self }.with("scheme", "https")
    }
}

/// All scenarios, in execution order.
pub fn all() -> Vec<Scenario> {
    let mut all = requests::all();
    all.extend(bodies::all());
    all.extend(load::all());
    all.extend(start::all());
    all.extend(scripts::all());
    all.extend(work::all());
    all.extend(protocols::all());
    all.extend(growth::all());
    all
}

fn each(programs: &[LoadTester], entry: impl Fn(LoadTester) -> Contender) -> Vec<Contender> {
    programs.iter().map(|program| entry(*program)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_plan_is_there_and_knows_the_properties() {
        for entry in all().iter().flat_map(|scenario| &scenario.entries) {
            if entry.made.is_some_and(|made| made.path() == entry.plan) {
                continue;
            }
            let script = |ending: &str| {
                let name = Path::new(&entry.plan).with_extension(ending);
                let folder = xtask::root().join("benches").join(entry.program.name());
                assert!(folder.join(&name).is_file(), "{}", name.display());
            };
            match entry.program {
                LoadTester::K6 => script("js"),
                LoadTester::Locust => script("py"),
                LoadTester::Artillery | LoadTester::Loadr => script("yaml"),
                _ => {}
            }
            let file = xtask::root().join("benches").join(&entry.plan);
            let plan = std::fs::read_to_string(&file).expect(&entry.plan);
            for (name, _) in &entry.properties {
                let is_of_program = name.contains('.') || *name == "search_paths";
                let known = is_of_program || plan.contains(&format!("__P({name}"));
                assert!(known, "{}: {name}", entry.plan);
            }
        }
    }

    #[test]
    fn cases_of_a_curve_are_numbers() {
        for scenario in all().iter().filter(|scenario| scenario.axis.is_some()) {
            for entry in &scenario.entries {
                assert!(
                    entry.case.parse::<f64>().is_ok(),
                    "{}: {}",
                    scenario.name,
                    entry.case
                );
            }
        }
    }

    #[test]
    fn names_are_unique_and_ours_comes_first() {
        let all = all();
        for (index, scenario) in all.iter().enumerate() {
            assert_eq!(scenario.entries[0].program, LoadTester::Drumfire);
            assert!(all[..index].iter().all(|other| other.name != scenario.name));
        }
    }

    #[test]
    fn aims_are_at_cases_that_there_are() {
        for scenario in all() {
            for aim in &scenario.aims {
                let has = |program: LoadTester, case: &str| {
                    let mut entries = scenario.entries.iter();
                    entries.any(|entry| entry.program == program && entry.case == case)
                };
                let ours = |case| has(LoadTester::Drumfire, case);
                assert!(ours(&aim.case), "{}: {}", scenario.name, aim.case);
                let there_is = match aim.figure {
                    Figure::Cpu(program)
                    | Figure::Time(program)
                    | Figure::Rate(program)
                    | Figure::LateTo(program)
                    | Figure::PeakTo(program) => has(program, &aim.case),
                    Figure::CpuIn(program, case) => has(program, case),
                    Figure::CpuToCase(case)
                    | Figure::CpuBeyondCase(case)
                    | Figure::PeakToCase(case)
                    | Figure::UserKib(case)
                    | Figure::LateBeyondCase(case)
                    | Figure::LateToCase(case) => ours(case),
                    _ => true,
                };
                assert!(there_is, "{}: {:?}", scenario.name, aim.figure);
            }
        }
    }
}
