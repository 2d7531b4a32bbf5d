//! Reuses memory, so that the steady state does not allocate.

use std::cell::RefCell;
use std::pin::Pin;

use recycle_box::{RecycleBox, coerce_box};

/// A future in reused memory.
pub type Placed<'f, T> = Pin<RecycleBox<dyn Future<Output = T> + 'f>>;

/// Limit of spare items; it is unlikely that more are needed again.
const MOST: usize = 1024;

/// A pool of used boxes and buffers, for reuse on the same thread.
pub struct SparePool<R>(RefCell<Vec<R>>);

impl<R> Default for SparePool<R> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<R> SparePool<R> {
    /// Takes a used box or buffer, if there is one.
    pub fn take(&self) -> Option<R> {
        self.0.borrow_mut().pop()
    }

    /// Returns a box or buffer to the pool.
    pub fn take_back(&self, room: R) {
        let mut all = self.0.borrow_mut();
        if all.len() < MOST {
            all.push(room);
        }
    }
}

impl<T> SparePool<Box<T>> {
    /// Boxes a value, in a used box if there is one; this drops the box's old content.
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

impl SparePool<RecycleBox<()>> {
    /// Boxes a value of any type, in used memory if it is large enough.
    pub fn put<T>(&self, value: T) -> RecycleBox<T> {
        RecycleBox::recycle(self.room(), value)
    }

    /// Takes used memory, or a new empty box.
    pub fn room(&self) -> RecycleBox<()> {
        self.take().unwrap_or_else(|| RecycleBox::new(()))
    }

    /// Places a future outside the awaiting future, which keeps that future small. Return it with
    /// [`SparePool::take_place_back`]. `make` runs after the memory is found: creating the large future earlier would copy
    /// it once more.
    pub fn place<F: Future>(&self, make: impl FnOnce() -> F) -> Pin<RecycleBox<F>> {
        let room = self.room();
        RecycleBox::into_pin(RecycleBox::recycle(room, make()))
    }

    /// Returns the memory of a completed future.
    pub fn take_place_back<F: Future>(&self, place: Pin<RecycleBox<F>>) {
        self.take_back(RecycleBox::vacate_pinned(place));
    }
}

/// Creates a future in `room`. Creating it elsewhere would copy a large future once more.
#[inline]
pub fn place_in<'f, F: Future + 'f>(
    room: RecycleBox<()>,
    make: impl FnOnce() -> F,
) -> Placed<'f, F::Output> {
    let place = RecycleBox::recycle(room, make());
    // SAFETY (of the macro): the parts come from one box and are put together again; only the pointer becomes a wide one.
    let place: RecycleBox<dyn Future<Output = F::Output> + 'f> = coerce_box!(place);
    RecycleBox::into_pin(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_used_again() {
        let spare = SparePool::default();
        let first = spare.boxed("a".to_owned());
        let place = std::ptr::from_ref(&*first);
        spare.take_back(first);
        let second = spare.boxed("b".to_owned());
        assert_eq!((&**second, std::ptr::from_ref(&*second)), ("b", place));
        assert_eq!(*spare.boxed("c".to_owned()), "c");
    }

    #[test]
    fn values_of_any_size_find_room() {
        let spare = SparePool::<RecycleBox<()>>::default();
        let small = spare.put(1_u8);
        assert_eq!(*small, 1);
        spare.take_back(RecycleBox::vacate(small));
        let large = spare.put([7_u64; 100]);
        assert_eq!(*large, [7; 100]);
        let place = std::ptr::from_ref(&*large).addr();
        spare.take_back(RecycleBox::vacate(large));
        let text = spare.put("text".to_owned());
        assert_eq!(
            (&**text, std::ptr::from_ref(&*text).addr()),
            ("text", place)
        );
    }

    #[test]
    fn futures_run_in_room_that_is_used_again() {
        let spare = SparePool::<RecycleBox<()>>::default();
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime can be made");
        for n in 0..3_u64 {
            let mut place = spare.place(|| async move {
                let numbers = [n; 100];
                tokio::task::yield_now().await;
                numbers.iter().sum::<u64>()
            });
            assert_eq!(runtime.block_on(place.as_mut()), n * 100);
            spare.take_place_back(place);
            assert_eq!(spare.0.borrow().len(), 1);
        }
    }
}
