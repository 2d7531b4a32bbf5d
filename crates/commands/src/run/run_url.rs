//! `drumfire run URL` and `drumfire run --curl '…'`: load on one URL without a plan, with the options of oha and hey.
//!
//! The command makes a plan and runs it; `--save` writes the plan to a file. All options that do not concern the request or its
//! load are those of `drumfire run`.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Parser;
use drumfire_import::{Address, Draft, DraftLoad, DraftStep, Request, RequestBody, Transaction};
use drumfire_platform::ports::{PORT, bad_port};
use drumfire_platform::secrets;
use drumfire_results::Recording;
use tempfile::TempDir;

use crate::args;
use crate::args::quantities::{duration_ms, length_ms, per_second};
use crate::command::Command;
use crate::console::Console;
use crate::engine::{Control, Debugging, Engine, Event, Subscriber};
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::run::arguments::{PlanChoice, Progress, RunArguments};
use crate::run::{self, RunParticipants};
use crate::settings::options::Change;
use crate::whole_file;

/// Send requests to one address, as oha and hey do. The other options of `drumfire run` (--report, --fail-on, -l …) work too
#[derive(Debug, Clone, Parser)]
#[command(name = "drumfire run URL", disable_version_flag = true)]
struct UrlArguments {
    /// The address
    url: Option<String>,
    /// Take the request from a cURL command instead; several commands run one after the other
    #[arg(long, value_name = "COMMAND")]
    curl: Option<String>,
    /// Users at a time, each with a connection of its own
    #[arg(
        short = 'c',
        long = "connections",
        visible_alias = "users",
        value_name = "USERS",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    users: Option<u32>,
    /// Requests in all [default: 200, if there is no duration]
    #[arg(short = 'n', long = "requests", value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,
    /// The length of the run, such as 30s, 5m or 500ms
    #[arg(short = 'd', long, visible_short_alias = 'z', value_name = "TIME", value_parser = length_ms)]
    duration: Option<u64>,
    /// Requests a second, all users together, such as 200 or 600/m; without -c and -n, requests start at this rate even if
    /// earlier ones are unanswered: each takes an idle connection, or opens one if there is none
    #[arg(short = 'q', long, value_name = "RATE", value_parser = per_second)]
    rate: Option<f64>,
    /// The method [default: GET, or POST if there is a body]
    #[arg(short = 'm', long, value_name = "METHOD")]
    method: Option<String>,
    /// A header field
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// A JSON body, or @FILE, or @- for standard input
    #[arg(long, value_name = "JSON", conflicts_with = "body")]
    json: Option<String>,
    /// A body, or @FILE, or @- for standard input
    #[arg(long, value_name = "TEXT")]
    body: Option<String>,
    /// A file to send as the body
    #[arg(short = 'D', value_name = "FILE", conflicts_with_all = ["body", "json"])]
    body_file: Option<PathBuf>,
    /// The body's Content-Type
    #[arg(short = 'T', long, value_name = "TYPE")]
    content_type: Option<String>,
    /// Credentials for HTTP Basic
    #[arg(short = 'a', long, value_name = "USER:PASSWORD")]
    auth: Option<String>,
    /// How long to wait for each answer
    #[arg(short = 't', long, value_name = "TIME", value_parser = duration_ms)]
    timeout: Option<u64>,
    /// Open a new connection for each request
    #[arg(long)]
    disable_keepalive: bool,
    /// Accept any certificate of an HTTPS server, as curl's -k does
    #[arg(short = 'k', long)]
    insecure: bool,
    /// Also write the plan to this file
    #[arg(long, value_name = "PLAN.jmx")]
    save: Option<PathBuf>,
}

/// The options above that take a value, and those that take none.
const WITH_VALUE: [&str; 23] = [
    "--curl",
    "-c",
    "--connections",
    "--users",
    "-n",
    "--requests",
    "-d",
    "-z",
    "--duration",
    "-q",
    "--rate",
    "-m",
    "--method",
    "-H",
    "--header",
    "--json",
    "--body",
    "-D",
    "-T",
    "--content-type",
    "-a",
    "--auth",
    "--save",
];
const TIMEOUT: [&str; 2] = ["-t", "--timeout"];
const ALONE: [&str; 5] = ["--disable-keepalive", "-k", "--insecure", "-h", "--help"];
/// The options of `drumfire run` that name the log.
const LOG: [&str; 2] = ["-j", "--jmeterlogfile"];

