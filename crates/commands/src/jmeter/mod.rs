//! JMeter's own command line, for existing scripts: `drumfire -n -t plan.jmx -l results.jtl`.

pub mod descriptors;
pub mod meaning;
pub mod parse;
pub mod remote;
