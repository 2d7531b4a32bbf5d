//! A file in place of a response, for the protocol `file` (`HTTPFileImpl`). The working directory is where relative names
//! start; a folder gives the names in it, a line each (sorted by letter, where Java sorts by the rules of its language).
//!
//! The file is read on the worker's thread: the other users of the worker wait for it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use drumfire_results::{Kind, Sample, Text};
use drumfire_web::local_file;
use drumfire_web::url::Url;

use super::call::Call;
use super::redirects::Nesting;
use super::{HttpSampler, failure};
use crate::run::context::Context;

/// How much of a file is kept unless `httpsampler.max_bytes_to_store_per_request` says otherwise, in bytes.
const DEFAULT_MOST_BYTES: u64 = 10 << 20;

impl HttpSampler {
    /// `HTTPFileImpl#sample`, with what follows it.
    pub(super) async fn fetch_file(
        &self,
        cx: &mut Context,
        call: &Call<'_>,
        url: &Url,
        nesting: Nesting,
    ) -> Option<Box<Sample>> {
        let mut sample = Box::new(Sample::new(url.as_str().into(), cx.thread_name.clone()));
        sample.kind = Kind::Http;
        sample.start_ms = cx.clock().now_ms();
        let path = match local_file::path(url) {
            Ok(path) => path,
            Err(exception) => {
                failure::apply(&mut sample, &exception, self.needs);
                sample.set_end(cx.clock().now_ms());
                return Some(sample);
            }
        };
        sample.method = Some(Text::Static("GET"));
        sample.url = Some(url.as_str().into());
        let most = match self.settings.max_bytes_to_store {
            0 => DEFAULT_MOST_BYTES,
            most => most,
        };
        let read = read(&path, most);
        sample.set_end(cx.clock().now_ms());
        match read {
            Ok((data, size)) => {
                sample.set_ok();
                sample.body_bytes = size;
                if self.needs.body || self.image_parser {
                    sample.response_data = Some(data.into());
                }
                let content_type = format!("text/html; charset={}", call.file_encoding());
                sample.set_encoding_and_type(&content_type);
                sample.content_type = Some(content_type.into());
                self.process(cx, call, sample, nesting).await
            }
            Err(error) => {
                let exception = local_file::unreadable(&path, &error);
                failure::apply(&mut sample, &exception, self.needs);
                Some(sample)
            }
        }
    }
}

/// Up to `most` bytes of the file, and its whole size.
fn read(path: &Path, most: u64) -> io::Result<(Vec<u8>, u64)> {
    if path.is_dir() {
        let names = names(path)?;
        let size = names.len() as u64;
        return Ok((names, size));
    }
    let mut file = File::open(path)?;
    let mut data = Vec::new();
    file.by_ref().take(most).read_to_end(&mut data)?;
    let rest = io::copy(&mut file, &mut io::sink())?;
    let size = data.len() as u64 + rest;
    Ok((data, size))
}

fn names(folder: &Path) -> io::Result<Vec<u8>> {
    let mut names = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<Vec<String>>>()?;
    names.sort_by_cached_key(|name| (name.to_lowercase(), name.clone()));
    Ok(names
        .iter()
        .flat_map(|name| name.bytes().chain([b'\n']))
        .collect())
}
