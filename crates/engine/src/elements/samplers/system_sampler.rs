//! OS Process Sampler (`SystemSampler`): runs a program on this machine and takes its output as the response.
//!
//! Properties: `SystemSampler.command`, `SystemSampler.arguments`, `SystemSampler.environment`, `SystemSampler.directory`,
//! `SystemSampler.checkReturnCode`, `SystemSampler.expectedReturnCode`, `SystemSampler.stdin`, `.stdout`, `.stderr`,
//! `SystemSampler.timeout` in milliseconds. If the plan names no file for the error output, it goes where the output goes, as
//! in `SystemCommand`. A program that cannot be started fails with the system's message in Java's form. Output is read as
//! UTF-8.

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use drumfire_elements::config::user_defined_variables;
use drumfire_elements::items;
use drumfire_elements::samplers::os_process_sampler as facts;
use drumfire_expr::Template;
use drumfire_java::text::spread_hash;
use drumfire_jmx::Value;
use drumfire_platform::files::create_for_program;
use drumfire_platform::processes::ending_signal;
use drumfire_results::{DataType, Sample};
use shared_child::SharedChild;
use tokio::sync::oneshot;

use crate::base::number;
use crate::decode::Decoder;
use crate::decode::setting::Flag;
use crate::run::context::Context;
use crate::run::sampler::{Sampler, SamplerTurn};

use pipe::{PipeEnd, Printed};

pub struct OsProcess {
    command: Template,
    arguments: Vec<Template>,
    environment: Vec<(Template, Template)>,
    directory: Template,
    check_return_code: Flag,
    expected_return_code: Template,
    stdin: Template,
    stdout: Template,
    stderr: Template,
    timeout_ms: Template,
}

pub fn decode(d: &mut Decoder) -> OsProcess {
    OsProcess {
        command: d.template(facts::COMMAND.name),
        arguments: rows(d, facts::ARGUMENTS.name)
            .into_iter()
            .map(|(_, value)| value)
            .collect(),
        environment: rows(d, facts::ENVIRONMENT.name),
        directory: d.template(facts::FOLDER.name),
        check_return_code: Flag::decode(d, facts::CHECK_RETURN_CODE.name, false),
        expected_return_code: d.template(facts::EXPECTED_RETURN_CODE.name),
        stdin: d.template(facts::STDIN.name),
        stdout: d.template(facts::STDOUT.name),
        stderr: d.template(facts::STDERR.name),
        timeout_ms: d.template(facts::TIMEOUT.name),
    }
}

fn rows(d: &mut Decoder, name: &str) -> Vec<(Template, Template)> {
    let props = d.element.props.clone();
    let Some(arguments) = props.element(name) else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    for prop in arguments.props.list(user_defined_variables::VARIABLES.name) {
        if let Value::Element(row) = &prop.value {
            rows.push((
                d.compile(&row.props.str(items::NAME.name)),
                d.compile(&row.props.str(items::VALUE.name)),
            ));
        }
    }
    rows
}

/// How the program ended.
enum Ended {
    Code(i32),
    TimedOut,
}

/// Why a program was not started.
enum Unstarted {
    File(String, std::io::Error),
    Program(std::io::Error),
}

