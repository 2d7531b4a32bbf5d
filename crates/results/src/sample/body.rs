//! The bytes of a response.

use std::fmt;
use std::ops::Deref;

use bytes::Bytes;

/// Larger bodies are freed on a separate thread, because returning that many pages to the kernel
/// takes milliseconds.
const LARGE_BYTES: usize = 4 << 20;

/// A response body. Clones share the bytes, even across threads.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ResponseBody(Bytes);

impl ResponseBody {
    /// Whether both share the same bytes; a cheaper check than comparing them.
    pub fn is_shared_with(&self, other: &ResponseBody) -> bool {
        std::ptr::eq::<[u8]>(&*self.0, &*other.0)
    }
}

impl Deref for ResponseBody {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Vec<u8>> for ResponseBody {
    fn from(bytes: Vec<u8>) -> ResponseBody {
        ResponseBody(bytes.into())
    }
}

impl From<String> for ResponseBody {
    fn from(text: String) -> ResponseBody {
        text.into_bytes().into()
    }
}

impl From<&[u8]> for ResponseBody {
    fn from(bytes: &[u8]) -> ResponseBody {
        ResponseBody(Bytes::copy_from_slice(bytes))
    }
}

impl<const N: usize> From<&[u8; N]> for ResponseBody {
    fn from(bytes: &[u8; N]) -> ResponseBody {
        bytes[..].into()
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        if self.0.len() <= LARGE_BYTES || !self.0.is_unique() {
            return;
        }
        let bytes = std::mem::take(&mut self.0);
        // If the thread cannot be started, the body is freed here.
        let _ = std::thread::Builder::new()
            .name("give back".to_owned())
            .spawn(move || drop(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_their_bytes() {
        let body = ResponseBody::from(vec![b'a'; 8 << 20]);
        let copy = body.clone();
        assert!(body.is_shared_with(&copy));
        drop(body);
        assert_eq!(copy.len(), 8 << 20);
        let other = ResponseBody::from(&copy[..]);
        assert!(other == copy && !other.is_shared_with(&copy));
    }
}
