//! Parallel Controller of BlazeMeter (`com.blazemeter.jmeter.controller.ParallelSampler`): its children all at once, once each; it
//! ends when the last of them has ended.
//!
//! Properties: `PARENT_SAMPLE` (one sample holds those of the children, which have no rows of their own),
//! `LIMIT_MAX_THREAD_NUMBER` and `MAX_THREAD_NUMBER` (how many children run at once). A child is run by a user of its own that
//! shares variables, connections and cookies with the one it belongs to. As in the plugin: what listens to iterations is told
//! nothing as a child, controllers below begin anew each time, the thread group's action after a failed sample and its duration
//! do not reach into children, and one Parallel Controller within another does not run.
//!
//! Differences: a child sees what others have done to variables when its next sampler begins, not within one; objects that
//! scripts put into variables are not shared; the thread's name follows the variables in the controller's name.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use drumfire_expr::Template;
use drumfire_results::{DataType, Sample};
use tokio::sync::Semaphore;

use crate::decode::Decoder;
use crate::run::branch::Family;
use crate::run::user::User;
use crate::run::walk::{ControllerId, Kind};

pub const CLASS: &str = "com.blazemeter.jmeter.controller.ParallelSampler";

pub struct ParallelSampler {
    /// A loop of one iteration around each child.
    branches: Vec<ControllerId>,
    generates_parent: bool,
    /// Children that run at once.
    limit: usize,
}

/// What goes around each child.
pub fn branch_kind() -> Kind {
    Kind::Loop {
        loops: Template::raw("1"),
        forever: false,
    }
}

pub fn decode(d: &mut Decoder, branches: Vec<ControllerId>) -> ParallelSampler {
    let limit = match d.bool("LIMIT_MAX_THREAD_NUMBER", false) {
        true => usize::try_from(d.int("MAX_THREAD_NUMBER", 6)).unwrap_or(1),
        false => branches.len(),
    };
    ParallelSampler {
        branches,
        generates_parent: d.bool("PARENT_SAMPLE", false),
        limit: limit.max(1),
    }
}

impl ParallelSampler {
    /// `ParallelSampler#sample`.
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
                // JMeter's are the same objects as the container's own sub-results.
                child.set_thread_with_children(&container.thread_name, active.0, active.1);
            }
            container.add_child(child, false);
        }
        Some(container)
    }

    fn items(&self, user: &mut User) -> String {
        let group = user.group();
        let mut items = "Parallel items:\n".to_owned();
        for branch in &self.branches {
            let name = &group.controllers[*branch as usize].name;
            items.push_str(&name.eval(&mut user.cx));
            items.push('\n');
        }
        items
    }

    /// Runs all children and gives their users in the order in which they ended. All of it is one task, which a stop
    /// wakes like any user's.
    async fn run(&self, user: &User, family: &Family) -> Vec<User> {
        let turns = Semaphore::new(self.limit);
        let mut running: Vec<Pin<Box<dyn Future<Output = User> + '_>>> = Vec::new();
        for root in &self.branches {
            let mut branch = user.branch(family, *root);
            let turns = &turns;
            running.push(Box::pin(async move {
                let turn = turns.acquire().await;
                branch.run_branch().await;
                drop(turn);
                branch
            }));
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
            match running.is_empty() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
        ended
    }
}
