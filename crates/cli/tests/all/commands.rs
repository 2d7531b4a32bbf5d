//! The commands around an engine that follows a script: what is printed when, and the exit codes.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use drumfire_commands::commands::execute;
use drumfire_commands::console::Console;
use drumfire_commands::engine::{
    Control, Engine, Event, GroupView, JvmOrder, Outcome, PlanView, RunOrder, Rung, Started,
    Subscriber, SummaryLines, Survey, SurveyRow, Tick, UserWindow,
};
use drumfire_commands::exit_codes::Exit;
use drumfire_commands::properties::RunProperties;
use drumfire_commands::terminal::style::Style;
use drumfire_jmx::Diagnostic;
use drumfire_results::{FileReport, Recording, Sample};
use drumfire_testkit::redact::redact;
use tokio::signal::unix::{SignalKind, signal};

/// The log and the place of the last plan belong to the process, so runs wait for one another.
static ONE_RUN: Mutex<()> = Mutex::new(());

#[derive(Default)]
struct Scripted {
    survey: Vec<SurveyRow>,
    refusal: Option<&'static str>,
    warning: Option<&'static str>,
    outcome: Mutex<VecDeque<anyhow::Result<Outcome>>>,
    orders: Mutex<Vec<RunOrder>>,
    seen: Mutex<Vec<(String, String)>>,
    interrupt: AtomicBool,
    home: Home,
}

/// Where the last plan is remembered.
struct Home(tempfile::TempDir);

impl Default for Home {
    fn default() -> Self {
        Home(tempfile::tempdir().expect("a folder"))
    }
}

impl Engine for Scripted {
    type Program = ();

    fn survey(&self, _: &Path, _: &RunProperties) -> Result<Survey, Vec<Diagnostic>> {
        let findings: Vec<_> = self
            .refusal
            .map(|text| Diagnostic::error("bad", text))
            .into_iter()
            .collect();
        Ok(Survey {
            rows: self.survey.clone(),
            runs: findings.is_empty(),
            findings,
            advice: Vec::new(),
        })
    }

    fn java(&self, _: &RunProperties, order: &JvmOrder) -> Result<String, String> {
        match self.refusal {
            Some(text) => Err(text.to_owned()),
            None => Ok(format!("order: {order:?}\n")),
        }
    }

    fn compile(
        &self,
        _: &Path,
        settings: &RunProperties,
        _: &RunOrder,
    ) -> Result<((), Vec<Diagnostic>), Vec<Diagnostic>> {
        let pairs = settings
            .properties
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.seen.lock().expect("no panic").extend(pairs);
        match self.refusal {
            Some(text) => Err(vec![Diagnostic::error("bad", text)]),
            None => Ok((
                (),
                self.warning
                    .map(|text| Diagnostic::warning("odd", text))
                    .into_iter()
                    .collect(),
            )),
        }
    }

    fn draft(
        &self,
        plan: &Path,
        settings: &RunProperties,
    ) -> Result<((), Vec<Diagnostic>), Vec<Diagnostic>> {
        self.compile(plan, settings, &RunOrder::default())
    }

    fn has_rates(&self, (): &()) -> bool {
        false
    }

    fn describe(&self, (): &()) -> PlanView {
        let users = vec![UserWindow {
            start_ms: 0,
            stop_ms: None,
        }];
        PlanView {
            groups: vec![GroupView {
                name: "Users".to_owned(),
                class: "ThreadGroup",
                fault: None,
                known_at_start: Vec::new(),
                iterations: Some(1),
                users,
                load: Vec::new(),
                by_java: None,
            }],
            ..PlanView::default()
        }
    }

    fn summary_lines(&self, (): &()) -> SummaryLines {
        SummaryLines::default()
    }

    fn run(
        &self,
        (): (),
        order: &RunOrder,
        control: &Control,
        subscribers: &mut [&mut dyn Subscriber],
    ) -> anyhow::Result<Outcome> {
        self.orders.lock().expect("no panic").push(order.clone());
        let line = "summary =      1 in 00:00:01 =    1.0/s";
        for event in [
            Event::Started(Arc::new(Started::default())),
            Event::Tick(Arc::new(Tick::default())),
            Event::Line(line.into()),
        ] {
            for subscriber in subscribers.iter_mut() {
                subscriber.receive(&event, &Recording::default());
            }
        }
        if self.interrupt.load(Ordering::SeqCst) {
            let own = std::process::id().to_string();
            std::process::Command::new("kill")
                .args(["-INT", &own])
                .status()
                .expect("kill is there");
            while !control.stopping() {
                std::thread::yield_now();
            }
        }
        self.outcome
            .lock()
            .expect("no panic")
            .pop_front()
            .unwrap_or_else(|| Ok(Outcome::default()))
    }
}

