//! State that JMeter keeps in static fields of its function classes, shared by all users.

pub(crate) mod csv_files;
pub(crate) mod fifos;
pub(crate) mod xpath_files;
