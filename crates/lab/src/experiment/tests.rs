use super::*;
use flyball_units::Frequency;

const MINIMAL: &str = "[[workload]]\nkernel = \"car\"\n[[condition]]\nload = \"idle\"\n";

fn error_of(text: &str) -> ExperimentError {
    read(text, "x.toml").expect_err(text)
}

#[test]
fn what_ships_reads() {
    for built_in in BUILT_IN {
        read(built_in.text, built_in.name).unwrap_or_else(|error| panic!("{error}"));
    }
    read(template(), "template").unwrap_or_else(|error| panic!("{error}"));
    assert!(json_schema().contains("\"period\""));
    // Kernels say themselves what their keys mean.
    assert!(json_schema().contains("quality factor, f0 over the -3 dB bandwidth"));
    assert!(!json_schema().contains("WorkloadSpec"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "whoever renews the documents says so")]
fn the_documented_schema_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/experiment.schema.json");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs_err::write(path, json_schema()).unwrap();
    }
    let documented = fs_err::read_to_string(path).unwrap_or_default();
    assert!(
        documented == json_schema(),
        "docs/reference/experiment.schema.json is stale: UPDATE_DOCS=1 cargo test -p flyball-lab documented_schema"
    );
}

#[test]
fn the_template_states_the_defaults() {
    let template = read(template(), "template").unwrap();
    let minimal = read(MINIMAL, "minimal").unwrap();
    assert_eq!(
        (template.seed, template.repeats, template.period, template.duration, template.warmup),
        (minimal.seed, minimal.repeats, minimal.period, minimal.duration, minimal.warmup)
    );
    assert_eq!(template.conditions[0].scheduling, minimal.conditions[0].scheduling);
    assert_eq!(template.conditions[0].placement, minimal.conditions[0].placement);
    assert_eq!(template.input, minimal.input);
}

#[test]
fn unknown_keys_have_a_place_and_the_nearest_right_one() {
    let error = error_of(&format!("name = \"a\"\nperod = \"20ms\"\n{MINIMAL}"));
    assert_eq!(error.place, Some((2, 1)), "{error}");
    assert_eq!(error.hint.as_deref(), Some("did you mean `period`?"));
    let error = error_of(&format!("repeats = \"x\"\n{MINIMAL}"));
    let words = "repeats: invalid type: string \"x\", expected a whole number from 0 to";
    assert!(error.to_string().contains(words), "{error}");
    let error = error_of("[[workload]]\nkernal = \"car\"\n");
    assert_eq!(
        (error.place, error.hint.as_deref()),
        (Some((2, 1)), Some("did you mean `kernel`?"))
    );
}

