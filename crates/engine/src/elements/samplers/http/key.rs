//! The name of a sampler in a worker's cache.

/// Names a sampler by its place in memory: the plan outlives its users and never moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(pub(super) usize);

impl Key {
    pub fn of<T>(part: &T) -> Key {
        Key(std::ptr::from_ref(part) as usize)
    }
}
