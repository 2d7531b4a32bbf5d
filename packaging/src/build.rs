//! Compiles the programs of a release with Zig's linker, so that they run on old systems, and lets them write their man pages.
//!
//! There are two kinds. The *dynamic* one needs glibc 2.17 or newer and can load Java; the *static* one is linked with musl,
//! needs no library, and cannot load Java.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use anyhow::{Context as _, bail};
use xtask::{root, run};

use crate::{Order, Release, copy};

/// Zig and the cargo subcommand that links with it, with their versions on PyPI.
const TOOLS: [&str; 2] = ["ziglang==0.17.1", "cargo-zigbuild==0.24.0"];

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The processor, as Rust names it.
    pub cpu: &'static str,
    /// Whether it is linked statically, without Java.
    pub is_static: bool,
    /// The executable.
    pub file: PathBuf,
}

impl Program {
    /// The name of its archive, without the ending: `drumfire-0.1.0-linux-x86_64`, or `…-linux-x86_64-static`.
    pub fn archive_name(&self) -> String {
        let kind = if self.is_static { "-static" } else { "" };
        format!("drumfire-{}-linux-{}{kind}", crate::VERSION, self.cpu)
    }

    fn target(cpu: &str, is_static: bool) -> String {
        match is_static {
            true => format!("{cpu}-unknown-linux-musl"),
            false => format!("{cpu}-unknown-linux-gnu"),
        }
    }
}

/// The programs of packages that already exist: only their names are used.
pub fn names() -> Vec<Program> {
    [false, true]
        .map(|is_static| Program {
            cpu: "x86_64",
            is_static,
            file: PathBuf::new(),
        })
        .into()
}

