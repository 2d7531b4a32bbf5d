//! Receives UDP messages to a running test, as JMeter's `shutdown.sh`, `stoptest.sh`, `heapdump.sh` and `threaddump.sh` send
//! them: `Shutdown`, `StopTestNow`, `HeapDump`, `ThreadDump`.

use std::io::{self, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use drumfire_jmx::PropertyTable;

use crate::engine::Control;
use crate::terminal::escape;

/// How often the thread checks whether it must end.
const PATIENCE: Duration = Duration::from_millis(200);
/// JMeter's limit for a message, in bytes.
const MAX_MESSAGE: usize = 80;

/// Receives messages until it is dropped.
#[derive(Debug)]
pub struct MessagePort {
    /// The port on loopback.
    pub port: u16,
    closed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Why messages are not received.
#[derive(Debug, PartialEq, Eq)]
pub enum Closed {
    /// The user turned them off with a port of 1000 or less.
    Off,
    /// No port of the range is free.
    NoPort,
}

/// Opens the first free port from `jmeterengine.nongui.port` (4445) to `jmeterengine.nongui.maxport` (4455).
///
/// JMeter listens on all addresses and then ignores messages from other machines. This listens on loopback only.
///
/// # Errors
/// [`Closed`] says why messages are not received.
pub fn open(properties: &PropertyTable, control: Control) -> Result<MessagePort, Closed> {
    let number = |name, default| {
        properties
            .get(name)
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(default)
    };
    let first: u16 = number("jmeterengine.nongui.port", 4445);
    let last: u16 = number("jmeterengine.nongui.maxport", 4455);
    if first <= 1000 {
        return Err(Closed::Off);
    }
    let free = (first..=last).find_map(|port| UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok());
    free.and_then(|socket| MessagePort::start(socket, control).ok())
        .ok_or(Closed::NoPort)
}

impl MessagePort {
    fn start(socket: UdpSocket, control: Control) -> io::Result<MessagePort> {
        socket.set_read_timeout(Some(PATIENCE))?;
        let port = socket.local_addr()?.port();
        let closed = Arc::new(AtomicBool::new(false));
        let is_closed = Arc::clone(&closed);
        let thread = std::thread::Builder::new()
            .name("messages".to_owned())
            .spawn(move || {
                while !is_closed.load(Ordering::Relaxed) {
                    receive(&socket, &control, &is_closed);
                }
            })?;
        Ok(MessagePort {
            port,
            closed,
            thread: Some(thread),
        })
    }
}

fn receive(socket: &UdpSocket, control: &Control, is_closed: &AtomicBool) {
    let mut message = [0; MAX_MESSAGE];
    let Ok((length, sender)) = socket.recv_from(&mut message) else {
        return;
    };
    if is_closed.load(Ordering::Relaxed) {
        return;
    }
    let command = String::from_utf8_lossy(&message[..length]);
    print(&format!(
        "Command: {command} received from /{}",
        sender.ip()
    ));
    tracing::info!("Command: {command} received from /{}", sender.ip());
    match command.as_ref() {
        "Shutdown" => control.shutdown(),
        "StopTestNow" => control.stop_now(),
        "HeapDump" | "ThreadDump" => print(&format!(
            "Command: {command} has no effect: the users are not threads of a Java virtual machine"
        )),
        _ => print(&format!("Command: {command} not recognised ")),
    }
}

/// Prints a line to standard output, as JMeter does. A live view redraws itself with the next tick. The thread goes on
/// listening if the reader of the output has gone away.
fn print(line: &str) {
    let _ = writeln!(io::stdout(), "{}", escape::line(line));
}

impl Drop for MessagePort {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // A message wakes the thread, so that the process need not wait for `PATIENCE`.
        if let Ok(socket) = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)) {
            let _ = socket.send_to(&[], (Ipv4Addr::LOCALHOST, self.port));
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Stopping;

    #[test]
    fn messages_stop_the_run() {
        let control = Control::default();
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = MessagePort::start(socket, control.clone()).expect("a thread");
        let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let messages = [
            ("Shutdown", Stopping::Shutdown),
            ("StopTestNow", Stopping::Now),
        ];
        for (message, expected) in messages {
            for other in ["Nonsense", "HeapDump", "ThreadDump", "", message] {
                client
                    .send_to(other.as_bytes(), ("127.0.0.1", port.port))
                    .expect("sent");
            }
            while control.state() != expected {
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn a_small_port_turns_messages_off() {
        let mut properties = PropertyTable::new();
        properties.set("jmeterengine.nongui.port", "0");
        assert_eq!(
            open(&properties, Control::default()).expect_err("turned off"),
            Closed::Off
        );
    }
}
