//! Thread groups whose users come and go by a schedule of their own.

use crate::support::{Ran, run_plan, run_plan_on};

fn dummy(name: &str, ms: u32) -> String {
    format!(
        r#"<kg.apc.jmeter.samplers.DummySampler guiclass="g" testclass="kg.apc.jmeter.samplers.DummySampler" testname="{name}">
<boolProp name="WAITING">true</boolProp><boolProp name="SUCCESFULL">true</boolProp><stringProp name="RESPONSE_TIME">{ms}</stringProp></kg.apc.jmeter.samplers.DummySampler><hashTree/>"#
    )
}

fn run(class: &str, properties: &[(&str, &str)], body: &str) -> Ran {
    let properties_of_run = [("sampleresult.timestamp.start", "true")];
    run_plan(&plan(class, properties, body), &properties_of_run)
}

fn plan(class: &str, properties: &[(&str, &str)], body: &str) -> String {
    let property =
        |(name, value): &(&str, &str)| format!(r#"<stringProp name="{name}">{value}</stringProp>"#);
    let properties: String = properties.iter().map(property).collect();
    drumfire_testkit::plans::plan(&format!(
        r#"
<{class} guiclass="g" testclass="{class}" testname="G">{properties}
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">-1</stringProp></elementProp>
</{class}><hashTree>{body}</hashTree>"#
    ))
}

fn now_ms() -> i64 {
    let since = std::time::UNIX_EPOCH.elapsed();
    since.expect("it is after 1970").as_millis() as i64
}

/// When each sample started, in milliseconds since the Unix epoch, the first one first.
fn starts(ran: &Ran) -> Vec<i64> {
    let mut starts: Vec<i64> = ran
        .column("timeStamp")
        .iter()
        .map(|text| text.parse().expect("it is a number"))
        .collect();
    starts.sort_unstable();
    starts
}

fn names(ran: &Ran) -> Vec<&str> {
    let mut names = ran.column("threadName");
    names.sort_unstable();
    names
}

/// A setUp group that sets the property `n`, and a group whose settings read it.
fn plan_with_set_up(settings: &str) -> String {
    let group = |class: &str, settings: &str, body: &str| {
        format!(
            r#"<{class} guiclass="g" testclass="{class}" testname="{class}">{settings}
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp></elementProp>
</{class}><hashTree>{body}</hashTree>"#
        )
    };
    let one = r#"<stringProp name="ThreadGroup.num_threads">1</stringProp>"#;
    let set_up = group("SetupThreadGroup", one, &dummy("${__setProperty(n,3)}", 1));
    let main = group("ThreadGroup", settings, &dummy("main", 1));
    drumfire_testkit::plans::plan(&format!(r#"{set_up}{main}"#))
}

#[test]
fn settings_are_read_when_the_group_starts() {
    let settings = r#"<stringProp name="ThreadGroup.num_threads">${__P(n,1)}</stringProp>
<stringProp name="ThreadGroup.on_sample_error">continue</stringProp>"#;
    for workers in [1, 3] {
        let ran = run_plan_on(workers, &plan_with_set_up(settings), &[]);
        let main = ran.rows.iter().filter(|row| row["label"] == "main");
        assert_eq!(main.count(), 3, "{workers} workers");
    }
}

/// As threads of JMeter do; a worker runs all its users on one thread.
#[test]
fn users_whose_samplers_never_wait_take_turns() {
    let sampler = r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="d"/><hashTree/>"#;
    let properties = [("ThreadGroup.num_threads", "2")];
    let ends =
        r#"2000</stringProp><boolProp name="LoopController.continue_forever">false</boolProp>"#;
    let plan = plan("ThreadGroup", &properties, sampler).replace("-1</stringProp>", ends);
    let ran = run_plan_on(1, &plan, &[]);
    let users = ran.column("threadName");
    assert_eq!(users.len(), 4_000);
    let turns = users.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(turns >= 10, "{turns} turns");
}

#[test]
fn an_open_model_starts_a_user_for_each_arrival_and_interrupts_it_in_the_end() {
    let schedule = "rate(10/sec) even_arrivals(300 ms) pause(100 ms)";
    let body = dummy("long", 150) + &dummy("longer", 60_000);
    let properties = [("OpenModelThreadGroup.schedule", schedule)];
    let ran = run("OpenModelThreadGroup", &properties, &body);
    assert_eq!(ran.users, 3);
    let long: Vec<_> = ran
        .rows
        .iter()
        .filter(|row| row["label"] == "long")
        .collect();
    assert_eq!(long.len(), 3);
    assert_eq!(names(&ran)[0], "G 1-1");
    let longer = ran.rows.iter().filter(|row| row["label"] == "longer");
    for row in longer {
        let elapsed_ms: u32 = row["elapsed"].parse().expect("it is a number");
        assert!(elapsed_ms < 10_000, "{elapsed_ms}");
    }
}

#[test]
fn a_schedule_that_cannot_be_read_starts_nobody() {
    let properties = [(
        "OpenModelThreadGroup.schedule",
        "rate(10) even_arrivals(1 s)",
    )];
    let ran = run("OpenModelThreadGroup", &properties, &dummy("d", 1));
    assert_eq!((ran.users, ran.rows.len()), (0, 0));
}

#[test]
fn a_concurrency_group_replaces_users_that_end() {
    let properties = [
        ("TargetLevel", "3"),
        ("RampUp", "0"),
        ("Hold", "1"),
        ("Iterations", "2"),
    ];
    let class = "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup";
    let ran = run(class, &properties, &dummy("d", 100));
    assert!(ran.users >= 4, "{}", ran.users);
    for row in &ran.rows {
        let active: u32 = row["grpThreads"].parse().expect("it is a number");
        assert!(active <= 3);
        let of_user = names(&ran)
            .iter()
            .filter(|name| **name == row["threadName"])
            .count();
        assert!(of_user <= 2);
    }
    assert_eq!(names(&ran)[0], "G-ThreadStarter 1-1");
    assert!(ran.rows.len() > 3, "{}", ran.rows.len());
}

/// `ConcurrencyThreadGroup#tooMuchConcurrency` asks for the target anew, and the starter does before it replaces a user.
/// On one worker: a second one whose core is busy would go on with the target that it knows.
#[test]
fn a_target_that_falls_ends_users_and_one_that_rises_starts_some() {
    let debug = |name: &str| {
        format!(
            r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="{name}"/><hashTree/>"#
        )
    };
    let group = |first: &str, then: &str| {
        let target = format!("${{__P(level,{first})}}");
        let properties = [("TargetLevel", &*target), ("RampUp", "0"), ("Hold", "2")];
        let class = "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup";
        let body = dummy("d", 50) + &debug(&format!("${{__setProperty(level,{then})}}"));
        let ran = run_plan_on(1, &plan(class, &properties, &body), &[]);
        let last = ran
            .column("grpThreads")
            .last()
            .map(|&count| count.to_owned());
        (ran.users, last.expect("there are samples"))
    };
    let (users, last) = group("5", "2");
    assert!((5..=7).contains(&users), "{users}");
    assert!(["1", "2"].contains(&&*last), "{last}");
    let (users, _) = group("1", "3");
    assert_eq!(users, 3);
}

#[test]
fn arrivals_reuse_users_that_wait_and_respect_the_limits() {
    let class = "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup";
    let properties = [
        ("TargetLevel", "20"),
        ("RampUp", "0"),
        ("Hold", "60"),
        ("ArrivalsLimit", "8"),
    ];
    let before_ms = now_ms();
    let ran = run(class, &properties, &dummy("d", 1));
    assert_eq!(ran.rows.len(), 8);
    // Arrivals are 50 ms apart; each may come late, and none too early.
    let last = starts(&ran)[7];
    assert!(last >= before_ms + 340, "{last} after {before_ms}");
    let limited = [("Hold", "1"), ("ConcurrencyLimit", "1")];
    let properties = [&properties[..2], &limited].concat();
    let ran = run(class, &properties, &dummy("d", 400));
    assert_eq!(ran.users, 1);
    assert!((1..=4).contains(&ran.rows.len()), "{}", ran.rows.len());
}

/// The first sample of each, whether its user is a new one or has waited.
#[test]
fn arrivals_have_an_intended_start() {
    let two = dummy("first", 1) + &dummy("second", 1);
    let arrivals = "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup";
    let properties = [
        ("TargetLevel", "20"),
        ("RampUp", "0"),
        ("Hold", "60"),
        ("ArrivalsLimit", "6"),
    ];
    let ran = run(arrivals, &properties, &two);
    let firsts = |ran: &Ran| {
        let labels = ran.column("label");
        labels.iter().filter(|label| **label == "first").count() as u64
    };
    assert_eq!((firsts(&ran), ran.intended), (6, 6));
    let schedule = "rate(10/sec) even_arrivals(300 ms) pause(2 s)";
    let properties = [("OpenModelThreadGroup.schedule", schedule)];
    let ran = run("OpenModelThreadGroup", &properties, &two);
    assert_eq!((firsts(&ran), ran.intended), (3, 3));
    let concurrency = "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup";
    let properties = [("TargetLevel", "2"), ("RampUp", "0"), ("Hold", "1")];
    let ran = run(concurrency, &properties, &dummy("d", 100));
    assert_eq!(ran.intended, 0);
}

#[test]
fn free_form_arrivals_follow_their_rows() {
    let class = "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup";
    let cells = r#"<stringProp name="1">10</stringProp><stringProp name="2">10</stringProp><stringProp name="3">1</stringProp>"#;
    let plan = drumfire_testkit::plans::plan(&format!(
        r#"
<{class} guiclass="g" testclass="{class}" testname="G"><collectionProp name="Schedule"><collectionProp name="4">{cells}</collectionProp></collectionProp></{class}><hashTree>{}</hashTree>"#,
        dummy("d", 1)
    ));
    let ran = run_plan(&plan, &[]);
    assert!((10..=11).contains(&ran.rows.len()), "{}", ran.rows.len());
}

#[test]
fn a_shaping_timer_limits_the_rate_and_ends_the_group() {
    let rows = r#"<collectionProp name="load_profile"><collectionProp name="1"><stringProp name="1">20</stringProp><stringProp name="2">20</stringProp><stringProp name="3">1</stringProp></collectionProp></collectionProp>"#;
    let class = "kg.apc.jmeter.timers.VariableThroughputTimer";
    let timer = format!(
        r#"<{class} guiclass="g" testclass="{class}" testname="t">{rows}</{class}><hashTree/>"#
    );
    let properties = [("ThreadGroup.num_threads", "2")];
    let ran = run("ThreadGroup", &properties, &(timer + &dummy("d", 1)));
    // Two seconds at most have a rate of 20: the end of a row is still the row's.
    assert!((1..=42).contains(&ran.rows.len()), "{}", ran.rows.len());
}

#[test]
fn stepping_users_start_in_steps_and_end_by_time() {
    let properties = [
        ("ThreadGroup.num_threads", "2"),
        ("Threads initial delay", "0"),
        ("Start users count", "1"),
        ("Start users count burst", "0"),
        ("Start users period", "1"),
        ("rampUp", "0"),
        ("flighttime", "0"),
        ("Stop users count", "0"),
        ("Stop users period", "0"),
    ];
    let ran = run(
        "kg.apc.jmeter.threads.SteppingThreadGroup",
        &properties,
        &dummy("d", 300),
    );
    assert_eq!(names(&ran)[0], "G 1-1");
    let starts = starts(&ran);
    assert!((2..=5).contains(&starts.len()), "{starts:?}");
}
