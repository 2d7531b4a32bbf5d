//! Compiles the programs of a release with Zig's linker, so that they run on old systems, and lets them write their man pages.
//!
//! There are two kinds. The *dynamic* one needs glibc 2.17 or newer and can load Java; the *static* one is linked with musl,
//! needs no library, and cannot load Java.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use drumfire_platform::progress::Work;
use serde_json::json;
use xtask::{FEATURES, output, profile, root, run};

use crate::{PackagingOptions, Release, copy, empty};

/// Zig and the cargo subcommand that links with it, with their versions on PyPI.
const TOOLS: [&str; 2] = ["ziglang==0.17.1", "cargo-zigbuild==0.24.0"];

/// The variable with the time that packers write, and C's compiler for `__DATE__` and `__TIME__`, which mimalloc contains.
pub const DATE: &str = "SOURCE_DATE_EPOCH";

/// A compiled program.
#[derive(Clone, Debug)]
pub struct BuiltProgram {
    /// The processor, as Rust names it.
    pub cpu: &'static str,
    /// Whether it is linked statically, without Java.
    pub is_static: bool,
    /// The executable.
    pub file: PathBuf,
}

impl BuiltProgram {
    /// The name of its archive, without the ending: `drumfire-0.1.0-linux-x86_64`, or `…-linux-x86_64-static`.
    pub fn archive_name(&self) -> String {
        let kind = if self.is_static { "-static" } else { "" };
        format!("drumfire-{}-linux-{}{kind}", crate::VERSION, self.cpu)
    }
}

/// The programs of packages that already exist: only their names are used.
pub fn names() -> Vec<BuiltProgram> {
    X86_64.map(|target| target.built(PathBuf::new())).into()
}

/// The programs of an order: x86_64 dynamic, x86_64 static, then those for aarch64. Those that the order does not give are where
/// [`missing`] builds them.
///
/// # Errors
/// The current folder is gone.
pub fn programs(order: &PackagingOptions, folder: &Path) -> anyhow::Result<Vec<BuiltProgram>> {
    let build = Build::of(order, folder);
    let programs = targets(order).into_iter().map(|(target, given)| {
        let file = match given {
            Some(file) => std::path::absolute(file)?,
            None => build.program(target),
        };
        Ok(target.built(file))
    });
    programs.collect()
}

/// Builds the programs that the order does not give.
///
/// # Errors
/// Python or a target of the toolchain is missing, or a build fails.
pub fn missing(order: &PackagingOptions, folder: &Path) -> anyhow::Result<()> {
    let build = Build::of(order, folder);
    // cargo unites the features of all targets of a call. So the programs of a processor are the same in every order.
    for cpu in ["x86_64", "aarch64"] {
        let targets = targets(order).into_iter();
        let missing: Vec<Target> = targets
            .filter(|(target, given)| target.cpu == cpu && given.is_none())
            .map(|(target, _)| target)
            .collect();
        build.run(&missing)?;
    }
    Ok(())
}

