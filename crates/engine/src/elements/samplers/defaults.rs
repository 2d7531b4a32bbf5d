//! Configuration elements that provide properties which samplers lack (`TestCompiler#configureWithConfigElements`).

use std::collections::HashMap;

use drumfire_elements::config::{http_defaults, java_defaults, old_login};
use drumfire_jmx::{Prop, full_class_name};

use crate::resolve::Element;

/// Login Config Element (`LoginConfig`): an account for the samplers in its scope that have none of their own.
///
/// Properties: `ConfigTestElement.username`, `ConfigTestElement.password`. TCP Samplers and FTP and LDAP Requests read them;
/// other samplers have their own settings for accounts. Nowadays JMeter writes it as a `ConfigTestElement`.
pub const LOGIN: &str = old_login::CLASS;

/// Java Request Defaults (`JavaConfig`): arguments for the Java Requests in its scope.
///
/// Properties: `arguments`; of arguments with the same name, the sampler's own counts, then that of the nearest element. As
/// in JMeter, `classname` has no effect: a Java Request looks for its class before it takes defaults
/// (`JavaSampler#testStarted`).
pub const JAVA: &str = java_defaults::CLASS;

/// Whether an element passes its properties on to the samplers to which its GUI class applies.
pub fn is_defaults(config: &Element) -> bool {
    [http_defaults::CLASS, LOGIN, JAVA].contains(&config.class.as_str())
}

/// Whether one of these GUI classes, given by their full names, made an element (`ConfigMergabilityIndicator#applies`).
pub fn is_made_by(config: &Element, guis: &[&str]) -> bool {
    guis.contains(&full_class_name(&config.gui_class))
}

/// A sampler's properties, and those that it lacks from configuration elements of these GUI classes, the nearest first
/// (`AbstractTestElement#mergeIn`).
pub fn merged<'p>(
    sampler: &'p Element,
    configs: &[&'p Element],
    guis: &[&str],
) -> HashMap<&'p str, &'p Prop> {
    let mut merged: HashMap<&str, &Prop> = HashMap::new();
    let configs = configs.iter().filter(|config| is_made_by(config, guis));
    for element in std::iter::once(&sampler).chain(configs) {
        for prop in &element.props {
            let earlier = merged.get(&*prop.name);
            if earlier.is_none_or(|known| known.value.as_str().is_empty()) {
                merged.insert(&prop.name, prop);
            }
        }
    }
    merged
}
