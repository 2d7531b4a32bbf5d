//! However a run ends, what was measured is on the disk, and the program says what happened.

use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use drumfire_testkit::ports::free_port;
use drumfire_testkit::program::{Finished, LIMIT, Workshop, finish};
use drumfire_testkit::server::{ResponseStep, Server};

fn workshop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

/// A plan with one user who does this, `loops` times (-1: for ever).
fn plan(loops: i32, elements: &str) -> String {
    drumfire_testkit::plans::plan(&format!(
        r#"
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="G"><stringProp name="ThreadGroup.num_threads">1</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{loops}</stringProp></elementProp></ThreadGroup><hashTree>
{elements}</hashTree>"#
    ))
}

/// A sample, and a pause before the next one.
const SAMPLES: &str = r#"<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="t"><stringProp name="ConstantTimer.delay">20</stringProp></ConstantTimer><hashTree/>
<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="sample"><boolProp name="displayJMeterProperties">false</boolProp><boolProp name="displayJMeterVariables">false</boolProp><boolProp name="displaySystemProperties">false</boolProp></DebugSampler><hashTree/>"#;

fn request(port: u16) -> String {
    format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="request"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/>"#
    )
}

fn tell(child: &Child, signal: &str) {
    let sent = Command::new("kill")
        .args([format!("-{signal}"), child.id().to_string()])
        .status();
    assert!(sent.expect("kill is there").success());
}

/// Waits until it is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until a result file has rows; its writer brings them to the disk every now and then.
fn until_rows(workshop: &Workshop, name: &str) {
    until("there are rows", || {
        std::fs::metadata(workshop.path(name)).is_ok_and(|file| file.len() > 300)
    });
}

/// All rows are whole, and there are as many as the summary says.
fn assert_whole(workshop: &Workshop, name: &str, finished: &Finished) {
    let rows = workshop.read(name);
    assert!(rows.ends_with('\n'), "{rows}");
    let mut lines = rows.lines();
    let columns = lines.next().map(|head| head.split(',').count());
    assert!(lines.all(|line| Some(line.split(',').count()) == columns));
    let written = rows.lines().count() - 1;
    let total = finished
        .out
        .lines()
        .find_map(|line| line.strip_prefix("TOTAL"))
        .and_then(|line| line.split_whitespace().next())
        .unwrap_or_else(|| panic!("{finished:?}"));
    assert_eq!(total.replace(',', ""), written.to_string());
}

#[test]
fn a_signal_ends_the_run_with_whole_results() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let workshop = workshop();
        workshop.write("p.jmx", plan(-1, SAMPLES));
        let child = workshop.start(&["-n", "-t", "p.jmx", "-l", "r.csv"]);
        until_rows(&workshop, "r.csv");
        tell(&child, signal);
        let finished = finish(child, LIMIT);
        assert_eq!(finished.code, Some(code), "{finished:?}");
        let expected = format!("warning: SIG{signal} ended the run early\n");
        assert!(finished.err.contains(&expected), "{finished:?}");
        assert!(finished.out.contains("... end of run"), "{finished:?}");
        assert_whole(&workshop, "r.csv", &finished);
    }
}

#[test]
fn under_nohup_a_lost_terminal_does_not_end_the_run() {
    let workshop = Workshop::new("/bin/sh");
    workshop.write("p.jmx", plan(60, SAMPLES));
    let script = format!(
        "trap '' HUP; exec {} -n -t p.jmx -l r.csv",
        env!("CARGO_BIN_EXE_drumfire")
    );
    let child = workshop.start(&["-c", &script]);
    until("the run has begun", || workshop.path("r.csv").exists());
    tell(&child, "HUP");
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(workshop.read("r.csv").lines().count(), 61);
}

#[test]
fn the_first_signal_waits_for_the_sample_at_hand_and_the_second_breaks_it_off() {
    let server = Server::start(|_| vec![ResponseStep::Hang]);
    let workshop = workshop();
    workshop.write("p.jmx", plan(-1, &request(server.address().port())));
    let mut child = workshop.start(&["-n", "-t", "p.jmx", "-l", "r.csv", "-j", "log"]);
    until("the request is there", || !server.requests().is_empty());
    tell(&child, "INT");
    until("the signal is noticed", || {
        workshop
            .read("log")
            .contains("SIGINT: users finish their current sample")
    });
    assert!(child.try_wait().expect("a child can be asked").is_none());
    tell(&child, "TERM");
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(130), "{finished:?}");
    assert!(
        finished.err.contains("SIGINT ended the run early"),
        "{finished:?}"
    );
    let rows = workshop.read("r.csv");
    assert_eq!(rows.lines().count(), 2, "{rows}");
    assert!(
        rows.contains(
            ",request,Non HTTP response code: java.net.SocketException,Non HTTP response message: Socket closed,"
        ),
        "{rows}"
    );
}

