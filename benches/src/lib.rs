//! What the benches share: the inputs that they measure with, and how figures are told.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod figures;
