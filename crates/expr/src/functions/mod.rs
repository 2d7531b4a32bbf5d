//! The functions, one file per family. A file with a single function has the name of its JMeter class.

mod csv_read;
mod dates;
pub(crate) mod decimal_format;
mod digest;
mod entities;
pub(crate) mod escapes;
mod fifo;
mod files;
mod javascript;
mod jexl;
mod logging;
mod machine;
mod plugin_texts;
mod properties;
mod random;
mod regex_function;
mod sums;
pub(crate) mod table;
mod test_names;
mod time;
mod tst_feedback;
mod urls;
mod variables;
mod xpath;
