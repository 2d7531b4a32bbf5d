//! Runs the program in a folder of its own and reads the files that it wrote.

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// A folder to run a program in; deleted when dropped.
pub struct Workshop {
    folder: tempfile::TempDir,
    program: PathBuf,
    variables: Vec<(String, String)>,
}

/// A program that has ended.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Workshop {
    /// An empty folder for this program (`env!("CARGO_BIN_EXE_…")`). The program inherits only `PATH` from the test's
    /// environment; its home is the folder.
    pub fn new(program: impl Into<PathBuf>) -> Workshop {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        Workshop {
            folder,
            program: program.into(),
            variables: Vec::new(),
        }
    }

    /// Sets a variable of the program's environment.
    pub fn variable(mut self, name: &str, value: &str) -> Workshop {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("a folder in the temporary folder can be made");
        }
        std::fs::write(path, content).expect("a file in the temporary folder can be written");
    }

    /// The text of a file in the folder.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names of the files in the folder, sorted, without the program's own state.
    pub fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        list(self.folder.path(), self.folder.path(), &mut names);
        names.retain(|name| !name.starts_with('.'));
        names.sort();
        names
    }

    /// The program with these arguments, in its folder. It resets signals that the test runner ignores, for example under `nohup`.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("env");
        command
            .arg("--default-signal=HUP,INT,TERM")
            .arg(&self.program)
            .args(words)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("TZ", "UTC")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::piped());
        command
    }

    fn spawn(&self, command: &mut Command) -> Child {
        let program = command.spawn();
        program.unwrap_or_else(|error| panic!("{}: {error}", self.program.display()))
    }

    /// Starts the program with these arguments.
    pub fn start(&self, words: &[&str]) -> Child {
        let mut command = self.command(words);
        self.spawn(command.stdin(Stdio::null()).stderr(Stdio::piped()))
    }

    /// Starts the program with these arguments to speak with it over its standard input and output. Its errors are not read.
    pub fn converse(&self, words: &[&str]) -> (Child, ChildStdin, BufReader<ChildStdout>) {
        let mut program = self.spawn(self.command(words).stdin(Stdio::piped()));
        let input = program.stdin.take().expect("a pipe");
        let output = BufReader::new(program.stdout.take().expect("a pipe"));
        (program, input, output)
    }

    /// Runs the program with these arguments until it ends, within the limit.
    pub fn run(&self, words: &[&str], limit: Duration) -> Finished {
        finish(self.start(words), limit)
    }
}

/// The rate that `drumfire capacity` found, in samples per second.
pub fn capacity_found(finished: &Finished) -> f64 {
    let mut lines = finished.out.lines();
    let line = lines
        .find(|line| line.starts_with("capacity  "))
        .unwrap_or_else(|| panic!("{finished:?}"));
    let rate = line.split(' ').nth(2);
    let rate = rate.and_then(|text| text.strip_suffix("/s;"));
    rate.and_then(|text| text.parse().ok()).expect(line)
}

/// This machine's JMeter (`JMETER_HOME`, or `~/jmeter`), if it and a Java for its classes exist; prints what is missing if not.
pub fn jmeter_home() -> Option<PathBuf> {
    let home = std::env::var_os("JMETER_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(std::env::home_dir()?.join("jmeter")))
        .filter(|home| home.join("lib/ext").is_dir());
    let java = Command::new("java").arg("-version").output();
    if home.is_none() || !java.is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no Java, or JMETER_HOME has no JMeter");
        return None;
    }
    home
}

/// After this time a program is considered stuck. Slow machines need minutes for what usually takes seconds.
pub const LIMIT: Duration = Duration::from_secs(300);

/// How the line begins that a run by an unoptimized program prints to standard error.
pub const UNOPTIMIZED: &str = "note: this is an unoptimized build";

/// Waits for the end of a program, within the limit. Its errors are given without the line about an [`UNOPTIMIZED`] build, which
/// depends on the build and not on what is tested.
///
/// # Panics
/// The program is still running at the limit. It is killed first.
pub fn finish(mut child: Child, limit: Duration) -> Finished {
    let readers = (reader(child.stdout.take()), reader(child.stderr.take()));
    let deadline = Instant::now() + limit;
    let code = loop {
        match child.try_wait().expect("a child can be waited for") {
            Some(status) => break status.code(),
            None if Instant::now() > deadline => {
                let _ = child.kill();
                panic!("the program is still running after {limit:?}");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let text = |thread: std::thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&thread.join().expect("reading does not panic")).into_owned()
    };
    Finished {
        code,
        out: text(readers.0),
        err: without_note(&text(readers.1)),
    }
}

/// A text without the line about an [`UNOPTIMIZED`] build.
pub fn without_note(text: &str) -> String {
    text.split_inclusive('\n')
        .filter(|line| !line.starts_with(UNOPTIMIZED))
        .collect()
}

/// Reads a pipe on a separate thread, so that the program never blocks on a full pipe.
fn reader(pipe: Option<impl std::io::Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn list(root: &Path, folder: &Path, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(root, &path, names);
        } else if let Ok(name) = path.strip_prefix(root) {
            names.push(name.to_string_lossy().into_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_run_in_its_folder() {
        let workshop = Workshop::new("/bin/sh").variable("WORD", "hello");
        workshop.write("in/a.txt", "x");
        let finished = workshop.run(
            &[
                "-c",
                "cat in/a.txt; echo $WORD > out.txt; echo oops >&2; exit 3",
            ],
            Duration::from_secs(10),
        );
        assert_eq!(
            (finished.code, finished.out.as_str(), finished.err.as_str()),
            (Some(3), "x", "oops\n")
        );
        assert_eq!(workshop.files(), ["in/a.txt", "out.txt"]);
        assert_eq!(workshop.read("out.txt"), "hello\n");
    }

    #[test]
    #[should_panic(expected = "still running")]
    fn a_program_that_does_not_end_is_killed() {
        Workshop::new("/bin/sh").run(&["-c", "exec sleep 30"], Duration::from_millis(50));
    }
}
