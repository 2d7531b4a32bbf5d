//! Room that is used again: in the steady state nothing asks the allocator.

use std::cell::RefCell;

/// More than so many are hardly all needed again.
const MOST: usize = 1024;

/// Boxes and buffers that have served, for whoever needs one next. One thread's own.
pub struct Spare<R>(RefCell<Vec<R>>);

impl<R> Default for Spare<R> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<R> Spare<R> {
    pub fn take(&self) -> Option<R> {
        self.0.borrow_mut().pop()
    }

    pub fn take_back(&self, room: R) {
        let mut all = self.0.borrow_mut();
        if all.len() < MOST {
            all.push(room);
        }
    }
}

impl<T> Spare<Box<T>> {
    /// Boxes a value; what the box had in it is dropped now.
    pub fn boxed(&self, value: T) -> Box<T> {
        match self.take() {
            Some(mut room) => {
                *room = value;
                room
            }
            None => Box::new(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_used_again() {
        let spare = Spare::default();
        let first = spare.boxed("a".to_owned());
        let place = std::ptr::from_ref(&*first);
        spare.take_back(first);
        let second = spare.boxed("b".to_owned());
        assert_eq!((&**second, std::ptr::from_ref(&*second)), ("b", place));
        assert_eq!(*spare.boxed("c".to_owned()), "c");
    }
}
