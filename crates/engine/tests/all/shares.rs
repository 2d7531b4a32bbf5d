//! Several machines that share a plan do together what one machine does alone.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use drumfire_engine::{
    Control, Division, EngineOptions, Event, Fleet, GroupPhase, Lease, LeaseError, LeaseRequest,
    Move, MoveKind, Receipt, RunSettings, Share, Slots, StartGate, Subscriber, compile, run,
};
use drumfire_expr::Properties;
use drumfire_results::Recording;
use drumfire_testkit::plans::plan;

/// The other machines, in this process.
#[derive(Debug, Default)]
struct Memory {
    taken: Mutex<HashMap<String, u64>>,
    /// When the main groups start, once all have asked.
    starts_ms: Mutex<(u32, Option<i64>)>,
    machines: u32,
    moves: Mutex<Vec<Move>>,
    properties: Mutex<Vec<Option<String>>>,
}

/// Places that are handed out at once.
const BLOCK: u64 = 3;

impl Memory {
    fn of(machines: u32) -> Arc<Memory> {
        Arc::new(Memory {
            machines,
            ..Memory::default()
        })
    }
}

impl Fleet for Memory {
    fn gate(&self, phase: GroupPhase, properties: &Properties) -> StartGate {
        if phase == GroupPhase::TearDown {
            return StartGate::OpensAt(0);
        }
        let mut starts = self.starts_ms.lock().expect("nobody panics");
        let mut asked = self.properties.lock().expect("nobody panics");
        asked.push(properties.get("set").map(|text| text.to_string()));
        starts.0 += 1;
        if starts.0 >= self.machines {
            let now_ms = drumfire_engine::Clock::start().start_ms();
            return StartGate::OpensAt(*starts.1.get_or_insert(now_ms + 50));
        }
        StartGate::Closed
    }

    fn lease(&self, request: &LeaseRequest<'_>) -> Result<Lease, LeaseError> {
        let mut taken = self.taken.lock().expect("nobody panics");
        let next = taken.entry(request.element.to_owned()).or_default();
        let end = match request.length {
            Some(length) if !request.is_recycled => length,
            _ => u64::MAX,
        };
        let lease = *next..(*next + BLOCK).min(end);
        *next = lease.end;
        Ok(lease)
    }

    fn active_users(&self, _: Option<usize>) -> Option<u32> {
        None
    }

    fn begun(&self, _: Duration) {}

    fn take_moves(&self) -> Vec<Move> {
        let is_started = self.starts_ms.lock().expect("nobody panics").1.is_some();
        if is_started {
            std::mem::take(&mut self.moves.lock().expect("nobody panics"))
        } else {
            Vec::new()
        }
    }
}

/// Samples by label, over all machines.
#[derive(Default)]
struct Labels(BTreeMap<String, u64>);

impl Subscriber for Labels {
    fn receive(&mut self, event: &Event, _: &Recording) {
        let Event::Increment(increment) = event else {
            return;
        };
        for label in &increment.labels {
            *self.0.entry(label.label.clone()).or_default() += label.count;
        }
    }
}

fn one(plan: &str, folder: &Path, share: Share, fleet: Option<Arc<Memory>>) -> Labels {
    let settings = RunSettings {
        properties: Properties::new(),
        base_dir: folder.into(),
        share,
        ..RunSettings::default()
    };
    let read = drumfire_jmx::read(plan.as_bytes(), Path::new("p.jmx")).expect("it is well-formed");
    let program = match compile(read.tree, Arc::new(settings)) {
        Ok(compiled) => compiled.plan,
        Err(faults) => panic!("{faults:?}"),
    };
    let options = EngineOptions {
        workers: 2,
        fleet: fleet.map(|fleet| fleet as Arc<dyn Fleet>),
        ..EngineOptions::default()
    };
    let mut labels = Labels::default();
    let control = Control::default();
    let outcome = run(Arc::new(program), &options, &control, &mut [&mut labels]);
    assert_eq!(outcome.expect("it runs").faults, Vec::<String>::new());
    labels
}

/// The outcome of machines of these weights together.
fn together(plan: &str, folder: &Path, weights: &[u32]) -> BTreeMap<String, u64> {
    let fleet = Memory::of(weights.len() as u32);
    let machines: Vec<_> = Share::of_weights(weights, 7)
        .into_iter()
        .map(|share| {
            let (plan, folder, fleet) = (plan.to_owned(), folder.to_owned(), fleet.clone());
            std::thread::spawn(move || one(&plan, &folder, share, Some(fleet)))
        })
        .collect();
    let mut all = BTreeMap::new();
    for machine in machines {
        for (label, count) in machine.join().expect("it runs").0 {
            *all.entry(label).or_default() += count;
        }
    }
    all
}

