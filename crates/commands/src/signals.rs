//! Handles Ctrl-C, SIGTERM and SIGHUP.

use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::exit_codes::Exit;

pub use system::survive_file_limits;

/// After this many signals the process exits at once, in case an orderly end hangs.
const ENOUGH: u32 = 3;

/// After the grace time, samples are interrupted. tearDown groups have this long before they are interrupted as well.
const AFTER_GRACE: Duration = Duration::from_secs(5);

/// An event for the callback of [`listen`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// The number of signals so far, from 1, and the name of this one.
    Signal(u32, &'static str),
    /// The grace time since the first signal is over.
    GraceOver,
}

/// Listens for signals until it is dropped.
#[derive(Debug)]
pub struct Listening {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Calls `told` each time the process gets SIGINT, SIGTERM or SIGHUP. A signal that the process was started to ignore, as by
/// `nohup`, stays ignored, as with a JVM. If there is a `grace` time, `told` is also called when it has passed since the first
/// signal, and again every few seconds until the listening ends.
///
/// # Errors
/// A handler or a thread that cannot be made.
pub fn listen(
    grace: Option<Duration>,
    told: impl FnMut(Heard) + Send + 'static,
) -> io::Result<Listening> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (sender, received) = mpsc::channel(1);
    let entered = runtime.enter();
    system::pass_on(&sender)?;
    drop(entered);
    let (stop, stopped) = oneshot::channel();
    let thread = std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || runtime.block_on(count(received, sender, stopped, grace, told)))?;
    Ok(Listening {
        stop: Some(stop),
        thread: Some(thread),
    })
}

/// The signals of Unix.
#[cfg(unix)]
mod system {
    use std::io;

    use tokio::signal::unix::{Signal, SignalKind, signal};
    use tokio::sync::mpsc;

    /// The signals that end a run, as they end a JVM.
    const ENDING: [(SignalKind, &str); 3] = [
        (SignalKind::interrupt(), "SIGINT"),
        (SignalKind::terminate(), "SIGTERM"),
        (SignalKind::hangup(), "SIGHUP"),
    ];

    /// Makes a write beyond the limit on file sizes (`ulimit -f`) fail with an error, which costs only that file. The signal
    /// itself would end the process without a message.
    pub fn survive_file_limits() {
        const SIGXFSZ: i32 = 25;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        if let Ok(runtime) = runtime {
            let _entered = runtime.enter();
            // The handler remains after its stream is dropped.
            let _ = signal(SignalKind::from_raw(SIGXFSZ));
        }
    }

    /// Spawns tasks on the current runtime that send the names of signals.
    pub fn pass_on(to: &mpsc::Sender<&'static str>) -> io::Result<()> {
        let ignored = ignored_signals();
        for (kind, name) in ENDING {
            if ignored >> (kind.as_raw_value() - 1) & 1 == 1 {
                continue;
            }
            tokio::spawn(each(signal(kind)?, name, to.clone()));
        }
        Ok(())
    }

    /// The set of ignored signals, with signal 1 as the lowest bit; empty where the system does not provide it.
    fn ignored_signals() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .unwrap_or(0)
    }

    async fn each(mut signal: Signal, name: &'static str, to: mpsc::Sender<&'static str>) {
        while signal.recv().await.is_some() {
            if to.send(name).await.is_err() {
                return;
            }
        }
    }
}

/// Windows's console events, under the names of the equivalent signals.
#[cfg(windows)]
mod system {
    use std::io;

    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
    use tokio::sync::mpsc;

    /// Does nothing: Windows does not limit file sizes.
    pub fn survive_file_limits() {}

    /// Spawns a task on the current runtime that sends the names of events. Windows ends the process some seconds after the
    /// console is closed or the machine shuts down, whether the process is ready or not.
    pub fn pass_on(to: &mpsc::Sender<&'static str>) -> io::Result<()> {
        let (mut interrupt, mut break_key) = (ctrl_c()?, ctrl_break()?);
        let (mut close, mut shutdown) = (ctrl_close()?, ctrl_shutdown()?);
        let to = to.clone();
        tokio::spawn(async move {
            loop {
                let name = tokio::select! {
                    Some(()) = interrupt.recv() => "SIGINT",
                    Some(()) = break_key.recv() => "SIGINT",
                    Some(()) = close.recv() => "SIGHUP",
                    Some(()) = shutdown.recv() => "SIGTERM",
                    else => return,
                };
                if to.send(name).await.is_err() {
                    return;
                }
            }
        });
        Ok(())
    }
}

/// Counts the signals. The sender keeps the channel open, even if every signal is ignored.
async fn count(
    mut received: mpsc::Receiver<&'static str>,
    _open: mpsc::Sender<&'static str>,
    mut stopped: oneshot::Receiver<()>,
    grace: Option<Duration>,
    mut told: impl FnMut(Heard),
) {
    let mut so_far = 0;
    let mut patience = None;
    loop {
        let name = tokio::select! {
            Some(name) = received.recv() => name,
            () = over(patience) => {
                patience = Some(AFTER_GRACE);
                told(Heard::GraceOver);
                continue;
            }
            _ = &mut stopped => return,
        };
        so_far += 1;
        if so_far >= ENOUGH {
            std::process::exit(i32::from(Exit::by_signal(name).code()));
        }
        patience = patience.or(grace);
        told(Heard::Signal(so_far, name));
    }
}

/// Ends after the given time; never, without one.
async fn over(patience: Option<Duration>) {
    match patience {
        Some(patience) => tokio::time::sleep(patience).await,
        None => std::future::pending().await,
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The receiver is gone only if the thread has ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grace_time_ends_after_the_first_signal() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let heard = runtime.block_on(async {
            let (signals, received) = mpsc::channel(1);
            let (stop, stopped) = oneshot::channel();
            let (tell, mut told) = mpsc::unbounded_channel();
            let grace = Some(Duration::from_millis(10));
            let counting = count(received, signals.clone(), stopped, grace, move |heard| {
                let _ = tell.send(heard);
            });
            let asking = async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                assert!(told.is_empty(), "nobody has asked for an end");
                signals.send("SIGTERM").await.expect("it listens");
                let first = told.recv().await;
                let second = told.recv().await;
                drop(stop);
                [first, second]
            };
            tokio::join!(counting, asking).1
        });
        let expected = [Heard::Signal(1, "SIGTERM"), Heard::GraceOver];
        assert_eq!(heard, expected.map(Some));
    }
}
