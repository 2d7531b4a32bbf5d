//! Starts `drumfire lsp` for Zed.

use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree};

struct Drumfire;

impl zed::Extension for Drumfire {
    fn new() -> Self {
        Drumfire
    }

    fn language_server_command(&mut self, _: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let command = worktree
            .which("drumfire")
            .ok_or("`drumfire` is not on the path: install it")?;
        Ok(Command {
            command,
            args: vec!["lsp".to_owned()],
            env: worktree.shell_env(),
        })
    }
}

zed::register_extension!(Drumfire);
