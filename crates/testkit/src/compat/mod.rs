//! The plans in `compat/` and the results that real JMeter wrote for them: the site that they request, and the comparison of
//! rows.
//!
//! A case is a folder with `plan.jmx`, the files that the plan reads, and `expected.csv`. If the plan writes files,
//! `expected/` holds them. A `user.properties` is passed to the run with `-q`, and a `system.properties` with `-S`. The site's
//! reason phrase carries a fingerprint of the request that it received, including header order and case, so an equal row means
//! an equal request.

mod exchanges;
mod files;
mod measures;
mod ntlm;
mod site;
mod stamps;
pub mod timed;
mod traces;

use std::collections::BTreeMap;
use std::net::{Ipv6Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::databases::Postgres;
use crate::dovecot::Dovecot;
use crate::mosquitto::Mosquitto;
use crate::server::Server;
use crate::smtp::SmtpServer;

use exchanges::{Exchange, MAILS, in_one_text};
pub use site::site;
use stamps::without_stamps;
use traces::{is_size_of_trace, without_traces};

/// The columns of `expected.csv`: those that do not depend on when and where the plan ran.
pub const COLUMNS: [&str; 11] = [
    "threadName",
    "label",
    "responseCode",
    "responseMessage",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "grpThreads",
    "allThreads",
    "URL",
];

/// A row of `expected.csv`.
pub type Row = Vec<String>;

/// The folders of all cases, by name.
///
/// # Errors
/// The folder cannot be read.
pub fn cases(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(root)? {
        let folder = entry?.path();
        if folder.join("plan.jmx").is_file() {
            folders.push(folder);
        }
    }
    folders.sort();
    Ok(folders)
}

/// The results that a run of a case writes into its folder.
pub const RESULTS: &str = "out.jtl";
/// The log of that run.
pub const LOG: &str = "run.log";
/// The files of a case that its run does not read.
const RECORDED: [&str; 4] = ["expected.csv", "expected", timed::MEASURES, timed::MEASURED];

/// Copies the files that a run of the case reads into `folder`, where it will run.
///
/// # Errors
/// A file cannot be read or written.
pub fn lay_out(case: &Path, folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(case)? {
        let (from, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        if RECORDED.iter().any(|recorded| name == *recorded) {
            continue;
        }
        let to = folder.join(&name);
        if from.is_dir() {
            std::fs::create_dir_all(&to)?;
            lay_out(&from, &to)?;
        } else {
            std::fs::copy(&from, &to)?;
        }
    }
    Ok(())
}

/// The command-line arguments for a run against `server` in the folder of a case that [`lay_out`] filled.
fn words(folder: &Path, server: &Server) -> Vec<String> {
    let mut words: Vec<String> = ["-n", "-t", "plan.jmx", "-l", RESULTS, "-j", LOG]
        .map(str::to_owned)
        .to_vec();
    words.push(format!("-Jport={}", server.address().port()));
    for (option, file) in [("-q", "user.properties"), ("-S", "system.properties")] {
        if folder.join(file).is_file() {
            words.extend([option.to_owned(), file.to_owned()]);
        }
    }
    words
}

/// The servers of a case: the site, and those that its plan asks for. A plan with a connection pool gets a PostgreSQL database, and
/// one that reads the property `ftp_port`, `ftp_greetings_port`, `ftp6_port` (IPv6), `smtp_port`, `smtp_tls_port` (STARTTLS),
/// `smtps_port` (SMTP with TLS), `grpc_port` or `grpcs_port` (gRPC with TLS) gets a server of that protocol. One that reads
/// `mqtt_port` gets a Mosquitto broker, and one that reads `pop3_port`, `pop3s_port`, `imap_port` or `imaps_port` a Dovecot server
/// with the mails in the `.eml` files of the case. The mails that an SMTP server took count as a file that the run wrote.
pub struct Servers {
    site: Server,
    database: Option<Postgres>,
    _broker: Option<Mosquitto>,
    _mailbox: Option<Dovecot>,
    /// The SMTP server, unless the plan itself fetches the mails.
    mails: Option<Arc<SmtpServer>>,
    exchanges: Vec<Exchange>,
}

impl Servers {
    /// Starts them. `None` if the machine lacks one of them, which is printed.
    ///
    /// # Errors
    /// The plan cannot be read, or no port is free.
    pub fn start(case: &Path) -> std::io::Result<Option<Servers>> {
        let plan = std::fs::read_to_string(case.join("plan.jmx"))?;
        let database = if plan.contains("<JDBCDataSource ") {
            match Postgres::start() {
                Some(database) => Some(database),
                None => return Ok(None),
            }
        } else {
            None
        };
        let broker = if plan.contains("__P(mqtt_port)") {
            match Mosquitto::start() {
                Some(broker) => Some(broker),
                None => return Ok(None),
            }
        } else {
            None
        };
        if plan.contains("__P(ftp6_port)") && TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
            println!("skipped: this machine has no IPv6");
            return Ok(None);
        }
        let mailbox = if plan.contains("__P(pop3") || plan.contains("__P(imap") {
            match Dovecot::start(Some(case), &mails_of(case)?) {
                Some(server) => Some(server),
                None => return Ok(None),
            }
        } else {
            None
        };
        let smtp = match plan.contains("__P(smtp") {
            true => Some(Arc::new(SmtpServer::start(Some(case))?)),
            false => None,
        };
        let mut exchanges = exchanges::asked_by(&plan, smtp.clone())?;
        let ports = smtp.iter().flat_map(|server| {
            [
                ("smtp_port", server.port),
                ("smtp_tls_port", server.start_tls_port),
                ("smtps_port", server.tls_port),
            ]
        });
        exchanges.extend(ports.map(|(property, port)| Exchange { property, port }));
        let ports = broker.iter().flat_map(Mosquitto::ports);
        let ports = ports.chain(mailbox.iter().flat_map(Dovecot::ports));
        exchanges.extend(ports.map(|(property, port)| Exchange { property, port }));
        Ok(Some(Servers {
            site: site(),
            database,
            _broker: broker,
            _mailbox: mailbox,
            mails: smtp.filter(|_| !plan.contains(MAILS)),
            exchanges,
        }))
    }

    /// The command-line arguments for a run of a case in the folder that [`lay_out`] filled.
    pub fn words(&self, folder: &Path) -> Vec<String> {
        let mut words = words(folder, &self.site);
        if let Some(database) = &self.database {
            let url = format!("jdbc:postgresql://127.0.0.1:{}/postgres", database.port);
            words.push(format!("-Jdb.url={url}"));
            words.extend(["-Jdb.user=jm", "-Jdb.password=pw"].map(str::to_owned));
        }
        let exchanges = self.exchanges.iter();
        words.extend(exchanges.map(|one| format!("-J{}={}", one.property, one.port)));
        words
    }

    /// Replaces their ports, which differ from run to run.
    fn without_ports(&self, text: &str) -> String {
        let others = self.exchanges.iter().map(|one| one.port);
        std::iter::once(self.site.address().port())
            .chain(others)
            .fold(text.to_owned(), |text, port| {
                text.replace(&format!(":{port}"), ":PORT")
                    .replace(&format!("port: {port}"), "port: PORT")
            })
    }
}

/// The mails of a case for a mailbox: its files that end with `.eml`, by name.
fn mails_of(case: &Path) -> std::io::Result<Vec<Vec<u8>>> {
    let is_mail = |path: &PathBuf| path.extension().is_some_and(|end| end == "eml");
    let entries = std::fs::read_dir(case)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files = entries.collect::<std::io::Result<Vec<PathBuf>>>()?;
    files.retain(is_mail);
    files.sort();
    files.iter().map(std::fs::read).collect()
}

/// The files that a run wrote into the case's folder, by relative path, with their texts.
///
/// # Errors
/// A file cannot be read.
pub fn written(
    case: &Path,
    folder: &Path,
    servers: &Servers,
) -> std::io::Result<BTreeMap<String, String>> {
    let mut texts = read_all(folder)?;
    texts.retain(|name, _| {
        let input = case.join(name).exists() && !name.starts_with("expected/");
        !input && name != RESULTS && name != LOG && !name.starts_with('.')
    });
    if let Some(server) = &servers.mails {
        texts.insert(MAILS.to_owned(), in_one_text(&server.mails()));
    }
    for text in texts.values_mut() {
        *text = without_stamps(&servers.without_ports(text));
    }
    Ok(texts)
}

/// The files that JMeter wrote when the case was recorded, in the form of [`written`].
///
/// # Errors
/// A file cannot be read.
pub fn expected_files(case: &Path) -> std::io::Result<BTreeMap<String, String>> {
    let folder = case.join("expected");
    if folder.is_dir() {
        read_all(&folder)
    } else {
        Ok(BTreeMap::new())
    }
}

/// All files of a folder by relative path.
fn read_all(folder: &Path) -> std::io::Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path)?;
                let name = path.strip_prefix(folder).unwrap_or(&path);
                texts.insert(
                    name.to_string_lossy().into_owned(),
                    String::from_utf8_lossy(&bytes).into_owned(),
                );
            }
        }
    }
    Ok(texts)
}

