//! `cargo xtask wine`: builds the program for Windows, runs tests of the crates that differ there, and tries the program, all under
//! Wine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use xtask::{ScratchFolder, cargo, is_on_path, run, target};

const TARGET: &str = "x86_64-pc-windows-gnu";
const COMPILER: &str = "x86_64-w64-mingw32-gcc";
/// Debian does not put it on the path.
const LOADERS: [&str; 2] = ["/usr/lib/wine/wine64", "/usr/bin/wine64"];
/// Crates that have code of their own for Windows, paths, or line ends, and whose tests need no Unix.
const CRATES: [&str; 6] = ["platform", "jmx", "results", "report", "edit", "fleet"];
/// A library of Windows that Rust's needs and Wine before version 9 lacks.
const RANDOM: &str = "bcryptprimitives.dll";
const RANDOM_SOURCE: &str = "#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(unsigned char *to, size_t length) { return RtlGenRandom(to, (ULONG)length); }
";

/// A call of the program: its arguments, its standard input, and a text that it prints.
type Call = (&'static [&'static str], &'static str, &'static str);

const CALLS: [Call; 7] = [
    (&["new", "plan.jmx"], "", "wrote  plan.jmx"),
    (&["check", "plan.jmx"], "", "Runs."),
    (&["set", "plan.jmx", "Home page>path=/search"], "", ""),
    (
        &[
            "run",
            "--demo",
            "-Jseconds=3",
            "-l",
            "rows.jtl",
            "--report",
            "page.html",
        ],
        "",
        "verdict  ",
    ),
    (&["report", "rows.jtl", "-o", "report"], "", ""),
    (&["runs"], "", "quickstart"),
    (
        &["edit", "--stdio"],
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"open\",\"params\":{\"path\":\"plan.jmx\"}}\n",
        "\"type\":\"Test Plan\"",
    ),
];
/// Tried if `nats-server.exe` is in a folder of `WINEPATH`.
const FLEET: Call = (
    &["run", "--demo", "-Jseconds=3", "--agents", "local:2"],
    "",
    "local-002",
);

/// Builds, tests and tries.
///
/// # Errors
/// A tool is missing, a test fails, or a call of the program prints something else.
pub fn test() -> anyhow::Result<()> {
    let loader = LOADERS
        .into_iter()
        .map(PathBuf::from)
        .find(|file| file.exists());
    let Some(loader) = loader.filter(|_| is_on_path(COMPILER)) else {
        bail!(
            "Wine or its compiler is missing: run `apt-get install wine64 gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 nasm`, and `rustup target add {TARGET}`"
        );
    };
    let scratch = ScratchFolder::new("wine")?;
    let prefix = scratch.path().join("prefix");
    let wine = || {
        let mut command = Command::new(&loader);
        command.env("WINEPREFIX", &prefix).env("WINEDEBUG", "-all");
        command
    };
    run(wine().args(["wineboot", "-i"]))?;
    let system = prefix.join("drive_c/windows/system32");
    if !system.join(RANDOM).exists() {
        add_random(scratch.path(), &system)?;
    }
    let packages = CRATES.map(|name| format!("--package=drumfire-{name}"));
    run(cargo()
        .args([
            "test",
            "--quiet",
            "--no-fail-fast",
            "--target",
            TARGET,
            "--lib",
        ])
        .args(packages)
        .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", &loader)
        .env("WINEPREFIX", &prefix)
        .env("WINEDEBUG", "-all"))?;
    run(cargo().args(["build", "--quiet", "--package=drumfire", "--target", TARGET]))?;
    let program = target().join(TARGET).join("debug/drumfire.exe");
    let folder = prefix.join("drive_c/plans");
    fs::create_dir(&folder)?;
    for call in CALLS {
        try_call(wine().arg(&program).current_dir(&folder), call)?;
        if call.0[0] == "new" {
            with_windows_line_ends(&folder.join("plan.jmx"))?;
        }
    }
    if std::env::var_os("WINEPATH").is_some() {
        try_call(wine().arg(&program).current_dir(&folder), FLEET)?;
    } else {
        println!("skipped: agents, since WINEPATH names no folder with nats-server.exe");
    }
    let plan = fs::read_to_string(folder.join("plan.jmx"))?;
    if plan.lines().count() != plan.matches("\r\n").count() || !plan.contains("/search") {
        bail!("`set` has changed the line ends of the plan");
    }
    Ok(())
}

fn add_random(scratch: &Path, system: &Path) -> anyhow::Result<()> {
    let source = scratch.join("random.c");
    fs::write(&source, RANDOM_SOURCE)?;
    run(Command::new(COMPILER)
        .args(["-shared", "-o"])
        .arg(system.join(RANDOM))
        .arg(source)
        .arg("-ladvapi32"))
}

fn with_windows_line_ends(plan: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(plan)?.replace('\n', "\r\n");
    Ok(fs::write(plan, text)?)
}

fn try_call(command: &mut Command, (words, input, expected): Call) -> anyhow::Result<()> {
    println!("drumfire.exe {}", words.join(" "));
    let mut child = command
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("Wine does not start")?;
    if let Some(mut stdin) = child.stdin.take() {
        std::io::Write::write_all(&mut stdin, input.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !text.contains(expected) {
        bail!("{}, without `{expected}`:\n{text}", output.status);
    }
    Ok(())
}