#[test]
fn the_messages_of_jmeters_scripts_end_the_run() {
    for stop in ["Shutdown", "StopTestNow"] {
        let workshop = workshop();
        workshop.write("p.jmx", plan(-1, SAMPLES));
        let words = "-n -t p.jmx -l r.csv -Jjmeterengine.nongui.port=21000 -Jjmeterengine.nongui.maxport=21999";
        let mut child = workshop.start(&words.split(' ').collect::<Vec<_>>());
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut text = String::new();
        let port: u16 = loop {
            let start = text.len();
            assert_ne!(out.read_line(&mut text).expect("a line"), 0, "{text}");
            let told = text[start..].rsplit_once(" message on port ");
            if let Some((_, port)) = told {
                break port.trim().parse().expect("a port");
            }
        };
        until_rows(&workshop, "r.csv");
        let client = UdpSocket::bind(("127.0.0.1", 0)).expect("a free port");
        for message in ["ThreadDump", "What?", stop] {
            client
                .send_to(message.as_bytes(), ("127.0.0.1", port))
                .expect("sent");
        }
        out.read_to_string(&mut text).expect("the rest");
        let finished = Finished {
            out: text,
            ..finish(child, LIMIT)
        };
        assert_eq!(finished.code, Some(0), "{finished:?}");
        for line in [
            "Command: ThreadDump has no effect",
            "Command: What? not recognised ",
            &format!("Command: {stop} received from /127.0.0.1"),
        ] {
            assert!(finished.out.contains(line), "{line}: {finished:?}");
        }
        assert_whole(&workshop, "r.csv", &finished);
    }
}

#[test]
fn a_reader_that_goes_away_does_not_end_the_run() {
    let workshop = workshop();
    let line = r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="${__log(hello,OUT)}"/><hashTree/>"#;
    workshop.write("p.jmx", plan(200, line));
    let mut child = workshop.start(&["-n", "-t", "p.jmx", "-l", "r.csv"]);
    drop(child.stdout.take());
    let finished = finish(child, LIMIT);
    assert_eq!((finished.code, finished.err.as_str()), (Some(0), ""));
    assert_eq!(workshop.read("r.csv").lines().count(), 201);
}

#[test]
fn a_full_disk_is_told_and_the_run_goes_on() {
    let workshop = workshop();
    workshop.write("p.jmx", plan(40, SAMPLES));
    std::os::unix::fs::symlink("/dev/full", workshop.path("r.csv")).expect("a link");
    let finished = workshop.run(&["-n", "-t", "p.jmx", "-l", "r.csv"], LIMIT);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(
        finished
            .err
            .contains("`r.csv` cannot be written: the disk is full"),
        "{finished:?}"
    );
}

#[test]
fn a_folder_that_vanishes_is_told_and_other_results_are_kept() {
    let workshop = workshop();
    let listener = r#"<ResultCollector guiclass="SimpleDataWriter" testclass="ResultCollector" testname="w"><stringProp name="filename">out/w.csv</stringProp></ResultCollector><hashTree/>"#;
    workshop.write("p.jmx", plan(-1, &format!("{listener}{SAMPLES}")));
    let child = workshop.start(&["-n", "-t", "p.jmx", "-l", "r.csv"]);
    until_rows(&workshop, "out/w.csv");
    std::fs::remove_dir_all(workshop.path("out")).expect("the folder is there");
    tell(&child, "TERM");
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let expected = "out/w.csv was removed or replaced while the test was running";
    assert!(finished.err.contains(expected), "{finished:?}");
    assert_whole(&workshop, "r.csv", &finished);
}

#[test]
fn results_that_cannot_be_written_are_told_before_anything_is_sent() {
    let workshop = workshop();
    let listener = r#"<ResultCollector guiclass="SimpleDataWriter" testclass="ResultCollector" testname="w"><stringProp name="filename">w.csv</stringProp></ResultCollector><hashTree/>"#;
    workshop.write("p.jmx", plan(2, &format!("{listener}{SAMPLES}")));
    workshop.write("taken", "");
    for (name, cause) in [
        ("taken/r.csv", "a part of its path is not a folder"),
        (".", "it is a folder"),
    ] {
        let finished = workshop.run(&["-n", "-t", "p.jmx", "-l", name, "-f"], LIMIT);
        assert_eq!(finished.code, Some(1), "{finished:?}");
        let told = finished.err.lines().find(|line| line.contains(name));
        assert!(
            told.is_some_and(|line| line.contains(cause)),
            "{finished:?}"
        );
        assert!(!workshop.path("w.csv").exists(), "nothing was sent");
    }
}

