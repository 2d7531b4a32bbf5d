//! A reader who pastes the commands of a page: in an empty folder outside of the clone, with an empty home, and with the program
//! on the path.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use drumfire_testkit::program::{LIMIT, without_note};
use tempfile::TempDir;

use super::blocks::{Block, Page, ShownCommand, root};
use super::shown::is_shown;
use super::words::split;

/// The port of `drumfire demo`. The test starts it on a free port and puts that one into the commands.
const DEMO: &str = "8080";

/// The reader of one page. The files of a block are there for the next one.
pub struct Reader {
    folder: TempDir,
    home: TempDir,
    /// Commands that go on in the background.
    background: Vec<Child>,
    /// The port of the demo site.
    demo: Option<String>,
}

impl Reader {
    /// A reader of this page. If the page says that it is read in the folder of the clone, the folder has the examples.
    pub fn of(page: &Page) -> Reader {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        if page.is_read_in_the_clone() {
            copy(&root().join("examples"), &folder.path().join("examples"));
        }
        Reader {
            folder,
            home: tempfile::tempdir().expect("a temporary folder can be made"),
            background: Vec::new(),
            demo: None,
        }
    }

    /// Runs the commands of a block, and returns what is not as the page says.
    pub fn paste(&mut self, page: &Page, block: &Block) -> Vec<String> {
        if let Some(program) = &block.needs
            && !is_on_path(program)
        {
            println!("{}:{}: {program} is not installed", page.name, block.line);
            return Vec::new();
        }
        let mut faults = Vec::new();
        for command in block.commands() {
            // The check of releases runs these, since each builds the program.
            let is_cargo = |words: &Vec<String>| words[0] == "cargo";
            if split(&command.text).iter().any(is_cargo) {
                continue;
            }
            if let Err(fault) = self.follow(&command) {
                faults.push(format!("{}:{}: {fault}", page.name, block.line));
            }
        }
        faults
    }

    /// The output of the program with these words.
    pub fn output(&self, words: &[&str]) -> String {
        let output = self.environment("drumfire").args(words).output();
        let output = output.expect("the program is built");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn follow(&mut self, command: &ShownCommand) -> Result<(), String> {
        let text = match &self.demo {
            Some(port) => command.text.replace(DEMO, port),
            None => command.text.clone(),
        };
        if let Some(text) = without_remark(&text).strip_suffix('&')
            && text.starts_with("drumfire ")
        {
            return self.start(text);
        }
        let limit = LIMIT.as_secs().to_string();
        let output = self
            .environment("timeout")
            .args([&limit, "sh", "-c", &text])
            .output()
            .expect("there are a shell and `timeout`");
        let mut printed = String::from_utf8_lossy(&output.stdout).into_owned();
        printed.push_str(&without_note(&String::from_utf8_lossy(&output.stderr)));
        let code = output.status.code().unwrap_or(-1);
        if !command.codes.contains(&code) {
            let announced = &command.codes;
            return Err(format!(
                "`{text}` ends with {code}, the page says {announced:?}\n{printed}"
            ));
        }
        if printed.contains("first failure: ") && !command.text.contains("requests fail") {
            let why = "sends requests that fail, and the page does not say so";
            return Err(format!("`{text}` {why}\n{printed}"));
        }
        let lines: Vec<&str> = printed.lines().collect();
        match &command.output {
            Some(shown) if !is_shown(shown, &lines) => Err(format!("`{text}` prints\n{printed}")),
            _ => Ok(()),
        }
    }

    /// Starts a command that goes on in the background, and waits for the address that it prints.
    fn start(&mut self, text: &str) -> Result<(), String> {
        let is_demo = text.trim() == "drumfire demo";
        let (ports, address) = if is_demo {
            (" --port 0 --https-port 0", "demo site  http://")
        } else {
            ("", "live page  http://")
        };
        let mut child = self
            .environment("sh")
            .args(["-c", &format!("exec {}{ports}", text.trim())])
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let output = child.stdout.take().expect("it is piped");
        self.background.push(child);
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let line = lines.find_map(|line| line.strip_prefix(address).map(str::to_owned));
        let line = line.ok_or_else(|| format!("`{text}` prints no `{address}`"))?;
        // Read on, so that the command never writes to a closed pipe.
        std::thread::spawn(move || lines.for_each(drop));
        if is_demo {
            let (_, port) = line.trim_end_matches('/').split_once(':').expect("a port");
            self.demo = Some(port.to_owned());
        }
        Ok(())
    }

    /// A program with the reader's environment.
    fn environment(&self, program: &str) -> Command {
        let drumfire = Path::new(env!("CARGO_BIN_EXE_drumfire"));
        let folder = drumfire.parent().expect("a file is in a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .env_clear()
            .env("PATH", format!("{}:{path}", folder.display()))
            .env("HOME", self.home.path())
            .env("NO_COLOR", "1");
        command
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        for child in &mut self.background {
            // The command may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn without_remark(text: &str) -> &str {
    text.split_once(" # ")
        .map_or(text, |(command, _)| command)
        .trim()
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder in the temporary folder can be made");
    for file in std::fs::read_dir(from).expect("the clone has the folder") {
        let file = file.expect("the folder can be read").path();
        let name = file.file_name().expect("a file has a name");
        std::fs::copy(&file, to.join(name)).expect("a file in the temporary folder can be written");
    }
}
