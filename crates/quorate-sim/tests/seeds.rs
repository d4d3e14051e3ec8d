//! Some hundred clusters and their fates. A failure prints the command that plays it again;
//! `QUORATE_SIM_SEEDS=n` plays n seeds a test, `QUORATE_SIM_FIRST=s` begins at another one.

use quorate_sim::{Options, run};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// Plays the share `part` of four.
fn play(part: u64) {
    let seeds = number("QUORATE_SIM_SEEDS", 51);
    let first = number("QUORATE_SIM_FIRST", 1) + part * seeds;
    let options = Options::default();
    let mut acknowledged = 0;
    let mut crashes = 0;
    let mut views = 0;
    for seed in first..first + seeds {
        let report = run(seed, options);
        if report.violation.is_some() {
            panic!("{report}\n  replay: {}", report.replay(options));
        }
        acknowledged += report.acknowledged;
        crashes += report.counts.crashes;
        views += report.counts.views;
    }
    // Seeds in which nothing happens would prove nothing.
    assert!(
        acknowledged as u64 > seeds && crashes > seeds && views > seeds,
        "{acknowledged} {crashes} {views}"
    );
}

#[test]
fn every_law_holds_in_the_first_quarter_of_the_seeds() {
    play(0);
}

#[test]
fn every_law_holds_in_the_second_quarter_of_the_seeds() {
    play(1);
}

#[test]
fn every_law_holds_in_the_third_quarter_of_the_seeds() {
    play(2);
}

#[test]
fn every_law_holds_in_the_last_quarter_of_the_seeds() {
    play(3);
}
