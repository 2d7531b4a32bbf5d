//! `drumfire mirror`: serves JMeter's HTTP Mirror Server until Ctrl-C.

pub mod arguments;
pub mod server;

use std::net::SocketAddr;
use std::sync::mpsc;

use drumfire_platform::causes::cause;
use drumfire_platform::words::counted;

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::mirror::arguments::MirrorArguments;
use crate::mirror::server::Mirror;
use crate::refusal::Refusal;
use crate::signals;
use crate::terminal::escape;

/// Serves until a signal stops the process, which is the regular end of this command.
pub fn mirror(options: &MirrorArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let address = SocketAddr::new(options.address, options.port);
    let mirror =
        Mirror::start(address, |line| println!("{}", escape::line(line))).map_err(|error| {
            let message = format!(
                "the mirror server cannot listen on {address}: {}",
                cause(&error)
            );
            Refusal::run_failed(message)
        })?;
    let (sender, stop) = mpsc::channel();
    let listening = signals::listen(None, move |_| {
        // The receiver is gone if this is not the first signal.
        let _ = sender.send(());
    });
    let _listening = listening.map_err(Refusal::failed)?;
    console.line(&format!("mirror server  http://{}/", mirror.address));
    console.line("Ctrl-C to stop");
    // An error means that the signal listener has ended. Nothing else can stop the server then.
    let _ = stop.recv();
    console.line(&format!(
        "{} received",
        counted(mirror.requests(), "request")
    ));
    Ok(Exit::Ok)
}