/// The word that stands for an address in `drumfire run URL --help`.
const PLACEHOLDER: &str = "URL";

/// Whether a command line (without the program's name) is for this command: its first argument is a URL or `--curl`, or a later
/// one is and no plan is named.
pub fn is_meant(words: &[String]) -> bool {
    let [command, rest @ ..] = words else {
        return false;
    };
    let is_own = |word: &String| is_url(word) || word == "--curl" || word.starts_with("--curl=");
    let has_plan = rest
        .iter()
        .any(|word| word.ends_with(".jmx") && !word.starts_with('-'));
    let asks_for_help = rest.iter().any(|word| word == "--help" || word == "-h");
    command == "run"
        && (rest.first().is_some_and(is_own)
            || (rest.first().is_some_and(|word| word == PLACEHOLDER) && asks_for_help)
            || (rest.first().is_some_and(|word| word.starts_with('-'))
                && rest.iter().any(is_own)
                && !runs_plan(rest, has_plan)))
}

/// Whether the command line runs a plan, so that the URL is only the value of an option. With `--save`, the `.jmx` file is an
/// output instead.
fn runs_plan(rest: &[String], has_plan: bool) -> bool {
    has_plan && !rest.iter().any(|word| word == "--save")
}

fn is_url(word: &str) -> bool {
    let scheme = word.get(..8).unwrap_or(word).to_ascii_lowercase();
    scheme.starts_with("http://") || scheme.starts_with("https://")
}

/// Makes the plan and runs it.
pub fn run_url(
    words: &[String],
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let (own_words, others) = split(&words[1..]);
    let arguments = match parsed(own_words) {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            return Err(args::faults::refusal(&error));
        }
        Err(help) => {
            console.print(&help.render().to_string());
            return Ok(Exit::Ok);
        }
    };
    let draft = draft(&arguments)?;
    for warning in &draft.warnings {
        console.warn(warning);
    }
    let plan = drumfire_jmx::write(&draft.tree(""));
    let is_insecure = arguments.insecure || draft.insecure;
    if let Some(save) = &arguments.save {
        whole_file::write(save, plan.as_bytes())?;
        console.line(&saved(save, !is_insecure && is_over_tls(&draft)));
    }
    let (_folder, file) = written(&draft, &plan)?;
    let mut words = vec!["run".to_owned(), file.display().to_string()];
    let names_log = others
        .iter()
        .any(|word| LOG.iter().any(|log| word.starts_with(log)));
    words.extend(others);
    match args::read(&words)? {
        Command::Run(mut options) => {
            options.plan = Some(PlanChoice::of_url(file));
            if !names_log {
                options.log.file.clear();
            }
            verify(&mut options, is_insecure);
            if options.progress != Progress::Quiet {
                console.line(&described(&draft));
            }
            run_made(options, engine, console)
        }
        Command::Print(text) => {
            console.print(&text);
            Ok(Exit::Ok)
        }
        _ => Err(Refusal::usage("`run` was expected")),
    }
}

fn parsed(own: Vec<String>) -> Result<UrlArguments, clap::Error> {
    let program = std::iter::once("drumfire run URL".to_owned());
    UrlArguments::try_parse_from(program.chain(own))
}

/// Reads a command line for this command and carries out nothing.
///
/// # Errors
/// The refusal of a word that is not understood.
pub fn understand(words: &[String]) -> Result<(), Refusal> {
    let (own_words, others) = split(&words[1..]);
    if let Err(error) = parsed(own_words)
        && error.use_stderr()
    {
        return Err(usage(error.to_string()));
    }
    let run = ["run", "plan.jmx"].map(str::to_owned);
    args::read(&run.into_iter().chain(others).collect::<Vec<_>>()).map(drop)
}

/// Whether a word says that any certificate is accepted.
pub fn is_insecure(word: &str) -> bool {
    word == "--insecure" || word == "-k"
}

/// Verifies the servers' certificates, as curl, k6 and oha do. A property of the command line still decides otherwise.
pub fn verify(options: &mut RunArguments, is_insecure: bool) {
    if !is_insecure {
        let change = Change::Property("drumfire.tls_verify".to_owned(), "true".to_owned());
        options.properties.put_first([change]);
    }
}

