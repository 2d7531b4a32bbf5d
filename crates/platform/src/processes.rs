//! Starts processes and inspects how they ended.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::LazyLock;

/// `CREATE_NEW_PROCESS_GROUP` and `IDLE_PRIORITY_CLASS` (winbase.h).
#[cfg(windows)]
const NEW_GROUP: u32 = 0x200;
#[cfg(windows)]
const IDLE: u32 = 0x40;

/// The cores that this process may use, by its affinity and by the CPU quota of its control group; 1 if the system does not say.
/// The system reads several files to answer, so the answer is kept.
pub fn cores() -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    *CORES
}

/// Puts the process into its own process group, so that Ctrl-C in the terminal does not reach it.
pub fn own_group(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    return std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(windows)]
    return std::os::windows::process::CommandExt::creation_flags(command, NEW_GROUP);
}

/// A command that runs `program` at the lowest priority and in its own process group.
pub fn in_background(program: &Path) -> Command {
    #[cfg(unix)]
    {
        let mut command = Command::new("nice");
        command.args(["-n", "19"]).arg(program);
        own_group(&mut command);
        command
    }
    #[cfg(windows)]
    {
        let mut command = Command::new(program);
        std::os::windows::process::CommandExt::creation_flags(&mut command, NEW_GROUP | IDLE);
        command
    }
}

/// Replaces this process with a program. Windows cannot do that: there this process waits until the program ends, and exits
/// with its code.
///
/// Returns only if the program cannot be started, with the reason.
pub fn replace_by(command: &mut Command) -> io::Error {
    #[cfg(unix)]
    return std::os::unix::process::CommandExt::exec(command);
    #[cfg(windows)]
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

/// A command line for the system's shell: `sh`, or `cmd` on Windows.
pub fn shell(text: &str) -> Command {
    #[cfg(unix)]
    {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        command
    }
    #[cfg(windows)]
    {
        let mut command = Command::new("cmd");
        // `cmd` takes the rest of the line unparsed, including quotes.
        std::os::windows::process::CommandExt::raw_arg(command.arg("/C"), text);
        command
    }
}

/// Processes that Windows ends when this value is dropped or this process ends, even if it is killed.
#[cfg(windows)]
#[derive(Debug)]
pub struct Job {
    _handle: std::os::windows::io::OwnedHandle,
}

#[cfg(windows)]
impl Job {
    /// A job of one child, and of the processes that it starts from now on.
    ///
    /// # Errors
    /// Windows refuses.
    pub fn of(child: &Child) -> io::Result<Job> {
        use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
        use windows_sys::Win32::System::JobObjects::{
            AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
            JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
            SetInformationJobObject,
        };

        // SAFETY: both arguments may be null: the job has neither a name nor rights of its own.
        let handle = unsafe { CreateJobObjectW(std::ptr::null(), std::ptr::null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is new, and nobody else closes it.
        let job = Job {
            _handle: unsafe { OwnedHandle::from_raw_handle(handle) },
        };
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let length = size_of_val(&limits) as u32;
        // SAFETY: the handle is open, and the limits are live and of the length given.
        let is_limited = unsafe {
            let limits = (&raw const limits).cast();
            SetInformationJobObject(handle, JobObjectExtendedLimitInformation, limits, length)
        };
        // SAFETY: both handles are open.
        if is_limited == 0
            || unsafe { AssignProcessToJobObject(handle, child.as_raw_handle()) } == 0
        {
            return Err(io::Error::last_os_error());
        }
        Ok(job)
    }
}

/// The signal that ended a process; always `None` on Windows.
pub fn ending_signal(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(windows)]
    {
        let _ = status;
        None
    }
}

/// Asks a child to end, as Ctrl-C does; on Windows, ends it.
///
/// # Errors
/// The system refuses.
pub fn interrupt(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    return rustix::process::kill_process(
        rustix::process::Pid::from_child(child),
        rustix::process::Signal::INT,
    )
    .map_err(io::Error::from);
    #[cfg(windows)]
    child.kill()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_reads_a_text() {
        let output = shell("echo one two").output().expect("there is a shell");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "one two");
    }

    #[cfg(unix)]
    #[test]
    fn an_interrupted_child_ends_by_the_signal() {
        // Under `nohup`, children would ignore the signal.
        let mut child = Command::new("env")
            .args(["--default-signal=INT", "sleep", "60"])
            .spawn()
            .expect("there is sleep");
        let ended = loop {
            interrupt(&mut child).expect("it runs");
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        assert_eq!(ending_signal(ended), Some(2));
    }

    #[cfg(unix)]
    #[test]
    fn a_signal_is_told_and_a_code_is_none() {
        let ended = |text| ending_signal(shell(text).status().expect("there is a shell"));
        assert_eq!((ended("kill -TERM $$"), ended("exit 3")), (Some(15), None));
    }

    #[cfg(unix)]
    #[test]
    fn a_group_is_its_first_process() {
        let mut command = shell("ps -o pgid= -p $$; echo $$");
        let output = own_group(&mut command).output();
        let text = output.expect("there is a shell").stdout;
        let text = String::from_utf8_lossy(&text).into_owned();
        let words: Vec<&str> = text.split_whitespace().collect();
        // Without `ps`, only the process id is left.
        assert!(words.len() < 2 || words[0] == words[1], "{text}");
    }

    #[test]
    fn a_program_that_is_not_there_replaces_nothing() {
        let error = replace_by(&mut Command::new("drumfire-no-such-program"));
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
