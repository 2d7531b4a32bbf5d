//! A private FTP server, if vsftpd is installed. Dropping it ends it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::ports::{free_port, wait_for_port};

/// A vsftpd on 127.0.0.1 for the user `anonymous`, who may come with any password but `wrong`. Its folder `upload` takes files.
pub struct Vsftpd {
    /// Its port.
    pub port: u16,
    server: Child,
    folder: tempfile::TempDir,
}

impl Vsftpd {
    /// Starts a server. Without an installation it prints a line about that and returns `None`.
    ///
    /// # Panics
    /// The server does not start.
    pub fn start() -> Option<Vsftpd> {
        let usual = Path::new("/usr/sbin/vsftpd");
        let program = if usual.exists() {
            usual
        } else {
            Path::new("vsftpd")
        };
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let port = free_port();
        let own = folder.path().display();
        let settings = format!(
            "listen=YES\nlisten_address=127.0.0.1\nlisten_port={port}\nbackground=NO\nrun_as_launching_user=YES\nseccomp_sandbox=NO\n\
             anonymous_enable=YES\nanon_root={own}/files\nanon_max_rate=0\nmax_per_ip=0\nmax_login_fails=1\ndelay_failed_login=0\n\
             write_enable=YES\nanon_upload_enable=YES\nanon_other_write_enable=YES\nanon_umask=022\n\
             deny_email_enable=YES\nbanned_email_file={own}/banned\nsecure_chroot_dir={own}/empty\nxferlog_enable=NO\n"
        );
        let made =
            ["files/upload", "empty"].map(|name| fs::create_dir_all(folder.path().join(name)));
        let files = [("banned", "wrong\n"), ("vsftpd.conf", &settings)];
        let written = files.map(|(name, text)| fs::write(folder.path().join(name), text));
        for done in made.into_iter().chain(written) {
            done.expect("the folder is writable");
        }
        let server = Command::new(program)
            .arg(folder.path().join("vsftpd.conf"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut server) = server else {
            println!("skipped: this machine has no vsftpd (package vsftpd)");
            return None;
        };
        wait_for_port("vsftpd", &mut server, port);
        Some(Vsftpd {
            port,
            server,
            folder,
        })
    }

    /// A file of the server.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("files").join(name)
    }
}

impl Drop for Vsftpd {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
