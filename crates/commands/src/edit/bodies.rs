//! The bodies of the samples of runs, each in a file.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_edit::Refused;
use drumfire_edit::protocol::types::BodyWindow;
use drumfire_edit::refused::FILE;
use drumfire_engine::SampleView;
use drumfire_platform::files;

/// The longest part of a body that is read at once, in bytes.
const LONGEST_WINDOW: u64 = 1 << 20;
/// A folder without a claim belongs to no program after this time.
const NEW: Duration = Duration::from_secs(60);

/// The bodies of a run's samples, each in a file.
#[derive(Debug, Clone)]
pub struct Bodies(Arc<BodyFolder>);

#[derive(Debug)]
struct BodyFolder {
    folder: tempfile::TempDir,
    /// Is locked for as long as a program needs the folder.
    _claim: File,
}

/// The prefix of the folders with bodies.
const FOLDER: &str = "run-";
/// The file in such a folder that its program locks.
const CLAIM: &str = "claim";

impl Bodies {
    pub fn new(folder: &Path) -> io::Result<Bodies> {
        files::private_folder(folder)?;
        let own_folder = tempfile::Builder::new().prefix(FOLDER).tempdir_in(folder)?;
        let claim = files::private(&own_folder.path().join(CLAIM))?;
        // Without a lock, nobody can tell that the folder is in use, and nobody removes it.
        let _ = claim.try_lock();
        Ok(Bodies(Arc::new(BodyFolder {
            folder: own_folder,
            _claim: claim,
        })))
    }

    fn path(&self, path: &[usize]) -> PathBuf {
        let numbers: Vec<String> = path.iter().map(usize::to_string).collect();
        self.0.folder.path().join(numbers.join("-"))
    }

    /// Writes the bodies of a sample and of its sub-results, and keeps none in memory. Without a place on the disk, a body counts
    /// as empty.
    pub fn store(&self, path: &mut Vec<usize>, sample: &mut SampleView) {
        if let Some(body) = sample.response_data.take().filter(|body| !body.is_empty()) {
            let _ = files::private(&self.path(path)).and_then(|mut file| file.write_all(&body));
        }
        sample.response_body = String::new();
        for (number, child) in (1..).zip(&mut sample.children) {
            path.push(number);
            self.store(path, child);
            path.pop();
        }
    }

    /// Whether a sample, or a sub-result of it, has a text. `text` is in lower case.
    pub fn has_text(&self, path: &mut Vec<usize>, sample: &SampleView, text: &str) -> bool {
        let parts = [
            &sample.label,
            &sample.code,
            &sample.message,
            &sample.url,
            &sample.request_headers,
            &sample.cookies,
            &sample.request_body,
            &sample.response_headers,
        ];
        let body = || {
            let bytes = std::fs::read(self.path(path)).unwrap_or_default();
            String::from_utf8_lossy(&bytes)
                .to_lowercase()
                .contains(text)
        };
        if parts.iter().any(|part| part.to_lowercase().contains(text)) || body() {
            return true;
        }
        (1..).zip(&sample.children).any(|(number, child)| {
            path.push(number);
            let is_within = self.has_text(path, child, text);
            path.pop();
            is_within
        })
    }

    /// The beginning of a body as text.
    pub fn text(&self, path: &[usize], most: u64) -> Result<String, Refused> {
        let mut bytes = Vec::new();
        let read = File::open(self.path(path));
        match read.and_then(|file| file.take(most).read_to_end(&mut bytes)) {
            Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(unreadable(&error)),
        }
    }

    pub fn size(&self, path: &[usize]) -> u64 {
        std::fs::metadata(self.path(path)).map_or(0, |file| file.len())
    }

    /// A part of a body. That of a text ends behind a whole character.
    pub fn window(
        &self,
        path: &[usize],
        offset: u64,
        length: u64,
        is_text: bool,
    ) -> io::Result<BodyWindow> {
        let size = self.size(path);
        let offset = offset.min(size);
        let mut bytes = Vec::new();
        if offset < size {
            let mut file = File::open(self.path(path))?;
            file.seek(SeekFrom::Start(offset))?;
            file.take(length.clamp(4, LONGEST_WINDOW))
                .read_to_end(&mut bytes)?;
        }
        if is_text && offset + (bytes.len() as u64) < size {
            bytes.truncate(whole_characters(&bytes));
        }
        let next = offset + bytes.len() as u64;
        let (text, base64) = if is_text {
            (Some(String::from_utf8_lossy(&bytes).into_owned()), None)
        } else {
            (None, Some(STANDARD.encode(&bytes)))
        };
        Ok(BodyWindow {
            offset,
            next,
            size,
            text,
            base64,
        })
    }
}

/// Removes the bodies that killed programs left in a folder.
pub fn remove_left(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || !entry.file_name().to_string_lossy().starts_with(FOLDER) {
            continue;
        }
        let claim = File::open(path.join(CLAIM));
        // A program may have made its folder just now, without a claim yet.
        let is_new = || {
            let made = entry.metadata().and_then(|found| found.modified());
            made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age < NEW))
        };
        let is_left = match &claim {
            Ok(claim) => claim.try_lock().is_ok(),
            Err(_) => !is_new(),
        };
        if is_left {
            // The next start tries again to remove it.
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

/// The length without a character at the end that is cut off.
fn whole_characters(bytes: &[u8]) -> usize {
    /// The longest character of UTF-8 has four bytes.
    const REST: usize = 3;
    let from = bytes.len().saturating_sub(REST);
    match bytes[from..].iter().rposition(|byte| byte & 0xc0 != 0x80) {
        Some(at) => match std::str::from_utf8(&bytes[from + at..]) {
            Err(error) if error.error_len().is_none() => from + at,
            _ => bytes.len(),
        },
        None => bytes.len(),
    }
}

/// The refusal of a request whose body cannot be read.
pub fn unreadable(error: &io::Error) -> Refused {
    let message = format!("the body of the sample cannot be read: {error}");
    Refused::new(FILE, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_a_text_end_behind_characters_and_give_it_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let bodies = Bodies::new(folder.path()).expect("it can be written");
        let text = "aé€😀".repeat(50);
        let mut sample = SampleView {
            response_data: Some(text.as_bytes().into()),
            ..SampleView::default()
        };
        bodies.store(&mut vec![1], &mut sample);
        assert!(sample.response_data.is_none());
        for length in 4..20 {
            let (mut read, mut offset) = (String::new(), 0);
            while offset < text.len() as u64 {
                let window = bodies.window(&[1], offset, length, true).expect("a part");
                assert!(window.next > offset, "{window:?}");
                read.push_str(&window.text.expect("it is text"));
                offset = window.next;
            }
            assert_eq!(read, text, "{length}");
        }
        let window = bodies.window(&[1], 3, 4, false).expect("a part");
        let bytes = STANDARD.decode(window.base64.expect("it is no text"));
        assert_eq!(bytes.as_deref(), Ok(&text.as_bytes()[3..7]));
        // Another program's start leaves the bodies of this one.
        remove_left(folder.path());
        assert_eq!(bodies.size(&[1]), text.len() as u64);
        let nothing = bodies.window(&[2], 9, 4, true).expect("an empty part");
        assert_eq!((nothing.size, nothing.text.as_deref()), (0, Some("")));
    }
}