impl OsProcess {
    pub async fn sample(&self, cx: &mut Context, name: &Template) -> Option<Sample> {
        let label = name.eval(cx).into_value();
        let mut sample = Sample::new(label, cx.thread_name.clone());
        sample.data_type = DataType::Text;
        let command = self.command.eval(cx).into_string();
        let arguments: Vec<String> = self
            .arguments
            .iter()
            .map(|argument| argument.eval(cx).into_string())
            .collect();
        let directory = self.directory(cx);
        let environment = self.environment(cx);
        let line = line(&command, &arguments);
        sample.sampler_data = Some(
            format!(
                "Working Directory: {}\nEnvironment: {}\nExecuting: {line}",
                std::path::absolute(&directory)
                    .unwrap_or_else(|_| directory.clone())
                    .display(),
                shown_as_java_map(&environment),
            )
            .into(),
        );
        let timeout_ms = number::long(&self.timeout_ms.eval(cx));
        sample.start_ms = cx.clock().now_ms();
        let mut output = Vec::new();
        let mut process = Command::new(&command);
        process
            .args(&arguments)
            .current_dir(&directory)
            .envs(environment);
        let ended = match self.start(cx, process) {
            Ok((running, printed)) => finish(running, printed, timeout_ms, &mut output)
                .await
                .map_err(|error| format!("java.io.IOException: {error}")),
            Err(Unstarted::File(name, error)) => Err(format!(
                "java.io.FileNotFoundException: {name} ({})",
                words(&error)
            )),
            Err(Unstarted::Program(error)) => Err(format!(
                "java.io.IOException: Cannot run program \"{command}\" (in directory \"{}\"): error={}, {}",
                directory.display(),
                error.raw_os_error().unwrap_or_default(),
                words(&error)
            )),
        };
        sample.set_end(cx.clock().now_ms());
        self.judge(cx, &mut sample, ended, timeout_ms);
        sample.response_data = Some(match String::from_utf8_lossy(&output) {
            Cow::Borrowed(_) => output.into(),
            Cow::Owned(text) => text.into_bytes().into(),
        });
        Some(sample)
    }

    fn directory(&self, cx: &mut Context) -> PathBuf {
        let directory = self.directory.eval(cx);
        if directory.is_empty() {
            return std::env::current_dir().unwrap_or_default();
        }
        PathBuf::from(&*directory)
    }

    fn environment(&self, cx: &mut Context) -> Vec<(String, String)> {
        let pairs = self.environment.iter();
        pairs
            .map(|(name, value)| (name.eval(cx).into_string(), value.eval(cx).into_string()))
            .collect()
    }

    /// Starts the program. Its output is returned unless the plan names a file for it (`SystemCommand#run`).
    fn start(
        &self,
        cx: &mut Context,
        mut process: Command,
    ) -> Result<(Running, Option<Printed>), Unstarted> {
        let stdin = match self.stdin.eval(cx).into_string() {
            name if name.trim().is_empty() => Stdio::null(),
            name => opened(File::open(&name), name)?.into(),
        };
        process.stdin(stdin);
        let file = created(&self.stdout.eval(cx))?;
        let errors = created(&self.stderr.eval(cx))?;
        let (ours, (stdout, stderr)) = match file {
            Some(file) => (None, twice(file, errors)?),
            None => {
                let (reader, writer) = std::io::pipe().map_err(Unstarted::Program)?;
                (Some(reader), twice(writer, errors)?)
            }
        };
        process.stdout(stdout).stderr(stderr);
        let running = Running::start(process).map_err(Unstarted::Program)?;
        let ours = ours.map(Printed::of).transpose();
        Ok((running, ours.map_err(Unstarted::Program)?))
    }

    fn judge(
        &self,
        cx: &mut Context,
        sample: &mut Sample,
        ended: Result<Ended, String>,
        timeout_ms: i64,
    ) {
        match ended {
            Ok(Ended::Code(code)) => {
                sample.code = code.to_string().into();
                let expected = number::int(&self.expected_return_code.eval(cx));
                sample.success = !self.check_return_code.get(cx) || code == expected;
                sample.message = if sample.success {
                    "OK".into()
                } else {
                    format!("Unexpected return code.  Expected [{expected}]. Actual [{code}].")
                        .into()
                };
            }
            Ok(Ended::TimedOut) => {
                sample.code = "500".into();
                sample.message =
                    format!("Process timeout reached after {timeout_ms} milliseconds").into();
            }
            Err(error) => {
                sample.code = "500".into();
                sample.message =
                    format!("Exception occurred whilst executing system call: {error}").into();
            }
        }
    }
}

/// The file of that name, if there is a name.
fn created(name: &str) -> Result<Option<File>, Unstarted> {
    if name.trim().is_empty() {
        return Ok(None);
    }
    opened(create_for_program(Path::new(name)), name.to_owned()).map(Some)
}

fn opened(file: std::io::Result<File>, name: String) -> Result<File, Unstarted> {
    file.map_err(|error| Unstarted::File(name, error))
}

