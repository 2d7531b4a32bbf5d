//! `drumfire fleet init` and `drumfire fleet add`: write keys, credentials, a certificate and the configuration of a NATS
//! server.

use std::fs;
use std::path::{Path, PathBuf};

use drumfire_platform::causes::{cause, unwritable};

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::fleet::arguments::{FleetCommand, FleetKeys};
use crate::refusal::{FileFailure, Refusal};

/// Writes the files and prints what to do with them.
pub fn fleet(keys: &FleetKeys, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    match &keys.command {
        FleetCommand::Init {
            folder,
            host,
            port,
            agent,
            at,
        } => {
            let folders = KeyFolders {
                folder,
                at: at.as_deref(),
            };
            init(&folders, host, *port, agent, console)?;
        }
        FleetCommand::Add { folder, agent } => {
            for name in agent {
                let file = drumfire_fleet::add_agent(folder, name)
                    .map_err(|error| Refusal::run_failed(error.to_string()))?;
                console.line(&file.display().to_string());
            }
        }
    }
    Ok(Exit::Ok)
}

/// The folder to write the files to, and the folder where the server will find them.
struct KeyFolders<'p> {
    folder: &'p Path,
    at: Option<&'p Path>,
}

fn init(
    place: &KeyFolders<'_>,
    hosts: &[String],
    port: u16,
    agents: &[String],
    console: &mut Console<'_>,
) -> Result<(), FileFailure> {
    let folder = place.folder;
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let at = match place.at {
        Some(at) => at.to_path_buf(),
        None => std::path::absolute(folder).map_err(|error| cause(&error))?,
    };
    let server = drumfire_fleet::ServerPlace {
        port,
        folder: at,
        has_tls: !hosts.is_empty(),
    };
    let files = drumfire_fleet::init(folder, agents, &server).map_err(|error| error.to_string())?;
    let tls = match hosts {
        [] => None,
        hosts => Some(certificate(folder, hosts)?),
    };
    let host = hosts.first().map(String::as_str).unwrap_or("127.0.0.1");
    let (scheme, ca) = match &tls {
        Some(certificate) => ("tls", format!(" --nats-ca {}", certificate.display())),
        None => ("nats", String::new()),
    };
    let nats = format!("--nats {scheme}://{host}:{port}{ca}");
    let (server, trust) = (files.server.display(), files.trust.display());
    let (creds, sign) = (files.coordinator.display(), files.sign.display());
    console.line(&format!("server       nats-server -c {server}"));
    for file in &files.agents {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let file = file.display();
        console.line(&format!(
            "agent        drumfire agent --name {name} {nats} --nats-creds {file} --trust {trust}"
        ));
    }
    console.line(&format!(
        "coordinator  drumfire run plan.jmx --agents {} {nats} --nats-creds {creds} --sign {sign}",
        agents.len().max(1)
    ));
    console.line(&format!(
        "keep {} and {sign} secret: whoever has them can run code on all agents",
        folder.join("operator.seed").display()
    ));
    Ok(())
}

/// Writes a self-signed certificate for these names, and its key.
fn certificate(folder: &Path, hosts: &[String]) -> Result<PathBuf, FileFailure> {
    let made =
        rcgen::generate_simple_self_signed(hosts.to_vec()).map_err(|error| error.to_string())?;
    let certificate = folder.join(drumfire_fleet::CERTIFICATE);
    let key = folder.join(drumfire_fleet::CERTIFICATE_KEY);
    for (path, text) in [
        (&certificate, made.cert.pem()),
        (&key, made.signing_key.serialize_pem()),
    ] {
        drumfire_fleet::write_private(path, &text).map_err(|error| unwritable(path, &error))?;
    }
    Ok(certificate)
}
