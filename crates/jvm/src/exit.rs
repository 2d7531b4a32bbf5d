//! Makes `System.exit` in a script end the run, in good order, and not the process.
//!
//! Java runs its shutdown hooks and then calls `Shutdown.halt0`, a native method, on the thread that has asked. The function
//! here replaces it: it records the status, stops the run and throws an error, which ends the script. `Runtime.halt` calls
//! the same method.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

use jni::errors::{Result, ThrowRuntimeExAndDefault};
use jni::objects::JClass;
use jni::strings::JNIString;
use jni::sys::jint;
use jni::{Env, EnvUnowned, NativeMethod, jni_str};

use crate::{current, natives};

/// The code of the plan that a thread is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// An element, by its index among the plan's Java elements.
    Element(u32),
    /// A function in one of a sampler's texts.
    Function,
}

/// A call of `System.exit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub status: i32,
    /// `None` for a thread that a script has started.
    pub by: Option<Caller>,
    /// The current sampler.
    pub sampler: Option<String>,
}

/// The first call of `System.exit`.
static ASKED: Mutex<Option<Asked>> = Mutex::new(None);

thread_local! {
    static CALLER: Cell<Option<Caller>> = const { Cell::new(None) };
}

/// The code that runs on this thread until the guard is dropped.
pub struct Calling(Option<Caller>);

/// Records whose code this thread runs.
pub fn calling(caller: Caller) -> Calling {
    Calling(CALLER.replace(Some(caller)))
}

/// Whose code this thread runs. A signal handler may call it.
pub fn caller() -> Option<Caller> {
    CALLER.get()
}

impl Drop for Calling {
    fn drop(&mut self) {
        CALLER.set(self.0);
    }
}

/// The first call of `System.exit`, if there was one.
pub fn asked() -> Option<Asked> {
    let asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    asked.clone()
}

/// Replaces Java's own function by the one here.
pub fn catch(env: &mut Env<'_>) -> Result<()> {
    let class = env.find_class(jni_str!("java/lang/Shutdown"))?;
    // SAFETY: the function has the parameter and the result that the signature says, after the environment and the class, as
    // a static native method is called with.
    let method = unsafe {
        NativeMethod::from_raw_parts(
            jni_str!("halt0"),
            jni_str!("(I)V"),
            halt as *mut std::ffi::c_void,
        )
    };
    // SAFETY: `Shutdown.halt0` is static.
    unsafe { env.register_native_methods(&class, &[method]) }
}

extern "system" fn halt<'l>(mut env: EnvUnowned<'l>, _: JClass<'l>, status: jint) {
    env.with_env(|env| -> Result<_> {
        note(status);
        natives::stop_run(true);
        let what = JNIString::from(format!("System.exit({status})"));
        env.throw_new(jni_str!("java/lang/Error"), &what)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

fn note(status: i32) {
    let sampler = current::visit(|visit| visit.named_sampler().map(|(_, name)| name)).flatten();
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    if asked.is_none() {
        tracing::error!("System.exit({status}) was called: the run ends");
        *asked = Some(Asked {
            status,
            by: CALLER.get(),
            sampler,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_within_a_call_gives_the_outer_one_back() {
        assert_eq!(CALLER.get(), None);
        let outer = calling(Caller::Element(3));
        {
            let _inner = calling(Caller::Function);
            assert_eq!(CALLER.get(), Some(Caller::Function));
        }
        assert_eq!(CALLER.get(), Some(Caller::Element(3)));
        drop(outer);
        assert_eq!(CALLER.get(), None);
    }
}