struct Told {
    exit: Exit,
    out: String,
    err: String,
}

/// Executes a command line in which PLAN is a file that is there and LOG a log file beside it.
fn tell(engine: &Scripted, line: &str) -> Told {
    let _one = ONE_RUN
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("p.jmx");
    std::fs::write(&plan, "").expect("a file");
    let log = folder.path().join("run.log");
    let words: Vec<String> = line
        .split_whitespace()
        .map(|word| {
            word.replace("PLAN", &plan.to_string_lossy())
                .replace("LOG", &log.to_string_lossy())
        })
        .collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut console = Console {
        out: &mut out,
        err: &mut err,
        variable: &|name| (name == "HOME").then(|| engine.home.0.path().into()),
        style: Style::PLAIN,
        err_style: Style::PLAIN,
        is_terminal: false,
        is_optimized: true,
        err_columns: None,
    };
    let exit = execute(&words, engine, &mut console);
    let folder = folder.path().to_string_lossy().into_owned();
    let clean = |bytes| {
        redact(
            &String::from_utf8(bytes).expect("text"),
            &[(&folder, "[FOLDER]")],
        )
    };
    // Only the first run of a process opens its log.
    let err = clean(err)
        .lines()
        .filter(|line| !line.contains("there is no log"))
        .map(|line| format!("{line}\n"))
        .collect();
    Told {
        exit,
        out: clean(out),
        err,
    }
}

/// Without the lines about the log and the summary's table.
fn milestones(out: &str) -> Vec<&str> {
    out.lines()
        .take_while(|line| *line != "... end of run")
        .filter(|line| !line.contains(" on port "))
        .collect()
}

#[test]
fn a_run_prints_jmeters_lines_in_jmeters_order() {
    let told = tell(
        &Scripted::default(),
        "-n -t PLAN -j LOG -Jjmeterengine.nongui.port=0",
    );
    let expected = [
        "Creating summariser <summary>",
        "Created the tree successfully using [FOLDER]/p.jmx",
        "Starting standalone test @ [DATE] ([MS])",
        "summary =      1 in 00:00:01 =    1.0/s",
        "Tidying up ...    @ [DATE] ([MS])",
    ];
    assert_eq!(milestones(&told.out), expected);
    assert!(told.out.contains("\n... end of run\n"), "{}", told.out);
    assert_eq!(told.exit, Exit::Ok);
}

#[test]
fn the_port_for_messages_is_told() {
    let told = tell(&Scripted::default(), "-n -t PLAN -j LOG");
    let line = told
        .out
        .lines()
        .find(|line| line.contains(" on port "))
        .expect("a port");
    assert!(
        line.starts_with(
            "Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port 44"
        ),
        "{line}"
    );
}

#[test]
fn quiet_is_quiet_and_no_summariser_says_nothing() {
    let told = tell(&Scripted::default(), "run PLAN -j LOG --progress quiet");
    assert_eq!((told.out.as_str(), told.exit), ("", Exit::Ok));
    let told = tell(&Scripted::default(), "-n -t PLAN -j LOG -Jsummariser.name");
    assert!(told.out.starts_with("Created the tree"), "{}", told.out);
}

#[test]
fn results_and_properties_reach_the_engine() {
    let engine = Scripted::default();
    tell(&engine, "-n -t PLAN -j LOG -l out.jtl -f -Jusers=7");
    let order = RunOrder {
        results: Some("out.jtl".into()),
        delete_results: true,
        ..RunOrder::default()
    };
    assert_eq!(*engine.orders.lock().unwrap(), [order]);
    assert!(
        engine
            .seen
            .lock()
            .unwrap()
            .contains(&("users".to_owned(), "7".to_owned()))
    );
}

#[test]
fn thresholds_decide_how_a_run_ends() {
    let told = tell(
        &Scripted::default(),
        "run PLAN -j LOG --fail-on errors>0 --fail-on samples<1",
    );
    assert_eq!(told.exit, Exit::ThresholdsNotMet);
    let lines = "not judged  errors   fails if > 0   the run has no sample\n\
                 FAILED  samples 0   fails if < 1\n";
    assert!(told.out.ends_with(lines), "{}", told.out);

    let property = "-n -t PLAN -j LOG -Jdrumfire.fail_on=errors>0;rate<1/s;";
    let told = tell(&Scripted::default(), property);
    assert_eq!(told.exit, Exit::ThresholdsNotMet);
    assert!(
        told.out
            .ends_with("not judged  rate   fails if < 1/s   the run has no sample\n"),
        "{}",
        told.out
    );

    let told = tell(
        &Scripted::default(),
        "run PLAN -j LOG --progress quiet --fail-on samples<1",
    );
    let line = "FAILED  samples 0   fails if < 1\n";
    assert_eq!((told.out.as_str(), told.err.as_str()), ("", line));
}