/// Where output and error output go: to the same place, unless the errors have a file (`redirectErrorStream`).
fn twice(place: impl Into<PipeEnd>, errors: Option<File>) -> Result<(PipeEnd, PipeEnd), Unstarted> {
    let place = place.into();
    let errors = match errors {
        Some(file) => file.into(),
        None => place.try_clone().map_err(Unstarted::Program)?,
    };
    Ok((place, errors))
}

/// The system's message for an error, as Java shows it.
pub fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// These pairs as `java.util.HashMap#toString` shows them: in the order of a hash table that starts with 16 buckets and
/// doubles when it is three quarters full.
fn shown_as_java_map(pairs: &[(String, String)]) -> String {
    let mut map: Vec<(&str, &str)> = Vec::new();
    for (name, value) in pairs {
        match map.iter_mut().find(|(known, _)| known == name) {
            Some(known) => known.1 = value,
            None => map.push((name, value)),
        }
    }
    let mut places: u32 = 16;
    while map.len() as u32 * 4 > places * 3 {
        places *= 2;
    }
    map.sort_by_key(|(name, _)| spread_hash(name) & (places - 1));
    let shown: Vec<_> = map
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!("{{{}}}", shown.join(", "))
}

fn line(command: &str, arguments: &[String]) -> String {
    let mut line = command.to_owned();
    for argument in arguments {
        line.push(' ');
        line.push_str(argument);
    }
    line
}

/// The stack of a thread that only waits for a program.
const WAITING_STACK_BYTES: usize = 64 << 10;

/// A program that was started. Dropping this ends the program, unless it has ended.
///
/// A thread waits for it. With tokio's processes, each turn of every worker would take a lock of the whole process, whether or not
/// any program runs (`GlobalOrphanQueue::reap_orphans`).
struct Running {
    child: Arc<SharedChild>,
    ended: oneshot::Receiver<std::io::Result<ExitStatus>>,
}

impl Running {
    /// Starts the program. The command is dropped, and with it this process's copies of the program's pipes.
    fn start(mut command: Command) -> std::io::Result<Running> {
        let child = Arc::new(SharedChild::spawn(&mut command)?);
        let (sender, ended) = oneshot::channel();
        let running = Running { child, ended };
        let child = running.child.clone();
        let thread = std::thread::Builder::new()
            .name("program".to_owned())
            .stack_size(WAITING_STACK_BYTES)
            .spawn(move || {
                // Nothing receives the status of a program that was given up.
                let _ = sender.send(child.wait());
            });
        if let Err(refused) = thread {
            running.child.kill()?;
            running.child.wait()?;
            return Err(refused);
        }
        Ok(running)
    }

    /// Waits for the program's end.
    async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        let ended = (&mut self.ended).await;
        ended.unwrap_or_else(|gone| Err(std::io::Error::other(gone)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It fails only if the system does not permit it, and then nothing else can end the program either.
        let _ = self.child.kill();
    }
}

/// Waits for the program and reads its output. A background program that it leaves behind may keep the output open, so
/// reading also stops a moment after the program itself has ended.
async fn finish(
    mut running: Running,
    printed: Option<Printed>,
    timeout_ms: i64,
    output: &mut Vec<u8>,
) -> std::io::Result<Ended> {
    let ended = {
        let read = drain(printed, output);
        tokio::pin!(read);
        let limit = async {
            match u64::try_from(timeout_ms) {
                Ok(ms) if ms > 0 => tokio::time::sleep(Duration::from_millis(ms)).await,
                _ => std::future::pending().await,
            }
        };
        tokio::pin!(limit);
        tokio::select! {
            status = async {
                tokio::select! {
                    () = &mut read => running.wait().await,
                    status = running.wait() => {
                        let _ = tokio::time::timeout(Duration::from_millis(200), &mut read).await;
                        status
                    }
                }
            } => Ended::Code(exit_code(status?)),
            () = &mut limit => Ended::TimedOut,
        }
    };
    Ok(ended)
}

async fn drain(printed: Option<Printed>, into: &mut Vec<u8>) {
    if let Some(mut printed) = printed {
        printed.read_to_end(into).await;
    }
}

/// The exit code as Java gives it: 128 more than the signal that ended the program.
fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .or_else(|| ending_signal(status).map(|signal| 128 + signal))
        .unwrap_or(-1)
}

