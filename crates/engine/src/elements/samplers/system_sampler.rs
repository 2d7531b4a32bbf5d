//! OS Process Sampler (`SystemSampler`): runs a program of this machine and takes its output as the response.
//!
//! Properties: `SystemSampler.command`, `SystemSampler.arguments`, `SystemSampler.environment`, `SystemSampler.directory`,
//! `SystemSampler.checkReturnCode`, `SystemSampler.expectedReturnCode`, `SystemSampler.stdin`, `.stdout`, `.stderr`,
//! `SystemSampler.timeout` in milliseconds. Without a file for it, the error output is part of the response, as
//! `SystemCommand` has it. A program that cannot be started fails with the system's words in Java's form.

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use drumfire_expr::Template;
use drumfire_jmx::Value;
use drumfire_results::{DataType, Sample};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use crate::compile::Decoder;
use crate::context::Context;
use crate::number;

pub struct OsProcess {
    command: Template,
    arguments: Vec<Template>,
    environment: Vec<(Template, Template)>,
    directory: Template,
    check_return_code: bool,
    expected_return_code: Template,
    stdin: Template,
    stdout: Template,
    stderr: Template,
    timeout_ms: Template,
}

pub fn decode(d: &mut Decoder) -> OsProcess {
    OsProcess {
        command: d.template("SystemSampler.command"),
        arguments: rows(d, "SystemSampler.arguments")
            .into_iter()
            .map(|(_, value)| value)
            .collect(),
        environment: rows(d, "SystemSampler.environment"),
        directory: d.template("SystemSampler.directory"),
        check_return_code: d.bool("SystemSampler.checkReturnCode", false),
        expected_return_code: d.template("SystemSampler.expectedReturnCode"),
        stdin: d.template("SystemSampler.stdin"),
        stdout: d.template("SystemSampler.stdout"),
        stderr: d.template("SystemSampler.stderr"),
        timeout_ms: d.template("SystemSampler.timeout"),
    }
}

fn rows(d: &mut Decoder, name: &str) -> Vec<(Template, Template)> {
    let props = d.element.props.clone();
    let Some(arguments) = props.element(name) else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    for prop in arguments.props.list("Arguments.arguments") {
        if let Value::Element(row) = &prop.value {
            rows.push((
                d.compile(&row.props.str("Argument.name")),
                d.compile(&row.props.str("Argument.value")),
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
        sample.sampler_data = Some(
            format!(
                "Working Directory: {}\nEnvironment: {}\nExecuting: {}",
                directory.display(),
                "{}",
                line(&command, &arguments)
            )
            .into(),
        );
        let timeout_ms = number::long(&self.timeout_ms.eval(cx));
        sample.start_ms = cx.clock().now_ms();
        let mut output = Vec::new();
        let ended = match self.start(cx, &command, &arguments, &directory) {
            Ok(child) => finish(child, timeout_ms, &mut output).await,
            Err(error) => Err(error),
        };
        sample.set_end(cx.clock().now_ms());
        self.judge(
            cx,
            &mut sample,
            ended,
            &line(&command, &arguments),
            timeout_ms,
        );
        sample.response_data = Some(output.into());
        Some(sample)
    }

    fn directory(&self, cx: &mut Context) -> PathBuf {
        let directory = self.directory.eval(cx);
        if directory.is_empty() {
            return std::env::current_dir().unwrap_or_default();
        }
        PathBuf::from(&*directory)
    }

    fn start(
        &self,
        cx: &mut Context,
        command: &str,
        arguments: &[String],
        directory: &PathBuf,
    ) -> std::io::Result<Child> {
        let mut process = Command::new(command);
        process
            .args(arguments)
            .current_dir(directory)
            .kill_on_drop(true);
        for (name, value) in &self.environment {
            let name = name.eval(cx).into_string();
            process.env(name, &*value.eval(cx));
        }
        let (stdin, stdout, stderr) = (
            self.stdin.eval(cx).into_string(),
            self.stdout.eval(cx).into_string(),
            self.stderr.eval(cx).into_string(),
        );
        process.stdin(if stdin.is_empty() {
            Stdio::null()
        } else {
            Stdio::from(File::open(stdin)?)
        });
        process.stdout(if stdout.is_empty() {
            Stdio::piped()
        } else {
            Stdio::from(File::create(stdout)?)
        });
        process.stderr(if stderr.is_empty() {
            Stdio::piped()
        } else {
            Stdio::from(File::create(stderr)?)
        });
        process.spawn()
    }

    fn judge(
        &self,
        cx: &mut Context,
        sample: &mut Sample,
        ended: std::io::Result<Ended>,
        line: &str,
        timeout_ms: i64,
    ) {
        match ended {
            Ok(Ended::Code(code)) => {
                sample.code = code.to_string().into();
                let expected = number::int(&self.expected_return_code.eval(cx));
                sample.success = !self.check_return_code || code == expected;
                sample.message = if sample.success {
                    "OK".into()
                } else {
                    format!("Unexpected return code.  Expected [{expected}]. Actual [{code}].")
                        .into()
                };
            }
            Ok(Ended::TimedOut) => {
                sample.code = "500".into();
                sample.message = format!("Timed out after {timeout_ms} ms: {line}").into();
            }
            Err(error) => {
                sample.code = "500".into();
                sample.message = format!(
                    "Exception occurred whilst executing system call: java.io.IOException: {error}"
                )
                .into();
            }
        }
    }
}

fn line(command: &str, arguments: &[String]) -> String {
    let mut line = command.to_owned();
    for argument in arguments {
        line.push(' ');
        line.push_str(argument);
    }
    line
}

/// Waits for the program and takes what it prints. A program that it leaves running in the background and that keeps the
/// output open does not keep us: we stop reading when the program itself has ended and is silent.
async fn finish(mut child: Child, timeout_ms: i64, output: &mut Vec<u8>) -> std::io::Result<Ended> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut errors = Vec::new();
    let ended = {
        let read = async { tokio::join!(drain(stdout, output), drain(stderr, &mut errors)) };
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
                    _ = &mut read => child.wait().await,
                    status = child.wait() => {
                        let _ = tokio::time::timeout(Duration::from_millis(200), &mut read).await;
                        status
                    }
                }
            } => Ended::Code(exit_code(status?)),
            () = &mut limit => Ended::TimedOut,
        }
    };
    output.extend(errors);
    Ok(ended)
}

async fn drain(stream: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) {
    if let Some(mut stream) = stream {
        // What was read before an error stays.
        let _ = stream.read_to_end(into).await;
    }
}

/// The exit code as Java gives it: 128 more than the signal that ended the program.
fn exit_code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .unwrap_or(-1)
}
