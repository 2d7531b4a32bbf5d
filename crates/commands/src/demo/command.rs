//! `drumfire demo`: serves the demo site until Ctrl-C.

use std::sync::mpsc;

use crate::console::Console;
use crate::demo::DemoSite;
use crate::demo::arguments::DemoArguments;
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::signals;

/// Serves the site until a signal stops the process, which is the regular end of this command.
pub fn demo(options: &DemoArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let site = DemoSite::start(options.port, options.https_port).map_err(Refusal::failed)?;
    let (sender, stop) = mpsc::channel();
    let listening = signals::listen(None, move |_| {
        // The receiver is gone if this is not the first signal.
        let _ = sender.send(());
    });
    let _listening = listening.map_err(Refusal::failed)?;
    console.line(&format!("demo site  http://{}/", site.http));
    console.line(&format!(
        "           https://{}/  (it signed its certificate itself)",
        site.https
    ));
    console.line(&format!(
        "run a plan against it  drumfire run PLAN.jmx -Jdemo.host={} -Jdemo.port={} -Jdemo.https.port={}",
        site.http.ip(),
        site.http.port(),
        site.https.port()
    ));
    console.line("Ctrl-C to stop");
    // An error means that the signal listener has ended. Nothing else can stop the site then.
    let _ = stop.recv();
    Ok(Exit::Ok)
}
