//! `drumfire calibrate`: what the numbers of this machine are worth.

use drumfire_testkit::plans::{http, plan, users};
use drumfire_testkit::program::{LIMIT, Workshop};
use serde_json::Value;

fn workshop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

#[test]
fn a_calibration_says_how_far_percentiles_are_off_and_is_kept() {
    let workshop = workshop();
    let before = workshop.run(&["doctor"], LIMIT);
    assert!(before.out.contains("calibrated  never"), "{before:?}");
    let words = [
        "--rate",
        "300",
        "--users",
        "20",
        "--duration",
        "1s",
        "--times",
        "1",
    ];
    let words: Vec<&str> = ["calibrate", "--json"].into_iter().chain(words).collect();
    let finished = workshop.run(&words, LIMIT * 4);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let calibration: Value = serde_json::from_str(&finished.out).expect("JSON");
    let errors = calibration["errors"].as_array().expect("a list");
    let medians: Vec<&Value> = errors.iter().map(|one| &one["percentiles"][0]).collect();
    assert_eq!(medians.len(), 4);
    // The target holds its requests for 5, 5 · ln 2, 1 and 5 ms at the median.
    for (median, least) in medians.iter().zip([5.0, 1.0, 1.0, 5.0]) {
        let truth = median["truth_ms"].as_f64().expect("a number");
        let bias = median["bias_ms"].as_f64().expect("a number");
        assert!(truth >= least, "{finished:?}");
        // The program cannot have an answer before the target sent it.
        assert!(truth + bias >= least, "{finished:?}");
    }
    let after = workshop.run(&["doctor", "--json"], LIMIT);
    let after: Value = serde_json::from_str(&after.out).expect("JSON");
    assert_eq!(after["calibration"], calibration);
}

#[test]
fn the_requests_of_a_plan_go_to_the_target() {
    let workshop = workshop();
    let elements = [
        http("Home", &[("domain", "shop.example"), ("path", "/")]),
        http("Cart", &[("domain", "shop.example"), ("path", "/cart")]),
    ];
    workshop.write("p.jmx", plan(&users(4, 0, "", &elements.concat())));
    let words = [
        "calibrate",
        "--plan",
        "p.jmx",
        "--duration",
        "1s",
        "--times",
        "1",
        "--json",
    ];
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let errors: Value = serde_json::from_str(&finished.out).expect("JSON");
    assert!(errors["percentiles"][0]["truth_ms"].is_number(), "{errors}");
    assert_eq!(workshop.files(), ["p.jmx"]);
    workshop.write("none.jmx", plan(""));
    let refused = workshop.run(&["calibrate", "--plan", "none.jmx"], LIMIT);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(
        refused.err.contains("no enabled HTTP Request"),
        "{refused:?}"
    );
}
