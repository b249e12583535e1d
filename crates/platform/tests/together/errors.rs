//! Every mistake is named with its place, what was expected and found, and the way out.
#![allow(clippy::panic, reason = "a test fails by panicking")]

use flyball_platform::{DescriptionError, Kernel, Platform, catalogue};
use flyball_units::Diagnostic;

const MACHINE: &str = r#"title = "Two and one"
notes = "A test."

[[cores]]
type = "E"
cpus = "0-1"
capacity = 400
source = "assumed: a test"

[[cores]]
type = "P"
cpus = "2"
capacity = 1024
source = "assumed: a test"

[[domains]]
name = "e"
cpus = "0-1"
frequency_invariant = true
fast_switch = true
source = "assumed: a test"
  [domains.opps]
  source = { frequency = "assumed: a test", power = "assumed: a test" }
  points = [
    { khz = 300_000, busy_mw = 10, idle_mw = 1, kind = "throttle", clock_khz = 600_000 },
    { khz = 600_000, busy_mw = 20, idle_mw = 2 },
    { khz = 900_000, busy_mw = 45, idle_mw = 4 },
  ]
  [domains.transition]
  write_us = 1
  stall_us = { up = 5, down = 6 }
  effect_us = { base = 1, per_point = 2 }
  source = "assumed: a test"
  [domains.declared]
  latency_us = "eternal"
  source = "assumed: a test"
  [domains.idle]
  source = "assumed: a test"
  states = [
    { name = "WFI", exit_latency_us = 1, target_residency_us = 1, power_mw = 1 },
    { name = "off", exit_latency_us = 50, target_residency_us = 200, power_mw = 0.1, stops_timer = true },
  ]

[[domains]]
name = "p"
cpus = "2"
frequency_invariant = true
fast_switch = true
source = "assumed: a test"
  [domains.opps]
  source = { frequency = "assumed: a test", voltage = "assumed: a test" }
  points = [
    { khz = 1_000_000, mv = 700 },
    { khz = 2_000_000, mv = 900 },
  ]
  [domains.power]
  coefficient_uw_per_mhz_v2 = 500
  idle_percent = 10
  source = "assumed: a test"
  [domains.transition]
  write_us = 1
  stall_us = { matrix = [[0, 7], [8, 0]] }
  effect_us = 0
  source = "assumed: a test"
  [domains.declared]
  latency_us = 20
  source = "assumed: a test"
  [domains.idle]
  source = "assumed: a test"
  states = [{ name = "WFI", exit_latency_us = 1, target_residency_us = 1, power_mw = 5 }]

[thermal]
ambient_c = 25
resistance_k_per_w = 2
time_constant_s = 30
throttle_c = 90
critical_c = 100
source = "assumed: a test"
"#;

/// The error after the first `from` became `to`, and the line where the change begins.
fn error_after(from: &str, to: &str) -> (DescriptionError, usize) {
    let at = MACHINE.find(from).unwrap_or_else(|| panic!("no {from:?} in the machine"));
    let line = MACHINE[..at].matches('\n').count() + 1;
    let text = MACHINE.replacen(from, to, 1);
    match Platform::parse(&text, "machine.toml") {
        Ok(_) => panic!("{from:?} -> {to:?} was accepted"),
        Err(error) => (error, line),
    }
}

