//! SSHMon Samples Collectors beside a real sshd, where one is installed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use drumfire_report::{HealthGroup, read_input};
use drumfire_testkit::plans::{debug, group, pause, plan};
use drumfire_testkit::ports::free_port;
use drumfire_testkit::program::{Finished, LIMIT, Workshop, finish};

const SSHD: &str = "/usr/sbin/sshd";
const CLASS: &str = "nz.co.breakpoint.jmeter.vizualizers.sshmon.SSHMonCollector";

/// An SSH server of this user's own on a port of loopback, which takes one key. Ends with its value.
struct Server {
    process: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn keygen(file: &Path) {
    let mut command = Command::new("ssh-keygen");
    command
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(file);
    assert!(command.status().is_ok_and(|status| status.success()));
}

fn server(workshop: &Workshop) -> Option<Server> {
    let has = |program: &str| Path::new(program).exists();
    if !has(SSHD) || Command::new("ssh").arg("-V").output().is_err() {
        println!("skipped: there is no sshd, or no ssh");
        return None;
    }
    // It wants this folder when root starts it.
    let _ = std::fs::create_dir_all("/run/sshd");
    keygen(&workshop.path("host_key"));
    keygen(&workshop.path("user_key"));
    workshop.write("authorized_keys", workshop.read("user_key.pub"));
    let port = free_port();
    let process = Command::new(SSHD)
        .args(["-D", "-e", "-f", "none", "-p", &port.to_string(), "-h"])
        .arg(workshop.path("host_key"))
        .args(["-o", "ListenAddress=127.0.0.1", "-o", "StrictModes=no"])
        .args(["-o", "PasswordAuthentication=no", "-o", "UsePAM=no"])
        .args([
            "-o",
            "PermitRootLogin=prohibit-password",
            "-o",
            "PidFile=none",
        ])
        .arg("-o")
        .arg(format!(
            "AuthorizedKeysFile={}",
            workshop.path("authorized_keys").display()
        ))
        .stderr(Stdio::null())
        .spawn()
        .expect("sshd starts");
    let server = Server { process, port };
    let deadline = Instant::now() + LIMIT;
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < deadline, "sshd does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(server)
}

/// The element with these rows: label, command, whether differences count.
fn collector(port: u16, rows: &[(&str, &str, bool)]) -> String {
    let user = Command::new("id").arg("-un").output().expect("a name");
    let user = String::from_utf8_lossy(&user.stdout).trim().to_owned();
    let cells = |(label, command, is_delta): &(&str, &str, bool)| -> String {
        let (port, is_delta) = (port.to_string(), is_delta.to_string());
        let texts = [
            *label,
            "127.0.0.1",
            &port,
            &user,
            "${__FileToString(user_key)}",
            "",
            *command,
            &is_delta,
        ];
        let texts = texts.iter();
        texts
            .map(|text| {
                let text = text.replace('&', "&amp;").replace('<', "&lt;");
                format!(r#"<stringProp name="x">{text}</stringProp>"#)
            })
            .collect()
    };
    let rows = rows.iter();
    let rows: String = rows
        .map(|row| {
            format!(
                r#"<collectionProp name="r">{}</collectionProp>"#,
                cells(row)
            )
        })
        .collect();
    format!(
        r#"<{CLASS} guiclass="g" testclass="{CLASS}" testname="s"><collectionProp name="samplers">{rows}</collectionProp></{CLASS}><hashTree/>"#
    )
}

/// Runs a plan with this element until a file has so many lines; then a Ctrl-C ends the run in good order.
fn run(
    workshop: &Workshop,
    element: &str,
    words: &[&str],
    (file, lines): (&str, usize),
) -> (Finished, Vec<HealthGroup>) {
    let elements = [debug("sample"), pause(50), element.to_owned()].concat();
    workshop.write("p.jmx", plan(&group(100_000, &elements)));
    let mut all = vec!["run", "p.jmx", "--run-file", "r.drumfire"];
    all.extend(words);
    let child = workshop.start(&all);
    let deadline = Instant::now() + LIMIT;
    let count = || std::fs::read_to_string(workshop.path(file)).map_or(0, |t| t.lines().count());
    while count() < lines && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = child.id().to_string();
    let told = Command::new("kill").args(["-INT", &id]).status();
    assert!(told.is_ok_and(|status| status.success()));
    let finished = finish(child, LIMIT);
    assert!(count() >= lines, "{finished:?}");
    let run = read_input(
        &workshop.path("r.drumfire"),
        &Default::default(),
        &mut Vec::new(),
    );
    (finished, run.expect("a run file").health)
}

fn curve<'h>(health: &'h [HealthGroup], label: &str) -> Option<&'h [f64]> {
    let start = format!("{label}, ssh 127.0.0.1:");
    let mut found = health.iter().filter(|group| group.name.starts_with(&start));
    found.next().map(|group| group.lines[0].values.as_slice())
}

