//! The certificate authorities that outputs, sources of metrics and downloads trust in addition to the system's (`--tls-ca
//! FILE`).

use std::path::Path;

use drumfire_authorities::Authorities;

use crate::refusal::Refusal;
use crate::settings::options::{Change, PropertyOptions};
use crate::settings::properties::RunProperties;

/// The property that names the file, for JMeter's command line and `drumfire.toml`.
pub const TLS_CA: &str = "drumfire.tls_ca";

/// Sets the property to the file of `--tls-ca`. The path is made absolute, because agents on this machine have working
/// folders of their own.
pub fn trust(properties: &mut PropertyOptions, file: Option<&Path>) {
    properties.changes.extend(file.map(|file| {
        let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
        Change::Property(TLS_CA.to_owned(), whole.to_string_lossy().into_owned())
    }));
}

/// The authorities of a run.
///
/// # Errors
/// If the file cannot be read or has no certificates.
pub fn of(settings: &RunProperties) -> Result<Authorities, Refusal> {
    match settings
        .properties
        .get(TLS_CA)
        .filter(|file| !file.is_empty())
    {
        Some(file) => Authorities::read(Path::new(file))
            .map_err(|error| Refusal::usage(format!("`--tls-ca`: {error}"))),
        None => Ok(Authorities::default()),
    }
}
