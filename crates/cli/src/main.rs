//! The `drumfire` command.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use drumfire_commands::console::Console;
use drumfire_commands::dispatch;
use drumfire_commands::engine::{Engine, JavaBridge};
use drumfire_commands::terminal::escape;
use drumfire_commands::terminal::live::error_columns;
use drumfire_commands::terminal::style::Style;

// A statically linked program cannot load a library.
#[cfg(all(feature = "jvm", not(target_env = "musl")))]
mod java;

#[cfg(all(feature = "jvm", not(target_env = "musl")))]
const JAVA: JavaBridge = java::BRIDGE;
#[cfg(not(all(feature = "jvm", not(target_env = "musl"))))]
const JAVA: JavaBridge = JavaBridge::NONE;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let words: Result<Vec<String>, _> = std::env::args_os()
        .skip(1)
        .map(std::ffi::OsString::into_string)
        .collect();
    let Ok(words) = words else {
        eprintln!("error: the command line is not UTF-8");
        return drumfire_commands::exit_codes::Exit::Usage.into();
    };
    // Outputs, probes and `ctl` use HTTPS through a library that has no cryptography of its own. Only the first installation
    // takes effect.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    drumfire_health::raise_open_files();
    drumfire_commands::signals::survive_file_limits();
    // Not locked: another thread prints messages to the run.
    let (mut out, mut err) = (io::stdout(), io::stderr());
    std::panic::set_hook(Box::new(|panic| {
        let text = format!("{panic}\n");
        eprint!("{}", escape::text(&drumfire_platform::secrets::text(&text)));
    }));
    let mut console = Console {
        style: Style::of(&out),
        err_style: Style::of(&err),
        is_terminal: out.is_terminal()
            && std::env::var_os("TERM").is_some_and(|value| value != "dumb"),
        is_optimized: !cfg!(debug_assertions),
        err_columns: err.is_terminal().then(error_columns),
        variable: &drumfire_platform::variable,
        out: &mut out,
        err: &mut err,
    };
    let exit = dispatch::execute(&words, &Engine { java: JAVA }, &mut console);
    let exit = console.end(exit);
    #[cfg(feature = "jvm")]
    drumfire_jvm::leave_after_crash(exit.code());
    exit.into()
}
