//! The entry point of the fuzz target `lsp`; built only with `--cfg fuzzing`.

use lsp_server::Message;

use crate::transport;

/// The messages in an editor's bytes, up to the first that is refused.
pub fn messages(mut bytes: &[u8]) -> Vec<Message> {
    std::iter::from_fn(|| transport::next(&mut bytes).ok().flatten()).collect()
}
