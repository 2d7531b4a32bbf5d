//! The integration tests of this crate, in one program: they are linked once, and run side by side.

mod broken;
mod eras;
mod odd;
mod splices;
mod writer;
