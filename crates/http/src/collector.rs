//! Keeps, digests or counts the bytes of a body.

use std::rc::Rc;

use crate::failure::FailureKind;
use crate::md5::Md5;
use crate::message::{Keep, SizeLimits};
use crate::watch::BodyWatch;

/// Limit of the initial allocation for a body, whatever length it announces.
pub const MAX_RESERVE_BYTES: u64 = 4 << 20;
/// Factor by which a body's buffer grows, up to the announced length. Each growth copies the buffer: with a small factor,
/// the last copy of a large body would block the worker for some milliseconds.
pub const GROWTH: usize = 16;

/// Stores, digests or counts a body's bytes after dechunking and decoding.
pub(crate) struct Collector {
    pub keep: Keep,
    sizes: SizeLimits,
    pub is_decoded: bool,
    pub stored: Vec<u8>,
    /// Number of bytes to store according to the head; 0 if it does not tell.
    announced: usize,
    md5: Option<Box<Md5>>,
    pub len: u64,
    /// Sees the body while it arrives.
    pub watch: Option<Rc<dyn BodyWatch>>,
}

impl Collector {
    pub fn new(keep: Keep, sizes: SizeLimits) -> Self {
        Self {
            keep,
            sizes,
            is_decoded: false,
            stored: Vec::new(),
            announced: 0,
            md5: (keep == Keep::Md5).then(|| Box::new(Md5::new())),
            len: 0,
            watch: None,
        }
    }

    /// Stores no more than this many bytes.
    pub fn keep_at_most(&mut self, most: u64) {
        self.keep = match self.keep {
            Keep::All if most < u64::MAX => Keep::UpTo(most),
            Keep::UpTo(own) => Keep::UpTo(own.min(most)),
            other => other,
        };
    }

    /// Announces the body's length. Fails if a body of this length may not be stored.
    pub fn announce(&mut self, length: u64) -> Result<(), FailureKind> {
        let wanted = match self.keep {
            Keep::Nothing | Keep::Failed(_) | Keep::Md5 => 0,
            Keep::All => length,
            Keep::UpTo(limit) => length.min(limit),
        };
        if wanted > self.sizes.body_bytes {
            return Err(self.too_large());
        }
        self.announced = usize::try_from(wanted).unwrap_or(usize::MAX);
        self.stored
            .reserve_exact(wanted.min(MAX_RESERVE_BYTES) as usize);
        Ok(())
    }

    /// Reserves space for `bytes` more bytes and, with large steps, for later ones.
    pub fn make_room(&mut self, bytes: usize) {
        let length = self.stored.len();
        if self.stored.capacity() - length >= bytes {
            return;
        }
        let aim = self.announced.min(length.saturating_mul(GROWTH));
        match aim.checked_sub(length) {
            Some(more) if more >= bytes => self.stored.reserve_exact(more),
            _ => self.stored.reserve(bytes),
        }
    }

    pub fn too_large(&self) -> FailureKind {
        FailureKind::BodyTooLarge {
            limit: self.sizes.body_bytes,
        }
    }

    /// Fails if the stored or decoded bytes exceed their limits.
    pub fn check(&self) -> Result<(), FailureKind> {
        if self.stored.len() as u64 > self.sizes.body_bytes {
            return Err(self.too_large());
        }
        let limit = self.sizes.decoded_bytes;
        if self.is_decoded && self.len > limit {
            return Err(FailureKind::DecodedTooLarge { limit });
        }
        Ok(())
    }

    pub fn is_digested(&self) -> bool {
        self.md5.is_some()
    }

    pub fn wants_bytes(&self) -> bool {
        match self.keep {
            _ if self.watch.is_some() => true,
            Keep::Nothing | Keep::Failed(_) => false,
            Keep::Md5 | Keep::All => true,
            Keep::UpTo(limit) => self.len < limit,
        }
    }

    pub fn take(&mut self, piece: &[u8]) -> Result<(), FailureKind> {
        if let Some(watch) = &self.watch {
            watch.piece(piece)?;
        }
        match self.keep {
            Keep::Nothing | Keep::Failed(_) => {}
            Keep::Md5 => {
                if let Some(md5) = &mut self.md5 {
                    md5.update(piece);
                }
            }
            Keep::All => {
                self.make_room(piece.len());
                self.stored.extend_from_slice(piece);
            }
            Keep::UpTo(limit) => {
                let room = limit.saturating_sub(self.len);
                let fits = usize::try_from(room).map_or(piece.len(), |r| r.min(piece.len()));
                self.make_room(fits);
                self.stored.extend_from_slice(&piece[..fits]);
            }
        }
        self.len += piece.len() as u64;
        self.check()
    }

    /// Takes the stored body and the digest, whichever was requested.
    pub fn take_parts(&mut self) -> (Option<Vec<u8>>, Option<[u8; 16]>) {
        let body = match self.keep {
            Keep::Nothing | Keep::Failed(_) | Keep::Md5 => None,
            Keep::All | Keep::UpTo(_) => Some(std::mem::take(&mut self.stored)),
        };
        (body, self.md5.take().map(|md5| md5.finish()))
    }
}
