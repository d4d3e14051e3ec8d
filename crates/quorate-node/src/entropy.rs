//! Chance that nobody can foresee, for seeds of real nodes and for ids.

use quorate_types::Rng;

/// A generator seeded by the operating system.
///
/// # Panics
/// If the operating system has no randomness to give, in which case no id could be trusted.
pub fn entropy() -> Rng {
    let seed = getrandom::u64().expect("the operating system gives random numbers");
    Rng::new(seed)
}
