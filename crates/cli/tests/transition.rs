//! `flyball transition` as a user meets it.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{folder, run, shared_data};

#[test]
fn a_model_is_measured_and_read_again() {
    let dir = folder();
    let arguments = [
        "transition",
        "--machine",
        "model:zen2",
        "--out",
        "r",
        "--figures",
        "f",
        "--page",
        "p.html",
        "--cpu",
        "0",
        "--trials",
        "120",
        "--runs",
        "5",
        "--levels",
        "1500MHz,2500MHz",
    ];
    let (code, stdout, stderr) = run(dir.path(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    for words in
        ["Transitions (detect)", "Writes (direct)", "Grid of the hardware", "1000.01", "declared"]
    {
        assert!(stdout.contains(words), "expected {words}\n{stdout}");
    }
    assert!(dir.path().join("r/trials.parquet").exists());
    for figure in ["transition-latency.svg", "transition-latency.png", "transition-scores.svg"] {
        assert!(dir.path().join("f").join(figure).exists(), "{figure}");
    }
    assert!(fs_err::read_to_string(dir.path().join("p.html")).unwrap().contains("<svg"));
    let again = |arguments: &[&str]| {
        let (code, text, stderr) = run(dir.path(), arguments);
        assert_eq!(code, 0, "{stderr}");
        text
    };
    let without_page = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with("Page ")).map(str::to_owned).collect()
    };
    assert_eq!(without_page(&again(&["report", "r"])), without_page(&stdout));
    let json: serde_json::Value =
        serde_json::from_str(&again(&["report", "r", "--format", "json"])).unwrap();
    assert_eq!(json["switches"][0]["switches"].as_array().unwrap().len(), 6);
}

#[test]
fn slips_are_named() {
    let dir = folder();
    for (arguments, code, words) in [
        (&["transition", "--machine", "model:zen"] as &[&str], 2, "zen2"),
        (&["transition", "--machine", "model:zen2,kernel=linux-6.12"], 2, "without a kernel"),
        (&["transition", "--machine", "record:none", "--dry-run"], 3, "none"),
        (&["transition", "--machine", "model:zen2", "--method", "detec"], 2, "detect"),
        (&["transition", "--machine", "model:zen2", "--levels", "1500"], 2, "1500MHz"),
        (&["transition", "--machine", "model:zen2", "--levels", "1500MHz,7GHz"], 3, "7000 MHz"),
        (&["transition", "--machine", "board:board-x68"], 3, "board-x86"),
        (&["transition", "--machine", "board:x86_64", "--dry-run"], 2, "flyball board run"),
        (&["transition", "--machine", "model:zen2", "--window", "1us"], 2, "10us"),
        (&["transition", "--machine", "model:zen2", "--cpu", "999"], 3, "999"),
    ] {
        let (found, _, stderr) = run(dir.path(), arguments);
        assert_eq!(found, code, "{arguments:?}\n{stderr}");
        assert!(stderr.contains(words), "{arguments:?}\n{stderr}");
    }
}

#[test]
fn recordings_are_reported_as_they_are() {
    let dir = folder();
    let Some(data) = shared_data("zen2-ftalat") else { return };
    let path = data.display().to_string();
    let (code, stdout, stderr) = run(dir.path(), &["report", &path]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("60.3 %") && stdout.contains("1000.01"), "{stdout}");
    let (code, _, stderr) =
        run(dir.path(), &["report", &path, "--counter", "2.5GHz", "--out", "i"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("300000 measurements"), "{stderr}");
    let (code, again, stderr) = run(dir.path(), &["report", "i"]);
    assert!(code == 0 && again.contains("60.3 %"), "{stderr}");
}
