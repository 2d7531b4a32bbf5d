//! The meaning of JMeter's options here, evaluated in the order of `org.apache.jmeter.JMeter.start`.
//!
//! A wrong command line gets JMeter's message on the streams where JMeter prints it, so that scripts that look for it find it.
//! The exit code differs from JMeter's 0.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use drumfire_platform::ports::PORT;

use super::parse::{CommandLineItem, parse};
use super::{descriptors, remote};
use crate::args;
use crate::command::Command;
use crate::edit::arguments::EditArguments;
use crate::exit_codes::Exit;
use crate::log::options::LogOptions;
use crate::refusal::Refusal;
use crate::report::arguments::{ReportArguments, ReportFiles};
use crate::run::arguments::{PlanChoice, ResultsFile, RunArguments};
use crate::settings::options::{Change, PropertyOptions};

/// The word for the last plan in `-t` and `-l`.
const LAST: &str = "LAST";

/// Reads the words of the command line, without the program's name.
///
/// # Errors
/// A [`Refusal`] with JMeter's message if the command line is wrong, or if it asks for the graphical interface.
pub fn read(words: &[String]) -> Result<Command, Refusal> {
    let items = parse(words).map_err(|error| wrong(error.as_ref()))?;
    let given = Given { items: &items };
    let without_gui = given.has('n');
    if !without_gui && (given.has('r') || given.has('R') || given.has('X')) {
        return Err(wrong("-r and -R and -X are only valid in non-GUI mode"));
    }
    if let Some(text) = given.text() {
        return Err(failed(&format!("Unknown arg: {text}"), Exit::Usage));
    }
    if given.has('H') != given.has('P') {
        return Err(incorrect(
            "If specifying a proxy server, host and port must be given",
        ));
    }
    if given.has('v') {
        return Ok(Command::Version);
    }
    if given.has('h') {
        return Ok(Command::Print(args::help()));
    }
    if given.has('?') {
        return Ok(Command::Print(descriptors::describe()));
    }
    if without_gui && given.has('e') && !given.has('l') {
        return Err(incorrect("Option -e requires -l option"));
    }
    if given.has('s') {
        return Ok(Command::Agent(remote::server(property_options(&given))));
    }
    if let Some(port) = given
        .argument('P')
        .filter(|port| port.parse::<u16>().is_err())
    {
        return Err(Refusal::usage(format!("`{port}` is not a port")).hint(PORT));
    }
    if let Some(file) = given.argument('g') {
        return Ok(Command::Report(report_options(&given, file)));
    }
    if !without_gui {
        return edit_options(given.argument('t')).map(Command::Edit);
    }
    run_options(&given).map(Command::Run)
}

fn report_options(given: &Given, file: &str) -> ReportArguments {
    ReportArguments {
        input: PathBuf::from(file),
        folder: given.argument('o').map(PathBuf::from),
        force: given.has('f'),
        properties: property_options(given),
        is_jmeter: true,
        ..ReportArguments::default()
    }
}

fn property_options(given: &Given) -> PropertyOptions {
    PropertyOptions {
        main_file: given.argument('p').map(PathBuf::from),
        home: given.argument('d').map(PathBuf::from),
        changes: [given.changes(), given.global(), given.proxy()].concat(),
        ..PropertyOptions::default()
    }
}

fn run_options(given: &Given) -> Result<RunArguments, Refusal> {
    let plan = match given.argument('t') {
        None | Some("") => return Err(incorrect("Non-GUI runs require a test plan")),
        Some(LAST) => PlanChoice::Last,
        Some(file) => PlanChoice::File(PathBuf::from(file)),
    };
    let results = given.argument('l').map(|file| match file {
        LAST | "LAST.jtl" => ResultsFile::Last,
        _ => ResultsFile::File(PathBuf::from(file)),
    });
    let mut log = LogOptions {
        levels: given.levels(),
        ..LogOptions::default()
    };
    // NewDriver takes a word that starts with a dash for the next option, and stays with jmeter.log.
    if let Some(file) = given
        .argument('j')
        .filter(|file| !file.is_empty() && !file.starts_with('-'))
    {
        log.file = file.to_owned();
    }
    let mut notes = Vec::new();
    if let Some(file) = given.argument('i') {
        notes.push(format!(
            "the Log4j configuration {file} is not read; -L sets the levels of the log"
        ));
    }
    Ok(RunArguments {
        plan: Some(plan),
        results,
        delete_results: given.has('f'),
        properties: property_options(given),
        log,
        report: ReportFiles {
            folder: given.argument('o').map(PathBuf::from),
            ..ReportFiles::default()
        },
        report_at_end: given.has('e'),
        notes,
        fleet: remote::fleet(given.argument('R'), given.has('r'), given.has('X')),
        is_jmeter: true,
        ..RunArguments::default()
    })
}

