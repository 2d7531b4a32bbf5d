//! The FTP and gRPC servers for the plans in `compat/` that name their ports.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::files;
use crate::grpc::GrpcServer;
use crate::smtp::SmtpServer;

/// The file with the mails that an SMTP server took.
pub(super) const MAILS: &str = "mails.txt";

/// The files of the FTP servers.
#[derive(Clone, Default)]
pub(super) struct Files {
    stored: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    mails: Option<Arc<SmtpServer>>,
}

/// A server that a plan asks for.
pub(super) struct Exchange {
    /// The property from which the plan reads the port.
    pub property: &'static str,
    /// The port on 127.0.0.1.
    pub port: u16,
}

/// Starts the servers whose ports the plan reads. A plan gets what they received from the FTP server's files `commands.txt` and
/// `mails.txt`.
pub(super) fn asked_by(
    plan: &str,
    mails: Option<Arc<SmtpServer>>,
) -> std::io::Result<Vec<Exchange>> {
    let files = Files {
        mails,
        ..Files::default()
    };
    files::stock(&files);
    let mut started = Vec::new();
    let sessions = AtomicUsize::new(0);
    let greet = move |stream, files: &Files| files::greet(stream, files, &sessions);
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let kinds: [(&'static str, IpAddr, Talk); 3] = [
        ("ftp_port", local, Arc::new(files::serve)),
        ("ftp_greetings_port", local, Arc::new(greet)),
        (
            "ftp6_port",
            Ipv6Addr::LOCALHOST.into(),
            Arc::new(files::serve),
        ),
    ];
    for (property, address, talk) in kinds {
        if plan.contains(&format!("__P({property})")) {
            let listener = TcpListener::bind((address, 0))?;
            let port = listener.local_addr()?.port();
            let files = files.clone();
            std::thread::spawn(move || serve(&listener, &files, &talk));
            started.push(Exchange { property, port });
        }
    }
    for (property, is_secure) in [("grpc_port", false), ("grpcs_port", true)] {
        if plan.contains(&format!("__P({property})")) {
            let server = match is_secure {
                true => GrpcServer::start_tls()?,
                false => GrpcServer::start(Vec::new())?,
            };
            let port = server.address().port();
            started.push(Exchange { property, port });
        }
    }
    Ok(started)
}

/// One conversation.
type Talk = Arc<dyn Fn(TcpStream, &Files) -> std::io::Result<()> + Send + Sync>;

fn serve(listener: &TcpListener, files: &Files, talk: &Talk) {
    for stream in listener.incoming().flatten() {
        let (files, talk) = (files.clone(), Arc::clone(talk));
        // A client that goes away ends the conversation.
        std::thread::spawn(move || talk(stream, &files));
    }
}

impl Files {
    pub(super) fn locked(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn append(&self, name: &str, line: &str) {
        let mut files = self.locked();
        let file = files.entry(name.to_owned()).or_default();
        file.extend_from_slice(line.as_bytes());
        file.push(b'\n');
    }

    /// The mails that the SMTP server took.
    pub(super) fn mails(&self) -> Option<String> {
        let server = self.mails.as_ref()?;
        Some(in_one_text(&server.mails()))
    }
}

/// Mails without the empty lines behind their envelopes, each with an empty line at its end.
pub(super) fn in_one_text(mails: &[String]) -> String {
    let mails = mails.iter().map(|mail| mail.replacen("\n\n", "\n", 1));
    mails.map(|mail| mail + "\n").collect()
}

/// Splits a line into its command and the rest.
pub(super) fn command(line: &str) -> (String, &str) {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    (word.to_uppercase(), rest)
}
