//! The protocol over standard input and output: a message a line.

use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};

use super::dispatch::notification;
use super::host::Host;

/// Answers the messages of `input` until it ends. Notifications stand between the answers.
///
/// # Errors
/// The input cannot be read.
pub fn stdio<W: Write + Send + 'static>(
    host: &Host,
    mut input: impl BufRead,
    output: W,
) -> io::Result<()> {
    let output = Arc::new(Mutex::new(output));
    let notified = output.clone();
    host.listen(Box::new(move |method, parameters| {
        line(&notified, &notification(method, parameters)).is_ok()
    }));
    let mut message = Vec::new();
    loop {
        message.clear();
        if input.read_until(b'\n', &mut message)? == 0 {
            return Ok(());
        }
        if message.trim_ascii().is_empty() {
            continue;
        }
        if let Some(answer) = host.answer(&message)
            && line(&output, &answer).is_err()
        {
            // Nobody reads the answers any more.
            return Ok(());
        }
    }
}

fn line<W: Write>(output: &Mutex<W>, text: &str) -> io::Result<()> {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(output, "{text}")?;
    output.flush()
}