/// Change, words of the message, words of the hint.
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    // Keys and units.
    ("exit_latency_us", "exit_latency_ms", "unknown field `exit_latency_ms`", "`exit_latency_us`"),
    ("capacity = 400", "capcity = 400", "unknown field `capcity`", "did you mean `capacity`?"),
    ("write_us = 1", "write_us = \"1ms\"", "expected a time in microseconds", ""),
    ("write_us = 1", "write_us = -1", "found -1", ""),
    ("write_us = 1", "write_us = nan", "found NaN", ""),
    ("up = 5", "upp = 5", "unknown field `upp`", "`up`"),
    ("up = 5, ", "", "{ up, down }", ""),
    ("latency_us = \"eternal\"", "latency_us = \"forever\"", "\"eternal\", found \"forever\"", ""),
    ("busy_mw = 10", "busy_mw = -10", "expected a number of 0 to 1e9", ""),
    ("title = \"Two and one\"", "title = 1", "invalid type", ""),
    ("capacity = 400", "capacity = \"400\"", "expected a whole number from 0 to 4294967295", ""),
    ("khz = 900_000", "khz = -900_000", "expected a whole number", ""),
    ("[thermal]", "[[thermal]]", "invalid type: map", "one table [name]"),
    (
        "[thermal]",
        "[balancer]\nidle_cost_us = 5\nidle_cost_all_us = 4\nsource = \"assumed\"\n[thermal]",
        "expected 5us or more, which `idle_cost_us` is, found 4us",
        "",
    ),
    (
        "[thermal]",
        "[balancer]\nidle_cost_all_us = 4\nsource = \"assumed\"\n[thermal]",
        "expected `idle_cost_us` beside it, found none",
        "",
    ),
    // Sources.
    (
        "fast_switch = true\nsource = \"assumed: a test\"",
        "fast_switch = true",
        "missing field `source`",
        "assumed",
    ),
    (
        "capacity = 400\nsource = \"assumed: a test\"",
        "capacity = 400\nsource = \" \"",
        "found an empty text",
        "",
    ),
    (", power = \"assumed: a test\"", "", "expected a source of the power", "assumed"),
    (", voltage = \"assumed: a test\"", "", "expected a source of the voltage", "assumed"),
    (
        "{ khz = 1_000_000, mv = 700 },\n    { khz = 2_000_000, mv = 900 },",
        "{ khz = 1_000_000, busy_mw = 9 }",
        "expected `mv` in the points, found only their source",
        "",
    ),
    // CPUs and domains.
    ("cpus = \"0-1\"", "cpus = \"1-0\"", "expected CPU numbers", ""),
    ("cpus = \"0-1\"", "cpus = \"0-99999999\"", "expected CPU numbers", ""),
    ("cpus = \"0-1\"", "cpus = \"0,0-1\"", "found 0 twice", ""),
    ("cpus = \"2\"", "cpus = \"3\"", "without gaps, found cpu3 after 2 CPUs", ""),
    ("type = \"P\"\ncpus = \"2\"", "type = \"P\"\ncpus = \"1-2\"", "found cpu1 in E too", ""),
    ("name = \"e\"\ncpus = \"0-1\"", "name = \"e\"\ncpus = \"0\"", "found cpu1 in none", ""),
    (
        "name = \"e\"\ncpus = \"0-1\"",
        "name = \"e\"\ncpus = \"0-2\"",
        "found cpu2 in \"e\" and \"p\"",
        "",
    ),
    (
        "name = \"p\"\ncpus = \"2\"",
        "name = \"p\"\ncpus = \"2-3\"",
        "expected CPUs that `cores` describes, found cpu3",
        "",
    ),
    ("name = \"p\"", "name = \"e\"", "found \"e\" twice", ""),
    ("capacity = 1024", "capacity = 1000", "capacity 1024, found 1000", "relative"),
    ("capacity = 400", "capacity = 0", "expected a capacity of 1 to 1024, found 0", ""),
    (
        "capacity = 400",
        "capacity = 400\nwork_per_cycle = 9.0",
        "in the order of speed",
        "work_per_cycle",
    ),
    ("capacity = 400", "capacity = 400\nwork_per_cycle = inf", "expected work per cycle", ""),
    (
        "capacity = 400",
        "capacity = 400\nthreads_per_core = 3",
        "expected a divisor of 2 CPUs, found 3",
        "",
    ),
    (
        "cpus = \"0-1\"\nfrequency",
        "cpus = \"0-1\"\nshared_by = \"all\"\nname = \"e\"\nfrequency",
        "duplicate key",
        "",
    ),
    // Operating points.
    ("khz = 600_000, busy", "khz = 300_000, busy", "found 300000 kHz after 300000 kHz", ""),
    (
        "clock_khz = 600_000",
        "clock_khz = 700_000",
        "that is an operating point itself, found 700000 kHz",
        "",
    ),
    ("clock_khz = 600_000", "clock_khz = 200_000", "below its clock of 200000 kHz", ""),
    (", clock_khz = 600_000", "", "expected `clock_khz`", "modulated"),
    (", kind = \"throttle\"", "", "of kind \"throttle\" only", ""),
    (
        "kind = \"throttle\", clock_khz = 600_000",
        "kind = \"boost\"",
        "expected boost points above",
        "",
    ),
    ("kind = \"throttle\"", "kind = \"turbo\"", "unknown variant `turbo`", ""),
    ("busy_mw = 20", "busy_mw = 5", "does not fall", ""),
    ("idle_mw = 4", "idle_mw = 46", "at most busy_mw (45), found 46", ""),
    ("busy_mw = 45, ", "", "expected `busy_mw`, found none for 900000 kHz", "interpolated"),
    ("idle_percent = 10", "idle_percent = 101", "expected at most 100 %", ""),
    ("khz = 900_000", "khz = 900_000, effective_khz = 900_001", "expected an effective speed", ""),
    ("mv = 900", "mv = \"0.9 V\"", "expected a number", ""),
    // Costs, idle states, heat.
    ("[[0, 7], [8, 0]]", "[[0, 7]]", "2 columns (to), lowest point first, found 1 rows", ""),
    ("[[0, 7], [8, 0]]", "[[0, 7], [8]]", "found 1 columns in row 2", ""),
    ("[[0, 7], [8, 0]]", "[[1, 7], [8, 0]]", "a cost of staying at point 1", ""),
    (
        "exit_latency_us = 50",
        "exit_latency_us = 0",
        "the exit latency of off out of order",
        "deeper",
    ),
    ("target_residency_us = 200", "target_residency_us = 20", "found 20 < 50 us", ""),
    ("power_mw = 0.1", "power_mw = 2", "the power of off out of order", ""),
    ("throttle_c = 90", "throttle_c = 101", "ambient < throttle < critical", ""),
    ("time_constant_s = 30", "time_constant_s = 0", "expected a time constant above 0", ""),
    ("latency_us = 20", "latency_us = ", "", ""),
];

