//! Runs that wait for agents. Each answers the others, so that they take agents in the order in which they came.

use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::task::JoinHandle;

use super::order::FleetOrder;
use crate::clock::system_ms;
use crate::error::FleetError;
use crate::link::Link;
use crate::wire::{self, Hello, WaitingRun};

/// This run's place in the queue, for as long as it waits.
pub struct QueuePlace {
    own: WaitingRun,
    answering: JoinHandle<()>,
}

impl QueuePlace {
    /// Joins the queue behind all runs that wait already.
    ///
    /// # Errors
    /// If NATS refuses.
    pub async fn join(
        link: &Link,
        order: &FleetOrder,
        ticket: u64,
    ) -> Result<QueuePlace, FleetError> {
        let waiting = WaitingRun {
            plan: order.plan.clone(),
            host: order.host.clone(),
            selection: order.selection.clone(),
            since_ms: system_ms(),
            ticket,
        };
        let mut asked = link
            .client
            .subscribe(wire::WAITING)
            .await
            .map_err(|error| FleetError::Nats {
                url: link.url.clone(),
                why: error.to_string(),
            })?;
        let (client, answer) = (link.client.clone(), Bytes::from(wire::json(&waiting)));
        let answering = tokio::spawn(async move {
            while let Some(question) = asked.next().await {
                if let Some(reply) = question.reply {
                    // Whoever misses the answer asks again.
                    let _ = client.publish(reply, answer.clone()).await;
                }
            }
        });
        Ok(QueuePlace {
            own: waiting,
            answering,
        })
    }

    /// The runs among these that come before this one and that the agents that exist could satisfy.
    pub fn before<'r>(&self, waiting: &'r [WaitingRun], agents: &[Hello]) -> Vec<&'r WaitingRun> {
        let mut free = agents.to_vec();
        free.iter_mut().for_each(|hello| hello.run = None);
        let before = waiting
            .iter()
            .filter(|run| queue_key(run) < queue_key(&self.own));
        before
            .filter(|run| run.selection.choose(&free).is_some())
            .collect()
    }
}

fn queue_key(run: &WaitingRun) -> (i64, u64) {
    (run.since_ms, run.ticket)
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        self.answering.abort();
    }
}

/// The agents that those runs leave over.
pub fn left_over(agents: &[Hello], before: &[&WaitingRun]) -> Vec<Hello> {
    let is_wanted = |hello: &Hello| before.iter().any(|run| run.selection.covers(hello));
    let left = agents.iter().filter(|hello| !is_wanted(hello));
    left.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(name: &str, run: Option<&str>) -> Hello {
        Hello {
            name: name.to_owned(),
            run: run.map(str::to_owned),
            ..Hello::default()
        }
    }

    fn waiting(selection: &str, since_ms: i64) -> WaitingRun {
        WaitingRun {
            plan: "p.jmx".to_owned(),
            host: "h".to_owned(),
            selection: selection.parse().expect("a selection"),
            since_ms,
            ticket: 0,
        }
    }

    #[tokio::test]
    async fn agents_go_to_the_run_that_has_waited_longest() {
        let place = QueuePlace {
            own: waiting("1", 5),
            answering: tokio::spawn(async {}),
        };
        let agents = [
            hello("a", None),
            hello("b", Some("other")),
            hello("c", None),
        ];
        let runs = [
            waiting("3", 4),
            waiting("c", 3),
            waiting("1", 6),
            waiting("9", 1),
        ];
        // There are no nine agents, and one run came later.
        let before = place.before(&runs, &agents);
        assert_eq!(before, [&runs[0], &runs[1]]);
        assert!(left_over(&agents, &before).is_empty());
        let left = left_over(&agents, &[&runs[1]]);
        assert_eq!(left, [agents[0].clone(), agents[1].clone()]);
    }
}
