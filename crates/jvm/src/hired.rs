//! Users that the Java object of a thread group starts: the native methods by which one of its threads starts its user, and waits
//! for its end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use drumfire_engine::java::{JavaUser, OnError};
use jni::EnvUnowned;
use jni::errors::{Result, ThrowRuntimeExAndDefault};
use jni::objects::{JClass, JString};
use jni::sys::{jboolean, jint, jlong};

use crate::natives::crowd;
use crate::text;

/// Whether a user has ended.
#[derive(Default)]
struct End {
    has_come: Mutex<bool>,
    told: Condvar,
}

impl End {
    fn come(&self) {
        *self.has_come.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.told.notify_all();
    }

    /// Waits for the end, at most this long; returns whether it has come.
    fn wait(&self, longest: Duration) -> bool {
        let has_come = self.has_come.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .told
            .wait_timeout_while(has_come, longest, |has_come| !*has_come);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Belongs to a user; signals its end when dropped.
struct Guard(Arc<End>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.come();
    }
}

/// The users that threads wait for, by their numbers.
static USERS: Mutex<Option<HashMap<u64, Arc<End>>>> = Mutex::new(None);
static NEXT: AtomicU64 = AtomicU64::new(1);

fn users<R>(use_them: impl FnOnce(&mut HashMap<u64, Arc<End>>) -> R) -> R {
    let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
    use_them(users.get_or_insert_default())
}

/// The action after a failed sample, as `OwnGroup.java` numbers it.
fn on_error(number: jint) -> OnError {
    match number {
        1 => OnError::StartNextLoop,
        2 => OnError::StopThread,
        3 => OnError::StopTest,
        4 => OnError::StopTestNow,
        _ => OnError::Continue,
    }
}

/// `Natives.startUser`: returns the user's number, or 0 if the group takes no more users.
pub extern "system" fn start_user<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    group: jint,
    name: JString<'l>,
    number: jint,
    end_ms: jlong,
    error: jint,
    same_user: jboolean,
) -> jlong {
    env.with_env(|env| -> Result<_> {
        let thread_name = text::read(env, &name)?.unwrap_or_default();
        let end = Arc::new(End::default());
        let user = JavaUser {
            thread_name,
            number: number.max(0) as u32,
            end_ms: (end_ms != 0).then_some(end_ms),
            on_error: on_error(error),
            same_user,
            ended: Box::new(Guard(end.clone())),
        };
        if crowd(|crowd| crowd.start_user(group as usize, user)) != Some(true) {
            return Ok(0);
        }
        let ticket = NEXT.fetch_add(1, Ordering::Relaxed);
        users(|users| users.insert(ticket, end));
        Ok(ticket as jlong)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// `Natives.awaitUser`: waits at most this number of milliseconds; returns whether the user has ended.
pub extern "system" fn await_user<'l>(
    mut env: EnvUnowned<'l>,
    _: JClass<'l>,
    ticket: jlong,
    longest_ms: jint,
) -> jboolean {
    env.with_env(|_| -> Result<_> {
        let ticket = ticket as u64;
        let Some(end) = users(|users| users.get(&ticket).cloned()) else {
            return Ok(true);
        };
        let has_ended = end.wait(Duration::from_millis(longest_ms.max(0) as u64));
        if has_ended {
            users(|users| users.remove(&ticket));
        }
        Ok(has_ended)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}
