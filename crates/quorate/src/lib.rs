//! The quorate facade.
#![warn(missing_docs)]