#[cfg(unix)]
mod pipe {
    use std::io::{self, PipeReader};

    use tokio::io::AsyncReadExt as _;
    use tokio::net::unix::pipe::Receiver;

    /// A file or an end of a pipe.
    pub type PipeEnd = std::os::fd::OwnedFd;

    /// The end of a pipe that a program prints to, watched by the runtime.
    pub struct Printed(Receiver);

    impl Printed {
        pub fn of(reader: PipeReader) -> io::Result<Printed> {
            Receiver::from_owned_fd(reader.into()).map(Printed)
        }

        /// Reads the output until its end. Bytes read before an error stay.
        pub async fn read_to_end(&mut self, into: &mut Vec<u8>) {
            let _ = self.0.read_to_end(into).await;
        }
    }
}

#[cfg(windows)]
mod pipe {
    use std::io::{self, PipeReader, Read as _};

    use tokio::sync::mpsc;

    /// A file or an end of a pipe.
    pub type PipeEnd = std::os::windows::io::OwnedHandle;

    /// The end of a pipe that a program prints to. Windows cannot poll an anonymous pipe, so a thread reads it.
    pub struct Printed(mpsc::Receiver<Vec<u8>>);

    impl Printed {
        pub fn of(mut reader: PipeReader) -> io::Result<Printed> {
            let (sender, pieces) = mpsc::channel(1);
            std::thread::Builder::new()
                .name("printed".to_owned())
                .spawn(move || {
                    let mut piece = [0; 4096];
                    while let Ok(length @ 1..) = reader.read(&mut piece)
                        && sender.blocking_send(piece[..length].to_vec()).is_ok()
                    {
                    }
                })?;
            Ok(Printed(pieces))
        }

        /// Reads the output until its end. Bytes read before an error stay.
        pub async fn read_to_end(&mut self, into: &mut Vec<u8>) {
            while let Some(piece) = self.0.recv().await {
                into.extend_from_slice(&piece);
            }
        }
    }
}

impl Sampler for OsProcess {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(async move { self.sample(cx, name).await.map(Box::new) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_shown_as_java_shows_a_hash_map() {
        let pairs = |names: &str| -> Vec<(String, String)> {
            let names = names.split(' ').enumerate();
            let mut pairs: Vec<_> = names
                .map(|(at, name)| (name.to_owned(), at.to_string()))
                .collect();
            pairs.push((pairs[0].0.clone(), "again".to_owned()));
            pairs
        };
        assert_eq!(
            shown_as_java_map(&pairs("OWN ANOTHER THIRD")),
            "{THIRD=2, OWN=again, ANOTHER=1}"
        );
        assert_eq!(
            shown_as_java_map(&pairs("B A PATH HOME LANG a b c d e f g h äö")),
            "{PATH=2, A=1, a=5, B=again, b=6, c=7, d=8, e=9, f=10, g=11, h=12, LANG=4, äö=13, HOME=3}"
        );
        assert_eq!(shown_as_java_map(&[]), "{}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_program_that_is_given_up_is_ended() {
        let mut command = Command::new("sleep");
        command.arg("600");
        let running = Running::start(command).expect("a program");
        let child = running.child.clone();
        drop(running);
        let status = child.wait().expect("its status");
        assert_eq!(exit_code(status), 128 + 9);
    }

    #[cfg(unix)]
    #[test]
    fn output_goes_to_no_pipe_that_nothing_reads() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("pipe");
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|status| status.success()));
        let name = path.to_str().expect("UTF-8");
        let Err(Unstarted::File(of, error)) = created(name) else {
            panic!("writing would wait for a reader");
        };
        assert_eq!(of, name);
        assert_eq!(words(&error), "nothing reads the pipe");
        assert!(created("/dev/null").is_ok_and(|file| file.is_some()));
    }

    #[test]
    fn the_number_of_an_error_is_left_out() {
        let error = std::io::Error::from_raw_os_error(2);
        assert_eq!(words(&error), "No such file or directory");
    }
}
