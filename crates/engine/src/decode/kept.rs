//! State that elements share while a plan is decoded.

use std::any::{Any, TypeId};
use std::collections::HashMap;

/// One plan's values, each under its type.
#[derive(Default)]
pub struct Kept(HashMap<TypeId, Box<dyn Any>>);

impl Kept {
    /// The value of a type, if it has been created.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// The value of a type, created on first use.
    pub fn of<T: Default + 'static>(&mut self) -> &mut T {
        let own = self.0.entry(TypeId::of::<T>());
        let own = own.or_insert_with(|| Box::<T>::default());
        own.downcast_mut().expect("it is kept under its type")
    }
}
