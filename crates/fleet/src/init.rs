//! Writes the keys, credentials and server configuration of a fleet to a folder.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use drumfire_platform::causes::{cause, unwritable};
use nkeys::{KeyPair, KeyPairType};

use crate::error::FleetError;
use crate::keys::{account, idle_rights, jwt, operator, seed, user_credentials};
use crate::wire::is_token;

/// The seed of the account, which can create more agents.
const ACCOUNT: &str = "account.seed";
/// The folder for the agents' credentials.
const AGENTS: &str = "agents";

/// The server's certificate, and its key.
pub const CERTIFICATE: &str = "server.pem";
pub const CERTIFICATE_KEY: &str = "server.key";

/// The port and the folder of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPlace {
    pub port: u16,
    /// The folder of [`init`], as the server sees it. The server stores its data beside it.
    pub folder: PathBuf,
    /// Whether the folder contains [`CERTIFICATE`].
    pub has_tls: bool,
}

/// The files that [`init`] has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetFiles {
    /// The server's configuration.
    pub server: PathBuf,
    /// The coordinator's credentials, and the key that it signs with.
    pub coordinator: PathBuf,
    pub sign: PathBuf,
    /// The public key that agents trust.
    pub trust: PathBuf,
    /// The credentials of each agent.
    pub agents: Vec<PathBuf>,
}

/// Writes the keys of an operator, an account, a coordinator and agents, and the configuration of a server.
///
/// # Errors
/// If the folder already has such files, an agent's name is not valid, or a file cannot be written.
pub fn init(
    folder: &Path,
    agents: &[String],
    server: &ServerPlace,
) -> Result<FleetFiles, FleetError> {
    if folder.join(ACCOUNT).exists() {
        return Err(FleetError::Other(format!(
            "{} already has a fleet; `drumfire fleet add` adds agents to it",
            folder.display()
        )));
    }
    make_folder(&folder.join(AGENTS))?;
    let [operator_pair, account_pair, system_pair, sign_pair] = [
        KeyPairType::Operator,
        KeyPairType::Account,
        KeyPairType::Account,
        KeyPairType::User,
    ]
    .map(KeyPair::new);
    let files = FleetFiles {
        server: folder.join("nats.conf"),
        coordinator: folder.join("coordinator.creds"),
        sign: folder.join("coordinator.key"),
        trust: folder.join("trust.pub"),
        agents: Vec::new(),
    };
    let config = config(server, &operator_pair, &account_pair, &system_pair);
    let coordinator = user_credentials(&account_pair, "coordinator", None, None);
    let keys = format!("{}\n{}\n", seed(&sign_pair), seed(&account_pair));
    write(&folder.join("operator.seed"), &seed(&operator_pair))?;
    write(&files.server, &config)?;
    write(&files.coordinator, &coordinator)?;
    write(&files.sign, &keys)?;
    write(&files.trust, &format!("{}\n", sign_pair.public_key()))?;
    // Written last, so that a folder that contains it is complete.
    write(&folder.join(ACCOUNT), &seed(&account_pair))?;
    let added = agents.iter().map(|name| add_agent(folder, name));
    let agents = added.collect::<Result<Vec<_>, _>>()?;
    Ok(FleetFiles { agents, ..files })
}

/// Writes the credentials of one more agent. The server does not have to know.
///
/// # Errors
/// If the folder has no fleet, the name is not valid, or the file cannot be written.
pub fn add_agent(folder: &Path, name: &str) -> Result<PathBuf, FleetError> {
    if !is_token(name) {
        return Err(FleetError::Other(format!(
            "`{name}` is not a valid agent name; use letters, digits, `-` and `_`"
        )));
    }
    let file = folder.join(ACCOUNT);
    let wrong = |why: String| {
        FleetError::Other(format!(
            "{}: {why}; `drumfire fleet init` makes a fleet",
            file.display()
        ))
    };
    let text = fs::read_to_string(&file).map_err(|error| wrong(cause(&error)))?;
    let pair = KeyPair::from_seed(text.trim()).map_err(|error| wrong(error.to_string()))?;
    let target = folder.join(AGENTS).join(format!("{name}.creds"));
    let rights = idle_rights(name);
    write(&target, &user_credentials(&pair, name, Some(&rights), None))?;
    Ok(target)
}

fn config(
    server: &ServerPlace,
    operator_pair: &KeyPair,
    account_pair: &KeyPair,
    system_pair: &KeyPair,
) -> String {
    let of = |pair: &KeyPair, name: &str, claims| {
        jwt(operator_pair, &pair.public_key(), name, &claims, None)
    };
    let port = server.port;
    let store = format!("{}-store", server.folder.display());
    let tls = server.has_tls.then(|| {
        let [certificate, key] =
            [CERTIFICATE, CERTIFICATE_KEY].map(|file| quoted(server.folder.join(file)));
        format!("tls {{ cert_file: {certificate}, key_file: {key} }}\n")
    });
    format!(
        "# Written by drumfire fleet init.\nport: {port}\n{}# Rights for one run are long.\nmax_control_line: 262144\njetstream {{ store_dir: {:?} }}\noperator: {}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{\n  {}: {}\n  {}: {}\n}}\n",
        tls.unwrap_or_default(),
        store,
        of(operator_pair, "drumfire", operator()),
        system_pair.public_key(),
        account_pair.public_key(),
        of(account_pair, "runs", account(true)),
        system_pair.public_key(),
        of(system_pair, "system", account(false)),
    )
}

fn quoted(path: PathBuf) -> String {
    format!("{:?}", path.display().to_string())
}

fn make_folder(folder: &Path) -> Result<(), FleetError> {
    let made = fs::create_dir_all(folder);
    made.map_err(|error| FleetError::Other(unwritable(folder, &error)))
}

/// Writes a new file that only its owner may read.
///
/// # Errors
/// If the file exists, or cannot be written.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    drumfire_platform::files::private(path)?.write_all(text.as_bytes())
}

fn write(path: &Path, text: &str) -> Result<(), FleetError> {
    write_private(path, text).map_err(|error| FleetError::Other(unwritable(path, &error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fleet_is_made_once_and_grows() {
        let folder = tempfile::tempdir().expect("there is room");
        let names = ["a".to_owned(), "b".to_owned()];
        let server = ServerPlace {
            port: 4222,
            folder: folder.path().to_path_buf(),
            has_tls: false,
        };
        let files = init(folder.path(), &names, &server).expect("it is new");
        assert_eq!(files.agents.len(), 2);
        assert!(
            init(folder.path(), &names, &server).is_err(),
            "there is one"
        );
        assert!(add_agent(folder.path(), "c").is_ok());
        assert!(
            add_agent(folder.path(), "c").is_err(),
            "there is such an agent"
        );
        assert!(add_agent(folder.path(), "c/d").is_err());
        let config = fs::read_to_string(files.server).expect("it is there");
        assert!(config.contains("operator: eyJ") && config.contains("resolver: MEMORY"));
    }
}
