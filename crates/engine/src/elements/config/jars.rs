//! The users' cookie jars.

use std::cell::RefCell;

use drumfire_web::cookies::CookieStore;

use crate::run::context::StateId;

/// One user's cookies.
pub struct Jar {
    pub store: CookieStore,
    /// The planned cookies' values as last put into the store.
    pub evaluated: Vec<String>,
    /// The sample whose script has cleared the manager itself. For later samples the manager is in no sampler's scope
    /// (`AbstractTestElement#clear` removes the GUI class, by which `HTTPSamplerBase#applies` recognises the manager).
    pub cleared_in: Option<u32>,
}

/// One user's cookie jars, by manager. The users that run a Parallel Controller's children share them.
#[derive(Default)]
pub struct Jars(RefCell<Vec<(StateId, Option<Box<Jar>>)>>);

impl Jars {
    pub fn take(&self, id: StateId) -> Option<Box<Jar>> {
        let mut jars = self.0.borrow_mut();
        let (_, jar) = jars.iter_mut().find(|(known, _)| *known == id)?;
        jar.take()
    }

    pub fn put(&self, id: StateId, jar: Box<Jar>) {
        let mut jars = self.0.borrow_mut();
        match jars.iter_mut().find(|(known, _)| *known == id) {
            Some((_, place)) => *place = Some(jar),
            None => jars.push((id, Some(jar))),
        }
    }
}
