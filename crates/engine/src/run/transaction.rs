//! The sums of Transaction Controllers: `TransactionController` (its own sample beside its children's) and
//! `TransactionSampler` (one parent sample that holds its children's).

use std::rc::Rc;

use drumfire_results::{HeldTurns, Sample};

use crate::run::step::Step;

/// A transaction that writes its own row after its children's (`TransactionController` without parent sample).
pub struct IndependentTransaction {
    sample: Sample,
    calls: u32,
    /// Passes that count as calls once a call finds a step, since JMeter counts on every return of its recursion.
    descents: u32,
    failing: u32,
    pause_ms: i64,
    previous_end_ms: i64,
    /// The service time of the samples inside.
    service_us: u64,
}

impl IndependentTransaction {
    pub fn start(label: Rc<str>, start_ms: i64) -> Self {
        IndependentTransaction {
            sample: open(label, start_ms),
            calls: 0,
            descents: 0,
            failing: 0,
            pause_ms: 0,
            previous_end_ms: start_ms,
            service_us: 0,
        }
    }

    pub fn count_descent(&mut self) {
        self.descents += 1;
    }

    pub fn count_call(&mut self, found: bool) {
        self.calls += 1 + if found {
            std::mem::take(&mut self.descents)
        } else {
            0
        };
    }

    /// `TransactionController#sampleOccurred`: a sample inside the transaction has ended.
    pub fn add(&mut self, child: &Sample, include_timers: bool) {
        let own = &mut self.sample;
        own.thread_name = child.thread_name.clone();
        own.bytes += child.received_bytes();
        own.sent_bytes += child.sent_bytes;
        if !include_timers {
            self.pause_ms += child.end_ms - child.elapsed_ms - self.previous_end_ms;
            self.previous_end_ms = child.end_ms;
        }
        if !child.success {
            own.success = false;
            self.failing += 1;
        }
        own.all_threads = child.all_threads;
        own.group_threads = child.group_threads;
        own.latency_ms += child.latency_ms;
        own.connect_ms += child.connect_ms;
        own.phases.add(child.phases);
        own.add_own(child);
        self.service_us += child.precise_service_us();
    }

    /// Ends the transaction. `last_ok` is given when the flow left it early (`TransactionController#triggerEndOfLoop`):
    /// then it decides on success.
    pub fn finish(mut self, end_ms: i64, include_timers: bool, last_ok: Option<bool>) -> Sample {
        if !include_timers && last_ok.is_none() {
            self.pause_ms += end_ms - self.previous_end_ms;
        }
        self.sample.idle_ms += self.pause_ms;
        end(&mut self.sample, end_ms);
        let parts = u64::from(self.calls);
        self.sample.refine_service(self.service_us, parts);
        if let Some(ok) = last_ok {
            self.sample.success = ok;
        }
        self.sample.message = message(self.calls, self.failing);
        if self.sample.success && last_ok.is_none() {
            self.sample.code = "200".into();
        }
        self.sample
    }
}

/// A transaction whose row is the parent of its children's (`TransactionSampler`).
pub struct ParentTransaction {
    sample: Option<Box<Sample>>,
    step: Option<Step>,
    done: bool,
    calls: u32,
    failing: u32,
    total_ms: i64,
    connect_ms: i64,
    /// The service time of the samples inside.
    service_us: u64,
    /// The turns of the samples inside.
    held: HeldTurns,
}

impl ParentTransaction {
    /// `thread_name` is handed on to the children (`SampleResult#addSubResult`).
    pub fn start(label: Rc<str>, thread_name: Rc<str>, start_ms: i64, held: HeldTurns) -> Self {
        ParentTransaction {
            sample: Some(Box::new(Sample {
                thread_name,
                ..open(label, start_ms)
            })),
            step: None,
            done: false,
            calls: 0,
            failing: 0,
            total_ms: 0,
            connect_ms: 0,
            service_us: 0,
            held,
        }
    }

    pub fn is_done(&self) -> bool {
        self.done
    }

    /// The sampler or inner transaction that is next inside this one.
    pub fn step(&self) -> Option<Step> {
        self.step
    }

    /// Sets the next step inside (`TransactionSampler#setSubSampler`), or ends the transaction if there is none.
    pub fn set_step(&mut self, step: Option<Step>, include_timers: bool, now_ms: i64) {
        self.step = step;
        if step.is_none() {
            self.set_done(include_timers, now_ms);
        }
    }

    /// Adds the sample of a child (`TransactionSampler#addSubSamplerResult`), and holds the turns that it stands for. Returns false if
    /// the transaction will not be recorded with it: one that was recorded already and goes on is not counted again.
    pub fn add(&mut self, child: Sample, turns: u64) -> bool {
        let Some(own) = &mut self.sample else {
            return false;
        };
        self.calls += 1;
        if self.failing == 0 {
            own.code = child.code.clone();
        }
        if !child.success {
            own.success = false;
            self.failing += 1;
        }
        self.total_ms += child.elapsed_ms;
        self.connect_ms += child.connect_ms;
        self.service_us += child.precise_service_us();
        own.phases.add(child.phases);
        own.add_own(&child);
        own.add_child(child, false);
        if own.written.is_counted() {
            return false;
        }
        self.held.hold(turns);
        true
    }

    /// Ends the transaction (`TransactionSampler#setTransactionDone`).
    pub fn set_done(&mut self, include_timers: bool, now_ms: i64) {
        self.done = true;
        let Some(own) = &mut self.sample else { return };
        own.message = message(self.calls, self.failing);
        if own.success {
            own.code = "200".into();
        }
        if !include_timers {
            own.idle_ms = now_ms - own.start_ms - self.total_ms;
            end(own, now_ms);
        }
        own.refine_service(self.service_us, u64::from(self.calls));
        own.connect_ms = self.connect_ms;
    }

    /// Takes the parent sample and the turns that it stands for; `None` if it was taken before.
    pub fn take_result(&mut self) -> Option<(Box<Sample>, u64)> {
        Some((self.sample.take()?, self.held.take()))
    }

    /// Returns the parent sample of a transaction that goes on.
    pub fn put_back(&mut self, sample: Box<Sample>) {
        self.sample = Some(sample);
    }
}

fn open(label: Rc<str>, start_ms: i64) -> Sample {
    Sample {
        label,
        start_ms,
        success: true,
        own_us: Some(0),
        ..Sample::default()
    }
}

fn end(sample: &mut Sample, end_ms: i64) {
    sample.end_ms = end_ms;
    sample.elapsed_ms = end_ms - sample.start_ms - sample.idle_ms;
}

fn message(calls: u32, failing: u32) -> drumfire_results::SharedText {
    format!("Number of samples in transaction : {calls}, number of failing samples : {failing}")
        .into()
}