#[test]
fn wrong_values_have_a_place_and_say_what_was_expected() {
    for (line, expected) in [
        ("period = 20", "with its unit"),
        ("period = \"20\"", "with its unit"),
        ("duration = \"2 fortnights\"", "units: ns, us, ms, s, min, h"),
        ("probe = \"sometimes\"", "expected"),
        ("repeats = -1", "expected"),
        ("repeats = \"many\"", "expected"),
    ] {
        let error = error_of(&format!("{line}\n{MINIMAL}"));
        assert!(error.message.contains(expected), "{line}: {error}");
        assert_eq!(error.place.map(|place| place.0), Some(1), "{line}: {error}");
    }
    for (line, expected) in [
        ("scheduling = \"fifo\"", "expected a priority"),
        ("scheduling = \"fifo:100\"", "from 1 to 99"),
        ("scheduling = \"ffo:1\"", "did you mean \"fifo\"?"),
        ("scheduling = \"deadline:9ms/2ms\"", "at most the period"),
        ("placement = \"cpu\"", "CPU"),
        ("placement = \"anny\"", "did you mean \"any\"?"),
        ("load = \"hevy\"", "heavy"),
        ("frequency = \"600\"", "with its unit"),
        ("domains_of = \"x\"", "CPU"),
        ("governor = \"a:b=c\"", "whole number"),
        ("min_frequncy = \"min\"", "unknown field"),
        ("epp = 3", "expected a string"),
        ("boost = \"on\"", "expected a boolean"),
    ] {
        let error = error_of(&format!("[[workload]]\nkernel = \"car\"\n[[condition]]\n{line}\n"));
        assert!(error.message.contains(expected), "{line}: {error}");
        assert_eq!(error.place.map(|place| place.0), Some(4), "{line}: {error}");
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    for (text, expected) in [
        ("[[condition]]\nload = \"idle\"\n".to_owned(), "[[workload]]"),
        ("[[workload]]\nkernel = \"car\"\n".to_owned(), "[[condition]]"),
        (format!("repeats = 0\n{MINIMAL}"), "at least 1"),
        (format!("margin = 3.0\n{MINIMAL}"), "0.03 is 3 %"),
        (format!("period = \"10us\"\n{MINIMAL}"), "at least 50us"),
        (format!("duration = \"1ms\"\n{MINIMAL}"), "at least one period"),
        (format!("{MINIMAL}[[condition]]\nload = \"idle\"\n"), "twice"),
        (format!("{MINIMAL}[[workload]]\n"), "neither"),
        (format!("{MINIMAL}[[workload]]\nkernel = \"noop\"\ncommand = [\"true\"]\n"), "both"),
        (format!("{MINIMAL}[[workload]]\ncommand = []\n"), "a program"),
        (format!("{MINIMAL}[input]\nfile = \"a.edf\"\ndropouts_per_minute = 1\n"), "synthetic"),
        (format!("{MINIMAL}[input]\ndropouts_per_minute = -2.0\n"), "0 to 1000000"),
    ] {
        let error = error_of(&text);
        assert!(error.message.contains(expected), "{text}: {error}");
    }
}

#[test]
fn settings_of_the_machine_are_what_a_hold_is_asked_for() {
    use flyball_units::{Frequency, KiloHertz};
    let settings = |lines: &str| {
        let text = format!("[[workload]]\nkernel = \"car\"\n[[condition]]\n{lines}\n");
        read(&text, "x.toml").unwrap().conditions[0].held()
    };
    assert_eq!(settings("idle_latency_us = 10"), None, "the trial's own matter");
    let all = settings(
        "governor = \"ondemand\"\ntunables = { up_threshold = 60 }\nmax_frequency = \"1.2GHz\"\n\
         boost = false\nepp = \"power\"",
    )
    .unwrap();
    assert_eq!(all.governor.as_deref(), Some("ondemand"));
    assert_eq!(all.tunables, [("up_threshold".to_owned(), 60)].into());
    assert_eq!((all.min, all.max), (None, Some(Frequency::At(KiloHertz(1_200_000)))));
    assert_eq!((all.boost, all.epp.as_deref()), (Some(false), Some("power")));
    let pinned = settings("frequency = \"min\"").unwrap();
    assert_eq!((pinned.frequency, pinned.governor), (Some(Frequency::Min), None));
}

#[test]
fn control_of_the_frequency_is_read_and_checked() {
    let condition = |lines: &str| {
        let text = format!("[[workload]]\nkernel = \"car\"\n[[condition]]\n{lines}\n");
        read(&text, "x.toml").map(|experiment| experiment.conditions[0].clone())
    };
    let tuned = condition("governor = \"schedutil\"\ntunables = { rate_limit_us = 2000 }").unwrap();
    assert_eq!(tuned.settings.governor.as_deref(), Some("schedutil"));
    assert_eq!(tuned.settings.tunables, [("rate_limit_us".to_owned(), 2000)].into());
    let short = condition("governor = \"schedutil:rate_limit_us=2000\"").unwrap();
    assert_eq!(short, tuned, "a governor is written as everywhere");
    let text = toml::to_string(&tuned).unwrap();
    assert_eq!(toml::from_str::<Condition>(&text).unwrap(), tuned);
    assert_eq!(tuned.label(), "schedutil rate_limit_us=2000");
    let pinned = condition("frequency = \"max\"\nload = \"medium\"").unwrap();
    assert_eq!(pinned.settings.frequency, Some(Frequency::Max));
    assert_eq!(pinned.label(), "max medium");
    for (lines, expected) in [
        ("governor = \"a\"\nfrequency = \"min\"", "found both"),
        ("governor = \" \"", "expected a governor such as"),
        ("tunables = { up_threshold = 80 }", "expected a governor"),
        ("frequency = \"min\"\nmax_frequency = \"max\"", "found both"),
        ("min_frequency = \"2GHz\"\nmax_frequency = \"600MHz\"", "found 2000MHz"),
        ("min_frequency = \"max\"\nmax_frequency = \"600MHz\"", "found \"max\""),
        ("frequency = \"600\"", "\"600MHz\""),
    ] {
        let error = condition(lines).expect_err(lines);
        assert!(error.to_string().contains(expected), "{lines}: {error}");
    }
}

#[test]
fn a_plan_that_nobody_could_run_is_refused_before_it_is_laid_out() {
    let text = format!("repeats = 4000000000\n{MINIMAL}");
    let error = error_of(&text);
    assert!(error.to_string().contains("at most 200000 trials in all"), "{error}");
    assert!(error.hint.is_some());
}