#[test]
fn exit_codes_follow_thresholds_and_the_command_line() {
    let workshop = workshop();
    workshop.write("p.jmx", plan(3, SAMPLES));
    workshop.write("none.jmx", plan(0, SAMPLES));
    workshop.write("broken.jmx", "<jmeterTestPlan");
    for (words, code) in [
        ("run p.jmx", 0),
        ("run p.jmx --fail-on samples<3", 0),
        ("run p.jmx --fail-on samples<=3", 5),
        ("run p.jmx --fail-on label:sample samples<9", 5),
        ("run p.jmx --fail-on label:other errors>1%", 2),
        ("run none.jmx", 8),
        ("run none.jmx --fail-on samples<1", 8),
        ("run none.jmx --fail-on p95>300ms", 8),
        ("run p.jmx --fail-on p95>", 2),
        ("run broken.jmx", 3),
        ("run no.jmx", 3),
    ] {
        let words: Vec<&str> = match words.split_once(" --fail-on ") {
            Some((run, limit)) => run.split(' ').chain(["--fail-on", limit]).collect(),
            None => words.split(' ').collect(),
        };
        let finished = workshop.run(&words, LIMIT);
        assert_eq!(finished.code, Some(code), "{words:?}: {finished:?}");
    }
}

#[test]
fn a_pipe_is_a_result_file_too() {
    let workshop = workshop();
    workshop.write("p.jmx", plan(3, SAMPLES));
    let made = Command::new("mkfifo")
        .arg(workshop.path("r.csv"))
        .stdin(Stdio::null())
        .status();
    assert!(made.expect("mkfifo is there").success());
    let path = workshop.path("r.csv");
    let reader = std::thread::spawn(move || std::fs::read_to_string(path).expect("rows"));
    let finished = workshop.run(&["-n", "-t", "p.jmx", "-l", "r.csv"], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(
        reader.join().expect("no panic").matches(",sample,").count(),
        3
    );
}

#[test]
fn a_mirror_server_runs_beside_a_run_that_asks_for_one() {
    let port = free_port();
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let request = "<HTTPSamplerProxy guiclass=\"HttpTestSampleGui\" testclass=\"HTTPSamplerProxy\" testname=\"mirrored\"><stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp><stringProp name=\"HTTPSampler.port\">${__P(mirror.server.port)}</stringProp><stringProp name=\"HTTPSampler.path\">/here</stringProp><stringProp name=\"HTTPSampler.method\">GET</stringProp></HTTPSamplerProxy><hashTree/>";
    workshop.write("p.jmx", format!("<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\"><hashTree><TestPlan guiclass=\"TestPlanGui\" testclass=\"TestPlan\" testname=\"p\"/><hashTree><ThreadGroup guiclass=\"ThreadGroupGui\" testclass=\"ThreadGroup\" testname=\"g\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp><elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\"><boolProp name=\"LoopController.continue_forever\">false</boolProp><stringProp name=\"LoopController.loops\">1</stringProp></elementProp></ThreadGroup><hashTree>{request}</hashTree></hashTree></hashTree></jmeterTestPlan>"));
    let property = format!("-Jmirror.server.port={port}");
    let words = [
        "-n", "-t", "p.jmx", "-l", "r.jtl", "-j", "run.log", &property,
    ];
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(workshop.read("r.jtl").contains(",mirrored,200,"));
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
}

/// Benchmarks of an unoptimized program would mislead, so it says in `version` and in one line of a run what it is.
#[test]
fn an_unoptimized_build_says_so_in_version_and_runs_only() {
    let workshop = workshop();
    workshop.write("p.jmx", plan(1, SAMPLES));
    let lines_of = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_drumfire"))
            .args(words)
            .current_dir(workshop.path(""))
            .output()
            .expect("the program runs");
        let all = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        all.map(|text| text.matches("unoptimized build").count())
    };
    let is_unoptimized = usize::from(cfg!(debug_assertions));
    assert_eq!(lines_of(&["version"]), [is_unoptimized, 0]);
    assert_eq!(lines_of(&["run", "p.jmx"]), [0, is_unoptimized]);
    assert_eq!(lines_of(&["-n", "-t", "p.jmx"]), [0, is_unoptimized]);
    assert_eq!(lines_of(&["check", "p.jmx"]), [0, 0]);
}

#[test]
fn a_repeated_run_that_is_ended_keeps_the_runs_before_it() {
    let workshop = workshop();
    workshop.write("p.jmx", plan(100, SAMPLES));
    let child = workshop.start(&[
        "run",
        "p.jmx",
        "--repeat",
        "5",
        "-l",
        "rows.jtl",
        "--summary-json",
        "s.json",
        "--run-file",
        "all.drumfire",
    ]);
    until("the third run has begun", || {
        std::fs::read_to_string(workshop.path("rows.jtl"))
            .is_ok_and(|rows| rows.lines().count() > 210)
    });
    tell(&child, "INT");
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(130), "{finished:?}");
    let told = "run 3 of 5 did not come to its end, so the result is that of runs 1 to 2";
    assert!(finished.err.contains(told), "{finished:?}");
    let summary: serde_json::Value = serde_json::from_str(&workshop.read("s.json")).expect("JSON");
    assert_eq!(summary["total"]["count"], 200);
    assert_eq!(summary["repeats"]["runs"], 2);
    assert_eq!(summary["exit_code"], 130);
    let judged = ["report", "all.drumfire", "--fail-on", "samples < 200"];
    assert_eq!(workshop.run(&judged, LIMIT).code, Some(0));
}
