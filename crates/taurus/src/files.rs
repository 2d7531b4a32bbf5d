//! Finds the files that a configuration names.

use std::path::{Path, PathBuf};

use drumfire_platform::causes::missing;
use drumfire_platform::spelling::near_file;

use crate::error::TaurusError;

/// The search path: the working folder, then the folder of the configuration, then the folders above it up to the project's.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    folders: Vec<PathBuf>,
}

impl Files {
    pub fn around(config: &Path) -> Files {
        let config = std::path::absolute(config).unwrap_or_else(|_| config.to_path_buf());
        let folder = config.parent().unwrap_or(Path::new("/")).to_path_buf();
        let mut folders = vec![folder.clone()];
        if let Some(root) = folder.ancestors().find(|folder| is_root(folder)) {
            let between = folder.ancestors().skip(1);
            folders.extend(
                between
                    .take_while(|above| above.starts_with(root))
                    .map(Path::to_path_buf),
            );
        }
        Files { folders }
    }

    /// The fault of a configuration that names a file that does not exist.
    pub fn missing(&self, name: &str) -> TaurusError {
        let fault = TaurusError::new(missing(Path::new(name)));
        let mut folders = vec![PathBuf::new()];
        folders.extend(self.folders.iter().cloned());
        fault.hint(match near_file(Path::new(name), &folders) {
            Some(near) => format!("write `{}`, which exists", near.display()),
            None => "put it into the folder of the configuration, or correct its name".to_owned(),
        })
    }

    /// The absolute path of a file. A file that is not found is resolved against the working folder.
    pub fn find(&self, name: &str) -> PathBuf {
        let path = match name.strip_prefix("~/") {
            Some(rest) => std::env::home_dir().unwrap_or_default().join(rest),
            None => PathBuf::from(name),
        };
        let beside_config = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        if beside_config.exists() {
            return beside_config;
        }
        let mut elsewhere = self.folders.iter().map(|folder| folder.join(&path));
        elsewhere
            .find(|file| file.exists())
            .unwrap_or(beside_config)
    }
}

fn is_root(folder: &Path) -> bool {
    let marks = [".git", "drumfire.toml", "pom.xml"];
    marks.iter().any(|mark| folder.join(mark).exists())
}
