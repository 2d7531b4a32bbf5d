//! Helpers shared by the faults: the program in a folder of its own, plans as text, and checks of how a
//! run ended.

use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
pub use drumfire_testkit::plans::{debug as sample, pause, plan};
use drumfire_testkit::program::{Finished, LIMIT, Workshop, finish};

/// The program under test.
pub struct FaultBench {
    program: PathBuf,
}

impl FaultBench {
    pub fn new(program: PathBuf) -> FaultBench {
        FaultBench { program }
    }

    /// A folder with `p.jmx`, which contains one thread group with these children.
    pub fn with_plan(&self, users: &str, loops: i32, inside: &str) -> Workshop {
        let workshop = Workshop::new(&self.program);
        workshop.write("p.jmx", plan(&group(users, loops, inside)));
        // No path below a file is writable, even for root.
        workshop.write("file", "a file");
        workshop
    }

    /// An empty folder.
    pub fn folder(&self) -> Workshop {
        Workshop::new(&self.program)
    }

    /// Starts the program in a shell with limits.
    pub fn start_limited(
        &self,
        workshop: &Workshop,
        limits: &str,
        words: &str,
    ) -> anyhow::Result<Running> {
        let child = self.limited(workshop, limits, words).spawn()?;
        Ok(Running(Some(child)))
    }

    /// Runs `p.jmx` with one user and one loop, with these additional arguments.
    pub fn run(&self, inside: &str, words: &[&str]) -> Finished {
        let workshop = self.with_plan("1", 1, inside);
        workshop.run(&[&["run", "p.jmx"], words].concat(), LIMIT)
    }

    /// Runs the program in a shell with limits, such as `ulimit -n 64`.
    pub fn run_limited(
        &self,
        workshop: &Workshop,
        limits: &str,
        words: &str,
    ) -> anyhow::Result<Finished> {
        let child = self.limited(workshop, limits, words).spawn()?;
        Ok(finish(child, LIMIT))
    }

    /// Runs the program in a shell with limits, as a user who has no other processes. Needs root.
    pub fn run_as_nobody(
        &self,
        workshop: &Workshop,
        limits: &str,
        words: &str,
    ) -> anyhow::Result<Finished> {
        let shell = self.limited(workshop, limits, words);
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(shell.get_program())
            .args(shell.get_args())
            .current_dir(workshop.path(""))
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        Ok(finish(command.spawn()?, LIMIT))
    }

    fn limited(&self, workshop: &Workshop, limits: &str, words: &str) -> Command {
        let script = format!("{limits}; exec '{}' {words}", self.program.display());
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", &script])
            .current_dir(workshop.path(""))
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command
    }
}

/// A thread group; -1 for `loops` means unlimited.
pub fn group(users: &str, loops: i32, inside: &str) -> String {
    format!(
        r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{loops}</stringProp></elementProp>
<stringProp name="ThreadGroup.num_threads">{users}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp></ThreadGroup><hashTree>{inside}</hashTree>"#
    )
}

/// A request to this machine, with these children.
pub fn request(port: u16, protocol: &str, below: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="request"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTPSampler.protocol">{protocol}</stringProp><stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
<boolProp name="HTTPSampler.use_keepalive">true</boolProp><stringProp name="HTTPSampler.response_timeout">5000</stringProp></HTTPSamplerProxy><hashTree>{below}</hashTree>"#
    )
}

/// A request to this machine that sends this many bytes.
pub fn upload(port: u16, bytes: usize) -> String {
    let body = "x".repeat(bytes);
    let argument = format!(
        r#"<boolProp name="HTTPSampler.postBodyRaw">true</boolProp><elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"><elementProp name="" elementType="HTTPArgument"><stringProp name="Argument.value">{body}</stringProp></elementProp></collectionProp></elementProp><boolProp name="HTTPSampler.use_keepalive">"#
    );
    request(port, "http", "")
        .replace(">GET<", ">POST<")
        .replace(r#"<boolProp name="HTTPSampler.use_keepalive">"#, &argument)
}

/// An assertion that makes the program store the body.
pub fn reads_body() -> &'static str {
    r#"<ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="a"><collectionProp name="Asserion.test_strings"><stringProp name="0">needle</stringProp></collectionProp>
<stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">2</intProp></ResponseAssertion><hashTree/>"#
}

