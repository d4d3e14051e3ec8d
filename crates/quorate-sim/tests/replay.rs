//! A seed is a history: the same one each time, another one for another seed.

use quorate_sim::{Options, run};

#[test]
fn the_same_seed_gives_the_same_history() {
    for seed in 900..904 {
        let one = run(seed, Options::default());
        let other = run(seed, Options::default());
        assert_eq!(one.history, other.history, "seed {seed}");
        assert_eq!(one.counts, other.counts, "seed {seed}");
    }
}

#[test]
fn another_seed_gives_another_history() {
    let options = Options {
        steps: 2,
        ..Options::default()
    };
    assert_ne!(run(1, options).history, run(2, options).history);
}

#[test]
fn looking_at_a_history_does_not_change_it() {
    let options = Options {
        steps: 4,
        ..Options::default()
    };
    let silent = run(905, options);
    let traced = run(
        905,
        Options {
            trace: true,
            ..options
        },
    );
    assert_eq!(silent.history, traced.history);
    assert!(silent.lines.is_empty());
    let text = traced.lines.join("\n");
    for word in [
        "active controller in epoch",
        "asks",
        "create c101.t1",
        "all is mended",
    ] {
        assert!(text.contains(word), "{word} is missing");
    }
}

#[test]
fn a_report_is_a_json_object_that_names_the_seed() {
    let options = Options {
        steps: 1,
        ..Options::default()
    };
    let json: serde_json::Value =
        serde_json::from_str(&run(906, options).json(options)).expect("JSON");
    assert_eq!(json["seed"], 906);
    assert_eq!(json["ok"], true);
    assert_eq!(json["replay"], serde_json::Value::Null);
}
