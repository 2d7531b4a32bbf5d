//! The steps of the user that the debugger follows, and the places where it stops.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use drumfire_engine::{
    Control, Debugger, Edits, ElementKind, ElementTurn, SampleView, VariableValues,
};
use tokio::sync::oneshot;

/// The longest value of a variable that a change stores, in characters.
const MOST_VALUE: usize = 4_000;

/// A sample and the steps that led to it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The name of the thread that sent it.
    pub thread_name: String,
    /// The sample.
    pub sample: SampleView,
    /// The elements that ran for it, in order.
    pub steps: Vec<DebugStep>,
    /// The variables after it.
    pub variables: VariableValues,
}

/// One element's turn: it ran, and may have changed variables.
#[derive(Clone, Debug, PartialEq)]
pub struct DebugStep {
    /// The element.
    pub turn: ElementTurn,
    /// The changes of variables.
    pub changes: Vec<Change>,
}

/// A variable that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Its value before; `None` if it is new.
    pub before: Option<String>,
    /// Its value after; `None` if it was removed.
    pub after: Option<String>,
}

/// Where the user is halted.
#[derive(Clone, Debug)]
pub struct HaltedUser {
    /// The element that is about to have its turn.
    pub turn: ElementTurn,
    /// The name of the user's thread.
    pub thread_name: String,
    /// The variables.
    pub variables: VariableValues,
}

/// How the user continues after a halt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// To the next breakpoint.
    #[default]
    Run,
    /// To the next element.
    Step,
    /// To the next sampler.
    NextSample,
}

/// Called with each sample, and its number, once the sample is complete. It may take parts out of the sample.
pub type OnSample = Box<dyn Fn(usize, &mut Shown) + Send + Sync>;

/// Drops the bodies of a sample as they came; their texts stay.
pub fn forget_data(sample: &mut SampleView) {
    sample.response_data = None;
    sample.children.iter_mut().for_each(forget_data);
}

/// The users that a session follows, and how they begin.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The numbers of the users in their thread group.
    pub users: RangeInclusive<u32>,
    /// The run ends after this many samples.
    pub most: usize,
    /// How users begin.
    pub pace: Pace,
    /// Variables that each user gets before its first element.
    pub variables: Edits,
}

/// The name of a kind of element.
pub fn part_name(part: ElementKind) -> &'static str {
    match part {
        ElementKind::PreProcessor => "pre-processor",
        ElementKind::Timer => "timer",
        ElementKind::Sampler => "sampler",
        ElementKind::PostProcessor => "post-processor",
        ElementKind::Assertion => "assertion",
    }
}

/// A debugging session. Clones share it.
#[derive(Clone)]
pub struct DebugSession(Arc<Inner>);

struct Inner {
    state: Mutex<DebuggerState>,
    control: Control,
    followed: Followed,
    on_sample: OnSample,
    /// Called when something that a page shows has changed.
    on_change: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct DebuggerState {
    samples: Vec<Shown>,
    /// The steps of each thread since its last sample.
    steps: BTreeMap<String, Vec<DebugStep>>,
    variables: BTreeMap<String, VariableValues>,
    pace: Pace,
    /// The threads whose users have got their variables.
    begun: BTreeSet<String>,
    breakpoints: BTreeSet<String>,
    halted: Option<(HaltedUser, oneshot::Sender<Edits>)>,
    is_over: bool,
}

impl DebugSession {
    /// A session that follows users.
    pub fn new(
        control: Control,
        followed: Followed,
        on_sample: OnSample,
        on_change: Box<dyn Fn() + Send + Sync>,
    ) -> DebugSession {
        let state = DebuggerState {
            pace: followed.pace,
            ..DebuggerState::default()
        };
        DebugSession(Arc::new(Inner {
            state: Mutex::new(state),
            control,
            followed,
            on_sample,
            on_change,
        }))
    }

    /// Passes the samples so far to `read`.
    pub fn samples<T>(&self, read: impl FnOnce(&[Shown]) -> T) -> T {
        read(&self.lock().samples)
    }

    /// Where the user is halted, if it is.
    pub fn halted(&self) -> Option<HaltedUser> {
        let state = self.lock();
        state.halted.as_ref().map(|(halted, _)| halted.clone())
    }

    /// The names of the elements at which the user stops.
    pub fn breakpoints(&self) -> Vec<String> {
        self.lock().breakpoints.iter().cloned().collect()
    }

    /// Sets the names of the elements at which the user stops from now on.
    pub fn break_at(&self, names: impl IntoIterator<Item = String>) {
        self.lock().breakpoints = names.into_iter().collect();
        (self.0.on_change)();
    }

    /// Lets a halted user continue, with these changes to its variables.
    pub fn go_on(&self, pace: Pace, edits: Edits) {
        let mut state = self.lock();
        state.pace = pace;
        if let Some((_, resume)) = state.halted.take() {
            // The receiver is gone if the run was ended in the meantime.
            let _ = resume.send(edits);
        }
        drop(state);
        (self.0.on_change)();
    }

    /// Notes that the run is over or about to end: users stop at no element any more.
    pub fn end(&self) {
        let mut state = self.lock();
        state.is_over = true;
        state.halted = None;
        drop(state);
        (self.0.on_change)();
    }

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        self.lock().is_over
    }

    fn lock(&self) -> MutexGuard<'_, DebuggerState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Debugger for DebugSession {
    fn follows(&self, number: u32) -> bool {
        self.0.followed.users.contains(&number)
    }

