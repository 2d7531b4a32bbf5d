//! State that the elements of a class share among all users of a run: JMeter's static fields.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// One run's shared state of elements, by its type.
#[derive(Default)]
pub struct Statics(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Statics {
    /// The run's only `T`, created on first use.
    pub fn of<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all
            .entry(TypeId::of::<T>())
            .or_insert_with(|| Arc::<T>::default());
        Arc::downcast(own.clone()).expect("it is kept under its type")
    }
}
