//! Resolves and fetches jars from Maven repositories, without Maven.
//!
//! | file | content |
//! |---|---|
//! | `artifact.rs` | coordinates |
//! | `version.rs` | the order of versions, and ranges of them |
//! | `settings.rs` | mirrors, proxies and credentials of the user's `settings.xml` |
//! | `repository.rs` | finds a file in the local repository, or brings it from another; checks its content |
//! | `download.rs` | HTTP |
//! | `pom.rs` | a project's file as it is written |
//! | `profile.rs` | which profiles of it apply |
//! | `model.rs` | the same with its parents, imports and properties |
//! | `resolve.rs` | the jars of a project and of all that it depends on |
//!
//! The rules are those of Maven 3: of several versions of a jar the nearest one wins, and the first one of equally near ones.

#![warn(missing_docs)]

mod artifact;
mod download;
mod model;
mod pom;
mod profile;
mod repository;
mod resolve;
mod settings;
mod version;

pub use artifact::Artifact;
pub use profile::Surroundings;
pub use repository::{Repositories, Source};
pub use resolve::{Resolved, resolve};
pub use settings::{Credentials, MavenSettings, Mirror, Proxy};

use std::path::PathBuf;

use thiserror::Error;

/// The repository that Maven asks by default.
pub const CENTRAL: &str = "https://repo.maven.apache.org/maven2";

/// Why jars could not be had.
#[derive(Debug, Error)]
pub enum MavenError {
    /// Text that is no coordinates.
    #[error("'{0}' is not group:artifact:version")]
    Coordinates(String),
    /// No repository has a file.
    #[error("{path} is in none of the repositories: {tried}")]
    Missing {
        /// The file below a repository.
        path: String,
        /// The repositories.
        tried: String,
    },
    /// A repository that may have a file did not answer.
    #[error("{path} cannot be fetched: {tried}")]
    Unreachable {
        /// The file below a repository.
        path: String,
        /// The repositories, with the trouble of each.
        tried: String,
    },
    /// The content differs from what was published.
    #[error("{source_name}: {path} is damaged: its {algorithm} is {found}, not {expected}")]
    Damaged {
        /// The repository.
        source_name: String,
        /// The file below it.
        path: String,
        /// The kind of checksum.
        algorithm: &'static str,
        /// The checksum of what came, in hexadecimal digits.
        found: String,
        /// The published one.
        expected: String,
    },
    /// A POM that cannot be used.
    #[error("the POM of {artifact}: {why}")]
    Pom {
        /// The project.
        artifact: String,
        /// The reason.
        why: String,
    },
    /// Settings that cannot be used.
    #[error("{}: {why}", file.display())]
    Settings {
        /// The file.
        file: PathBuf,
        /// The reason.
        why: String,
    },
    /// A file that cannot be read or written.
    #[error("{}: {why}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The system's error.
        why: std::io::Error,
    },
}