fn group(class: &str, properties: &str, body: &str) -> String {
    format!(
        r#"<{class} guiclass="g" testclass="{class}" testname="G">{properties}</{class}><hashTree>{body}</hashTree>"#
    )
}

fn text(name: &str, value: &str) -> String {
    format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
}

fn thread_group(class: &str, users: u32, loops: i32, body: &str) -> String {
    let properties = format!(
        r#"{}<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{loops}</stringProp></elementProp>"#,
        text("ThreadGroup.num_threads", &users.to_string())
    );
    group(class, &properties, body)
}

fn sample(label: &str) -> String {
    format!(
        r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="{label}"/><hashTree/>"#
    )
}

fn csv(settings: &str) -> String {
    let file = text("filename", "rows.csv");
    let names = text("variableNames", "row,note");
    format!(
        r#"<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="c">{file}{names}{settings}</CSVDataSet><hashTree/>"#
    )
}

const FLEETS: [&[u32]; 3] = [&[1, 1], &[1, 1, 1, 1], &[3, 1, 2]];

fn assert_same(plan: &str, folder: &Path) {
    let alone = one(plan, folder, Share::default(), None).0;
    assert!(!alone.is_empty());
    for weights in FLEETS {
        assert_eq!(together(plan, folder, weights), alone, "{weights:?}");
    }
}

fn folder(rows: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    let row = |row: u32| match row % 7 {
        // Line ends inside of quotes, and lengths that differ.
        0 => format!("r{row},\"two\nlines, \"\"{row}\"\"\"\n"),
        _ => format!("r{row},{}\n", "n".repeat((row % 13) as usize)),
    };
    let rows: String = (0..rows).map(row).collect();
    std::fs::write(folder.path().join("rows.csv"), rows).expect("there is room");
    folder
}

#[test]
fn users_keep_their_numbers_names_and_loops() {
    let folder = folder(0);
    let body = sample("${__threadNum} of ${__threadGroupName}");
    assert_same(
        &plan(&thread_group("ThreadGroup", 13, 3, &body)),
        folder.path(),
    );
    let windows = r#"<collectionProp name="ultimatethreadgroupdata"><collectionProp name="1"><stringProp name="a">5</stringProp><stringProp name="b">0</stringProp><stringProp name="c">0</stringProp><stringProp name="d">1</stringProp><stringProp name="e">0</stringProp></collectionProp></collectionProp><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">2</stringProp></elementProp>"#;
    let ultimate = group("kg.apc.jmeter.threads.UltimateThreadGroup", windows, &body);
    assert_same(&plan(&ultimate), folder.path());
}

#[test]
fn each_row_is_read_once_by_all_machines_together() {
    let folder = folder(4_000);
    let settings = [
        text("quotedData", "true"),
        text("recycle", "false"),
        text("stopThread", "true"),
    ];
    let body = csv(&settings.concat()) + &sample("${row}");
    assert_same(
        &plan(&thread_group("ThreadGroup", 8, -1, &body)),
        folder.path(),
    );
}

#[test]
fn a_file_goes_round_on_all_machines_alike() {
    let folder = folder(10);
    let settings = text("quotedData", "true") + &text("recycle", "true");
    let body = csv(&settings) + &sample("${row}");
    // Twelve users with ten turns each go round a dozen times. A machine leaves out what remains of its last block, shorter
    // than a block and so each row once at most; the rows that others take instead make up for it.
    let plan = plan(&thread_group("ThreadGroup", 12, 10, &body));
    let alone = one(&plan, folder.path(), Share::default(), None).0;
    assert!(alone.len() == 10 && alone.values().all(|count| *count == 12));
    let machines = [1, 1, 1];
    let fleet = together(&plan, folder.path(), &machines);
    assert_eq!(fleet.values().sum::<u64>(), 120);
    let fewest = 12 - machines.len() as u64;
    assert!(
        fleet.len() == 10 && fleet.values().all(|count| (fewest..=13).contains(count)),
        "{fleet:?}"
    );
}

#[test]
fn a_counter_counts_for_all() {
    let folder = folder(0);
    let counter = format!(
        r#"<CounterConfig guiclass="g" testclass="CounterConfig" testname="c">{}{}{}{}</CounterConfig><hashTree/>"#,
        text("CounterConfig.start", "1"),
        text("CounterConfig.incr", "1"),
        text("CounterConfig.name", "n"),
        r#"<boolProp name="CounterConfig.per_user">false</boolProp>"#
    );
    let body = counter + &sample("${n} ${__counter(FALSE,)}");
    let plan = plan(&thread_group("ThreadGroup", 12, 3, &body));
    let fleet = together(&plan, folder.path(), &[1, 1, 1, 1]);
    assert_eq!(fleet.len(), 36, "each number is given once: {fleet:?}");
    // Nine turns on each machine, in blocks of three.
    let expected = (1..=36).map(|n| n.to_string());
    let mut seen: Vec<u32> = fleet
        .keys()
        .filter_map(|label| label.split(' ').next()?.parse().ok())
        .collect();
    seen.sort_unstable();
    assert!(seen.iter().map(u32::to_string).eq(expected));
}

