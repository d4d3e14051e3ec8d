//! The quorate facade.
#![warn(missing_docs)]
#![forbid(unsafe_code)]
