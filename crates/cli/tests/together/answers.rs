//! What a person came for: how much a condition cost, and because of what. On models, where the truth
//! is known.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use crate::common::{folder, run};
use serde_json::Value;

fn experiment(conditions: &str) -> String {
    format!(
        "name = \"answers\"\nperiod = \"20ms\"\nduration = \"4s\"\nrepeats = 5\n\
         [[workload]]\nkernel = \"bandpass_fir\"\n{conditions}"
    )
}

/// The only comparison of an experiment on the model rk3399.
fn comparison(conditions: &str) -> Value {
    let dir = folder();
    fs_err::write(dir.path().join("e.toml"), experiment(conditions)).unwrap();
    let bench =
        ["bench", "e.toml", "--machine", "model:rk3399", "--out", "run", "--no-report", "--trace"];
    let (code, _, stderr) = run(dir.path(), &bench);
    assert_eq!(code, 0, "{stderr}");
    let (_, report, _) = run(dir.path(), &["report", "run", "--format", "json", "--no-page"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    report["comparisons"][0].clone()
}

fn part(comparison: &Value, name: &str) -> f64 {
    let parts = comparison["cause"]["parts"].as_array().unwrap();
    let found = parts.iter().find(|part| part["part"] == name);
    found.unwrap_or_else(|| panic!("{name} in {parts:#?}"))["us"]["value"].as_f64().unwrap()
}

fn total(comparison: &Value) -> f64 {
    comparison["cause"]["total_us"]["value"].as_f64().unwrap()
}

/// Whatever a difference is made of, the parts are all of it.
fn sums_to_the_whole(comparison: &Value) {
    let parts = comparison["cause"]["parts"].as_array().unwrap();
    let sum: f64 = parts.iter().map(|part| part["us"]["value"].as_f64().unwrap()).sum();
    let whole = total(comparison);
    assert!((sum - whole).abs() <= 1e-6 * whole.abs().max(1.0), "{sum} of {whole}");
}

#[test]
fn a_load_on_the_own_cpu_makes_windows_wait() {
    let found = comparison(
        "[[condition]]\nname = \"idle\"\nload = \"idle\"\nplacement = \"cpu4\"\nfrequency = \"max\"\n\
         [[condition]]\nname = \"heavy\"\nload = \"cpu=4,percent=50,pinned\"\nplacement = \"cpu4\"\n\
         frequency = \"max\"\n",
    );
    assert_eq!(found["verdict"], "effect", "{found:#}");
    sums_to_the_whole(&found);
    assert!(part(&found, "waiting") > 0.95 * total(&found), "{found:#}");
    assert!(part(&found, "frequency").abs() < 1.0 && part(&found, "cycles").abs() < 1.0);
    // The events name who it was; and a CPU that is busy has no idle state to leave.
    let who = |name: &str| {
        let parts = found["cause"]["parts"].as_array().unwrap();
        let part = parts.iter().find(|part| part["part"] == name).unwrap();
        (
            part["who"][0]["name"].as_str().unwrap().to_owned(),
            part["who"][0]["us"].as_f64().unwrap(),
        )
    };
    let (task, us) = who("waiting");
    assert_eq!(task, "load-0");
    assert!((us - part(&found, "waiting")).abs() < 0.02 * us, "{us} {found:#}");
    assert_eq!(who("lateness").0, "idle state CLUSTER_SLEEP");
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("response p99 "), "{sentence}");
    assert!(
        sentence.contains(": +") && sentence.contains("] from waiting for the CPU"),
        "{sentence}"
    );
}

#[test]
fn a_slower_clock_is_all_frequency() {
    let found = comparison(
        "[[condition]]\nname = \"idle\"\nplacement = \"cpu4\"\nfrequency = \"max\"\n\
         [[condition]]\nname = \"slow\"\nplacement = \"cpu4\"\nfrequency = \"min\"\n",
    );
    assert_eq!(found["verdict"], "effect", "{found:#}");
    sums_to_the_whole(&found);
    assert!((part(&found, "frequency") / total(&found) - 1.0).abs() < 0.1, "{found:#}");
}

#[test]
fn the_same_twice_is_equal() {
    let found = comparison(
        "[[condition]]\nname = \"a\"\nplacement = \"cpu4\"\nfrequency = \"max\"\n\
         [[condition]]\nname = \"b\"\nplacement = \"cpu4\"\nfrequency = \"max\"\n",
    );
    assert_eq!(found["verdict"], "equivalent", "{found:#}");
    let effects = found["effects"].as_array().unwrap();
    assert!(effects.iter().all(|effect| effect["verdict"] == "equivalent"), "{effects:#?}");
}

/// README opens with an answer and says that everybody gets the same one.
#[test]
fn the_readme_opens_with_what_is_printed() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs_err::read_to_string(root.join("README.md")).unwrap();
    let (_, quoted) = readme.split_once("```\nVerdicts\n").unwrap();
    let (quoted, _) = quoted.split_once("```").unwrap();
    let dir = folder();
    let bench =
        ["bench", "load-fixes-frequency", "--machine", "model:rk3399", "--verbose", "--no-page"];
    let (code, printed, stderr) = run(dir.path(), &bench);
    assert_eq!(code, 0, "{stderr}");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&printed).contains(&words(quoted)), "{quoted}\nis not in\n{printed}");
}
