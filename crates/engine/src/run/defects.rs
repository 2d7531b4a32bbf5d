//! Records panics. If a user or a worker panics, the others go on, and the run reports it.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use drumfire_platform::words::counted;

/// The panics of a run.
#[derive(Default)]
pub struct Defects(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    users: u64,
    workers: u64,
    first: Option<String>,
}

impl Defects {
    /// Records that a user's task panicked.
    pub fn note_user(&self, panic: &(dyn Any + Send)) {
        self.note(panic, |noted| noted.users += 1);
    }

    /// Records that a worker panicked, which ends all its users.
    pub fn note_worker(&self, panic: &(dyn Any + Send)) {
        self.note(panic, |noted| noted.workers += 1);
    }

    fn note(&self, panic: &(dyn Any + Send), count: impl FnOnce(&mut Noted)) {
        let text = text(panic);
        tracing::error!("a bug in Drumfire: {text}");
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        count(&mut noted);
        noted.first.get_or_insert(text);
    }

    /// The message about panics for the run's outcome; `None` if there were none.
    pub fn fault(&self) -> Option<String> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = noted.first.as_ref()?;
        let lost = match (noted.workers, noted.users) {
            (0, users) => counted(users, "user"),
            (1, _) => "a worker with all its users".to_owned(),
            (workers, _) => format!("{workers} workers with all their users"),
        };
        Some(format!(
            "a bug in Drumfire ended {lost} early, the others went on: {first}"
        ))
    }
}

fn text(panic: &(dyn Any + Send)) -> String {
    let literal = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    literal
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_panic_speaks_for_all() {
        let defects = Defects::default();
        assert_eq!(defects.fault(), None);
        defects.note_user(&"index out of bounds");
        let one = "a bug in Drumfire ended 1 user early, the others went on: index out of bounds";
        assert_eq!(defects.fault().as_deref(), Some(one));
        defects.note_user(&String::from("another"));
        assert_eq!(defects.fault(), Some(one.replace("1 user", "2 users")));
        defects.note_worker(&7);
        let worker = one.replace("1 user", "a worker with all its users");
        assert_eq!(defects.fault(), Some(worker));
    }
}
