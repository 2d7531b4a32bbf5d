//! A run that is steered while it goes on: users of a group, pause, marks, and the same in arrivals.

use std::path::Path;
use std::sync::Arc;

use drumfire_engine::{
    Compiled, Control, ControlError, EngineOptions, Event, Outcome, RunSettings, Subscriber,
    compile, run,
};
use drumfire_results::Recording;

/// A plan with one thread group and a sampler that takes 20 ms of thinking.
fn steer(group: &str, subscriber: &mut dyn Subscriber, control: &Control) -> Outcome {
    let plan = drumfire_testkit::plans::plan(&format!(
        r#"{group}<hashTree>
<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="sample"/><hashTree>
<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="t"><stringProp name="ConstantTimer.delay">20</stringProp></ConstantTimer><hashTree/>
</hashTree></hashTree>"#
    ));
    let read = drumfire_jmx::read(plan.as_bytes(), Path::new("p.jmx")).expect("it is well-formed");
    let Ok(Compiled { plan: bound, .. }) = compile(read.tree, Arc::new(RunSettings::default()))
    else {
        panic!("the plan runs")
    };
    let options = EngineOptions {
        workers: 2,
        ..EngineOptions::default()
    };
    run(Arc::new(bound), &options, control, &mut [subscriber]).expect("it starts")
}

/// Two users for half a minute, if nobody ends them earlier.
const TWO_USERS: &str = r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="G">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">-1</intProp></elementProp>
<stringProp name="ThreadGroup.num_threads">2</stringProp><boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">30</stringProp></ThreadGroup>"#;

/// Goes from one state of the run to the next, each reached when the one before was seen.
struct Driver {
    control: Control,
    step: usize,
    ticks: usize,
    samples: u64,
    marks: Vec<String>,
}

impl Driver {
    fn new(control: &Control) -> Driver {
        Driver {
            control: control.clone(),
            step: 0,
            ticks: 0,
            samples: 0,
            marks: Vec::new(),
        }
    }

    fn next(&mut self, samples: u64) {
        (self.step, self.ticks, self.samples) = (self.step + 1, 0, samples);
    }
}

impl Subscriber for Driver {
    fn receive(&mut self, event: &Event, _: &Recording) {
        let tick = match event {
            Event::Mark(mark) => return self.marks.push(mark.text.clone()),
            Event::Tick(tick) => tick,
            _ => return,
        };
        let (samples, _) = tick.totals();
        self.ticks += 1;
        match (self.step, tick.users.active) {
            (0, 2) => {
                let unknown = self.control.set_users("H", 1);
                assert!(matches!(unknown, Err(ControlError::UnknownGroup(..))));
                assert!(self.control.set_rate(-1.0).is_err());
                self.control.set_users("G", 7).expect("the group is there");
                self.next(samples);
            }
            (1, 7) => {
                self.control.set_users("G", 1).expect("the group is there");
                self.next(samples);
            }
            (2, 1) => {
                self.control.pause();
                self.next(samples);
            }
            // The labels' counts are a fifth of a second old at most.
            (3, _) if self.ticks == 8 => self.next(samples),
            (4, _) if self.ticks == 8 => {
                assert!(tick.paused);
                assert_eq!(samples, self.samples, "users pause");
                self.control.resume();
                self.control.mark("half-time");
                self.next(samples);
            }
            (5, _) if samples > self.samples => {
                self.control.shutdown();
                self.next(samples);
            }
            _ => {}
        }
    }
}

#[test]
fn a_run_is_steered_and_each_order_leaves_a_mark() {
    let control = Control::default();
    let mut driver = Driver::new(&control);
    let outcome = steer(TWO_USERS, &mut driver, &control);
    assert_eq!(driver.step, 6, "all states were reached");
    let expected = [
        "users of `G` set to 7",
        "users of `G` set to 1",
        "paused",
        "resumed",
        "half-time",
        "asked to end",
    ];
    assert_eq!(driver.marks, expected);
    assert_eq!((outcome.users.started, outcome.users.finished), (7, 7));
    assert_eq!(outcome.marks.len(), expected.len());
    assert_eq!(control.set_users("G", 1), Err(ControlError::NoRun));
}

/// Orders a number of users that takes long to start, and another one before they are there.
struct Hasty(Control, usize);

impl Subscriber for Hasty {
    fn receive(&mut self, event: &Event, _: &Recording) {
        let Event::Tick(tick) = event else {
            return;
        };
        match (self.1, tick.users.active) {
            (0, 2) => {
                let asked = self.0.check_users("G", 300_000);
                assert_eq!(
                    asked,
                    Err(ControlError::ManyUsers("G".to_owned(), 2, 300_000))
                );
                assert_eq!(self.0.check_users("G", 20), Ok(()));
                self.0.set_users("G", 300_000).expect("the group is there");
            }
            (1, active) if active > 2 => self.0.set_users("G", 1).expect("the group is there"),
            (2, 1) => {
                let groups = self.0.groups();
                assert_eq!((groups[0].planned, groups[0].ordered), (2, Some(1)));
                self.0.shutdown();
            }
            _ => return,
        }
        self.1 += 1;
    }
}

#[test]
fn a_new_order_replaces_one_that_is_under_way() {
    let control = Control::default();
    let mut driver = Hasty(control.clone(), 0);
    let outcome = steer(TWO_USERS, &mut driver, &control);
    assert_eq!(driver.1, 3, "all states were reached");
    assert!(outcome.users.started < 300_000, "{:?}", outcome.users);
}

/// Sets the factor before the first arrival.
struct Factor(Control, f64);

impl Subscriber for Factor {
    fn receive(&mut self, event: &Event, _: &Recording) {
        if let Event::Started(_) = event {
            let refused = self.0.set_users("Open", 5);
            assert_eq!(refused, Err(ControlError::ArrivalsGroup("Open".to_owned())));
            self.0.set_rate(self.1).expect("it is a factor");
        }
    }
}

#[test]
fn the_rate_factor_multiplies_arrivals() {
    let open = r#"<OpenModelThreadGroup guiclass="OpenModelThreadGroupGui" testclass="OpenModelThreadGroup" testname="Open">
<stringProp name="OpenModelThreadGroup.schedule">rate(20/s) even_arrivals(2 s)</stringProp><longProp name="OpenModelThreadGroup.random_seed">1</longProp>
<elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController"/></OpenModelThreadGroup>"#;
    for (factor, users) in [(1.0, 40), (2.0, 80), (0.5, 20)] {
        let control = Control::default();
        let outcome = steer(open, &mut Factor(control.clone(), factor), &control);
        assert_eq!(outcome.users.started, users, "{factor}");
    }
}