/// Describes the first difference between two runs' files; `None` if they are equal.
pub fn file_difference(
    expected: &BTreeMap<String, String>,
    found: &BTreeMap<String, String>,
) -> Option<String> {
    for (name, wanted) in expected {
        let Some(had) = found.get(name) else {
            return Some(format!("JMeter wrote {name}, this did not"));
        };
        let (wanted, had) = (without_traces(wanted), without_traces(had));
        if wanted == had {
            continue;
        }
        let lines = wanted.lines().zip(had.lines()).enumerate();
        let first = lines
            .filter(|(_, (wanted, had))| wanted != had)
            .map(|(index, (wanted, had))| {
                format!(
                    "{name}:{}: JMeter wrote {wanted:?}, this {had:?}",
                    index + 1
                )
            })
            .next();
        return Some(first.unwrap_or_else(|| {
            format!(
                "{name}: JMeter wrote {} bytes, this {}",
                wanted.len(),
                had.len()
            )
        }));
    }
    let extra = found.keys().find(|name| !expected.contains_key(*name))?;
    Some(format!("this wrote {extra}, JMeter did not"))
}

/// The rows that a run against `servers` wrote to a results file, grouped by thread and in order within each thread.
///
/// # Errors
/// The text is not CSV, or a column is missing.
pub fn rows(results: &str, servers: &Servers) -> Result<Vec<Row>, csv::Error> {
    let mut rows = read(&servers.without_ports(results))?;
    rows.sort_by(|a, b| a[0].cmp(&b[0]));
    Ok(rows)
}

