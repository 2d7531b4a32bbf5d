//! Runs Parallel Controllers. Each child runs as a separate user, which shares variables, connections and cookies with the
//! user that it belongs to.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use drumfire_expr::{Template, Vars};
use drumfire_fiber::on_own_stack;
use drumfire_results::{DataType, Sample};
use tokio::sync::Semaphore;

use crate::run::action::Action;
use crate::run::branch::Branch;
use crate::run::context::Identity;
use crate::run::journey::Parallel;
use crate::run::step::ControllerId;
use crate::run::user::User;

/// Shared by the children of a Parallel Controller.
pub struct ParallelChildren {
    pub thread_name: Rc<str>,
    pub collects: bool,
    board: Rc<RefCell<Vars>>,
    live: Rc<Cell<u32>>,
}

impl User {
    /// Lends this user's variables to children. Until they are given back the user has none.
    pub fn lend_variables(&mut self, thread_name: Rc<str>, collects: bool) -> ParallelChildren {
        let none = Vars::new(self.cx.vars.names().clone());
        let own = std::mem::replace(&mut self.cx.vars, none);
        ParallelChildren {
            thread_name,
            collects,
            board: Rc::new(RefCell::new(own)),
            live: Rc::default(),
        }
    }

    /// Takes the variables back.
    pub fn take_back(&mut self, family: &ParallelChildren) {
        std::mem::swap(&mut self.cx.vars, &mut family.board.borrow_mut());
    }

    /// A user for the child below `root`. As in the plugin it has number 0 and no thread group's name, and the thread
    /// group's duration does not end it.
    pub fn branch(&self, family: &ParallelChildren, root: ControllerId) -> User {
        let own = &self.cx;
        let identity = Identity {
            thread_name: family.thread_name.clone(),
            group_name: "".into(),
            group: own.group,
            number: 0,
            same_user: own.same_user,
            on_error: own.on_error,
            end_ms: None,
            interrupted_at_end: false,
        };
        let mut branch = User::new(&own.shared, &own.worker, self.plan(), identity);
        branch.cx.set_slot(own.slot().branch());
        branch.cx.facts.iteration = own.iteration;
        branch.cx.facts.previous = own.previous.clone();
        let serial = own.shared.branches.fetch_add(1, Ordering::Relaxed);
        branch.cx.lock_user = (u32::MAX, serial);
        branch.cx.branch = Some(Box::new(Branch {
            root,
            live: family.live.clone(),
            stops_user: false,
            board: family.board.clone(),
            collected: family.collects.then(Vec::new),
            above: self.walk.open_transactions.clone(),
            noted: Vec::new(),
        }));
        branch
    }

    /// Runs the loop around the child to its end. Before each sample, the child takes over variables that others have changed.
    pub async fn run_branch(&mut self) {
        let Some(branch) = &self.cx.branch else {
            return;
        };
        let (root, board, live) = (branch.root, branch.board.clone(), branch.live.clone());
        live.set(live.get() + 1);
        let journey = self.journey();
        self.cx.vars.copy_values(&board.borrow());
        self.cx.set_last_sample_ok(true);
        self.walker(&journey).initialize(root);
        while self.cx.running() {
            let before = self.cx.vars.clone();
            let Some(step) = self.walker(&journey).next(root) else {
                board.borrow_mut().follow(&before, &self.cx.vars);
                break;
            };
            Box::pin(self.process(step, None)).await;
            board.borrow_mut().follow(&before, &self.cx.vars);
            self.cx.vars.copy_values(&board.borrow());
            match self.cx.action {
                Action::Continue => {}
                // The whole user starts its next iteration (ParallelSampler.CustomLoopController).
                Action::NextThreadIteration => break,
                action => {
                    self.cx.action = Action::Continue;
                    self.jump(&journey, step, action).await;
                }
            }
        }
        self.walk.give_locks_back(&journey);
        live.set(live.get() - 1);
    }