/// Runs the plan, and says at the end how to accept a certificate that was refused.
fn run_made(
    options: RunArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let mut certificates = CertificateWatch::default();
    let company = RunParticipants {
        capacity: None,
        control: &Control::default(),
        follower: Some(&mut certificates),
        debugging: Debugging::default(),
        judge: None,
        conditions: Vec::new(),
    };
    let exit = run::follow(options, engine, console, company)?;
    if certificates.is_refused {
        console.print_error("hint: `--insecure` accepts any certificate, as curl's `-k` does\n");
    }
    Ok(exit)
}

/// Notes whether a server's certificate was refused.
#[derive(Default)]
struct CertificateWatch {
    is_refused: bool,
}

impl Subscriber for CertificateWatch {
    fn receive(&mut self, event: &Event, _: &Recording) {
        if let Event::Tick(tick) = event {
            let mut errors = tick.recent_errors.iter();
            self.is_refused |= errors.any(|error| error.message.contains("server's certificate"));
        }
    }
}

fn is_over_tls(draft: &Draft) -> bool {
    let mut steps = draft.steps();
    steps.any(|step| step.request.address.scheme.template() == "https")
}

/// The address as the user would write it.
fn shown(address: &Address) -> String {
    let [scheme, host, port, path] =
        [&address.scheme, &address.host, &address.port, &address.path].map(|part| part.template());
    let port = if port.is_empty() {
        port
    } else {
        format!(":{port}")
    };
    secrets::text(&format!("{scheme}://{host}{port}{path}")).into_owned()
}

/// The line about a saved plan. A plan accepts any certificate, as in JMeter.
fn saved(file: &Path, is_verified: bool) -> String {
    let file = file.display();
    if is_verified {
        format!(
            "saved {file}; a plan accepts any certificate, as in JMeter: run it with `drumfire run {file} --tls-verify`"
        )
    } else {
        format!("saved {file}")
    }
}

/// The requests and their load in one line, such as `GET https://shop.example/  50 users, 200 requests`.
fn described(draft: &Draft) -> String {
    let requests: Vec<String> = draft
        .steps()
        .map(|step| format!("{} {}", step.request.method, shown(&step.request.address)))
        .collect();
    let load = match &draft.load {
        DraftLoad::Trial | DraftLoad::Pace(_) => String::new(),
        DraftLoad::Arrivals { rate, duration_s } => {
            format!("{rate} requests a second for {duration_s} s")
        }
        DraftLoad::Users {
            users,
            duration_s,
            iterations,
            rate,
        } => {
            let users = if *users == 1 {
                "1 user".to_owned()
            } else {
                format!("{users} users")
            };
            let length = match duration_s {
                Some(seconds) => format!("{seconds} s"),
                None if *iterations == 1 => "1 request".to_owned(),
                None => format!("{iterations} requests"),
            };
            let rate = rate.map_or_else(String::new, |rate| format!(", {rate} a second at most"));
            format!("{users}, {length}{rate}")
        }
    };
    format!("{}  {load}", requests.join(", "))
}

/// Writes a plan to a temporary folder. The folder exists as long as the first value.
fn written(draft: &Draft, plan: &str) -> Result<(TempDir, PathBuf), Refusal> {
    let folder = tempfile::tempdir().map_err(Refusal::failed)?;
    let file = folder.path().join(format!("{}.jmx", file_name(draft)));
    std::fs::write(&file, plan).map_err(Refusal::failed)?;
    Ok((folder, file))
}

/// A plan that requests this address, if it is a URL. The plan's temporary folder exists as long as the first value.
///
/// # Errors
/// If the address cannot be used or the folder cannot be written.
pub fn plan_of(address: &str) -> Result<Option<(TempDir, PathBuf)>, Refusal> {
    if !is_url(address) {
        return Ok(None);
    }
    let arguments = UrlArguments::try_parse_from(["drumfire run URL", address]);
    let draft = draft(&arguments.map_err(|error| args::faults::refusal(&error))?)?;
    written(&draft, &drumfire_jmx::write(&draft.tree(""))).map(Some)
}

