//! The facts of a run before its first user starts.

use crate::base::clock::Clock;
use crate::run::events::Started;
use crate::run::program::{GroupKind, Program};

/// The facts of a run before its first user starts.
pub fn started(program: &Program, clock: &Clock) -> Started {
    let users = program.groups.iter().map(|group| group.shape.users());
    Started {
        at_ms: clock.start_ms(),
        groups: program
            .groups
            .iter()
            .map(|group| group.name.clone())
            .collect(),
        planned_users: users.map(u64::from).sum(),
        planned_ms: planned_ms(program),
    }
}

/// The planned duration of the main thread groups, in milliseconds; `None` if one of them ends by its iterations.
pub fn planned_ms(program: &Program) -> Option<u64> {
    let mut planned = 0;
    let groups = program.groups.iter();
    for group in groups.filter(|group| group.kind == GroupKind::Main && group.shape.check().is_ok())
    {
        let stop_ms = u64::try_from(group.shape.end_ms()?).unwrap_or(0);
        planned = if program.serialized {
            planned + stop_ms
        } else {
            stop_ms.max(planned)
        };
    }
    (planned > 0).then_some(planned)
}
