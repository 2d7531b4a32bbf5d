//! Part of Drumfire.
