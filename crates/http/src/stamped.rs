//! A server's connection whose reads tell when the kernel received the bytes. Targets of known times need it.

use std::io;
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::time::Duration;

use crate::sys;

/// A connection whose reads wait, and know when their bytes arrived.
#[derive(Debug)]
pub struct StampedStream(TcpStream);

impl StampedStream {
    /// Asks the kernel to stamp what arrives from now on.
    pub fn new(stream: TcpStream) -> StampedStream {
        // Without stamps, reads return none.
        let _ = sys::stamp_arrivals(&stream);
        StampedStream(stream)
    }

    /// Reads into the buffer. Returns the number of bytes, 0 at the end of the stream, and when the kernel received the last of
    /// them, since the Unix epoch; `None` if it does not say.
    ///
    /// # Errors
    /// Those of the connection.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<(usize, Option<Duration>)> {
        // SAFETY: initialised bytes stay initialised, because reading only writes bytes.
        let room = unsafe { &mut *(std::ptr::from_mut(buffer) as *mut [MaybeUninit<u8>]) };
        sys::receive(&self.0, room)
    }

    /// The connection, to write to.
    pub fn stream(&self) -> &TcpStream {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_read_tells_when_its_bytes_arrived() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut far = TcpStream::connect(address).expect("a connection");
        let near = StampedStream::new(listener.accept().expect("it is here").0);
        let now = || {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            now.expect("a clock after 1970")
        };
        // The kernel begins to stamp a moment after it was asked to.
        let mut stamps = (0..100).map(|_| {
            let before = now();
            far.write_all(b"hello").expect("sent");
            let after = now();
            std::thread::sleep(Duration::from_millis(20));
            let mut buffer = [0; 16];
            let (count, stamp) = near.read(&mut buffer).expect("read");
            assert_eq!(&buffer[..count], b"hello");
            Some((before, stamp?, after))
        });
        if cfg!(target_os = "linux") {
            let (before, stamp, after) = stamps.find_map(|stamp| stamp).expect("a stamp");
            let slack = Duration::from_millis(10);
            assert!(before - slack < stamp && stamp < after + slack);
        }
        drop(stamps);
        drop(far);
        assert_eq!(near.read(&mut [0; 16]).expect("the end").0, 0);
    }
}
