//! A private mail server for POP3 and IMAP, if Dovecot is installed. Dropping it ends it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::ports::{free_port, wait_for_port};
use crate::smtp::{ACCOUNT, certificate_files};

/// The user who owns the mails where the tests run as root: Dovecot serves nobody as root.
#[cfg(unix)]
const NOBODY: u32 = 65_534;

/// A Dovecot server on 127.0.0.1, with the mailbox of [`ACCOUNT`].
pub struct Dovecot {
    /// The port of POP3, which offers STLS.
    pub pop3_port: u16,
    /// The port of POP3 over TLS.
    pub pop3s_port: u16,
    /// The port of IMAP, which offers STARTTLS.
    pub imap_port: u16,
    /// The port of IMAP over TLS.
    pub imaps_port: u16,
    server: Child,
    _folder: tempfile::TempDir,
}

impl Dovecot {
    /// Starts a server whose mailbox holds these mails, in their order. Its certificate is that of `certificates`, see
    /// [`crate::smtp::SmtpServer::start`]. Without an installation it prints a line about that and returns `None`.
    ///
    /// # Panics
    /// The server does not start.
    pub fn start(certificates: Option<&Path>, mails: &[Vec<u8>]) -> Option<Dovecot> {
        let program = Path::new("/usr/sbin/dovecot");
        if !program.exists() {
            println!(
                "skipped: this machine has no Dovecot (packages dovecot-imapd, dovecot-pop3d)"
            );
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let ports = [(); 4].map(|()| free_port());
        let inbox = folder.path().join("mail/new");
        for name in ["cur", "new", "tmp"] {
            let path = folder.path().join("mail").join(name);
            fs::create_dir_all(path).expect("the folder is writable");
        }
        for (index, mail) in mails.iter().enumerate() {
            let path = inbox.join(format!("{index:04}.test"));
            fs::write(path, mail).expect("the folder is writable");
        }
        let settings = settings(folder.path(), certificates, ports);
        let file = folder.path().join("dovecot.conf");
        fs::write(&file, settings).expect("the folder is writable");
        let server = Command::new(program)
            .args(["-F", "-c"])
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let [pop3_port, pop3s_port, imap_port, imaps_port] = ports;
        let mut server = server.expect("dovecot can be started");
        wait_for_port("dovecot", &mut server, imaps_port);
        Some(Dovecot {
            pop3_port,
            pop3s_port,
            imap_port,
            imaps_port,
            server,
            _folder: folder,
        })
    }

    /// The ports by the properties from which the plans of compat/ read them.
    pub fn ports(&self) -> [(&'static str, u16); 4] {
        [
            ("pop3_port", self.pop3_port),
            ("pop3s_port", self.pop3s_port),
            ("imap_port", self.imap_port),
            ("imaps_port", self.imaps_port),
        ]
    }
}

impl Drop for Dovecot {
    fn drop(&mut self) {
        // Its master ends its other processes when it is told to, and not when it is killed.
        let id = self.server.id().to_string();
        let told = Command::new("kill").args(["-TERM", &id]).status();
        if told.is_err() {
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
    }
}

/// The owner of the mails, and the users of Dovecot's processes.
#[cfg(unix)]
fn users(folder: &Path) -> (String, String) {
    use std::os::unix::fs::{MetadataExt as _, chown};

    let owner = fs::metadata(folder).expect("it has just been made");
    if owner.uid() != 0 {
        let name = std::env::var("USER").unwrap_or_default();
        let users = format!("default_internal_user = {name}\ndefault_login_user = {name}\n");
        return (format!("uid={} gid={}", owner.uid(), owner.gid()), users);
    }
    let mut paths: Vec<PathBuf> = vec![folder.join("mail")];
    while let Some(path) = paths.pop() {
        chown(&path, Some(NOBODY), Some(NOBODY)).expect("root may do that");
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("the folder can be read");
            paths.extend(entries.flatten().map(|entry| entry.path()));
        }
    }
    // The owner must reach the mails.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder, open).expect("the folder is this process's");
    (format!("uid={NOBODY} gid={NOBODY}"), String::new())
}

#[cfg(not(unix))]
fn users(_: &Path) -> (String, String) {
    (String::new(), String::new())
}

fn settings(folder: &Path, certificates: Option<&Path>, ports: [u16; 4]) -> String {
    let (owner, users) = users(folder);
    let (chain, key) = certificate_files(certificates, folder).expect("the folder is writable");
    let (user, password) = ACCOUNT;
    let accounts = folder.join("accounts");
    fs::write(&accounts, format!("{user}:{{PLAIN}}{password}::::::\n"))
        .expect("the folder is writable");
    let at = folder.display();
    let services = [
        ("pop3", "pop3", ports[0]),
        ("pop3", "pop3s", ports[1]),
        ("imap", "imap", ports[2]),
        ("imap", "imaps", ports[3]),
    ];
    let listeners: String = services
        .iter()
        .map(|(service, name, port)| {
            let inner = format!("inet_listener {name} {{\n    port = {port}\n  }}");
            format!("service {service}-login {{\n  chroot =\n  {inner}\n}}\n")
        })
        .collect();
    format!(
        "base_dir = {at}/run\nstate_dir = {at}/state\nlog_path = {at}/log\nprotocols = imap pop3\nlisten = 127.0.0.1\n\
         {users}ssl = yes\nssl_cert = <{}\nssl_key = <{}\nssl_dh =\ndisable_plaintext_auth = no\nauth_mechanisms = plain login\n\
         auth_failure_delay = 0\nmail_location = maildir:{at}/mail\nfirst_valid_uid = 0\n\
         passdb {{\n  driver = passwd-file\n  args = {}\n}}\n\
         userdb {{\n  driver = static\n  args = {owner} home={at}/mail\n}}\n\
         {listeners}service anvil {{\n  chroot =\n}}\nservice stats {{\n  chroot =\n}}\n",
        chain.display(),
        key.display(),
        accounts.display(),
    )
}
