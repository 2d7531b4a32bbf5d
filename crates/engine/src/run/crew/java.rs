//! Runs the users that the Java object of a thread group starts (`AbstractThreadGroup#start`). The first worker runs the object,
//! and all take its users in turn.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::{Crew, Terms};
use crate::run::context::{Context, Identity};
use crate::run::control::Stopping;
use crate::run::java::host::Java;
use crate::run::java::plan::JavaUser;
use crate::run::java::visit::Visit;
use crate::run::shared::Shared;
use crate::run::worker::Worker;

/// How often, and how many times at most, the first worker checks whether the others have joined.
const JOIN_PAUSE: Duration = Duration::from_millis(1);
const JOIN_LOOKS: u32 = 100;

impl Crew {
    pub(super) async fn java(&mut self) {
        // The object cannot be divided. Among several machines one runs it, and no other takes it over if that machine is lost.
        if !self.shared.part.share.leads() || self.start.moved.is_some() {
            return;
        }
        let mut users = self.supply().java.join();
        let (shared, worker) = (self.shared.clone(), self.worker.clone());
        let engine = Identity {
            thread_name: "StandardJMeterEngine".into(),
            ..self.identity(0, Terms::default())
        };
        let (leads, count, number) = (self.index == 0, self.count, self.start.number);
        let lead = async move {
            if leads {
                run_object(&shared, &worker, engine, count, number).await;
            }
        };
        let keep = async {
            while let Some(user) = users.recv().await {
                self.start_java_user(user);
            }
        };
        tokio::join!(lead, keep);
    }

    fn start_java_user(&mut self, java: JavaUser) {
        let identity = Identity {
            thread_name: java.thread_name.into(),
            same_user: java.same_user,
            on_error: java.on_error,
            end_ms: java.end_ms,
            ..self.identity(java.number, Terms::default())
        };
        let user = self.new_user(identity);
        let ending = Ending {
            shared: self.shared.clone(),
            worker: self.worker.clone(),
            _ended: java.ended,
        };
        self.send_off(user, true, Some(Box::new(ending)));
    }
}

/// Dropped when a user ends: it publishes the user's rows and then notifies the object. So these rows precede those of any
/// user that the object starts afterwards, on whichever worker.
pub(super) struct Ending {
    shared: Arc<Shared>,
    worker: Rc<Worker>,
    _ended: Box<dyn Send>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.worker.publish(&self.shared.counts, None);
        }
    }
}

/// Runs the object to its end, and notifies it when the run stops.
async fn run_object(
    shared: &Arc<Shared>,
    worker: &Rc<Worker>,
    engine: Identity,
    count: usize,
    number: usize,
) {
    let group = engine.group;
    let supply = &shared.supplies[group].java;
    for _ in 0..JOIN_LOOKS {
        if supply.joined() == count {
            break;
        }
        tokio::time::sleep(JOIN_PAUSE).await;
    }
    let Java::Host(host) = &shared.program.settings.java else {
        return supply.end(None);
    };
    let mut cx = Context::new(shared, worker, engine);
    let mut visit = Visit::new(&mut cx);
    let mut run = host.run_group(&mut visit, number);
    let mut told = Stopping::No;
    let ended = loop {
        let stop = worker.stop.notified();
        let now = shared.control.state();
        if std::mem::replace(&mut told, now) != now && now != Stopping::No {
            host.stop_group(group, now == Stopping::Now);
        }
        tokio::select! {
            ended = &mut run => break ended,
            () = stop => {}
        }
    };
    let name = shared.group_name(group);
    supply.end(ended.err().map(|raised| {
        tracing::error!("Error occurred starting thread group :{name}, error message:{raised}");
        format!("the thread group '{name}' ended early: {raised}")
    }));
}