/// Splits the words into those for this command and those for `drumfire run`.
fn split(words: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut own_words, mut others) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let name = word.split('=').next().unwrap_or(word);
        let short = word
            .get(..2)
            .filter(|_| !word.starts_with("--"))
            .unwrap_or(name);
        if is_url(word) || ALONE.contains(&name) {
            own_words.push(word.clone());
        } else if takes_value(name) || (takes_value(short) && word.starts_with('-')) {
            own_words.push(word.clone());
            let has_value = word.contains('=') && word.starts_with("--")
                || (word.len() > 2 && !word.starts_with("--"));
            if !has_value && let Some(value) = words.next() {
                own_words.push(value.clone());
            }
        } else {
            others.push(word.clone());
            // the value of an option of `drumfire run`
            let takes_next =
                word.starts_with('-') && !word.contains('=') && args::takes_value("run", word);
            if takes_next && let Some(value) = words.next() {
                others.push(value.clone());
            }
        }
    }
    (own_words, others)
}

fn takes_value(name: &str) -> bool {
    WITH_VALUE.contains(&name) || TIMEOUT.contains(&name)
}

fn usage(message: impl Into<String>) -> Refusal {
    Refusal::usage(message)
}

fn draft(arguments: &UrlArguments) -> Result<Draft, Refusal> {
    let mut draft = match (&arguments.curl, &arguments.url) {
        (Some(command), _) => {
            let mut draft =
                drumfire_import::curl(command).map_err(|error| usage(error.to_string()))?;
            draft.cookies = draft.steps().count() > 1;
            draft
        }
        (None, Some(url)) => {
            let address = Address::parse(url)
                .ok_or_else(|| usage(format!("`{url}` is not an address of HTTP")))?
                .without_dot_segments();
            if let Some(port) = bad_port(url) {
                return Err(usage(format!("`{port}` is not a port")).hint(PORT));
            }
            let mut draft = Draft::default();
            let request = Request::new("GET", address);
            draft.transactions.push(Transaction {
                steps: vec![DraftStep {
                    request,
                    ..DraftStep::default()
                }],
                ..Transaction::default()
            });
            draft
        }
        (None, None) => {
            return Err(usage("an address is missing").hint("write `drumfire run http://HOST/`"));
        }
    };
    for step in draft.steps_mut() {
        amend(&mut step.request, arguments)?;
    }
    let host = draft
        .steps()
        .next()
        .map(|step| step.request.address.host.template());
    draft.name = host.unwrap_or_default();
    draft.load = load(arguments)?;
    Ok(draft)
}

/// Applies the options to a request.
fn amend(request: &mut Request, arguments: &UrlArguments) -> Result<(), Refusal> {
    for header in &arguments.headers {
        let Some((name, value)) = header.split_once(':') else {
            return Err(usage(format!(
                "`{header}` is not a header field: write `NAME: VALUE`"
            )));
        };
        let own_name = name.trim().to_ascii_lowercase();
        request.headers.retain(|(name, _)| {
            name.literal()
                .is_none_or(|name| !name.eq_ignore_ascii_case(&own_name))
        });
        request
            .headers
            .push((name.trim().into(), value.trim().into()));
    }
    if let Some(json) = &arguments.json {
        request.body = RequestBody::Raw(content(json)?.into());
        request.default_header(
            "Content-Type",
            arguments
                .content_type
                .as_deref()
                .unwrap_or("application/json"),
        );
        request.default_header("Accept", "application/json");
    }
    if let Some(body) = &arguments.body {
        request.body = RequestBody::Raw(content(body)?.into());
    }
    if let Some(file) = &arguments.body_file {
        let path = std::path::absolute(file).unwrap_or_else(|_| file.clone());
        if let Err(error) = std::fs::File::open(&path) {
            return Err(Refusal::unreadable(Exit::Usage, file, &error));
        }
        request.body = RequestBody::File {
            path: path.display().to_string().into(),
            mime: String::new(),
        };
    }
    if let Some(kind) = &arguments.content_type {
        request.default_header("Content-Type", kind.as_str());
    }
    if let Some(auth) = &arguments.auth {
        use base64::Engine as _;
        let token = base64::prelude::BASE64_STANDARD.encode(auth);
        request.default_header("Authorization", format!("Basic {token}"));
    }
    let has_body = request.body != RequestBody::None;
    match &arguments.method {
        Some(method) => request.method = method.to_ascii_uppercase(),
        None if has_body && request.method == "GET" => request.method = "POST".to_owned(),
        None => {}
    }
    request.no_keep_alive = arguments.disable_keepalive;
    request.response_timeout_ms = arguments.timeout.or(request.response_timeout_ms);
    Ok(())
}

