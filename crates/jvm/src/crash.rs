//! Makes a crash of native code that a script has called end the run in good order.
//!
//! When native code crashes, Java writes its error log and calls `abort`, as native libraries do themselves when they give up. The
//! handler of that signal runs on the thread that crashed and never returns, so the process survives: a waiting thread stops the
//! run, which gives up the users of the crashed thread and writes what was measured. Java is not called any more.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::exit::Caller;

/// Whose code has crashed: 0 for none, 1 for a function, or else 2 and the number of the element.
static CRASHED: AtomicU64 = AtomicU64::new(0);

const FUNCTION: u64 = 1;
const FIRST_ELEMENT: u64 = 2;

/// Whose code has crashed, if any has.
pub fn crashed() -> Option<Caller> {
    match CRASHED.load(Ordering::Acquire) {
        0 => None,
        FUNCTION => Some(Caller::Function),
        element => Some(Caller::Element((element - FIRST_ELEMENT) as u32)),
    }
}

/// Ends the process with this code if native code has crashed: on the usual way, the thread would wait for Java for ever.
pub fn leave(code: u8) {
    #[cfg(unix)]
    if crashed().is_some() {
        // SAFETY: it only ends the process.
        unsafe { libc::_exit(code.into()) };
    }
}

/// Catches crashes from now on. It must be called before Java starts. On Windows, a crash ends the process.
///
/// # Errors
/// The system provides no pipe or no thread.
pub fn catch() -> io::Result<()> {
    #[cfg(unix)]
    signal::catch()?;
    Ok(())
}

#[cfg(unix)]
mod signal {
    use std::io::{self, Read as _};
    use std::os::fd::IntoRawFd as _;
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicI32, Ordering};

    use super::{CRASHED, FIRST_ELEMENT, FUNCTION};
    use crate::exit::{self, Caller};
    use crate::natives;

    /// The end of the pipe that wakes the waiting thread.
    static WAKE: AtomicI32 = AtomicI32::new(-1);

    pub fn catch() -> io::Result<()> {
        let (mut woken, wake) = io::pipe()?;
        std::thread::Builder::new()
            .name("java-crash".to_owned())
            .spawn(move || {
                if woken.read(&mut [0]).is_ok_and(|bytes| bytes > 0) {
                    natives::stop_run(true);
                    tracing::error!("native code that a script called has crashed: the run ends");
                }
            })?;
        // Java passes a crash on to the handlers that it finds. Rust's handler, which tells of stack overflows, would end the process
        // before Java has written its log.
        for signal in [libc::SIGSEGV, libc::SIGBUS] {
            // SAFETY: it takes plain numbers.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        WAKE.store(wake.into_raw_fd(), Ordering::Release);
        // SAFETY: the structure is valid if it is zero, and `aborted` has the signature of a handler.
        let set = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(libc::c_int) = aborted;
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_ONSTACK;
            libc::sigaction(libc::SIGABRT, &raw const action, null_mut())
        };
        match set {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Runs on the thread that aborts. It calls only what a signal handler may call.
    extern "C" fn aborted(_: libc::c_int) {
        let code = match exit::caller() {
            // No script has called this. `abort` ends the process after the handler.
            None => return,
            Some(Caller::Function) => FUNCTION,
            Some(Caller::Element(number)) => FIRST_ELEMENT + u64::from(number),
        };
        let first = CRASHED.compare_exchange(0, code, Ordering::AcqRel, Ordering::Acquire);
        if first.is_ok() {
            let wake = WAKE.load(Ordering::Acquire);
            // SAFETY: the pipe stays open, and the byte lives as long as the call.
            unsafe { libc::write(wake, [1_u8].as_ptr().cast(), 1) };
        }
        loop {
            // SAFETY: it only waits.
            unsafe { libc::pause() };
        }
    }
}
