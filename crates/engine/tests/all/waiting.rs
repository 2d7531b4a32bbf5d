//! Elements that let users wait for each other, break their samples off, or save responses.

use std::net::TcpListener;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::support::{Ran, get, group, run_group};

fn sleep(name: &str, ms: u32) -> String {
    format!(
        r#"<JavaSampler guiclass="JavaTestSamplerGui" testclass="JavaSampler" testname="{name}"><elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
<elementProp name="SleepTime" elementType="Argument"><stringProp name="Argument.name">SleepTime</stringProp><stringProp name="Argument.value">{ms}</stringProp></elementProp>
<elementProp name="SleepMask" elementType="Argument"><stringProp name="Argument.name">SleepMask</stringProp><stringProp name="Argument.value">0</stringProp></elementProp>
</collectionProp></elementProp><stringProp name="classname">org.apache.jmeter.protocol.java.test.SleepTest</stringProp></JavaSampler><hashTree/>"#
    )
}

fn critical(lock: &str, body: &str) -> String {
    format!(
        r#"<CriticalSectionController guiclass="CriticalSectionControllerGui" testclass="CriticalSectionController" testname="c"><stringProp name="CriticalSectionController.lockName">{lock}</stringProp></CriticalSectionController><hashTree>{body}</hashTree>"#
    )
}

fn transaction(parent: bool, body: &str) -> String {
    format!(
        r#"<TransactionController guiclass="TransactionControllerGui" testclass="TransactionController" testname="t"><boolProp name="TransactionController.parent">{parent}</boolProp></TransactionController><hashTree>{body}</hashTree>"#
    )
}

fn interleave(body: &str) -> String {
    format!(
        r#"<InterleaveControl guiclass="InterleaveControlGui" testclass="InterleaveControl" testname="i"><intProp name="InterleaveControl.style">0</intProp></InterleaveControl><hashTree>{body}</hashTree>"#
    )
}

/// Starts and ends of the rows of one label, in milliseconds. Without `sampleresult.timestamp.start` the time stamp is the end.
fn spans(ran: &Ran, label: &str) -> Vec<(i64, i64)> {
    let number = |text: &str| text.parse::<i64>().expect("it is a number");
    let mut spans: Vec<_> = ran
        .rows
        .iter()
        .filter(|row| row["label"] == label)
        .map(|row| {
            (
                number(&row["timeStamp"]) - number(&row["elapsed"]),
                number(&row["timeStamp"]),
            )
        })
        .collect();
    spans.sort_unstable();
    spans
}

fn overlap(spans: &[(i64, i64)]) -> bool {
    spans.windows(2).any(|pair| pair[1].0 < pair[0].1)
}

#[test]
fn only_one_user_at_a_time_is_in_a_critical_section() {
    let body = critical("a", &(sleep("s", 15) + &sleep("s", 5)));
    let ran = run_group(&group(4, 2, true), &body, &[]);
    let spans = spans(&ran, "s");
    assert_eq!(spans.len(), 16);
    assert!(!overlap(&spans), "{spans:?}");
}

#[test]
fn a_critical_section_may_be_inside_itself_and_without_a_name_is_none() {
    let nested = critical("a", &(critical("a", &sleep("s", 10)) + &sleep("s", 5)));
    let ran = run_group(&group(3, 2, true), &nested, &[]);
    assert_eq!(ran.rows.len(), 12);
    assert!(!overlap(&spans(&ran, "s")));
    let ran = run_group(&group(3, 1, true), &critical("", &sleep("s", 60)), &[]);
    assert!(overlap(&spans(&ran, "s")));
}

#[test]
fn waiting_for_a_lock_changes_nothing_around_it() {
    for around in [
        transaction(false, &critical("a", &sleep("s", 10))),
        transaction(true, &critical("a", &sleep("s", 10))),
    ] {
        let ran = run_group(&group(4, 2, true), &around, &[]);
        let transactions: Vec<_> = ran.rows.iter().filter(|row| row["label"] == "t").collect();
        assert_eq!(transactions.len(), 8);
        assert!(transactions.iter().all(|row| row["responseMessage"]
            == "Number of samples in transaction : 1, number of failing samples : 0"));
    }
    let turns = interleave(&(critical("a", &sleep("one", 10)) + &critical("a", &sleep("two", 10))));
    let ran = run_group(&group(4, 4, true), &turns, &[]);
    assert_eq!((spans(&ran, "one").len(), spans(&ran, "two").len()), (8, 8));
}

