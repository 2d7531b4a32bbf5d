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

impl Pace {
    /// The pace that pages name so.
    ///
    /// # Errors
    /// There is no such pace.
    pub fn of_word(word: &str) -> Result<Pace, String> {
        match word {
            "run" => Ok(Pace::Run),
            "step" => Ok(Pace::Step),
            "sample" => Ok(Pace::NextSample),
            other => Err(format!("`{other}` is none of run, step and sample")),
        }
    }
}

/// Called with each sample, and its number, once the sample is complete. It may take parts out of the sample.
pub type OnSample = Box<dyn Fn(usize, &mut Shown) + Send + Sync>;

/// A change that a page shows.
#[derive(Clone, Copy, Debug)]
pub enum SessionChange<'s> {
    /// The user was halted.
    Halted(&'s HaltedUser),
    /// The halted user goes on, or the run ends.
    Freed,
    /// A sample, or the breakpoints.
    Other,
}

/// Called with each change, in their order. It must not ask the session.
pub type OnChange = Box<dyn Fn(SessionChange<'_>) + Send + Sync>;

/// Whether the user stops at an element.
pub type IsBreakpoint = Box<dyn Fn(&ElementTurn) -> bool + Send>;

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
    on_change: OnChange,
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
    is_breakpoint: Option<IsBreakpoint>,
    halted: Option<Halt>,
    is_over: bool,
}

/// A halted user.
struct Halt {
    user: HaltedUser,
    /// The variables that it gets at its first element.
    given: Edits,
    resume: oneshot::Sender<Edits>,
}

impl DebuggerState {
    /// Whether the user stops before an element.
    fn stops_at(&self, turn: &ElementTurn) -> bool {
        let is_next = match self.pace {
            Pace::Run => false,
            Pace::Step => true,
            Pace::NextSample => turn.part == ElementKind::Sampler,
        };
        let is_breakpoint = || {
            let is_breakpoint = self.is_breakpoint.as_ref();
            is_breakpoint.is_some_and(|is| is(turn))
        };
        !self.is_over && (is_next || is_breakpoint())
    }
}

impl DebugSession {
    /// A session that follows users.
    pub fn new(
        control: Control,
        followed: Followed,
        on_sample: OnSample,
        on_change: OnChange,
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
        state.halted.as_ref().map(|halt| halt.user.clone())
    }

    /// Sets the elements at which the user stops from now on.
    pub fn break_where(&self, is_breakpoint: IsBreakpoint) {
        self.lock().is_breakpoint = Some(is_breakpoint);
    }

    /// Lets a halted user continue, with these changes to its variables.
    pub fn go_on(&self, pace: Pace, edits: Edits) {
        let mut state = self.lock();
        state.pace = pace;
        let halt = state.halted.take();
        // The user may halt again as soon as it goes on.
        (self.0.on_change)(SessionChange::Freed);
        drop(state);
        if let Some(Halt {
            mut given, resume, ..
        }) = halt
        {
            given.extend(edits);
            // The receiver is gone if the run was ended in the meantime.
            let _ = resume.send(given);
        }
    }

    /// Notes that the run is over or about to end: users stop at no element any more.
    pub fn end(&self) {
        let mut state = self.lock();
        state.is_over = true;
        let halt = state.halted.take();
        (self.0.on_change)(SessionChange::Freed);
        drop(state);
        drop(halt);
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
        let begins = !given.is_empty() && state.begun.insert(thread_name.to_owned());
        let given = if begins { given.clone() } else { Edits::new() };
        // Only one user is halted at a time.
        if state.halted.is_some() || !state.stops_at(turn) {
            return begins.then(|| {
                let (resume, wait) = oneshot::channel();
                // The receiver is here.
                let _ = resume.send(given);
                wait
            });
        }
        let (resume, wait) = oneshot::channel();
        let mut variables = vars.clone();
        for (name, value) in &given {
            match value {
                Some(value) => drop(variables.insert(name.clone(), value.clone())),
                None => drop(variables.remove(name)),
            }
        }
        let user = HaltedUser {
            turn: turn.clone(),
            thread_name: thread_name.to_owned(),
            variables,
        };
        state.halted = Some(Halt {
            user: user.clone(),
            given,
            resume,
        });
        (self.0.on_change)(SessionChange::Halted(&user));
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
        (self.0.on_change)(SessionChange::Other);
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

    fn session(most: usize, pace: Pace, given: &[(&str, &str)]) -> (DebugSession, Control) {
        let control = Control::default();
        let quiet: OnSample = Box::new(|_, _| {});
        let variables = values(given).into_iter();
        let followed = Followed {
            users: 1..=1,
            most,
            pace,
            variables: variables.map(|(name, value)| (name, Some(value))).collect(),
        };
        (
            DebugSession::new(control.clone(), followed, quiet, Box::new(|_| {})),
            control,
        )
    }

    #[test]
    fn steps_and_their_changes_belong_to_the_sample_that_follows() {
        let (session, control) = session(1, Pace::Run, &[]);
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
        let (session, _) = session(9, Pace::Run, &[]);
        let vars = values(&[("a", "1")]);
        let stop = |part, name| session.before("t", &turn(part, name), &vars);
        assert!(stop(ElementKind::Sampler, "Home").is_none());
        session.break_where(Box::new(|turn| turn.name == "Login"));
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

    #[test]
    fn given_variables_are_there_when_the_first_element_halts() {
        let (session, _) = session(9, Pace::Run, &[("a", "1"), ("b", "2")]);
        session.break_where(Box::new(|turn| turn.class == "C" && turn.name != "Free"));
        let vars = values(&[("a", "0")]);
        let stop = |thread, name| {
            let mut wait = session.before(thread, &turn(ElementKind::Sampler, name), &vars)?;
            wait.try_recv().ok()
        };
        let given = |all: &[(&str, &str)]| {
            let all = all.iter();
            let all = all.map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned())));
            Some(all.collect::<Edits>())
        };
        assert_eq!(stop("t 1", "Free"), given(&[("a", "1"), ("b", "2")]));
        assert_eq!(stop("t 1", "Free"), None, "only once");
        let mut wait = session
            .before("t 2", &turn(ElementKind::Sampler, "Home"), &vars)
            .expect("a breakpoint");
        let halted = session.halted().expect("it is halted");
        assert_eq!(halted.variables, values(&[("a", "1"), ("b", "2")]));
        // Another user gets its variables meanwhile.
        assert_eq!(stop("t 3", "Home"), given(&[("a", "1"), ("b", "2")]));
        session.go_on(Pace::Run, vec![("b".to_owned(), Some("3".to_owned()))]);
        let edits = wait.try_recv().ok();
        assert_eq!(edits, given(&[("a", "1"), ("b", "2"), ("b", "3")]));
    }
}
