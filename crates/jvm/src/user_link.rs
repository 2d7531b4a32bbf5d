//! How a call on another thread reaches its user, which stays with the worker. A question costs two thread switches, so few are
//! sent: orders, which need no answer, go along with the next question or with the end of the call, and the call begins with the
//! variables that the element has read in earlier calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use drumfire_engine::java::Visit;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::waits;

/// A request of a call on another thread to the worker of its user.
pub type Question = Box<dyn FnOnce(&mut Visit<'_>) + Send>;

/// A habit holds at most this many names, since a script may read another name each time.
const REMEMBERED: usize = 16;
/// Once this many orders wait, they are sent without a question.
const TOGETHER: usize = 256;
/// A longer value is fetched only on demand.
const SHORT_BYTES: usize = 4 << 10;

/// The variables that an element has used so far.
#[derive(Default)]
pub struct ReadHabit {
    /// Those whose values it has read.
    read: Mutex<Vec<Arc<str>>>,
    /// Whether their names are literal in the plan, which never changes.
    spelled_out: Mutex<Vec<(Box<str>, bool)>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ReadHabit {
    fn names(&self) -> MutexGuard<'_, Vec<Arc<str>>> {
        locked(&self.read)
    }

    /// The short values of these variables, as the user of this visit has them.
    fn values(&self, visit: &Visit<'_>) -> HashMap<Arc<str>, Option<String>> {
        let names = self.names();
        let value = |name: &Arc<str>| {
            let value = visit.variable(name);
            let is_short = value.is_none_or(|value| value.len() <= SHORT_BYTES);
            is_short.then(|| (name.clone(), value.map(str::to_owned)))
        };
        names.iter().filter_map(value).collect()
    }

    fn add(&self, name: &str) {
        let mut names = self.names();
        if names.len() < REMEMBERED && !names.iter().any(|known| **known == *name) {
            names.push(name.into());
        }
    }
}

/// The link from a call to its user.
pub struct UserLink {
    questions: UnboundedSender<Question>,
    habit: Option<Arc<ReadHabit>>,
    state: Mutex<State>,
}

struct State {
    /// Orders that the worker has not received yet, the oldest first; `None` after the end of the call.
    orders: Option<Vec<Question>>,
    /// Values of variables as they are after the orders.
    variables: HashMap<Arc<str>, Option<String>>,
    /// How often `variables` was emptied.
    emptied: u64,
}

impl UserLink {
    /// The link to the user of a visit, and the receiver for its worker.
    pub fn to(
        visit: &Visit<'_>,
        habit: Option<Arc<ReadHabit>>,
    ) -> (Arc<UserLink>, UnboundedReceiver<Question>) {
        let (questions, asked) = unbounded_channel();
        let variables = habit.as_ref().map(|habit| habit.values(visit));
        let far = UserLink {
            questions,
            habit,
            state: Mutex::new(State {
                orders: Some(Vec::new()),
                variables: variables.unwrap_or_default(),
                emptied: 0,
            }),
        };
        (Arc::new(far), asked)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Runs a use that changes no variables on the user's worker, and waits for its answer; `None` if the user has gone on.
    pub fn look<R: Send + 'static>(
        &self,
        use_it: impl FnOnce(&mut Visit<'_>) -> R + Send + 'static,
    ) -> Option<R> {
        let (answer, answered) = oneshot::channel();
        let mut state = self.state();
        let orders = std::mem::take(state.orders.as_mut()?);
        let question = move |visit: &mut Visit<'_>| {
            carry_out(orders, visit);
            // The thread that asks waits for it.
            let _ = answer.send(use_it(visit));
        };
        self.questions.send(Box::new(question)).ok()?;
        drop(state);
        waits::excused(|| answered.blocking_recv().ok())
    }

    /// Runs a use on the user's worker, and waits for its answer; `None` if the user has gone on.
    pub fn ask<R: Send + 'static>(
        &self,
        use_it: impl FnOnce(&mut Visit<'_>) -> R + Send + 'static,
    ) -> Option<R> {
        let answer = self.look(use_it);
        let mut state = self.state();
        state.variables.clear();
        state.emptied += 1;
        answer
    }

    /// Queues an order that changes no variables, to run before the next answer; `None` if the user has gone on.
    pub fn order(&self, order: impl FnOnce(&mut Visit<'_>) + Send + 'static) -> Option<()> {
        self.push(&mut self.state(), Box::new(order))
    }

    fn push(&self, state: &mut State, order: Question) -> Option<()> {
        let orders = state.orders.as_mut()?;
        orders.push(order);
        if orders.len() >= TOGETHER {
            let orders = std::mem::take(orders);
            let question = move |visit: &mut Visit<'_>| carry_out(orders, visit);
            self.questions.send(Box::new(question)).ok()?;
        }
        Some(())
    }

    /// The value of a variable; `None` if the user has gone on.
    pub fn variable(&self, name: &str) -> Option<Option<String>> {
        let emptied = {
            let state = self.state();
            if let Some(value) = state.variables.get(name) {
                state.orders.as_ref()?;
                return Some(value.clone());
            }
            state.emptied
        };
        let key: Arc<str> = name.into();
        let asked = key.clone();
        let value = self.look(move |visit| visit.variable(&asked).map(str::to_owned))?;
        if let Some(habit) = &self.habit {
            habit.add(name);
        }
        let mut state = self.state();
        // Another thread may have changed it meanwhile.
        if state.emptied == emptied {
            state.variables.entry(key).or_insert_with(|| value.clone());
        }
        Some(value)
    }

    /// Whether a name is literal in the plan; `None` if the user has gone on.
    pub fn is_spelled_out(&self, name: String) -> Option<bool> {
        let habit = self.habit.as_deref();
        let known = habit.and_then(|habit| {
            let known = locked(&habit.spelled_out);
            let entry = known.iter().find(|(known, _)| **known == *name);
            entry.map(|(_, is_so)| *is_so)
        });
        if known.is_some() {
            return known;
        }
        let asked = name.clone();
        let is_so = self.look(move |visit| visit.is_spelled_out(&asked))?;
        if let Some(habit) = habit {
            let mut known = locked(&habit.spelled_out);
            if known.len() < REMEMBERED {
                known.push((name.into(), is_so));
            }
        }
        Some(is_so)
    }

    /// Sets a variable to a value, or to null; `None` if the user has gone on.
    pub fn set_variable(&self, name: String, value: Option<String>) -> Option<()> {
        let mut state = self.state();
        state.variables.insert((&*name).into(), value.clone());
        let order = move |visit: &mut Visit<'_>| visit.set_variable(&name, value.as_deref());
        self.push(&mut state, Box::new(order))
    }

    /// Removes a variable; `None` if the user has gone on.
    pub fn remove_variable(&self, name: String) -> Option<()> {
        let mut state = self.state();
        // A variable of JMeter's own may reappear.
        state.variables.remove(&*name);
        state.emptied += 1;
        let order = move |visit: &mut Visit<'_>| visit.remove_variable(&name);
        self.push(&mut state, Box::new(order))
    }

    /// Ends the call; returns the orders that its user has yet to carry out.
    pub fn end(&self) -> Vec<Question> {
        self.state().orders.take().unwrap_or_default()
    }
}

/// Carries out the orders that a call has left.
pub fn carry_out(orders: Vec<Question>, visit: &mut Visit<'_>) {
    for order in orders {
        order(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_remembered_once_and_not_without_end() {
        let habit = ReadHabit::default();
        habit.add("a");
        habit.add("a");
        assert_eq!(habit.names().len(), 1);
        (0..2 * REMEMBERED).for_each(|number| habit.add(&number.to_string()));
        assert_eq!(habit.names().len(), REMEMBERED);
    }
}