/// How the verdict tells that samples are lost, or counted twice.
pub const UNACCOUNTED: &str = "the samples do not add up";

/// Checks the exit code of a run and that its output contains these words. Whatever was staged, each sample that users began was
/// recorded or skipped, unless the words say that some are lost.
pub fn expect(finished: &Finished, code: i32, words: &[&str]) -> anyhow::Result<()> {
    let is_told = finished.out.contains(UNACCOUNTED) || finished.err.contains(UNACCOUNTED);
    if is_told && !words.contains(&UNACCOUNTED) {
        bail!("{UNACCOUNTED}: {finished:?}");
    }
    if finished.code != Some(code) {
        bail!(
            "exit code {:?} instead of {code}: {finished:?}",
            finished.code
        );
    }
    for word in words {
        if !finished.out.contains(word) && !finished.err.contains(word) {
            bail!("`{word}` is not told: {finished:?}");
        }
    }
    Ok(())
}

/// Fails with a message unless a condition holds.
pub fn ensure(is_so: bool, what: &str) -> anyhow::Result<()> {
    if is_so { Ok(()) } else { bail!("{what}") }
}

/// A running program. It is killed when dropped, so that a failing test leaves no process behind.
pub struct Running(Option<Child>);

impl Running {
    /// The process id.
    pub fn id(&self) -> anyhow::Result<u32> {
        let child = self.0.as_ref().context("the program has ended")?;
        Ok(child.id())
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) -> anyhow::Result<()> {
        let words = [format!("-{name}"), self.id()?.to_string()];
        let sent = Command::new("kill").args(words).status()?;
        ensure(sent.success(), "the signal could not be sent")
    }

    /// The lines that it prints to standard output from now on.
    pub fn output(&mut self) -> anyhow::Result<ChildStdout> {
        let child = self.0.as_mut().context("the program has ended")?;
        child.stdout.take().context("somebody else reads it")
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> anyhow::Result<bool> {
        let child = self.0.as_mut().context("the program has ended")?;
        Ok(child.try_wait()?.is_some())
    }

    /// Waits until it ends. Kills it and fails if that takes longer than `limit`.
    pub fn finish_within(mut self, limit: Duration) -> anyhow::Result<Finished> {
        let deadline = Instant::now() + limit;
        while !self.has_ended()? {
            ensure(Instant::now() < deadline, "the program does not end")?;
            std::thread::sleep(Duration::from_millis(10));
        }
        self.finish()
    }

    /// Waits until it ends.
    pub fn finish(mut self) -> anyhow::Result<Finished> {
        let child = self.0.take().context("the program has ended")?;
        Ok(finish(child, LIMIT))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The arguments that run `p.jmx` on this many agents and write the results to `run.json`.
pub fn words_for_agents<'w>(url: &'w str, agents: &'w str) -> [&'w str; 8] {
    [
        "run",
        "p.jmx",
        "--nats",
        url,
        "--agents",
        agents,
        "--summary-json",
        "run.json",
    ]
}

/// Starts the program with these arguments.
pub fn start(workshop: &Workshop, words: &[&str]) -> Running {
    Running(Some(workshop.start(words)))
}

/// Waits until a file has at least this many bytes.
pub fn until_bytes(workshop: &Workshop, file: &str, bytes: u64) -> anyhow::Result<()> {
    let deadline = Instant::now() + LIMIT;
    while std::fs::metadata(workshop.path(file)).map_or(0, |file| file.len()) < bytes {
        ensure(Instant::now() < deadline, "the run does not begin").context(file.to_owned())?;
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