#[test]
fn a_threshold_that_was_not_judged_fails_the_run_unless_that_is_allowed() {
    for words in [
        "run PLAN -j LOG --fail-on p95>1s",
        "-n -t PLAN -j LOG -Jdrumfire.fail_on=p95>1s",
    ] {
        let told = tell(&Scripted::default(), words);
        assert_eq!(told.exit, Exit::ThresholdsNotMet, "{words}");
    }
    for words in [
        "run PLAN -j LOG --fail-on p95>1s --allow-unjudged",
        "-n -t PLAN -j LOG -Jdrumfire.fail_on=p95>1s -Jdrumfire.allow_unjudged=true",
    ] {
        let told = tell(&Scripted::default(), words);
        assert_eq!(told.exit, Exit::Ok, "{words}: {}", told.err);
        assert!(told.out.contains("not judged  p95"), "{}", told.out);
    }
}

#[test]
fn a_threshold_that_fails_good_runs_draws_a_warning_before_the_start() {
    let engine = Scripted::default();
    let told = tell(&engine, "run PLAN -j LOG --fail-on p95<300ms");
    let warning = "warning: `p95<300ms` fails runs whose p95 is below 300 ms; write `p95>300ms`\n";
    assert!(told.err.contains(warning), "{}", told.err);
    let fine = tell(&engine, "run PLAN -j LOG --fail-on p95>300ms");
    assert!(!fine.err.contains("warning"), "{}", fine.err);
}

#[test]
fn a_wrong_threshold_is_refused_before_anything_is_sent() {
    let engine = Scripted::default();
    let told = tell(&engine, "run PLAN -j LOG --fail-on p95>300");
    let message = "error: threshold `p95>300`: `300` is not a limit for p95, which is a time \
                   and needs its unit: us, ms, s or min\nhint: write `p95 > 300ms`\n";
    assert_eq!((told.exit, told.err.as_str()), (Exit::Usage, message));
    assert!(engine.orders.lock().unwrap().is_empty());
}

#[test]
fn skip_unsupported_is_a_property() {
    let engine = Scripted::default();
    tell(&engine, "run PLAN -j LOG --skip-unsupported");
    let expected = ("drumfire.skip_unsupported".to_owned(), "true".to_owned());
    assert!(engine.seen.lock().unwrap().contains(&expected));
}

#[test]
fn the_demo_site_is_there_for_the_plan() {
    let engine = Scripted::default();
    let told = tell(&engine, "run PLAN -j LOG --demo");
    assert!(
        told.out.starts_with("demo site  http://127.0.0.1:[PORT]/"),
        "{}",
        told.out
    );
    let seen = engine.seen.lock().unwrap();
    for name in ["demo.host", "demo.port", "demo.https.port"] {
        assert!(seen.iter().any(|(known, _)| known == name), "{name}");
    }
}

#[test]
fn a_refused_plan_sends_nothing() {
    let engine = Scripted {
        refusal: Some("there is no such thing"),
        ..Scripted::default()
    };
    let told = tell(&engine, "-n -t PLAN -j LOG");
    assert_eq!((told.exit, told.out.as_str()), (Exit::PlanRefused, ""));
    assert!(
        told.err.contains("error[bad]: there is no such thing"),
        "{}",
        told.err
    );
    assert!(engine.orders.lock().unwrap().is_empty());
}

#[test]
fn warnings_do_not_stop_a_run() {
    let engine = Scripted {
        warning: Some("a listener for the interface"),
        ..Scripted::default()
    };
    let told = tell(&engine, "-n -t PLAN -j LOG");
    assert_eq!(told.exit, Exit::Ok);
    assert!(
        told.err
            .contains("warning[odd]: a listener for the interface"),
        "{}",
        told.err
    );
}

