//! Compiled `.proto` files, which all users of a run share.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use drumfire_expr::Template;
use drumfire_grpc::{FileDescriptorSet, Schema, compile};
use drumfire_platform::message_error;

message_error! {
    /// Why `.proto` files cannot be used.
    pub struct ProtoError;
}

/// Where the `.proto` files are.
pub struct ProtoFiles {
    pub folder: Template,
    /// Folders for imports, separated by commas.
    pub libraries: Template,
}

/// The files of one sampler, evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProtoPlace {
    /// `None` if the plan names none and its folder has no `.proto` files, so that the server is asked.
    pub root: Option<PathBuf>,
    pub libraries: Vec<PathBuf>,
}

impl ProtoPlace {
    /// Resolves the folders as the plugin does: relative ones from the folder of the plan.
    pub fn of(folder: &str, libraries: &str, base_dir: &Path) -> ProtoPlace {
        let folder = folder.trim();
        let root = base_dir.join(folder);
        let libraries = libraries
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        ProtoPlace {
            root: (!folder.is_empty() || has_protos(&root)).then_some(root),
            libraries: libraries
                .map(|name| base_dir.join(name))
                .filter(|library| library.exists())
                .collect(),
        }
    }
}

/// Whether `.proto` files are in a folder itself.
fn has_protos(folder: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    std::fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.any(|entry| {
            entry.is_ok_and(|entry| {
                entry
                    .path()
                    .extension()
                    .is_some_and(|ending| ending == "proto")
            })
        })
    })
}

type Compiled = Result<Arc<Schema>, ProtoError>;

/// The compiled schemas by their folder, and those that servers described.
#[derive(Default)]
pub struct Schemas {
    compiled: Mutex<HashMap<ProtoPlace, Compiled>>,
    /// By address and service.
    told: tokio::sync::Mutex<HashMap<(String, String), Arc<Schema>>>,
}

impl Schemas {
    /// The schema of the files at a place, which are compiled once.
    ///
    /// # Errors
    /// They are missing or not sound.
    pub fn compiled(&self, root: &Path, place: &ProtoPlace) -> Compiled {
        let mut known = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(place) {
            return known.clone();
        }
        let set =
            compile(root, &place.libraries).map_err(|error| ProtoError::from(String::from(error)));
        let schema = set.and_then(|set| {
            let schema = Schema::of(&set).map_err(|error| ProtoError::from(String::from(error)));
            schema.map(Arc::new)
        });
        known.insert(place.clone(), schema.clone());
        schema
    }
}

impl Schemas {
    /// The schema that a server has told of a service, which is asked once. While one user asks, the others wait.
    ///
    /// # Errors
    /// The server does not tell it. The next user asks again.
    pub async fn told(
        &self,
        key: (String, String),
        asked: impl Future<Output = Result<FileDescriptorSet, ProtoError>>,
    ) -> Compiled {
        let mut told = self.told.lock().await;
        if let Some(known) = told.get(&key) {
            return Ok(known.clone());
        }
        let schema = Schema::of(&asked.await?);
        let schema = Arc::new(schema.map_err(|error| ProtoError::from(String::from(error)))?);
        told.insert(key, schema.clone());
        Ok(schema)
    }
}
