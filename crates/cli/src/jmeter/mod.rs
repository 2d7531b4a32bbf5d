//! JMeter's own command line, for scripts that exist: `drumfire -n -t plan.jmx -l results.jtl`.

pub mod descriptors;
pub mod meaning;
pub mod parse;
pub mod remote;
