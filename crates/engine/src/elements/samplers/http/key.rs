//! The key of a sampler in a worker's cache.

/// Identifies a sampler by its memory address, since the plan outlives its users and never moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(pub(super) usize);

impl Key {
    pub fn of<T>(part: &T) -> Key {
        Key(std::ptr::from_ref(part) as usize)
    }
}