#[test]
fn mistakes_are_named() {
    assert!(Platform::parse(MACHINE, "machine.toml").is_ok(), "the machine itself is right");
    for (from, to, message, hint) in MISTAKES {
        let (error, _) = error_after(from, to);
        let shown = error.to_string();
        assert!(shown.contains(message), "{to:?}: expected {message:?} in {shown:?}");
        let found = error.hint().unwrap_or_default();
        assert!(found.contains(hint), "{to:?}: expected {hint:?} in {found:?}");
        assert!(shown.starts_with("machine.toml:") && error.place.is_some(), "{to:?}: {shown}");
    }
}

#[test]
fn places_are_where_the_mistake_is() {
    for (from, to) in [
        ("exit_latency_us = 50", "exit_latency_us = 0"),
        ("busy_mw = 20", "busy_mw = 5"),
        ("capacity = 400", "capacity = 0"),
        ("stall_us = { matrix = [[0, 7], [8, 0]] }", "stall_us = { matrix = [[0, 7]] }"),
        ("throttle_c = 90", "throttle_c = 20"),
        ("khz = 600_000, busy", "khz = 300_000, busy"),
    ] {
        let (error, line) = error_after(from, to);
        assert_eq!(error.place.map(|place| place.0), Some(line), "{error}");
    }
}

#[test]
fn unknown_names_are_told_the_nearest() {
    let error = Platform::named("aple-m1").expect_err("no such platform");
    assert_eq!(error.hint().as_deref(), Some("did you mean \"apple-m1\"?"));
    assert!(error.to_string().contains("expected a shipped platform (apple-m1, "), "{error}");
    let error = Kernel::named("linux-6.13").expect_err("no such kernel");
    assert!(error.hint().is_some_and(|hint| hint.contains("linux-6.1")), "{:?}", error.hint());
}

#[test]
fn kernels_are_checked_too() {
    let entry = |name: &str| {
        catalogue().kernels.iter().find(|entry| entry.name == name).map_or("", |entry| entry.text)
    };
    for (name, from, to, message) in [
        ("linux-6.8", "hz = 1000", "hz = 0", "expected 1 to 100000 Hz, found 0"),
        ("linux-6.8", "slice_us = 3000", "slice_us = 0", "expected a slice above 0"),
        ("linux-6.8", "idle_tick = \"stops\"", "idle_tick = \"stop\"", "unknown variant `stop`"),
        ("linux-6.12", "capacity_aware = true", "capacity_aware = false", "energy_aware alone"),
        ("linux-6.8", "\"up-to-6.8\"", "\"6.8\"", "unknown variant `6.8`"),
        (
            "linux-6.10-series",
            "patches = \"all\"",
            "patches = \"all\"\npelt_multiplier = 3",
            "1, 2 or 4, found 3",
        ),
        (
            "linux-6.8",
            "governor = \"menu\"\nsource",
            "governor = \"menu\"\nsurce",
            "unknown field `surce`",
        ),
    ] {
        let text = entry(name).replacen(from, to, 1);
        assert_ne!(text, entry(name), "{from:?} is in {name}");
        let error = Kernel::parse(&text, "k.toml").expect_err(to);
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.place.is_some(), "{error}");
    }
    let rules = "[rules]\nwith = [\"cfz\"]\nsource = \"assumed: a test\"\n";
    let error = Kernel::parse(&format!("{}\n{rules}", entry("linux-6.8")), "k.toml");
    let error = error.expect_err("no such rule");
    assert_eq!(error.hint().as_deref(), Some("did you mean \"cfs\"?"), "{error}");
}