#[test]
fn numbers_of_commands_are_curves_of_the_report() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let Some(server) = server(&workshop) else {
        return;
    };
    let count = workshop.path("count");
    let counting = format!("echo x >> {0}; wc -l < {0}", count.display());
    let rows = [
        ("Fixed", "echo 12.5 percent", false),
        ("Growth", counting.as_str(), true),
        ("Broken", "echo nothing", false),
        ("Failed", "echo 5; exit 3", false),
    ];
    let every = "-Jjmeter.sshmon.interval=100";
    // The readings of a round are kept before the next one begins.
    let element = collector(server.port, &rows);
    let (finished, health) = run(&workshop, &element, &[every], ("count", 4));
    let fixed = curve(&health, "Fixed").unwrap_or_else(|| panic!("{finished:?} {health:?}"));
    assert!(fixed.iter().all(|value| *value == 12.5), "{fixed:?}");
    let growth = curve(&health, "Growth").expect("a curve");
    let known = growth.iter().filter(|value| !value.is_nan());
    assert!(known.clone().count() > 0 && known.clone().all(|value| *value == 1.0));
    assert_eq!(curve(&health, "Broken"), None);
    assert_eq!(curve(&health, "Failed"), None);
    let said = "does not answer: `Failed`: the command failed";
    assert!(finished.err.contains(said), "{finished:?}");
}

#[test]
fn a_machine_that_is_unknown_or_gone_is_a_gap_and_costs_no_sample() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let Some(server) = server(&workshop) else {
        return;
    };
    // Notes each `ssh` that has ended.
    let tried = workshop.path("tried");
    let script = format!(
        "#!/bin/sh\n/usr/bin/ssh \"$@\"\ncode=$?\necho x >> {}\nexit $code\n",
        tried.display()
    );
    workshop.write("bin/ssh", script);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(workshop.path("bin/ssh"), mode).expect("it is ours");
    let path = std::env::var("PATH").expect("there is one");
    let path = format!("{}:{path}", workshop.path("bin").display());
    let workshop = workshop.variable("PATH", &path);
    workshop.write("known_hosts", "");
    let element = collector(server.port, &[("Fixed", "echo 1", false)]);
    let strict = format!(
        "-Jjmeter.sshmon.knownHosts={}",
        workshop.path("known_hosts").display()
    );
    let (finished, health) = run(&workshop, &element, &[&strict], ("tried", 2));
    assert_eq!(curve(&health, "Fixed"), None);
    let said = "Host key verification failed";
    assert!(finished.err.contains(said), "{finished:?}");

    let port = server.port;
    drop(server);
    let element = collector(port, &[("Fixed", "echo 1", false)]);
    let (finished, health) = run(&workshop, &element, &[], ("tried", 4));
    assert_eq!(curve(&health, "Fixed"), None);
    let said = "does not answer: ssh: connect to host 127.0.0.1";
    assert!(finished.err.contains(said), "{finished:?}");
}