    /// Takes over the state of the children, which have ended in this order. Returns their collected samples, sorted by end time.
    pub fn rejoin(&mut self, ended: Vec<User>) -> Vec<Sample> {
        let mut collected = Vec::new();
        let mut noted = Vec::new();
        for User { cx, .. } in ended {
            let own = &mut self.cx;
            own.slot_mut().rejoin(cx.slot());
            own.facts.previous = cx.facts.previous;
            own.facts.last_sample_ok = cx.facts.last_sample_ok;
            if cx.action != Action::Continue {
                own.action = cx.action;
            }
            if let Some(branch) = cx.branch {
                own.facts.alive &= !branch.stops_user;
                collected.extend(branch.collected.into_iter().flatten());
                noted.extend(branch.noted);
            }
        }
        collected.sort_by_key(|sample| sample.end_ms);
        noted.sort_by_key(|(_, sample)| sample.end_ms);
        let journey = self.journey();
        for (id, sample) in &noted {
            let include_timers = journey.controllers[*id as usize].includes_timers();
            if let Some(run) = self.walk.states[*id as usize].independent() {
                run.add(sample, include_timers);
            }
        }
        collected
    }
}

impl Parallel {
    /// Runs the children and returns the sample that contains theirs, if the controller makes one (`ParallelSampler#sample`).
    pub async fn sample(&self, user: &mut User, name: &Template) -> Option<Sample> {
        let label = name.eval(&mut user.cx).into_value();
        if user.cx.branch.is_some() {
            // AbstractTestElement#setThreadContext throws.
            tracing::error!(
                "Error while processing sampler: '{label}'. A Parallel Controller does not run within another (JMeter: Attempting to reset the thread context)"
            );
            return None;
        }
        let mut container = Sample::new(label.clone(), user.cx.thread_name.clone());
        container.set_ok();
        container.data_type = DataType::Unset;
        container.sampler_data = Some(self.items(user).into());
        let start_ns = user.cx.clock().now_ns();
        container.start_ms = (start_ns / 1_000_000) as i64;
        let thread_name: Rc<str> = format!("parallel {label}").into();
        let family = user.lend_variables(thread_name, self.generates_parent);
        let ended = self.run(user, &family).await;
        user.take_back(&family);
        let children = user.rejoin(ended);
        if !self.generates_parent {
            return None;
        }
        let now_ns = user.cx.clock().now_ns();
        container.service_us = (now_ns - start_ns) / 1000;
        if children.is_empty() {
            container.set_end((now_ns / 1_000_000) as i64);
        }
        let active = user.cx.active_users();
        for mut child in children {
            container.success &= child.success;
            if child.is_from_transaction() {
                // In JMeter these are the same objects as the container's own sub-results.
                child.set_thread_with_children(&container.thread_name, active.0, active.1);
            }
            container.add_child(child, false);
        }
        Some(container)
    }

    fn items(&self, user: &mut User) -> String {
        let journey = user.journey();
        let mut items = "Parallel items:\n".to_owned();
        for branch in &self.branches {
            let name = &journey.controllers[*branch as usize].name;
            items.push_str(&name.eval(&mut user.cx));
            items.push('\n');
        }
        items
    }

    /// Runs all children, and returns their users in the order in which they ended. All children share one task, which a stop
    /// wakes like any user's.
    async fn run(&self, user: &User, family: &ParallelChildren) -> Vec<User> {
        let turns = Rc::new(Semaphore::new(self.limit));
        let mut running: Vec<Pin<Box<dyn Future<Output = User>>>> = Vec::new();
        for root in &self.branches {
            let mut branch = user.branch(family, *root);
            let turns = turns.clone();
            let child = async move {
                let turn = turns.acquire().await;
                branch.run_branch().await;
                drop(turn);
                branch
            };
            running.push(if user.cx.shared.program.waits_in_functions {
                Box::pin(on_own_stack(child))
            } else {
                Box::pin(child)
            });
        }
        let mut ended = Vec::with_capacity(running.len());
        poll_fn(|task| {
            running.retain_mut(|branch| match branch.as_mut().poll(task) {
                Poll::Ready(branch) => {
                    ended.push(branch);
                    false
                }
                Poll::Pending => true,
            });
            if running.is_empty() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        ended
    }
}