/// Builds the programs of an order: x86_64 dynamic, x86_64 static, then those for aarch64.
///
/// # Errors
/// Python or a target of the toolchain is missing, or a build fails.
pub fn programs(order: &Order, folder: &Path) -> anyhow::Result<Vec<Program>> {
    let mut wanted = vec![
        ("x86_64", false, &order.dynamic),
        ("x86_64", true, &order.r#static),
    ];
    if order.all {
        wanted.extend([("aarch64", false, &None), ("aarch64", true, &None)]);
    }
    let mut programs = Vec::new();
    let mut builds = Vec::new();
    for (cpu, is_static, given) in wanted {
        let file = match given {
            Some(file) => std::path::absolute(file)?,
            None => {
                let (build, file) = Build::new(folder, &root(), cpu, is_static)?;
                let build = build.by_profile(order.profile.as_deref());
                builds.push(build);
                file
            }
        };
        programs.push(Program {
            cpu,
            is_static,
            file,
        });
    }
    // Most of a build is a single-threaded linker, so two builds run at a time.
    for pair in builds.chunks(2) {
        let mut children = Vec::new();
        for build in pair {
            children.push(build.start()?);
        }
        for child in children {
            finish(child)?;
        }
    }
    Ok(programs)
}

/// Builds the static x86_64 program again from a copy of the sources in another folder, and checks that the bytes are the same.
pub fn again(release: &Release, folder: &Path, profile: Option<&Path>) -> anyhow::Result<()> {
    let elsewhere = release.work.join("elsewhere");
    run(Command::new("git")
        .args(["clone", "--quiet"])
        .arg(root())
        .arg(&elsewhere))?;
    let (build, file) = Build::new(&folder.join("again"), &elsewhere, "x86_64", true)?;
    finish(build.by_profile(profile).start()?)?;
    if std::fs::read(&file)? != std::fs::read(&release.r#static().file)? {
        bail!(
            "{} and {} differ: the build is not reproducible",
            file.display(),
            release.r#static().file.display()
        );
    }
    println!("built twice in different folders: the same bytes");
    Ok(())
}

/// Lets a program write its man pages and completions below `share`, and adds licences and examples.
pub fn describe(program: &Program, share: &Path) -> anyhow::Result<()> {
    run(Command::new(&program.file)
        .arg("man")
        .arg(share.join("man/man1")))?;
    for (shell, file) in [
        ("bash", "bash-completion/completions/drumfire"),
        ("zsh", "zsh/site-functions/_drumfire"),
        ("fish", "fish/vendor_completions.d/drumfire.fish"),
        ("powershell", "powershell/drumfire.ps1"),
    ] {
        let output = Command::new(&program.file)
            .args(["completions", shell])
            .output()?;
        if !output.status.success() {
            bail!("drumfire completions {shell}: {}", output.status);
        }
        crate::write(&share.join(file), output.stdout)?;
    }
    for file in ["LICENSE", "NOTICE"] {
        copy(&root().join(file), &share.join("doc/drumfire").join(file))?;
    }
    for file in ["quickstart.jmx", "users.csv"] {
        copy(
            &root().join("examples").join(file),
            &share.join("drumfire/examples").join(file),
        )?;
    }
    Ok(())
}

/// One cargo build.
struct Build {
    tools: PathBuf,
    sources: PathBuf,
    folder: PathBuf,
    /// The target for cargo-zigbuild, including the version of glibc.
    target: String,
    is_static: bool,
    /// The profile by which the compiler lays out the program.
    profile: Option<PathBuf>,
}

impl Build {
    /// Prepares a build of `sources`; also returns the file that it will write.
    fn new(
        folder: &Path,
        sources: &Path,
        cpu: &str,
        is_static: bool,
    ) -> anyhow::Result<(Build, PathBuf)> {
        let tools = tools(folder)?;
        let target = Program::target(cpu, is_static);
        run(Command::new("rustup").args(["--quiet", "target", "add", &target]))
            .context("rustup has the standard library of other targets")?;
        // Each build has its own folder, because cargo locks it while building.
        let folder = folder.join("build").join(&target);
        let file = folder.join(&target).join("dist/drumfire");
        let target = if is_static {
            target
        } else {
            format!("{target}.2.17")
        };
        Ok((
            Build {
                tools,
                sources: sources.to_path_buf(),
                folder,
                target,
                is_static,
                profile: None,
            },
            file,
        ))
    }

    fn by_profile(self, profile: Option<&Path>) -> Build {
        Build {
            profile: profile.map(Path::to_path_buf),
            ..self
        }
    }

    fn start(&self) -> anyhow::Result<Child> {
        let mut command = Command::new(self.tools.join("cargo-zigbuild"));
        command.args([
            "zigbuild",
            "--quiet",
            "--locked",
            "--package",
            "drumfire",
            "--profile",
            "dist",
        ]);
        command
            .arg("--target")
            .arg(&self.target)
            .arg("--target-dir")
            .arg(&self.folder);
        match self.is_static {
            true => command.args(["--no-default-features", "--features", "jdbc,http3"]),
            false => command.args(["--features", "http3"]),
        };
        let mut path = OsString::from(&self.tools);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        command.env("PATH", path).current_dir(&self.sources);
        let (flags, c_flags) = self.flags()?;
        command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
        command.env("CFLAGS", c_flags.join(" "));
        println!("building {}", self.target);
        command.spawn().with_context(|| format!("{command:?}"))
    }

    /// The options of the compilers for Rust and for C.
    fn flags(&self) -> anyhow::Result<(Vec<String>, Vec<String>)> {
        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo_home = cargo_home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
        let cargo_home = cargo_home.context("there is no home folder")?;
        // Paths of this machine would make the bytes depend on the folder.
        let mapped = [
            (self.sources.as_path(), "/drumfire"),
            (&cargo_home, "/cargo"),
            (&self.folder, "/build"),
        ];
        let map = |option: &str| -> Vec<String> {
            let options = mapped
                .iter()
                .map(|(from, to)| format!("{option}={}={to}", from.display()));
            options.collect()
        };
        let mut flags = map("--remap-path-prefix");
        // Position-independent code has 2 MB of relocations. Their packed form needs glibc 2.36.
        flags.push("-Crelocation-model=static".to_owned());
        if let Some(profile) = &self.profile {
            flags.push(format!("-Cprofile-use={}", profile.display()));
        }
        Ok((flags, map("-ffile-prefix-map")))
    }
}

fn finish(mut child: Child) -> anyhow::Result<()> {
    let status = child.wait()?;
    if !status.success() {
        bail!("cargo zigbuild: {status}");
    }
    Ok(())
}

/// Installs a Python environment with Zig, unless it exists.
fn tools(folder: &Path) -> anyhow::Result<PathBuf> {
    let tools = folder.join("tools");
    let bin = tools.join("bin");
    if !bin.join("cargo-zigbuild").is_file() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&tools))?;
        run(Command::new(bin.join("pip"))
            .args(["--quiet", "--disable-pip-version-check", "install"])
            .args(TOOLS))?;
    }
    Ok(bin)
}