#[test]
fn a_synchronizing_timer_lets_all_users_go_at_once() {
    let timer = r#"<SyncTimer guiclass="TestBeanGUI" testclass="SyncTimer" testname="y"><intProp name="groupSize">0</intProp><longProp name="timeoutInMs">0</longProp></SyncTimer><hashTree/>"#;
    let meeting = sleep("s", 1).replace("<hashTree/>", &format!("<hashTree>{timer}</hashTree>"));
    let before = sleep("before", 40);
    let ran = run_group(
        &group(4, 2, true),
        &(critical("a", &before) + &meeting),
        &[],
    );
    assert_eq!(ran.users, 4);
    let (before, spans) = (spans(&ran, "before"), spans(&ran, "s"));
    assert_eq!(spans.len(), 8);
    assert!(
        spans[0].0 >= before[3].1,
        "nobody goes before the fourth has come"
    );
}

#[test]
fn a_sample_timeout_breaks_a_request_off_and_leaves_a_java_thread_interrupted() {
    // Connections are taken by the system, and never answered.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = silent.local_addr().expect("it has an address").port();
    let limit = r#"<SampleTimeout guiclass="SampleTimeoutGui" testclass="SampleTimeout" testname="l"><stringProp name="InterruptTimer.timeout">80</stringProp></SampleTimeout><hashTree/>"#;
    let body = get("h", port, "/", "", "")
        + &sleep("long", 60_000)
        + &sleep("short", 10)
        + &get("after", port, "/", "", "");
    let begin_ms = SystemTime::now().duration_since(UNIX_EPOCH);
    let begin_ms = begin_ms.expect("it is later than 1970").as_millis() as i64;
    let ran = run_group(&group(1, 1, true), &(limit.to_owned() + &body), &[]);
    assert_eq!(ran.column("label"), ["h", "long", "short", "after"]);
    let socket = [
        "Non HTTP response code: java.net.SocketException",
        "Non HTTP response message: Socket closed",
    ];
    for row in [0, 3] {
        assert_eq!(
            [
                &*ran.rows[row]["responseCode"],
                &*ran.rows[row]["responseMessage"]
            ],
            socket
        );
    }
    // The limit counts from before the sample starts, and both ends of it are cut to whole milliseconds.
    let end_ms = |label| spans(&ran, label)[0].1;
    for (label, before_ms) in [("h", begin_ms), ("after", end_ms("short"))] {
        let taken_ms = end_ms(label) - before_ms;
        assert!((78..30_000).contains(&taken_ms), "{taken_ms}");
    }
    for row in [1, 2] {
        assert_eq!(
            ran.rows[row]["responseMessage"],
            "java.lang.InterruptedException: sleep interrupted"
        );
        assert_eq!(ran.rows[row]["success"], "false");
    }
}

#[test]
fn only_files_of_later_listeners_name_the_saved_response() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let file = |name: &str| {
        format!(
            r#"<ResultCollector guiclass="SimpleDataWriter" testclass="ResultCollector" testname="{name}"><stringProp name="filename">{}</stringProp></ResultCollector><hashTree/>"#,
            path(name)
        )
    };
    let saver = format!(
        r#"<ResultSaver guiclass="ResultSaverGui" testclass="ResultSaver" testname="r"><stringProp name="FileSaver.filename">{}</stringProp></ResultSaver><hashTree/>"#,
        path("saved")
    );
    let body = file("before") + &saver + &file("after") + &sleep("s", 1);
    run_group(
        &group(1, 1, true),
        &body,
        &[("jmeter.save.saveservice.filename", "true")],
    );
    let shows = |name: &str| {
        std::fs::read_to_string(path(name))
            .expect("the file is written")
            .contains(&path("saved1.unknown"))
    };
    assert!(!shows("before"));
    assert!(shows("after"));
    assert!(std::path::Path::new(&path("saved1.unknown")).is_file());
}
