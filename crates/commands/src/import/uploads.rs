//! The files that the requests of a recording or a description send. They are stored beside the plan.

use std::path::{Path, PathBuf};

use drumfire_import::Draft;

use crate::new::{base_name, data_file};
use crate::refusal::Refusal;
use crate::whole_file;

/// The files that an import wrote because they were missing.
#[derive(Default)]
pub struct Uploads {
    made: Vec<Upload>,
}

struct Upload {
    file: PathBuf,
    /// The path as the input names it.
    named: String,
    is_recorded: bool,
}

impl Uploads {
    /// Makes sure that each file exists. A missing file gets its recorded content, or a placeholder. It is written beside
    /// the plan, never to a path that the input names.
    pub fn put(draft: &mut Draft, plan: &Path) -> Result<Uploads, Refusal> {
        let folder = plan.parent().unwrap_or(Path::new(""));
        let taken = [base_name(plan), base_name(&data_file(plan))];
        let mut uploads = Uploads::default();
        for (path, content) in draft.files_mut() {
            let Some(named) = path.literal().map(str::to_owned) else {
                continue;
            };
            if named.is_empty() || folder.join(&named).is_file() {
                continue;
            }
            let name = plain(&named, &taken);
            if name != named {
                *path = name.as_str().into();
            }
            let file = folder.join(&name);
            if file.exists() {
                continue;
            }
            let text = content.map_or_else(|| format!("placeholder for {name}\n"), str::to_owned);
            if let Err(why) = whole_file::write(&file, text.as_bytes()) {
                uploads.remove();
                return Err(Refusal::run_failed(why));
            }
            uploads.made.push(Upload {
                file,
                named,
                is_recorded: content.is_some(),
            });
        }
        Ok(uploads)
    }

    /// Removes the files again.
    pub fn remove(&self) {
        for upload in &self.made {
            let _ = std::fs::remove_file(&upload.file);
        }
    }

    /// A line of the summary for each file.
    pub fn lines(&self) -> String {
        self.made.iter().map(line).collect()
    }
}

fn line(upload: &Upload) -> String {
    if upload.is_recorded {
        format!("wrote      {}: as recorded\n", upload.file.display())
    } else {
        format!(
            "wrote      {}: a placeholder; put `{}` in its place\n",
            upload.file.display(),
            upload.named
        )
    }
}

/// The file's name without its folders. It never equals one of the `taken` names.
fn plain(path: &str, taken: &[String]) -> String {
    let name: String = path
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_control())
        .collect();
    match name.as_str() {
        "" | "." | ".." => "file.bin".to_owned(),
        _ if taken.contains(&name) => format!("upload-{name}"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_folders() {
        let taken = ["shop.jmx".to_owned()];
        for (path, expected) in [
            ("/C:/Users/ann/a b.png", "a b.png"),
            ("C:\\x\\y.bin", "y.bin"),
            ("../../etc/passwd", "passwd"),
            ("..", "file.bin"),
            ("a/", "file.bin"),
            ("x/shop.jmx", "upload-shop.jmx"),
            ("a\u{0}\n.b", "a.b"),
        ] {
            assert_eq!(plain(path, &taken), expected, "{path}");
        }
    }
}
