//! Runs a saved plan with its load, in a process of its own with a live page.

use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use drumfire_edit::refused::{FILE, NO_RUN};
use drumfire_edit::{LoadListener, Refused, RunningLoad};
use drumfire_platform::causes::cause;
use drumfire_platform::processes;

/// The words before the URL of the live page.
const PAGE: &str = "live page  ";
/// How long a plan may take until its page is there: Java may start first.
const START: Duration = Duration::from_secs(60);
/// How often the end of the process is looked for.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest text of messages that is kept, in bytes.
const LONGEST: usize = 4_000;

/// A run with load. Dropping it ends the run as Ctrl-C does.
struct LoadProcess {
    child: Mutex<Child>,
    url: String,
}

/// Starts a run, and returns once its live page is there. The page stays after the run until somebody closes it.
///
/// # Errors
/// The plan cannot run.
pub fn start(plan: &Path, listener: LoadListener) -> Result<Arc<dyn RunningLoad>, Refused> {
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = Command::new(program);
    command
        .arg("run")
        .arg(plan)
        .args(["--ui", "127.0.0.1:0", "--ui-stay", "--progress", "quiet"])
        .current_dir(plan.parent().unwrap_or(Path::new("")))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    let (send, urls) = channel();
    let output = child.stdout.take();
    let said = Arc::new(Mutex::new(String::new()));
    if let Some(output) = output {
        follow(output, move |line| {
            if let Some(url) = line.strip_prefix(PAGE) {
                // The start may have given up.
                let _ = send.send(url.trim().to_owned());
            }
        });
    }
    if let Some(errors) = child.stderr.take() {
        let said = said.clone();
        follow(errors, move |line| {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            if said.len() < LONGEST {
                said.push_str(line);
                said.push('\n');
            }
        });
    }
    let url = match urls.recv_timeout(START) {
        Ok(url) => url,
        Err(why) => {
            if why == RecvTimeoutError::Timeout {
                // It is gone already, or ends now.
                let _ = child.kill();
            }
            let _ = child.wait();
            // The thread that reads the messages may be behind.
            std::thread::sleep(PAUSE);
            return Err(refusal(
                &said.lock().unwrap_or_else(PoisonError::into_inner),
            ));
        }
    };
    let run = Arc::new(LoadProcess {
        child: Mutex::new(child),
        url,
    });
    let watched = Arc::downgrade(&run);
    let thread = std::thread::Builder::new().name("watch a run".to_owned());
    let spawned = thread.spawn(move || {
        while let Some(run) = watched.upgrade() {
            if run.is_over() {
                let said = said.lock().unwrap_or_else(PoisonError::into_inner);
                return listener(first_error(&said).map(str::to_owned));
            }
            drop(run);
            std::thread::sleep(PAUSE);
        }
    });
    spawned.map_err(|error| failed(&error))?;
    Ok(run)
}

/// The refusal if the run cannot start.
fn failed(error: &std::io::Error) -> Refused {
    Refused::new(FILE, cause(error))
}

/// Why a run did not start.
fn refusal(said: &str) -> Refused {
    let message = first_error(said).unwrap_or("the run ended before its page was there");
    Refused::new(NO_RUN, message)
}

/// The program's first error, without its place.
fn first_error(said: &str) -> Option<&str> {
    let line = said.lines().find(|line| line.starts_with("error"))?;
    line.split_once(": ").map(|(_, message)| message.trim())
}

/// Passes the lines of a pipe to `take`, so that the process never waits for a reader.
fn follow(pipe: impl Read + Send + 'static, take: impl Fn(&str) + Send + 'static) {
    let thread = std::thread::Builder::new().name("read a run".to_owned());
    // Without the thread the start gives up.
    let _ = thread.spawn(move || {
        let lines = BufReader::new(pipe).lines();
        lines.map_while(Result::ok).for_each(|line| take(&line));
    });
}

impl RunningLoad for LoadProcess {
    fn url(&self) -> &str {
        &self.url
    }

    fn stop(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        // It may have ended meanwhile.
        let _ = processes::interrupt(&mut child);
    }

    fn is_over(&self) -> bool {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(child.try_wait(), Ok(None))
    }
}

impl Drop for LoadProcess {
    fn drop(&mut self) {
        self.stop();
    }
}
