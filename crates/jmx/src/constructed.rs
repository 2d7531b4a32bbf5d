//! The properties that an element has from its creation on. JMeter saves them first, even where the file lacks them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

use rustc_hash::FxBuildHasher;

use crate::tree::Prop;

/// A plan of freshly created elements, recorded from JMeter 5.6.3: one of each class whose constructor sets properties.
const RECORDED: &str = include_str!("constructed.jmx");

static CONSTRUCTED: LazyLock<HashMap<String, Vec<Prop>, FxBuildHasher>> = LazyLock::new(|| {
    let read = crate::read(RECORDED.as_bytes(), Path::new("constructed.jmx"));
    // A test reads this file, so reading it cannot fail.
    let roots = read.map_or_else(|_| [].into(), |read| read.tree.roots);
    roots
        .iter()
        .map(|node| {
            let props = node.props.iter().cloned().collect();
            (node.class.to_string(), props)
        })
        .collect()
});

/// The properties that the constructor of a class sets, in its order.
pub(crate) fn constructed(class: &str) -> &'static [Prop] {
    CONSTRUCTED.get(class).map(Vec::as_slice).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_plan_is_read_whole() {
        let read = crate::read(RECORDED.as_bytes(), Path::new("constructed.jmx"));
        assert_eq!(read.expect("a plan").tree.roots.len(), CONSTRUCTED.len());
        assert!(CONSTRUCTED.values().all(|props| !props.is_empty()));
        let manager = constructed("CacheManager");
        let names: Vec<&str> = manager.iter().map(|prop| prop.name.as_str()).collect();
        assert_eq!(names, ["clearEachIteration", "useExpires"]);
        assert!(constructed("ThreadGroup").is_empty());
    }
}