#[test]
fn arrivals_are_those_of_one_machine() {
    let folder = folder(0);
    let schedule = "rate(40/sec) random_arrivals(1 sec) even_arrivals(500 ms)";
    let open = text("OpenModelThreadGroup.schedule", schedule)
        + &text("OpenModelThreadGroup.random_seed", "5");
    let body = sample("${__threadNum}");
    let open = plan(&group("OpenModelThreadGroup", &open, &body));
    assert_same(&open, folder.path());
    let arrivals = [
        text("TargetLevel", "60"),
        text("RampUp", "0"),
        text("Steps", "0"),
        text("Hold", "1"),
        text("Unit", "S"),
    ];
    let class = "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup";
    let arrivals = plan(&group(class, &arrivals.concat(), &sample("arrival")));
    assert_same(&arrivals, folder.path());
}

#[test]
fn totals_of_throughput_controllers_are_kept() {
    let folder = folder(0);
    let controller = format!(
        r#"<ThroughputController guiclass="g" testclass="ThroughputController" testname="t"><intProp name="ThroughputController.style">0</intProp><boolProp name="ThroughputController.perThread">false</boolProp><intProp name="ThroughputController.maxThroughput">10</intProp></ThroughputController><hashTree>{}</hashTree>"#,
        sample("ten")
    );
    let body = controller + &sample("all");
    assert_same(
        &plan(&thread_group("ThreadGroup", 8, 5, &body)),
        folder.path(),
    );
}

#[test]
fn set_up_and_tear_down_run_once() {
    let folder = folder(0);
    let once = |class: &str, label: &str| thread_group(class, 2, 1, &sample(label));
    let groups = once("SetupThreadGroup", "set up ${__setProperty(set,yes)}")
        + &thread_group("ThreadGroup", 4, 1, &sample("main"))
        + &once("PostThreadGroup", "tear down");
    assert_same(&plan(&groups), folder.path());
}

#[test]
fn each_machine_may_run_the_whole_plan() {
    let folder = folder(0);
    let plan = plan(&thread_group("ThreadGroup", 3, 2, &sample("all")));
    let mut sum = 0;
    for share in Share::of_each(2) {
        sum += one(&plan, folder.path(), share, None).0["all"];
    }
    assert_eq!(sum, 12);
}

#[test]
fn users_of_a_lost_machine_run_elsewhere() {
    let folder = folder(0);
    let body = sample("${__threadNum}") + &pause(400);
    let plan = plan(&thread_group("ThreadGroup", 9, 3, &body));
    let shares = Share::of_weights(&[1, 1, 1], 7);
    let mut owned: Vec<Slots> = shares.iter().map(|share| share.slots.clone()).collect();
    let received = Division {
        owned: &mut owned,
        weights: &[1, 1, 0],
    }
    .hand_over(2, &[9]);
    let machines: Vec<_> = shares[..2]
        .iter()
        .zip(received)
        .map(|(share, Receipt { slots, .. })| {
            let fleet = Memory::of(1);
            fleet
                .moves
                .lock()
                .expect("nobody panics")
                .push(inherited(slots));
            let (plan, folder, share) = (plan.clone(), folder.path().to_owned(), share.clone());
            std::thread::spawn(move || one(&plan, &folder, share, Some(fleet)).0)
        })
        .collect();
    let mut users: Vec<u32> = Vec::new();
    for machine in machines {
        let labels = machine.join().expect("it runs");
        assert!(labels.values().all(|count| *count == 3), "{labels:?}");
        users.extend(labels.keys().filter_map(|label| label.parse::<u32>().ok()));
    }
    users.sort_unstable();
    assert_eq!(users, (1..=9).collect::<Vec<_>>());
}

fn inherited(slots: Slots) -> Move {
    Move {
        slots,
        from_ms: 0,
        kind: MoveKind::Inherit,
    }
}