/// The targets of an order, each with the program that the order gives for it.
fn targets(order: &PackagingOptions) -> Vec<(Target, Option<&Path>)> {
    let given = [order.dynamic.as_deref(), order.r#static.as_deref()];
    let mut targets: Vec<_> = X86_64.into_iter().zip(given).collect();
    if order.all {
        targets.extend(X86_64.map(|target| (target.on("aarch64"), None)));
    }
    targets
}

/// Builds the x86_64 programs again from a copy of the sources in another folder, and checks that the bytes are the same.
pub fn again(release: &Release, order: &PackagingOptions, folder: &Path) -> anyhow::Result<()> {
    let build = Build {
        sources: release.work.join("elsewhere"),
        target_folder: folder.join("again"),
        ..Build::of(order, folder)
    };
    run(Command::new("git")
        .args(["clone", "--quiet"])
        .args([&root(), &build.sources]))?;
    build.run(&X86_64)?;
    for (first, target) in release.programs.iter().zip(X86_64) {
        let (first, second) = (&first.file, build.program(target));
        if std::fs::read(first)? != std::fs::read(&second)? {
            bail!(
                "{} and {} differ: the build is not reproducible",
                second.display(),
                first.display()
            );
        }
    }
    println!("built twice in different folders: the same bytes");
    Ok(())
}

/// Lets a program write its man pages and completions below `share`, and adds licences and examples.
pub fn describe(program: &BuiltProgram, share: &Path) -> anyhow::Result<()> {
    run(Command::new(&program.file)
        .arg("man")
        .arg(share.join("man/man1")))?;
    for (shell, file) in [
        ("bash", "bash-completion/completions/drumfire"),
        ("zsh", "zsh/site-functions/_drumfire"),
        ("fish", "fish/vendor_completions.d/drumfire.fish"),
        ("powershell", "powershell/drumfire.ps1"),
    ] {
        let completions = output(Command::new(&program.file).args(["completions", shell]))?;
        crate::write(&share.join(file), completions)?;
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

/// A processor and a way to link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Target {
    cpu: &'static str,
    is_static: bool,
}

/// The dynamic program for x86_64 and the static one.
pub const X86_64: [Target; 2] = [
    Target {
        cpu: "x86_64",
        is_static: false,
    },
    Target {
        cpu: "x86_64",
        is_static: true,
    },
];

impl Target {
    fn on(self, cpu: &'static str) -> Target {
        Target { cpu, ..self }
    }

    fn built(self, file: PathBuf) -> BuiltProgram {
        BuiltProgram {
            cpu: self.cpu,
            is_static: self.is_static,
            file,
        }
    }

    /// As Rust names it.
    pub fn name(self) -> String {
        let libc = if self.is_static { "musl" } else { "gnu" };
        format!("{}-unknown-linux-{libc}", self.cpu)
    }

    /// As cargo-zigbuild names it: with the version of glibc.
    fn with_version(self) -> String {
        let version = if self.is_static { "" } else { ".2.17" };
        self.name() + version
    }
}

/// A call of cargo. It builds for several targets at once, so that two of them share the time.
struct Build {
    sources: PathBuf,
    /// Zig is installed here.
    folder: PathBuf,
    /// cargo works here.
    target_folder: PathBuf,
    /// The profile by which the compiler lays out the dynamic program for x86_64.
    profile: Option<PathBuf>,
}

impl Build {
    fn of(order: &PackagingOptions, folder: &Path) -> Build {
        Build {
            sources: root(),
            folder: folder.to_path_buf(),
            target_folder: folder.join("build"),
            profile: order.profile.clone(),
        }
    }

    /// The executable for a target.
    fn program(&self, target: Target) -> PathBuf {
        self.target_folder.join(target.name()).join("dist/drumfire")
    }

    fn run(&self, targets: &[Target]) -> anyhow::Result<()> {
        if targets.is_empty() {
            return Ok(());
        }
        let tools = tools(&self.folder)?;
        let names = targets.iter().map(|target| target.name());
        run(Command::new("rustup")
            .args(["--quiet", "target", "add"])
            .args(names))
        .context("rustup has the standard library of other targets")?;
        let mut command = Command::new(tools.join("cargo-zigbuild"));
        command.args(["zigbuild", "--quiet", "--locked", "--profile", "dist"]);
        command.args(["--package", "drumfire", "--features", FEATURES]);
        let (flags, c_flags) = self.flags()?;
        for &target in targets {
            let mut flags = flags.clone();
            if let Some(profile) = self.profile_of(target) {
                // cargo rebuilds downloaded crates for another path in an option, but not for another content of the file.
                empty(&self.target_folder.join(target.name()))?;
                flags.extend(profile::guided(profile));
            }
            let setting = format!("target.{}.rustflags={}", target.name(), json!(flags));
            command.arg("--target").arg(target.with_version());
            command.arg("--config").arg(setting);
        }
        for other in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
            command.env_remove(other);
        }
        command.arg("--target-dir").arg(&self.target_folder);
        let mut path = OsString::from(&tools);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        command.env("PATH", path).current_dir(&self.sources);
        command.env("CFLAGS", c_flags.join(" "));
        command.env(DATE, crate::commit_time()?.to_string());
        let labels: Vec<String> = targets.iter().map(|target| target.with_version()).collect();
        let task = format!("building {}", labels.join(", "));
        println!("{task}");
        let progress = Work::begin(task);
        run(&mut command)?;
        drop(progress);
        for &target in targets {
            if let Some(profile) = self.profile_of(target) {
                profile::check(profile, &self.program(target))?;
            }
        }
        Ok(())
    }

    /// The profile is of the dynamic program for x86_64 and would only make others larger.
    fn profile_of(&self, target: Target) -> Option<&Path> {
        self.profile.as_deref().filter(|_| target == X86_64[0])
    }

    /// The options of the compilers for Rust and for C.
    fn flags(&self) -> anyhow::Result<(Vec<String>, Vec<String>)> {
        let cargo_home = std::env::var_os("CARGO_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(std::env::home_dir()?.join(".cargo")))
            .context("there is no home folder")?;
        // Paths of this machine would make the bytes depend on the folder.
        let mapped = [
            (self.sources.as_path(), "/drumfire"),
            (&cargo_home, "/cargo"),
            (&self.target_folder, "/build"),
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
        let mut c_flags = map("-ffile-prefix-map");
        // As a definition, too, because Zig's cache does not know the variable.
        c_flags.push(format!("-D{DATE}={}", crate::commit_time()?));
        Ok((flags, c_flags))
    }
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
