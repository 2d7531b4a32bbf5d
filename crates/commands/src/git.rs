//! Reads versions of a plan from git, and writes one to its index.

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long git may take to read, and to write.
const LIMIT: Duration = Duration::from_secs(2);
const WRITE_LIMIT: Duration = Duration::from_secs(20);

/// The plan as the last commit has it; `None` without git, without a repository, or if the commit lacks the plan.
pub fn committed(plan: &Path) -> Option<Vec<u8>> {
    let object = object("HEAD:./", plan)?;
    read(plan, &["cat-file".as_ref(), "blob".as_ref(), &object])
}

/// The plan as the index has it, in the form of the working file; `None` if it is not there, or only as a conflict.
pub fn staged(plan: &Path) -> Option<Vec<u8>> {
    let object = object(":./", plan)?;
    read(plan, &["cat-file".as_ref(), "--filters".as_ref(), &object])
}

/// The common version of a plan with a merge conflict.
pub fn ancestor(plan: &Path) -> Option<Vec<u8>> {
    let object = object(":1:./", plan)?;
    read(plan, &["cat-file".as_ref(), "--filters".as_ref(), &object])
}

/// Writes a version of the plan to the index. The working file and the rest of the index stay as they are.
///
/// # Errors
/// The index lacks the plan, or git refuses.
pub fn stage(plan: &Path, bytes: &[u8]) -> Result<(), String> {
    let name = plan.file_name().ok_or("the plan has no name")?;
    let mut literal = OsString::from(":(literal)");
    literal.push(name);
    let list = ["ls-files", "-s", "-z", "--full-name", "--"].map(OsStr::new);
    let entries = git(plan, &[&list[..], &[&literal]].concat(), None, WRITE_LIMIT)?;
    // MODE SP OBJECT SP STAGE TAB PATH NUL, in bytes: a path may be no text.
    let entry = entries.strip_suffix(b"\0").unwrap_or(&entries);
    let tab = entry.iter().position(|byte| *byte == b'\t');
    let (head, path) = entry.split_at(tab.ok_or("the index does not have it")?);
    let head = String::from_utf8_lossy(head);
    let [mode, _, "0"] = head.split(' ').collect::<Vec<_>>()[..] else {
        return Err("the index has it as a conflict".to_owned());
    };
    let hash = ["hash-object", "-w", "--stdin", "--path"].map(OsStr::new);
    let made = git(
        plan,
        &[&hash[..], &[name]].concat(),
        Some(bytes),
        WRITE_LIMIT,
    )?;
    let made = String::from_utf8_lossy(&made);
    let mut line = format!("{mode} {} 0", made.trim()).into_bytes();
    line.extend_from_slice(path);
    line.push(0);
    let update = ["update-index", "-z", "--index-info"].map(OsStr::new);
    git(plan, &update, Some(&line), WRITE_LIMIT).map(drop)
}

/// The name of an object that is a version of a plan.
fn object(version: &str, plan: &Path) -> Option<OsString> {
    let mut object = OsString::from(version);
    object.push(plan.file_name()?);
    Some(object)
}

fn read(plan: &Path, words: &[&OsStr]) -> Option<Vec<u8>> {
    git(plan, words, None, LIMIT).ok()
}

/// Runs git in the plan's folder and returns what it prints.
fn git(
    plan: &Path,
    words: &[&OsStr],
    input: Option<&[u8]>,
    limit: Duration,
) -> Result<Vec<u8>, String> {
    let folder = plan.parent().ok_or("the plan has no folder")?;
    let mut git = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(words)
        // It asks nobody, and a command that reads takes no lock.
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("git cannot be started: {error}"))?;
    if let (Some(mut to), Some(input)) = (git.stdin.take(), input.map(<[u8]>::to_vec)) {
        // git may end before it has read everything.
        std::thread::spawn(move || drop(to.write_all(&input)));
    }
    let (mut output, mut errors) = (git.stdout.take(), git.stderr.take());
    let (send, received) = channel();
    std::thread::spawn(move || {
        let (mut bytes, mut errors_text) = (Vec::new(), String::new());
        let read = output.as_mut().map(|output| output.read_to_end(&mut bytes));
        let _ = errors
            .as_mut()
            .map(|errors| errors.read_to_string(&mut errors_text));
        // Nobody waits any more if git took too long.
        let _ = send.send((matches!(read, Some(Ok(_))), bytes, errors_text));
    });
    let received = received.recv_timeout(limit);
    if received.is_err() {
        // It may have ended by itself.
        let _ = git.kill();
    }
    let ended = git.wait().map_err(|error| error.to_string())?;
    match received {
        Ok((true, bytes, _)) if ended.success() => Ok(bytes),
        Ok((_, _, errors_text)) => Err(errors_text
            .trim()
            .lines()
            .next()
            .unwrap_or("git failed")
            .to_owned()),
        Err(_) => Err("git took too long".to_owned()),
    }
}
