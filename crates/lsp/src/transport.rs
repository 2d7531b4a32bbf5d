//! Messages over standard input and output, of bounded size.

use std::io::{self, BufRead, Read as _};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use crossbeam_channel::bounded;
use lsp_server::{Connection, Message, Notification};

/// The largest message: a plan of 50 MB with its escapes fits.
const MOST_BYTES: usize = 128 << 20;
/// The most bytes of the fields before a message.
const MOST_HEAD_BYTES: u64 = 8 << 10;

/// The threads that read and write messages.
#[derive(Debug)]
pub struct MessageThreads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
    refusal: Arc<OnceLock<String>>,
}

impl MessageThreads {
    /// Why no more messages are read, if one was refused.
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.get().map(String::as_str)
    }

    /// Waits until both have ended, after the connection was dropped.
    ///
    /// # Errors
    /// A message that is not one, or the system's error.
    pub fn join(self) -> io::Result<()> {
        for thread in [self.reader, self.writer] {
            thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))?;
        }
        Ok(())
    }
}

/// The connection to the editor that started the program.
///
/// # Errors
/// A thread that cannot be started.
pub fn stdio() -> io::Result<(Connection, MessageThreads)> {
    let (sender, to_write) = bounded::<Message>(0);
    let (read, receiver) = bounded::<Message>(0);
    let refusal = Arc::new(OnceLock::new());
    let noted = refusal.clone();
    let writer = thread_named("lsp writer").spawn(move || {
        let mut out = io::stdout().lock();
        to_write
            .into_iter()
            .try_for_each(|message| message.write(&mut out))
    })?;
    let reader = thread_named("lsp reader").spawn(move || {
        let mut input = io::stdin().lock();
        let mut next = || {
            let message = next(&mut input);
            if let Err(error) = &message {
                let _ = noted.set(error.to_string());
            }
            message
        };
        while let Some(message) = next()? {
            let is_exit =
                matches!(&message, Message::Notification(Notification { method, .. }) if method == "exit");
            if read.send(message).is_err() || is_exit {
                break;
            }
        }
        Ok(())
    })?;
    let threads = MessageThreads {
        reader,
        writer,
        refusal,
    };
    Ok((Connection { sender, receiver }, threads))
}

/// A thread with this name.
fn thread_named(name: &str) -> std::thread::Builder {
    std::thread::Builder::new().name(name.to_owned())
}

/// The next message; `None` at the end of the input.
pub fn next(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let mut head = Vec::new();
    let mut fields = input.by_ref().take(MOST_HEAD_BYTES);
    loop {
        let start = head.len();
        if fields.read_until(b'\n', &mut head)? == 0 {
            break;
        }
        if head[start..].trim_ascii().is_empty() {
            break;
        }
    }
    if head.is_empty() {
        return Ok(None);
    }
    let length = content_length(&head).ok_or_else(|| refused("a message without a length"))?;
    if length > MOST_BYTES {
        return Err(refused("a message of more than 128 MiB"));
    }
    // The crate reads the head again.
    Message::read(&mut head.chain(input.take(length as u64)))
}

fn content_length(head: &[u8]) -> Option<usize> {
    let fields = std::str::from_utf8(head).ok()?.lines();
    let mut lengths = fields.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim()
            .eq_ignore_ascii_case("content-length")
            .then(|| value.trim())
    });
    // A number beyond the machine's is too large in any case.
    let length = lengths.next_back()?;
    let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| length.parse().unwrap_or(usize::MAX))
}

fn refused(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the editor sent {what}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_a_length_and_a_bound() {
        let read = |text: &str| next(&mut text.as_bytes());
        let body = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let message = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        assert!(matches!(read(&message), Ok(Some(Message::Notification(_)))));
        assert!(matches!(read(""), Ok(None)));
        for length in [
            "99999999999999",
            "134217729",
            "99999999999999999999999",
            "-1",
            "",
        ] {
            let error = read(&format!("Content-Length: {length}\r\n\r\n{{}}")).unwrap_err();
            assert!(
                error.to_string().starts_with("the editor sent a message"),
                "{error}"
            );
        }
        assert!(read(&"x".repeat(100_000)).is_err());
    }
}