    fn before(
        &self,
        thread_name: &str,
        turn: &ElementTurn,
        vars: &VariableValues,
    ) -> Option<oneshot::Receiver<Edits>> {
        let mut state = self.lock();
        let given = &self.0.followed.variables;
        if !given.is_empty() && state.begun.insert(thread_name.to_owned()) {
            let (resume, wait) = oneshot::channel();
            // The receiver is here.
            let _ = resume.send(given.clone());
            return Some(wait);
        }
        let stops = match state.pace {
            Pace::Run => false,
            Pace::Step => true,
            Pace::NextSample => turn.part == ElementKind::Sampler,
        };
        let stops = (stops || state.breakpoints.contains(&turn.name)) && !state.is_over;
        // Only one user is halted at a time.
        if !stops || state.halted.is_some() {
            return None;
        }
        let (resume, wait) = oneshot::channel();
        let halted = HaltedUser {
            turn: turn.clone(),
            thread_name: thread_name.to_owned(),
            variables: vars.clone(),
        };
        state.halted = Some((halted, resume));
        drop(state);
        (self.0.on_change)();
        Some(wait)
    }

    fn after(
        &self,
        thread_name: &str,
        turn: &ElementTurn,
        before: &VariableValues,
        after: &VariableValues,
    ) {
        let step = DebugStep {
            turn: turn.clone(),
            changes: changes(before, after),
        };
        let mut state = self.lock();
        let steps = state.steps.entry(thread_name.to_owned()).or_default();
        steps.push(step);
        state
            .variables
            .insert(thread_name.to_owned(), after.clone());
    }

    fn sampled(&self, thread_name: &str, sample: SampleView) {
        let mut state = self.lock();
        if state.samples.len() >= self.0.followed.most {
            return;
        }
        let mut shown = Shown {
            thread_name: thread_name.to_owned(),
            sample,
            steps: state.steps.remove(thread_name).unwrap_or_default(),
            variables: state
                .variables
                .get(thread_name)
                .cloned()
                .unwrap_or_default(),
        };
        (self.0.on_sample)(state.samples.len() + 1, &mut shown);
        state.samples.push(shown);
        if state.samples.len() >= self.0.followed.most {
            self.0.control.shutdown_soon();
            state.is_over = true;
        }
        drop(state);
        (self.0.on_change)();
    }
}

/// The variables that differ, by name.
fn changes(before: &VariableValues, after: &VariableValues) -> Vec<Change> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let cut = |value: &String| value.chars().take(MOST_VALUE).collect();
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| Change {
            name: name.clone(),
            before: before.get(name).map(cut),
            after: after.get(name).map(cut),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use drumfire_engine::Stopping;

    use super::*;

    fn values(values: &[(&str, &str)]) -> VariableValues {
        let values = values.iter();
        values
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn turn(part: ElementKind, name: &str) -> ElementTurn {
        ElementTurn {
            part,
            name: name.to_owned(),
            class: "C".to_owned(),
            place: None,
        }
    }

    fn session(most: usize, pace: Pace) -> (DebugSession, Control) {
        let control = Control::default();
        let quiet: OnSample = Box::new(|_, _| {});
        let followed = Followed {
            users: 1..=1,
            most,
            pace,
            variables: Vec::new(),
        };
        (
            DebugSession::new(control.clone(), followed, quiet, Box::new(|| {})),
            control,
        )
    }

    #[test]
    fn steps_and_their_changes_belong_to_the_sample_that_follows() {
        let (session, control) = session(1, Pace::Run);
        let (before, after) = (
            values(&[("a", "1"), ("b", "1")]),
            values(&[("a", "2"), ("c", "3")]),
        );
        session.after(
            "t 1-1",
            &turn(ElementKind::PostProcessor, "token"),
            &before,
            &after,
        );
        session.sampled("t 1-1", SampleView::default());
        session.sampled("t 1-1", SampleView::default());
        session.samples(|samples| {
            assert_eq!(samples.len(), 1);
            let changes = &samples[0].steps[0].changes;
            let told: Vec<_> = changes
                .iter()
                .map(|one| {
                    (
                        one.name.as_str(),
                        one.before.as_deref(),
                        one.after.as_deref(),
                    )
                })
                .collect();
            assert_eq!(
                told,
                [
                    ("a", Some("1"), Some("2")),
                    ("b", Some("1"), None),
                    ("c", None, Some("3"))
                ]
            );
            assert_eq!(samples[0].variables, after);
        });
        assert_eq!(control.state(), Stopping::Shutdown);
    }

    #[test]
    fn a_user_stops_where_he_is_told_to() {
        let (session, _) = session(9, Pace::Run);
        let vars = values(&[("a", "1")]);
        let stop = |part, name| session.before("t", &turn(part, name), &vars);
        assert!(stop(ElementKind::Sampler, "Home").is_none());
        session.break_at(["Login".to_owned()]);
        let mut wait = stop(ElementKind::Sampler, "Login").expect("a breakpoint");
        assert_eq!(
            session.halted().map(|halted| halted.turn.name).as_deref(),
            Some("Login")
        );
        assert!(
            stop(ElementKind::Sampler, "Login").is_none(),
            "another user goes on"
        );
        session.go_on(Pace::NextSample, vec![("a".to_owned(), None)]);
        assert_eq!(wait.try_recv(), Ok(vec![("a".to_owned(), None)]));
        assert!(stop(ElementKind::Timer, "pause").is_none());
        assert!(stop(ElementKind::Sampler, "Home").is_some());
        session.go_on(Pace::Step, Vec::new());
        let mut wait = stop(ElementKind::Assertion, "200").expect("a step");
        session.end();
        assert!(wait.try_recv().is_err() && stop(ElementKind::Sampler, "Home").is_none());
    }
}