#[test]
fn failed_samples_are_no_failed_run_but_lost_results_are() {
    let mut recording = Recording::default();
    for _ in 0..2 {
        let mut failed = Sample::new("Home".into(), "Users 1-1".into());
        (failed.code, failed.message) = ("500".into(), "Broken".into());
        recording.add(&failed);
    }
    let file = FileReport {
        path: "out.jtl".into(),
        rows: 2,
        lost_rows: 0,
        problem: None,
    };
    let outcome = Outcome {
        recording,
        files: vec![file],
        ..Outcome::default()
    };
    let engine = Scripted::default();
    engine.outcome.lock().unwrap().extend([
        Ok(outcome.clone()),
        Ok(Outcome {
            faults: vec!["out.jtl: no space left".to_owned()],
            ..outcome
        }),
        Err(anyhow::anyhow!("connection refused").context("the first user cannot start")),
    ]);
    let told = tell(&engine, "-n -t PLAN -j LOG");
    assert_eq!(told.exit, Exit::Ok);
    assert!(
        told.out.contains("failures\n           2  500 Broken\n")
            && told.out.contains("\nresults  out.jtl\n"),
        "{}",
        told.out
    );
    let told = tell(&engine, "-n -t PLAN -j LOG");
    assert_eq!(
        (told.exit, told.err.as_str()),
        (Exit::RunFailed, "error: out.jtl: no space left\n")
    );
    let told = tell(&engine, "-n -t PLAN -j LOG");
    let expected = "error: the first user cannot start: connection refused\n";
    assert_eq!((told.exit, told.err.as_str()), (Exit::RunFailed, expected));
}

/// From now on this process gets Ctrl-C, even if it was started to ignore it, as what a shell starts in the background is.
fn hear_ctrl_c() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let _entered = runtime.enter();
    drop(signal(SignalKind::interrupt()).expect("a handler"));
}

#[test]
fn ctrl_c_stops_the_users_and_still_prints_the_end() {
    hear_ctrl_c();
    let engine = Scripted {
        interrupt: AtomicBool::new(true),
        ..Scripted::default()
    };
    let told = tell(&engine, "-n -t PLAN -j LOG");
    assert_eq!(told.exit, Exit::Interrupted);
    assert!(
        told.out.contains("Tidying up ...") && told.out.contains("... end of run"),
        "{}",
        told.out
    );
}

#[test]
fn check_says_whether_the_plan_runs() {
    let row = |rung| SurveyRow {
        path: vec!["P".to_owned()],
        class: "X".to_owned(),
        rung,
        why: String::new(),
    };
    let good = Scripted {
        survey: vec![row(Rung::Native), row(Rung::Skipped)],
        ..Scripted::default()
    };
    let told = tell(&good, "check PLAN");
    assert_eq!(told.exit, Exit::Ok);
    assert!(
        told.out
            .ends_with("the plan runs: 1 native, 0 need a JVM, 1 skipped, 0 refused\n"),
        "{}",
        told.out
    );
    let bad = Scripted {
        survey: vec![row(Rung::Refused)],
        refusal: Some("not built"),
        ..Scripted::default()
    };
    assert_eq!(tell(&bad, "check PLAN --json").exit, Exit::PlanRefused);
    let broken = Scripted {
        survey: vec![row(Rung::Native)],
        refusal: Some("bad value"),
        ..Scripted::default()
    };
    let told = tell(&broken, "check PLAN");
    assert_eq!(told.exit, Exit::PlanRefused);
    assert!(
        told.out.contains("the plan does not run") && told.err.contains("bad value"),
        "{}{}",
        told.out,
        told.err
    );
}

#[test]
fn plan_shows_the_load_and_sends_nothing() {
    let engine = Scripted::default();
    let told = tell(&engine, "plan PLAN");
    assert_eq!(
        told.out,
        "\nload\n  Users: 1 user, one iteration each\n    user 1 starts at 0.000 s, stops after its iterations\n"
    );
    let told = tell(&engine, "plan PLAN --json");
    let value: serde_json::Value = serde_json::from_str(&told.out).expect("JSON");
    assert_eq!(value["groups"][0]["users"][0]["start_ms"], 0);
    assert!(engine.orders.lock().unwrap().is_empty());
}

#[test]
fn last_is_the_plan_of_the_last_run() {
    let engine = Scripted::default();
    let told = tell(&engine, "-n -t LAST -j LOG");
    assert_eq!(
        (told.exit, told.err.as_str()),
        (Exit::Usage, "error: -t LAST: no plan has been run yet\n")
    );
    tell(&engine, "-n -t PLAN -j LOG");
    let plan = drumfire_commands::recent::place(|name| {
        (name == "HOME").then(|| engine.home.0.path().into())
    })
    .and_then(|place| drumfire_commands::recent::recall(&place))
    .expect("a plan is remembered");
    assert!(plan.ends_with("p.jmx"), "{}", plan.display());
    // The folder of that run is gone, so the file is made again.
    std::fs::create_dir_all(plan.parent().expect("a folder")).expect("a folder");
    std::fs::write(&plan, "").expect("a file");
    tell(&engine, "-n -t LAST -l LAST -j LOG");
    std::fs::remove_dir_all(plan.parent().expect("a folder")).expect("the folder goes");
    let results = engine
        .orders
        .lock()
        .unwrap()
        .last()
        .and_then(|order| order.results.clone());
    assert_eq!(results, Some(plan.with_extension("jtl")));
}
