//! Parts that several targets share.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread::JoinHandle;

use drumfire_import::{Format, ImportOptions, correlate::correlate, import};

/// Imports bytes of a format. A plan that comes out can be read again and means the same.
pub fn imported(bytes: &[u8], format: Option<Format>) {
    let options = ImportOptions {
        format,
        server: Some("http://h.example".to_owned()),
        ..ImportOptions::default()
    };
    let files = [("input".to_owned(), bytes.to_vec())];
    match import(&files, &options) {
        Ok(mut draft) => {
            correlate(&mut draft, None, &[]);
            let plan = drumfire_jmx::write(&draft.tree("data.csv"));
            let again = drumfire_jmx::read(plan.as_bytes(), Path::new("plan.jmx"));
            let again = again.unwrap_or_else(|_| panic!("a plan that cannot be read: {plan}"));
            assert_eq!(plan, drumfire_jmx::write(&again.tree));
        }
        Err(error) => assert!(!error.message.is_empty()),
    }
}

/// A server of one connection on loopback: sends its bytes and the end of the stream, and reads until the client's.
pub struct Peer {
    port: u16,
    thread: Option<JoinHandle<()>>,
}

impl Peer {
    pub fn answering(bytes: Vec<u8>) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let thread = std::thread::spawn(move || {
            let Ok((mut stream, _)) = listener.accept() else {
                return;
            };
            let _ = stream.write_all(&bytes);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let mut rest = [0; 4096];
            while stream.read(&mut rest).is_ok_and(|count| count > 0) {}
        });
        Peer {
            port,
            thread: Some(thread),
        }
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Runs a client on a runtime of its own; connections that it left open are closed.
pub fn alone(client: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("this system has I/O");
    tokio::task::LocalSet::new().block_on(&runtime, client);
}
