//! Delays the virtual machine's slow compiler (C2). Its code pays off over minutes, but it starts with the first loops of a
//! run, when the cores are busy loading classes and compiling the first scripts.

use std::time::Duration;

/// How long it is delayed. Groovy has compiled its first scripts by then.
pub const START: Duration = Duration::from_secs(1);

/// Lets the compiler run only on cores that are otherwise idle, for this time from now on.
pub fn stand_back(time: Duration) {
    let threads = system::compilers();
    threads.iter().for_each(|thread| system::when_idle(*thread));
    let end = move |threads: &[_]| threads.iter().for_each(|thread| system::as_others(*thread));
    let same = threads.clone();
    let waiter = std::thread::Builder::new()
        .name("jvm-start".to_owned())
        .spawn(move || {
            std::thread::sleep(time);
            end(&same);
        });
    if let Err(error) = waiter {
        end(&threads);
        tracing::warn!("cannot delay Java's compiler: {error}");
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;

    /// The name of its threads, of which the kernel keeps 15 characters.
    const NAME: &str = "C2 CompilerThre";

    /// The compiler's threads, except those that the user has given another scheduling policy.
    pub fn compilers() -> Vec<libc::pid_t> {
        let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
        let named = threads.flatten().filter(|thread| {
            let name = fs::read_to_string(thread.path().join("comm"));
            name.is_ok_and(|name| name.trim_end() == NAME)
        });
        named
            .filter_map(|thread| thread.file_name().to_str()?.parse().ok())
            .filter(|thread| policy(*thread) == libc::SCHED_OTHER)
            .collect()
    }

    pub fn policy(thread: libc::pid_t) -> libc::c_int {
        // SAFETY: it only reads.
        unsafe { libc::sched_getscheduler(thread) }
    }

    pub fn when_idle(thread: libc::pid_t) {
        schedule(thread, libc::SCHED_IDLE);
    }

    pub fn as_others(thread: libc::pid_t) {
        schedule(thread, libc::SCHED_OTHER);
    }

    /// A thread that has ended, or may not be changed, is left alone.
    fn schedule(thread: libc::pid_t, policy: libc::c_int) {
        let none = libc::sched_param { sched_priority: 0 };
        // SAFETY: the kernel reads a live structure.
        unsafe { libc::sched_setscheduler(thread, policy, &raw const none) };
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub fn compilers() -> Vec<i32> {
        Vec::new()
    }

    pub fn when_idle(_thread: i32) {}

    pub fn as_others(_thread: i32) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::system::policy;
    use super::*;

    #[test]
    fn the_compiler_stands_back_for_a_while() {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let compiler = std::thread::Builder::new()
            .name("C2 CompilerThread0".to_owned())
            .spawn(move || ended.recv())
            .expect("a thread");
        // The thread sets its name itself.
        let thread = loop {
            match system::compilers()[..] {
                [thread] => break thread,
                _ => std::thread::yield_now(),
            }
        };
        let before = policy(thread);
        stand_back(Duration::from_millis(20));
        while policy(thread) == libc::SCHED_IDLE {
            std::thread::yield_now();
        }
        assert_eq!(policy(thread), before);
        stand_back(Duration::from_secs(3600));
        assert_eq!(policy(thread), libc::SCHED_IDLE);
        drop(end);
        compiler
            .join()
            .expect("it ends")
            .expect_err("nothing was sent");
    }
}