/// The items of the command line.
struct Given<'a> {
    items: &'a [CommandLineItem],
}

impl Given<'_> {
    fn has(&self, wanted: char) -> bool {
        self.items
            .iter()
            .any(|item| matches!(item, CommandLineItem::Option { letter, .. } if *letter == wanted))
    }

    fn argument(&self, wanted: char) -> Option<&str> {
        self.items.iter().find_map(|item| match item {
            CommandLineItem::Option {
                letter, argument, ..
            } if *letter == wanted => Some(argument.as_str()),
            _ => None,
        })
    }

    fn text(&self) -> Option<&str> {
        self.items.iter().find_map(|item| match item {
            CommandLineItem::Text(text) => Some(text.as_str()),
            CommandLineItem::Option { .. } => None,
        })
    }

    /// The properties of `-G`, which JMeter sets on remote servers and ignores without any. A pair without a value names a file.
    fn global(&self) -> Vec<Change> {
        if self.has('r') || self.has('R') {
            self.items
                .iter()
                .filter_map(|item| match item {
                    CommandLineItem::Option {
                        letter: 'G',
                        argument,
                        value,
                    } if value.is_empty() => Some(Change::File(PathBuf::from(argument))),
                    CommandLineItem::Option {
                        letter: 'G',
                        argument,
                        value,
                    } => Some(Change::Property(argument.clone(), value.clone())),
                    _ => None,
                })
                .collect()
        } else {
            Vec::new()
        }
    }

    fn changes(&self) -> Vec<Change> {
        self.items
            .iter()
            .filter_map(|item| match item {
                CommandLineItem::Option {
                    letter: 'q',
                    argument,
                    ..
                } => Some(Change::File(PathBuf::from(argument))),
                CommandLineItem::Option {
                    letter: 'S',
                    argument,
                    ..
                } => Some(Change::SystemFile(PathBuf::from(argument))),
                CommandLineItem::Option {
                    letter: 'J',
                    argument,
                    value,
                } => Some(Change::Property(argument.clone(), value.clone())),
                CommandLineItem::Option {
                    letter: 'D',
                    argument,
                    value,
                } => Some(Change::System(argument.clone(), value.clone())),
                _ => None,
            })
            .collect()
    }

    /// The proxy for all requests. JMeter sets it after all other properties (`JMeter.setProxy`).
    fn proxy(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        if let Some(user) = self.argument('u') {
            changes.push(property("http.proxyUser", user));
            if let Some(password) = self.argument('a') {
                changes.push(property("http.proxyPass", password));
            }
        }
        if let (Some(host), Some(port)) = (self.argument('H'), self.argument('P')) {
            for scheme in ["http", "https"] {
                changes.push(system(&format!("{scheme}.proxyHost"), host));
                changes.push(system(&format!("{scheme}.proxyPort"), port));
            }
            if let Some(scheme) = self
                .argument('E')
                .filter(|scheme| !scheme.trim().is_empty())
            {
                changes.push(system("http.proxyScheme", scheme));
            }
        }
        if let Some(hosts) = self.argument('N') {
            changes.push(system("http.nonProxyHosts", hosts));
            changes.push(system("https.nonProxyHosts", hosts));
        }
        changes
    }

    fn levels(&self) -> Vec<(String, String)> {
        self.items.iter().filter_map(level).collect()
    }
}

/// A definition of a system property.
fn system(name: &str, value: &str) -> Change {
    Change::System(name.to_owned(), value.to_owned())
}

/// A definition of a property.
fn property(name: &str, value: &str) -> Change {
    Change::Property(name.to_owned(), value.to_owned())
}

fn level(item: &CommandLineItem) -> Option<(String, String)> {
    match item {
        CommandLineItem::Option {
            letter: 'L',
            argument,
            value,
        } if value.is_empty() => Some((String::new(), argument.clone())),
        CommandLineItem::Option {
            letter: 'L',
            argument,
            value,
        } => Some((argument.clone(), value.clone())),
        _ => None,
    }
}