/// The [`COLUMNS`] of a CSV text.
///
/// # Errors
/// The text is not CSV, or a column is missing.
pub fn read(text: &str) -> Result<Vec<Row>, csv::Error> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers()?.clone();
    let places = COLUMNS.map(|column| heads.iter().position(|head| head == column));
    reader
        .records()
        .map(|record| {
            let record = record?;
            let cell = |place: Option<usize>| {
                place
                    .and_then(|place| record.get(place))
                    .unwrap_or("(no such column)")
                    .to_owned()
            };
            Ok(places.map(cell).to_vec())
        })
        .collect()
}

/// Rows as the text of an `expected.csv`.
///
/// # Errors
/// Never in practice, because it writes to memory.
pub fn write(rows: &[Row]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for row in rows {
        writer.write_record(row)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(csv::IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The column of the label.
const LABEL: usize = 1;
/// The end of the labels of samples whose size differs from run to run, as that of a mail with a random boundary does.
const ANY_SIZE: &str = " (any size)";
/// The column of the response code.
const CODE: usize = 2;

/// The most differences that are described.
const TOLD: usize = 8;

/// Describes the first differences; `None` if all rows are equal.
pub fn difference(expected: &[Row], found: &[Row]) -> Option<String> {
    let mut told = Vec::new();
    for (index, (wanted, had)) in expected.iter().zip(found).enumerate() {
        let has_trace = is_size_of_trace(&wanted[CODE]) || wanted[LABEL].ends_with(ANY_SIZE);
        let mut cells = COLUMNS.iter().zip(wanted.iter().zip(had));
        let difference = cells.find(|(column, (wanted, had))| {
            without_traces(wanted) != without_traces(had) && !(has_trace && **column == "bytes")
        });
        if let Some((column, (wanted, had))) = difference {
            told.push(format!(
                "row {} ({}), {column}: JMeter wrote {wanted:?}, this {had:?}",
                index + 1,
                expected[index][1]
            ));
        }
    }
    if expected.len() != found.len() {
        let counts = format!("JMeter wrote {} rows, this {}", expected.len(), found.len());
        told.insert(0, counts);
    }
    told.truncate(TOLD);
    (!told.is_empty()).then(|| told.join("\n  "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_survive_writing_and_differences_are_told() {
        let row: Row = COLUMNS
            .iter()
            .map(|column| format!("{column}, \"q\""))
            .collect();
        let text = write(std::slice::from_ref(&row)).expect("memory");
        assert_eq!(read(&text).expect("CSV"), std::slice::from_ref(&row));
        assert_eq!(
            difference(std::slice::from_ref(&row), std::slice::from_ref(&row)),
            None
        );
        let mut other = row.clone();
        other[4] = "bin".to_owned();
        let told = difference(&[row], std::slice::from_ref(&other)).expect("they differ");
        assert!(
            told.contains("dataType") && told.contains("\"bin\""),
            "{told}"
        );
        let sized = |code: &str, size: &str| {
            let mut sized = other.clone();
            (sized[CODE], sized[7]) = (code.to_owned(), size.to_owned());
            [sized]
        };
        let failed = "Non HTTP response code: java.net.SocketException";
        assert_eq!(difference(&sized(failed, "9"), &sized(failed, "7")), None);
        assert!(difference(&sized("500", "9"), &sized("500", "7")).is_some());
        assert_eq!(
            difference(&[], &[vec![]]).as_deref(),
            Some("JMeter wrote 0 rows, this 1")
        );
    }

    #[test]
    fn a_case_is_laid_out_without_what_was_recorded_and_its_new_files_are_found() {
        let case = tempfile::tempdir().expect("a folder");
        let run = tempfile::tempdir().expect("a folder");
        let put = |folder: &Path, name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        for name in ["plan.jmx", "in/users.csv", "expected.csv", "expected/a.txt"] {
            put(case.path(), name, "1");
        }
        lay_out(case.path(), run.path()).expect("files can be copied");
        let servers = Servers::start(case.path())
            .expect("the plan can be read")
            .expect("it asks for the site only");
        assert_eq!(
            read_all(run.path())
                .expect("files")
                .into_keys()
                .collect::<Vec<_>>(),
            ["in/users.csv", "plan.jmx"]
        );
        put(run.path(), RESULTS, "rows");
        put(
            run.path(),
            "sub/a.txt",
            &format!("at {}", servers.site.address()),
        );
        let found = written(case.path(), run.path(), &servers).expect("files");
        assert_eq!(found["sub/a.txt"], "at 127.0.0.1:PORT");
        assert_eq!(found.len(), 1);
        assert_eq!(expected_files(case.path()).expect("files")["a.txt"], "1");
    }

    #[test]
    fn differences_of_files_are_told() {
        let files = |list: &[(&str, &str)]| -> BTreeMap<String, String> {
            let owned = list
                .iter()
                .map(|(name, text)| (name.to_string(), text.to_string()));
            owned.collect()
        };
        let one = files(&[("a", "1\n2\n")]);
        assert_eq!(file_difference(&one, &one), None);
        for (other, words) in [
            (files(&[]), "JMeter wrote a, this did not"),
            (
                files(&[("a", "1\n3\n")]),
                "a:2: JMeter wrote \"2\", this \"3\"",
            ),
            (files(&[("a", "1\n2")]), "a: JMeter wrote 4 bytes, this 3"),
            (
                files(&[("a", "1\n2\n"), ("b", "")]),
                "this wrote b, JMeter did not",
            ),
        ] {
            assert_eq!(file_difference(&one, &other).as_deref(), Some(words));
        }
    }
}