/// The text itself, or the content of the file that it names.
fn content(text: &str) -> Result<String, Refusal> {
    let Some(file) = text.strip_prefix('@') else {
        return Ok(text.to_owned());
    };
    let mut read = String::new();
    let done = match file {
        "-" => std::io::stdin().read_to_string(&mut read).map(|_| ()),
        file => std::fs::read_to_string(file).map(|content| read = content),
    };
    done.map_err(|error| Refusal::unreadable(Exit::Usage, Path::new(file), &error))?;
    Ok(read)
}

/// The load. Without options, the numbers of users and requests are those of oha.
fn load(arguments: &UrlArguments) -> Result<DraftLoad, Refusal> {
    const USERS: u32 = 50;
    const REQUESTS: u64 = 200;
    let seconds = arguments.duration.map(|ms| ms.div_ceil(1000));
    if let (Some(rate), None, None) = (arguments.rate, arguments.users, arguments.requests) {
        return Ok(DraftLoad::Arrivals {
            rate,
            duration_s: seconds.unwrap_or(10),
        });
    }
    let users = arguments.users.unwrap_or(USERS);
    let iterations = arguments.requests.unwrap_or(REQUESTS);
    Ok(DraftLoad::Users {
        // more users than requests would only start users that have nothing to send
        users: if seconds.is_none() {
            users.min(u32::try_from(iterations).unwrap_or(users))
        } else {
            users
        },
        duration_s: seconds,
        iterations,
        rate: arguments.rate,
    })
}

/// The name of the plan's file. The report is named after it.
fn file_name(draft: &Draft) -> String {
    let plain: String = draft.name.chars().filter(|c| is_plain(*c)).collect();
    let name = plain.trim_matches('.');
    if name.is_empty() {
        "url".to_owned()
    } else {
        name.to_owned()
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn an_address_makes_it_a_run_without_a_plan() {
        for line in [
            "run https://shop.example/ -c 5",
            "run HTTP://x",
            "run --curl x",
            "run -c 5 http://x/",
            "run URL --help",
            "run URL -h",
        ] {
            assert!(is_meant(&words(line)), "{line}");
        }
        for line in [
            "run plan.jmx",
            "run plan.jmx -Jurl=http://x",
            "run -J u=1 plan.jmx",
            "check http://x",
            "run -l http://x plan.jmx",
            "run URL",
            "run plan.jmx --help",
        ] {
            assert!(!is_meant(&words(line)), "{line}");
        }
    }

    #[test]
    fn options_of_run_go_there_with_their_values() {
        let (own, others) = split(&words(
            "http://h -c 5 -d30s --rate=7 -l out.jtl --report r.html -Jx=1 --strict --save s.jmx",
        ));
        assert_eq!(own, words("http://h -c 5 -d30s --rate=7 --save s.jmx"));
        assert_eq!(others, words("-l out.jtl --report r.html -Jx=1 --strict"));
    }

    #[test]
    fn the_load_is_ohas_unless_told() {
        let arguments = |line: &str| {
            UrlArguments::try_parse_from(words(&format!("run http://h {line}")))
                .expect("understood")
        };
        let users = |users, duration_s, iterations, rate| DraftLoad::Users {
            users,
            duration_s,
            iterations,
            rate,
        };
        assert_eq!(load(&arguments("-n 7")), Ok(users(7, None, 7, None)));
        assert_eq!(
            load(&arguments("-c 3 -d 30s --rate 9")),
            Ok(users(3, Some(30), 200, Some(9.0)))
        );
        assert_eq!(
            load(&arguments("-q 9")),
            Ok(DraftLoad::Arrivals {
                rate: 9.0,
                duration_s: 10
            })
        );
        for line in ["-c 0", "-n 0", "-d 0s"] {
            let zero = UrlArguments::try_parse_from(words(&format!("run http://h {line}")));
            assert!(zero.is_err(), "{line}");
        }
    }
}
