//! The results of `__XPath` in the files read so far; all users share them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The nodes by file name followed by expression: `XPathWrapper.fileContainers`.
#[derive(Debug, Default)]
pub(crate) struct XPathFiles(Mutex<HashMap<String, Arc<FoundNodes>>>);

impl XPathFiles {
    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<FoundNodes>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The values of the nodes, as `XPathUtil.getValueForNode` returns them: `None` for an element without text.
#[derive(Debug)]
pub(crate) struct FoundNodes {
    values: Vec<Option<String>>,
    next: AtomicUsize,
}

impl FoundNodes {
    pub(crate) fn new(values: Vec<Option<String>>) -> FoundNodes {
        FoundNodes {
            values,
            next: AtomicUsize::new(0),
        }
    }

    /// Takes the next value; all users share the position. The first value follows the last one. `None` if there
    /// are no nodes.
    pub(crate) fn take(&self) -> Option<Option<&str>> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let value = self.values.get(index.checked_rem(self.values.len())?)?;
        Some(value.as_deref())
    }
}
