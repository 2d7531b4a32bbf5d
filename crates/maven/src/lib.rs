//! Resolves and fetches jars from Maven repositories, without Maven.
//!
//! | file | content |
//! |---|---|
//! | `artifact.rs` | coordinates |
//! | `version.rs` | the order of versions, and ranges of them |
//! | `settings.rs` | mirrors, proxies and credentials of the user's `settings.xml` |
//! | `repository.rs` | finds a file in the local repository or downloads it; checks its content |
//! | `download.rs` | HTTP |
//! | `notice.rs` | what a caller is told while jars are fetched |
//! | `pom.rs` | a project's POM as written |
//! | `profile.rs` | the profiles of a POM that apply |
//! | `model.rs` | a POM with its parents, imports and properties resolved |
//! | `resolve.rs` | the jars of a project and of all its dependencies |
//!
//! The rules are those of Maven 3: of several versions of a jar the nearest one wins, and among equally near ones the first.

#![warn(missing_docs)]

mod artifact;
mod download;
mod model;
mod notice;
mod pom;
mod profile;
mod repository;
mod resolve;
mod settings;
mod version;

pub use artifact::Artifact;
pub use notice::{Notice, megabytes};
pub use profile::Surroundings;
pub use repository::{JarSource, Repositories, WantedJar};
pub use resolve::{Resolved, resolve};
pub use settings::{Credentials, MavenSettings, Mirror, Proxy};

use std::path::PathBuf;

use thiserror::Error;

/// The repository that Maven uses by default.
pub const CENTRAL: &str = "https://repo.maven.apache.org/maven2";

/// Why jars could not be resolved.
#[derive(Debug, Error)]
pub enum MavenError {
    /// The text is not valid coordinates.
    #[error("'{0}' is not group:artifact:version")]
    Coordinates(String),
    /// No repository has a file.
    #[error("{path} is in none of the repositories: {tried}")]
    Missing {
        /// The path of the file within a repository.
        path: String,
        /// The repositories.
        tried: String,
    },
    /// A repository that may have a file did not answer.
    #[error("{path} cannot be fetched: {tried}")]
    Unreachable {
        /// The path of the file within a repository.
        path: String,
        /// The repositories, with the error of each.
        tried: String,
    },
    /// The content differs from what was published.
    #[error("{source_name}: {path} is damaged: its {algorithm} is {found}, not {expected}")]
    Damaged {
        /// The repository.
        source_name: String,
        /// The path of the file within the repository.
        path: String,
        /// The kind of checksum.
        algorithm: &'static str,
        /// The checksum of the downloaded content, in hexadecimal digits.
        found: String,
        /// The published checksum.
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