/// The samples of two machines, of which the second one joins after half a second and takes over half of the first one's slots.
fn one_joins(plan: &str) -> [BTreeMap<String, u64>; 2] {
    let folder = folder(0);
    let first = Share::of_growing(&[1], 7, 2).remove(0);
    let joined = Share {
        index: 1,
        slots: Slots::new(first.slots.period(), Vec::new()),
        ..first.clone()
    };
    let mut owned = [first.slots.clone(), joined.slots.clone()];
    let received = Division {
        owned: &mut owned,
        weights: &[1, 1],
    }
    .share_with(1, &[]);
    let [Receipt { slots, .. }] = received.as_slice() else {
        panic!("only one machine receives slots: {received:?}");
    };
    let fleets = [MoveKind::Release, MoveKind::Receive].map(|kind| {
        let fleet = Memory::of(1);
        let starts_ms = drumfire_engine::Clock::start().start_ms() + 300;
        *fleet.starts_ms.lock().expect("nobody panics") = (0, Some(starts_ms));
        (fleet, kind)
    });
    let machines = [first, joined];
    let starts_ms = fleets[0].0.starts_ms.lock().expect("nobody panics").1;
    let machines: Vec<_> = machines
        .into_iter()
        .zip(fleets)
        .map(|(share, (fleet, kind))| {
            fleet.starts_ms.lock().expect("nobody panics").1 = starts_ms;
            let from_ms = starts_ms.expect("it was set") + 500;
            let slots = slots.clone();
            let change = Move {
                slots,
                from_ms,
                kind,
            };
            fleet.moves.lock().expect("nobody panics").push(change);
            let (plan, folder) = (plan.to_owned(), folder.path().to_owned());
            std::thread::spawn(move || one(&plan, &folder, share, Some(fleet)).0)
        })
        .collect();
    let mut counts = machines
        .into_iter()
        .map(|machine| machine.join().expect("it runs"));
    [(); 2].map(|()| counts.next().expect("there are two"))
}

#[test]
fn a_machine_that_joins_takes_over_arrivals_and_none_is_lost_or_starts_twice() {
    let schedule = "rate(60/sec) random_arrivals(1500 ms)";
    let open = text("OpenModelThreadGroup.schedule", schedule)
        + &text("OpenModelThreadGroup.random_seed", "5");
    let body = sample("${__threadNum}");
    let open = plan(&group("OpenModelThreadGroup", &open, &body));
    let alone = one(&open, folder(0).path(), Share::default(), None).0;
    let [stayed, joined] = one_joins(&open);
    assert!(!joined.is_empty(), "{stayed:?}");
    let mut all = stayed.clone();
    for (label, count) in &joined {
        *all.entry(label.clone()).or_default() += count;
    }
    assert_eq!(all, alone, "{stayed:?} {joined:?}");

    let arrivals = [
        text("TargetLevel", "60"),
        text("RampUp", "0"),
        text("Steps", "0"),
        text("Hold", "2"),
        text("Unit", "S"),
    ];
    let class = "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup";
    let arrivals = plan(&group(class, &arrivals.concat(), &sample("arrival")));
    let alone = one(&arrivals, folder(0).path(), Share::default(), None).0["arrival"];
    let [stayed, joined] = one_joins(&arrivals).map(|labels| labels["arrival"]);
    assert_eq!(stayed + joined, alone, "{stayed} {joined}");
    assert!(
        (joined as f64) < 0.5 * alone as f64 && joined > 0,
        "{joined} of {alone}"
    );
}

#[test]
fn a_machine_that_joins_takes_over_users_that_have_a_time_and_leaves_those_that_have_loops() {
    let body = pause(100) + &sample("${__threadNum}");
    let scheduler = r#"<boolProp name="ThreadGroup.scheduler">true</boolProp>"#;
    let timed = thread_group("ThreadGroup", 4, -1, &body).replacen(
        "<stringProp",
        &format!(
            "{scheduler}{}<stringProp",
            text("ThreadGroup.duration", "2")
        ),
        1,
    );
    let [stayed, joined] = one_joins(&plan(&timed));
    // All four begin on the first machine, and two end on the second one.
    assert_eq!(stayed.len(), 4, "{stayed:?}");
    assert_eq!(joined.len(), 2, "{joined:?}");
    for (user, count) in &stayed {
        // Nobody runs twice at a time.
        let all = count + joined.get(user).unwrap_or(&0);
        assert!(all <= 22, "{user}: {stayed:?} {joined:?}");
    }
    let counted = plan(&thread_group("ThreadGroup", 4, 12, &body));
    let [stayed, joined] = one_joins(&counted);
    assert!(joined.is_empty(), "{joined:?}");
    assert!(stayed.values().all(|count| *count == 12), "{stayed:?}");
}

fn pause(ms: u32) -> String {
    format!(
        r#"<ConstantTimer guiclass="g" testclass="ConstantTimer" testname="t"><stringProp name="ConstantTimer.delay">{ms}</stringProp></ConstantTimer><hashTree/>"#
    )
}
