//! Examples of the quorate crates; each runs with `cargo run --release --example NAME`.