/// A command line that JMeter's parser refuses: prints the message on both outputs, and the options.
fn wrong(message: &str) -> Refusal {
    let mut out = String::from("Usage\n");
    out.push_str(&descriptors::describe());
    let _ = write!(out, "\nError: {message}\n");
    Refusal {
        exit: Exit::Usage,
        out,
        err: format!("Error: {message}\n"),
    }
}

/// Options that cannot be combined (JMeter's IllegalUserActionException).
fn incorrect(message: &str) -> Refusal {
    let out = format!("Incorrect Usage:{message}\n{}\n", descriptors::describe());
    Refusal {
        exit: Exit::Usage,
        out,
        err: String::new(),
    }
}

/// Any other reason why JMeter ends before the start.
pub fn failed(message: &str, exit: Exit) -> Refusal {
    Refusal {
        exit,
        out: format!("An error occurred: {message}\n"),
        err: String::new(),
    }
}

/// Adds JMeter's line about a missing plan to standard output, where scripts look for it.
pub fn missing_plan(plan: &Path, refusal: Refusal) -> Refusal {
    let path = std::path::absolute(plan).unwrap_or_else(|_| plan.to_path_buf());
    let message = format!(
        "The file {} doesn't exist or can't be opened",
        path.display()
    );
    Refusal {
        out: failed(&message, refusal.exit).out,
        ..refusal
    }
}

