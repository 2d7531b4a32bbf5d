//! The scenarios, and the programs that run each of them.

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
use super::peers::Program;
use crate::measure::RunPart;

/// Users or connections of a scenario that says nothing else.
const USERS: u32 = 10;

/// A set of cases that are printed in one table.
pub struct Scenario {
    pub name: &'static str,
    pub about: &'static str,
    pub entries: Vec<Contender>,
    /// Shortest round, where a scenario needs more than the others.
    pub least_seconds: u32,
    /// Longest round: what costs time and shows no more.
    pub most_seconds: u32,
    /// Run only by its name: it takes very long.
    pub on_request: bool,
    /// Of what the cases are numbers, where they are: they are drawn as a curve.
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

/// One program with its settings.
pub struct Contender {
    /// Entries that are compared with each other have the same case.
    pub case: String,
    pub program: Program,
    /// In `benches/`, or in the server's folder if it is made.
    pub plan: String,
    /// A file that has to be there.
    pub made: Option<Made>,
    /// The work on a result file, instead of running a plan.
    pub reads: Option<Reads>,
    pub users: u32,
    pub path: &'static str,
    pub door: Door,
    /// Whether each user has a connection.
    pub connects: bool,
    /// For programs without a plan: a new connection for each request.
    pub reconnects: bool,
    /// Whether a plan's results go to a file.
    pub writes_results: bool,
    /// How many cores the program may use; 0 is all.
    pub cores: u32,
    /// Of this entry alone, whatever the command says; 0 is what it says.
    pub seconds: u32,
    /// The part of a round whose time, CPU and samples count; its memory counts as a whole.
    pub counted: Option<RunPart>,
    /// Java's classes are prepared before the round (`drumfire jvm install`).
    pub prepares_java: bool,
    /// In the middle of the round the server answers nobody for a second.
    pub stalls: bool,
    /// Beside the program a thread for each core computes without end.
    pub busy: bool,
    /// Properties of the plan besides port, users and seconds; those whose names begin with `javax.` are the system's.
    /// `@FOLDER@` stands for the server's folder, `@PORT@` for its port, `@TLS_PORT@` for that with TLS, `@DB_PORT@` for that of a
    /// database, `@JARS@` for the folder of jars (`BENCH_JARS`).
    pub properties: Vec<(&'static str, String)>,
}

/// A command that reads result files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// The report of one.
    Report,
    /// One beside itself.
    Compare,
    /// One added to itself.
    Merge,
}

/// Which of the server's ports is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    Plain,
    Tls,
    /// TLS that wants a client's certificate.
    ClientCertificate,
    /// HTTP/2 over plain TCP, without asking.
    Http2,
    /// HTTP/2 by TLS, for those who ask for it.
    Http2Tls,
    /// TLS connections that are closed after ten requests and never resumed.
    TenRequests,
    /// The WebSocket that echoes.
    Echo,
}

impl Contender {
    fn new(program: Program, plan: impl Into<String>) -> Contender {
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

    /// Over HTTPS.
    fn secure(self, door: Door) -> Contender {
        Contender { door, ..self }.with("scheme", "https")
    }
}

/// All scenarios, in the order in which they are run.
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

fn each(programs: &[Program], entry: impl Fn(Program) -> Contender) -> Vec<Contender> {
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
                Program::K6 => script("js"),
                Program::Locust => script("py"),
                Program::Loadr => script("yaml"),
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
            assert_eq!(scenario.entries[0].program, Program::Drumfire);
            assert!(all[..index].iter().all(|other| other.name != scenario.name));
        }
    }

    #[test]
    fn aims_are_at_cases_that_there_are() {
        for scenario in all() {
            for aim in &scenario.aims {
                let has = |program: Program, case: &str| {
                    let mut entries = scenario.entries.iter();
                    entries.any(|entry| entry.program == program && entry.case == case)
                };
                let ours = |case| has(Program::Drumfire, case);
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