/// Without `-n` JMeter opens its window. The editor opens a plan; it has no empty window.
fn edit_options(plan: Option<&str>) -> Result<EditArguments, Refusal> {
    match plan {
        None | Some("") => Err(Refusal::usage("the editor needs a plan: `drumfire -t PLAN.jmx`")
            .hint("write one with `drumfire new PLAN.jmx`, or run one with `drumfire -n -t PLAN.jmx -l results.jtl`")),
        Some(plan) => Ok(EditArguments {
            plan: Some(PathBuf::from(plan)),
            ..EditArguments::default()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_words(line: &str) -> Result<Command, Refusal> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        read(&words)
    }

    fn run(line: &str) -> RunArguments {
        match read_words(line) {
            Ok(Command::Run(options)) => options,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn refused(line: &str) -> Refusal {
        read_words(line).expect_err("this command line is refused")
    }

    #[test]
    fn the_usual_line_of_a_script() {
        let options = run(
            "-n -t plan.jmx -l out.jtl -j run.log -Jusers=5 -Jhost=a=b -f -LDEBUG -Ljmeter.util=WARN",
        );
        assert_eq!(
            options.plan,
            Some(PlanChoice::File(PathBuf::from("plan.jmx")))
        );
        assert_eq!(
            options.results,
            Some(ResultsFile::File(PathBuf::from("out.jtl")))
        );
        assert!(options.delete_results);
        assert_eq!(options.log.file, "run.log");
        let levels =
            [("", "DEBUG"), ("jmeter.util", "WARN")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(options.log.levels, levels);
        let changes = [("users", "5"), ("host", "a=b")];
        let changes =
            changes.map(|(name, value)| Change::Property(name.to_owned(), value.to_owned()));
        assert_eq!(options.properties.all_changes(), changes);
    }

    #[test]
    fn property_options_keep_their_order() {
        let options =
            run("-n -t p -Ja=1 -q more.properties -Da=2 -S sys.properties -Gremote=1 -Ja");
        let expected = [
            Change::Property("a".to_owned(), "1".to_owned()),
            Change::File(PathBuf::from("more.properties")),
            Change::System("a".to_owned(), "2".to_owned()),
            Change::SystemFile(PathBuf::from("sys.properties")),
            Change::Property("a".to_owned(), String::new()),
        ];
        assert_eq!(options.properties.all_changes(), expected);
    }

    #[test]
    fn a_proxy_becomes_properties_after_all_others() {
        let options = run("-n -t p -H h -P 1 -u me -a pw -N a|b -E https -Jx=1");
        let system = |name: &str, value: &str| Change::System(name.to_owned(), value.to_owned());
        let own = |name: &str, value: &str| Change::Property(name.to_owned(), value.to_owned());
        let expected = [
            own("x", "1"),
            own("http.proxyUser", "me"),
            own("http.proxyPass", "pw"),
            system("http.proxyHost", "h"),
            system("http.proxyPort", "1"),
            system("https.proxyHost", "h"),
            system("https.proxyPort", "1"),
            system("http.proxyScheme", "https"),
            system("http.nonProxyHosts", "a|b"),
            system("https.nonProxyHosts", "a|b"),
        ];
        assert_eq!(options.properties.all_changes(), expected);
        // A password without a user has no effect.
        assert_eq!(run("-n -t p -a pw").properties.all_changes(), []);
    }

    #[test]
    fn last_is_the_last_plan_and_names_the_results() {
        let options = run("-n -t LAST -l LAST.jtl");
        assert_eq!(
            (options.plan, options.results),
            (Some(PlanChoice::Last), Some(ResultsFile::Last))
        );
    }

    /// JMeter prints these texts in these places (recorded with 5.6.3).
    #[test]
    fn wrong_lines_get_jmeters_words() {
        for (line, message) in [
            ("-x", "Unknown option -x"),
            ("-n -t", "Missing argument to option -t"),
            ("-r", "-r and -R and -X are only valid in non-GUI mode"),
            (
                "-n -t a -g b",
                "Incompatible options --n/--nongui and -g/--reportonly found.",
            ),
        ] {
            let refusal = refused(line);
            // JMeter's letters are letters, so the dual name is "-n/--nongui" after its own stray dash.
            assert_eq!(refusal.err, format!("Error: {message}\n"), "{line}");
            assert!(refusal.out.starts_with("Usage\n\t--?\n"), "{line}");
            assert!(
                refusal.out.ends_with(&format!("\nError: {message}\n")),
                "{line}"
            );
            assert_eq!(refusal.exit, Exit::Usage, "{line}");
        }
        assert!(
            refused("-n")
                .out
                .starts_with("Incorrect Usage:Non-GUI runs require a test plan\n\t--?\n")
        );
        assert!(
            refused("-n -H h -t p")
                .out
                .starts_with("Incorrect Usage:If specifying a proxy server, host and port")
        );
        assert!(
            refused("-n -t p -e")
                .out
                .starts_with("Incorrect Usage:Option -e requires -l option\n")
        );
        assert_eq!(refused("foo").out, "An error occurred: Unknown arg: foo\n");
    }

    #[test]
    fn remote_servers_are_agents() {
        let options = run("-n -t p -R a,10.0.0.5:1099 -Gusers=5 -Gmore.properties -Ja=1 -X");
        let fleet = &options.fleet;
        assert!(fleet.each && fleet.is_jmeter && fleet.ends_agents);
        assert_eq!(fleet.selection().count(), Some(2));
        let expected = [
            Change::Property("a".to_owned(), "1".to_owned()),
            Change::Property("users".to_owned(), "5".to_owned()),
            Change::File(PathBuf::from("more.properties")),
        ];
        assert_eq!(options.properties.all_changes(), expected);
        let fleet = run("-n -t p -r").fleet;
        assert!(fleet.is_wanted() && !fleet.ends_agents);
        assert!(!run("-n -t p").fleet.is_wanted());
        let server = read_words("-s -Jserver.exitaftertest=true");
        assert!(matches!(server, Ok(Command::Agent(order)) if order.is_jmeter));
    }

    #[test]
    fn reports_are_made_from_a_file_or_at_the_end() {
        let Ok(Command::Report(options)) = read_words("-g r.jtl -o d -f -Ja=1") else {
            panic!("-g is understood");
        };
        assert!(options.is_jmeter && options.force);
        assert_eq!(options.input, PathBuf::from("r.jtl"));
        assert_eq!(options.folder, Some(PathBuf::from("d")));
        let options = run("-n -t p -l r -e -o d");
        assert!(options.report_at_end);
        assert_eq!(options.report.folder, Some(PathBuf::from("d")));
    }

    #[test]
    fn without_n_the_plan_is_edited_and_without_a_plan_the_lines_that_work_are_shown() {
        let Ok(Command::Edit(arguments)) = read_words("-t shop.jmx") else {
            panic!("a plan without -n is edited");
        };
        assert_eq!(arguments.plan, Some(PathBuf::from("shop.jmx")));
        let refusal = refused("-Ja=1");
        assert!(
            refusal
                .err
                .contains("drumfire -n -t PLAN.jmx -l results.jtl"),
            "{}",
            refusal.err
        );
    }

    #[test]
    fn questions_are_answered() {
        for line in ["-v", "--version", "-h", "--help", "-?"] {
            let answer = read_words(line);
            assert!(
                matches!(answer, Ok(Command::Print(_) | Command::Version)),
                "{line}"
            );
        }
    }

    #[test]
    fn a_log_file_that_looks_like_an_option_is_ignored() {
        assert_eq!(run("-n -t p -j -x").log.file, "jmeter.log");
    }
}
