//! Runs whose answer is known, analysed: each verdict, and what it rests on.
#![allow(clippy::expect_used)] // a helper of a test fails the test

use flyball_import::{Options, import};
use flyball_report::analysis::{AnalysisOptions, RunData, analyse};
use flyball_report::model::{Comparison, Estimate, Finding, Part, Relation, Report, VerdictWord};
use flyball_report::terminal::{TerminalOptions, render};
use flyball_run::manifest::{
    ConditionRecord, CpuLimitRecord, CpuRecord, LoadCpuRecord, LoadRecord, Machine, SourceRecord,
    TrialRecord, WorkloadRecord,
};
use flyball_run::{LoadSample, Note, Nullable, RunState, Window};

const REPEATS: u32 = 8;
const WINDOWS: u64 = 120;
const PERIOD_NS: u64 = 20_000_000;

/// What differs between the conditions of a made run.
struct Made {
    name: &'static str,
    exec_ns: u64,
    khz: Option<u64>,
    /// Of the probe after a window, where it is not that of the probe before.
    khz_after: Option<u64>,
    preempted_every: u64,
    cpu: fn(u64) -> Option<u32>,
}

impl Default for Made {
    fn default() -> Self {
        Made {
            name: "idle",
            exec_ns: 10_000,
            khz: None,
            khz_after: None,
            preempted_every: 0,
            cpu: |_| Some(1),
        }
    }
}

/// Unevenness without a generator: a multiplicative sequence modulo a prime.
fn uneven(at: u64) -> u64 {
    at.wrapping_mul(48_271) % 2_147_483_647 % 97
}

fn run(conditions: &[Made]) -> RunData {
    let mut run = RunData { name: "made".into(), ..RunData::default() };
    run.manifest.machine = Some(Machine {
        cpus: (0..2).map(|cpu| CpuRecord { cpu, ..CpuRecord::default() }).collect(),
        ..Machine::default()
    });
    let mut now_ns = 1_000_000;
    for condition in conditions {
        run.manifest.conditions.push(ConditionRecord {
            name: condition.name.into(),
            scheduling_asked: Some("other".into()),
            scheduling_applied: Some("other".into()),
            ..ConditionRecord::default()
        });
    }
    for repeat in 1..=REPEATS {
        for condition in conditions {
            for workload in ["car", "noop"] {
                for index in 0..WINDOWS {
                    now_ns += PERIOD_NS;
                    let cpu = (condition.cpu)(index);
                    // CPU 0 is the slower one, where both are used.
                    let slow = if cpu == Some(0) { 2 } else { 1 };
                    let at = now_ns / PERIOD_NS;
                    let exec_ns =
                        condition.exec_ns * slow + uneven(at) + 2 * uneven(u64::from(repeat));
                    let preempted =
                        condition.preempted_every > 0 && index % condition.preempted_every == 0;
                    let late_ns = 5_000 + uneven(at + 1) as i64;
                    run.tables.windows.push(Window {
                        trial: repeat,
                        workload: workload.into(),
                        condition: condition.name.into(),
                        repeat,
                        block: repeat - 1,
                        index,
                        warmup: index < 5,
                        release_ns: now_ns,
                        end_ns: now_ns + exec_ns + 5_000,
                        exec_ns: if index < 5 { 9_999_999 } else { exec_ns },
                        lateness_ns: late_ns,
                        response_ns: late_ns + exec_ns as i64,
                        deadline_ns: now_ns + PERIOD_NS,
                        cpu_before: cpu,
                        cpu_after: cpu,
                        preemptions: Some(u32::from(preempted)),
                        probe_before_khz: condition.khz,
                        probe_after_khz: condition.khz_after.or(condition.khz),
                        cpu_time_ns: condition.khz.map(|_| exec_ns),
                        ..Window::default()
                    });
                }
            }
        }
    }
    run
}

/// The same, in an order that was drawn.
fn randomised(conditions: &[Made]) -> RunData {
    let mut made = run(conditions);
    made.manifest.kind = "bench".into();
    made.manifest.order = vec![TrialRecord::default()];
    made
}

fn first(report: &Report) -> &Comparison {
    report.comparisons.first().expect("a comparison")
}

fn analysed(run: RunData) -> Report {
    analyse(&[run], &AnalysisOptions::default())
}

#[test]
fn without_any_spread_there_is_no_t_test() {
    let mut made = run(&[Made::default(), Made { name: "heavy", ..Made::default() }]);
    let rows = 0..made.tables.windows.exec_ns.len();
    for row in rows {
        let heavy = made.tables.windows.condition.get(row) == Some("heavy");
        made.tables.windows.exec_ns[row] = if heavy { 12_000 } else { 10_000 };
    }
    let report = analysed(made);
    for workload in &first(&report).workloads {
        assert!((workload.ratio.value - 1.2).abs() < 1e-9);
        assert_eq!((workload.welch, workload.repeat_level), (None, None));
    }
    let spread = analysed(run(&[Made::default(), Made { name: "heavy", ..Made::default() }]));
    assert!(first(&spread).workloads.iter().all(|workload| workload.welch.is_some()));
}

#[test]
fn warm_up_is_left_out_and_lateness_has_an_interval() {
    let report = analysed(run(&[Made::default()]));
    let cell = &report.cells[0];
    assert_eq!((cell.n, cell.repeats), ((WINDOWS - 5) * u64::from(REPEATS), REPEATS));
    assert!(cell.execution.max_us < 100.0, "warm-up counted");
    let lateness = cell.lateness.as_ref().expect("a schedule");
    assert!(lateness.median_us.low.is_some() && lateness.median_us.value > 5.0);
    assert_eq!(cell.placement.summary, "cpu1");
    assert_eq!(cell.scheduling.as_deref(), Some("OTHER"));
    assert_eq!(cell.deadline_us, Some(20_000.0));
    assert!(report.comparisons.is_empty());
}

#[test]
fn an_effect_that_frequency_accounts_for() {
    let fast = Made { khz: Some(3_000_000), ..Made::default() };
    let slow = Made { name: "slow", exec_ns: 15_000, khz: Some(2_000_000), ..Made::default() };
    let report = analysed(run(&[fast, slow]));
    let found = first(&report);
    assert_eq!(found.title, "slow against idle");
    assert_eq!(found.verdict, VerdictWord::Effect, "{}", found.sentence);
    assert!((found.ratio.value / 1.5 - 1.0).abs() < 0.1);
    assert!(found.sentence.contains("all 2 workloads"), "{}", found.sentence);
    assert!(found.sentence.contains("accounts for"), "{}", found.sentence);
    assert_eq!(report.cells[0].delivered.as_ref().expect("a probe").source, "probe");
}

#[test]
fn the_same_twice_is_equivalent() {
    let report = analysed(run(&[Made::default(), Made { name: "again", ..Made::default() }]));
    assert_eq!(first(&report).verdict, VerdictWord::Equivalent, "{}", first(&report).sentence);
}

#[test]
fn preemption_on_one_side_is_contention() {
    let heavy = Made { name: "heavy", exec_ns: 14_000, preempted_every: 3, ..Made::default() };
    let report = analysed(run(&[Made::default(), heavy]));
    let found = first(&report);
    assert_eq!(found.verdict, VerdictWord::Confounded);
    assert!(found.reasons.iter().any(|reason| reason.kind == "contention"));
    assert!(found.sentence.contains("preempted in 33 % of windows"), "{}", found.sentence);
    assert!(report.disturbances.iter().any(|finding| finding.object == "preemption"));
}

#[test]
fn a_loaded_cpu_is_contention_even_without_preemption() {
    let mut run = run(&[Made::default(), Made { name: "heavy", ..Made::default() }]);
    run.manifest.conditions[1].load = Some(LoadRecord {
        profile: "heavy".into(),
        wanted_percent: Some(90.0),
        achieved_percent: Some(89.0),
        proven: Some(true),
        cpus: vec![LoadCpuRecord { cpu: 1, wanted_percent: 90.0, achieved_percent: Some(89.0) }],
        ..LoadRecord::default()
    });
    let report = analysed(run);
    assert_eq!(first(&report).verdict, VerdictWord::Confounded);
    assert!(report.loads[0].proven);
    let text = &first(&report).sentence;
    assert!(text.contains("on a CPU that carried the load in 100 %"), "{text}");
}

#[test]
fn a_load_that_was_asked_for_must_be_recorded() {
    let mut made = run(&[Made::default(), Made { name: "heavy", ..Made::default() }]);
    made.manifest.conditions[1].load =
        Some(LoadRecord { profile: "heavy".into(), ..LoadRecord::default() });
    let report = analysed(made.clone());
    assert_eq!(first(&report).verdict, VerdictWord::Unproven);
    made.tables.load.push(LoadSample {
        condition: "heavy".into(),
        cpu: 0,
        wanted_percent: 90.0,
        achieved_percent: 90.0,
        steal_percent: Some(2.0),
        ..LoadSample::default()
    });
    let report = analysed(made);
    assert_ne!(first(&report).verdict, VerdictWord::Unproven);
    assert_eq!(report.loads[0].steal_max_percent, Some(2.0));
}

#[test]
fn recorded_core_types_are_compared_like_for_like() {
    // Half of the windows on the slow core at first, three quarters after: no core got slower.
    let even = Made { cpu: |index| Some((index % 2) as u32), ..Made::default() };
    let uneven =
        Made { name: "moved", cpu: |index| Some(u32::from(index % 4 == 3)), ..Made::default() };
    let mut run = run(&[even, uneven]);
    let machine = run.manifest.machine.as_mut().expect("a machine");
    for (cpu, core_type) in machine.cpus.iter_mut().zip(["E", "P"]) {
        cpu.core_type = Some(core_type.into());
    }
    let report = analysed(run);
    let found = first(&report);
    let strata: Vec<_> =
        found.like_for_like.iter().map(|stratum| stratum.stratum.as_str()).collect();
    assert_eq!(strata, ["E", "P"]);
    for stratum in &found.like_for_like {
        assert!(!stratum.inferred && (stratum.ratio.value - 1.0).abs() < 0.02, "{stratum:?}");
    }
    assert!(found.ratio.value > 1.2, "pooled it looks slower: {:?}", found.ratio);
    assert_ne!(found.verdict, VerdictWord::Effect, "{}", found.sentence);
}

/// Which core a kernel chooses is its effect, where who booted first was drawn: so `board ab` records it.
#[test]
fn a_kernel_that_moves_a_task_has_an_effect_where_the_order_was_drawn() {
    let slow = Made { name: "A", cpu: |_| Some(0), ..Made::default() };
    let fast = Made { name: "B", ..Made::default() };
    let mut made = randomised(&[slow, fast]);
    let machine = made.manifest.machine.as_mut().expect("a machine");
    for (cpu, core_type) in machine.cpus.iter_mut().zip(["little", "big"]) {
        cpu.core_type = Some(core_type.into());
    }
    made.manifest.kind = "ab".into();
    let report = analysed(made.clone());
    assert!(first(&report).effects.is_empty(), "in turns: earlier versions did that");
    assert_ne!(first(&report).verdict, VerdictWord::Effect, "{}", first(&report).sentence);
    made.manifest.order_drawn = true;
    let report = analysed(made);
    let found = first(&report);
    assert_eq!(found.verdict, VerdictWord::Effect, "{}", found.sentence);
    assert!(found.sentence.starts_with("response "), "{}", found.sentence);
    assert_eq!(found.relation(), Relation::Faster);
    let report =
        analysed(randomised(&[Made::default(), Made { name: "again", ..Made::default() }]));
    let relation = first(&report).relation();
    assert!(matches!(relation, Relation::EqualMedians | Relation::Equivalent), "{relation:?}");
}

#[test]
fn two_runs_are_compared_condition_by_condition() {
    let before = run(&[Made::default()]);
    let after = run(&[Made { exec_ns: 13_000, ..Made::default() }]);
    let report = analyse(&[before, after], &AnalysisOptions::default());
    assert_eq!(first(&report).title, "idle: made (2) against made");
    assert!(first(&report).ratio.value > 1.2);
    assert!(first(&report).workloads.iter().all(|workload| workload.repeat_level.is_some()));
    let frequency = report.not_checked.iter().filter(|found| found.object == "delivered frequency");
    assert_eq!(frequency.count(), 1, "missing in both runs, said once");
}

#[test]
fn nothing_and_nonsense_are_survived() {
    assert!(analyse(&[], &AnalysisOptions::default()).cells.is_empty());
    let mut empty = RunData::default();
    empty.tables.windows.push(Window::default());
    let options = AnalysisOptions { replicates: 1, margin: f64::NAN, ..AnalysisOptions::default() };
    let report = analyse(&[empty], &options);
    assert!(report.cells.is_empty());
    assert_eq!(report.warnings.len(), 3, "{:?}", report.warnings);
    let mut single = RunData::default();
    single.tables.windows.push(Window { exec_ns: 5, ..Window::default() });
    let report = analyse(&[single], &AnalysisOptions::default());
    assert_eq!(report.cells.len(), 1);
    let text = serde_json::to_string(&report).expect("JSON");
    assert_eq!(serde_json::from_str::<Report>(&text).expect("a report"), report);
}

fn load(profile: &str, percent: f64) -> LoadRecord {
    LoadRecord {
        profile: profile.into(),
        wanted_percent: Some(percent),
        achieved_percent: Some(percent),
        proven: Some(true),
        cpus: vec![LoadCpuRecord {
            cpu: 1,
            wanted_percent: percent,
            achieved_percent: Some(percent),
        }],
        ..LoadRecord::default()
    }
}

fn kinds(comparison: &Comparison) -> Vec<&str> {
    comparison.reasons.iter().map(|reason| reason.kind.as_str()).collect()
}

/// `slow` is really slower: whatever is recorded beside it decides what that is worth.
fn idle_and_slow() -> RunData {
    run(&[Made::default(), Made { name: "slow", exec_ns: 14_000, ..Made::default() }])
}

#[test]
fn a_load_that_failed_in_some_blocks_is_unproven() {
    let mut made = idle_and_slow();
    let mut record = load("heavy", 90.0);
    record.cpus[0].cpu = 0;
    made.manifest.conditions[1].load = Some(record);
    assert_eq!(first(&analysed(made.clone())).verdict, VerdictWord::Effect);
    // The mean came near enough, and yet the run itself says no.
    let record = made.manifest.conditions[1].load.as_mut().expect("a load");
    (record.proven, record.why) = (Some(false), "it ran in 7 of 8 blocks".into());
    let report = analysed(made);
    assert_eq!(first(&report).verdict, VerdictWord::Unproven);
    assert!(kinds(first(&report)).contains(&"load_missed"));
    assert!(first(&report).sentence.contains("7 of 8 blocks"), "{}", first(&report).sentence);
}

#[test]
fn a_cause_stands_beside_the_figure_that_it_is_of() {
    // Faster at the median, and slower in every twentieth window.
    let uneven = Made {
        name: "uneven",
        exec_ns: 9_000,
        cpu: |index| Some(u32::from(index % 20 != 0)),
        ..Made::default()
    };
    let mut made = randomised(&[Made::default(), uneven]);
    let figure = "response p99 1.";
    let sentence = first(&analysed(made.clone())).sentence.clone();
    assert!(sentence.starts_with(figure), "{sentence}");
    let mut record = load("heavy", 90.0);
    (record.cpus[0].cpu, record.proven) = (0, Some(false));
    made.manifest.conditions[1].load = Some(record);
    let report = analysed(made);
    let found = first(&report);
    assert_eq!(found.verdict, VerdictWord::Unproven);
    assert_eq!(found.cause.as_ref().map(|cause| cause.quantile), Some(0.99));
    let told = format!("what did run: {figure}");
    assert!(found.sentence.contains(&told), "{}", found.sentence);
}

#[test]
fn two_loads_on_the_measuring_cpu_are_contention() {
    let mut made = idle_and_slow();
    made.manifest.conditions[0].load = Some(load("medium", 50.0));
    made.manifest.conditions[1].load = Some(load("heavy", 90.0));
    let report = analysed(made.clone());
    assert_eq!(first(&report).verdict, VerdictWord::Confounded);
    assert!(kinds(first(&report)).contains(&"contention"));
    // The same load on both sides disturbs both alike.
    made.manifest.conditions[0].load = Some(load("heavy", 90.0));
    assert_eq!(first(&analysed(made)).verdict, VerdictWord::Effect);
}

#[test]
fn a_cpu_limit_that_made_one_side_wait_is_named() {
    let mut made = idle_and_slow();
    made.manifest.conditions[1].cpu_limit = Some(CpuLimitRecord {
        file: "/sys/fs/cgroup/box/cpu.max".into(),
        quota_us: 20_000,
        period_us: 100_000,
        periods: 40,
        throttled: 39,
    });
    let report = analysed(made.clone());
    let found = first(&report);
    assert_eq!(found.verdict, VerdictWord::Confounded);
    let reason = found.reasons.iter().find(|reason| reason.kind == "throttled").expect("a reason");
    let told = "the CPU limit of /sys/fs/cgroup/box/cpu.max (20 of 100 ms) in 98 % of its periods";
    assert!(reason.text.contains(told), "{}", reason.text);
    let limit = report.disturbances.iter().find(|finding| finding.object == "CPU limit");
    assert!(limit.expect("a finding").text.contains("in 39 of 40 periods under slow"));
    // In a random order it is a way in which the condition acts, and told all the same.
    (made.manifest.kind, made.manifest.order) = ("bench".into(), vec![TrialRecord::default()]);
    let found = first(&analysed(made)).clone();
    assert_ne!(found.verdict, VerdictWord::Confounded, "{}", found.sentence);
    assert!(kinds(&found).contains(&"throttled"));
}

#[test]
fn a_real_time_thread_that_keeps_its_cpu_is_not_contended() {
    let mut made = idle_and_slow();
    made.manifest.conditions[1].load = Some(load("heavy", 90.0));
    assert_eq!(first(&analysed(made.clone())).verdict, VerdictWord::Confounded);
    for condition in &mut made.manifest.conditions {
        condition.scheduling_asked = Some("fifo:80".into());
        condition.scheduling_applied = Some("fifo:80".into());
    }
    let report = analysed(made.clone());
    assert_eq!(first(&report).verdict, VerdictWord::Effect, "{}", first(&report).sentence);
    assert!(kinds(first(&report)).contains(&"load_outranked"));
    // Who preempted a window took its CPU, whatever the class.
    let mut preempted = Nullable::default();
    for (row, condition) in made.tables.windows.condition.iter().enumerate() {
        preempted.push(Some(u32::from(condition == "slow" && row % 4 == 0)));
    }
    made.tables.windows.preemptions = preempted;
    let report = analysed(made.clone());
    assert_eq!(first(&report).verdict, VerdictWord::Confounded);
    assert!(kinds(first(&report)).contains(&"contention"));
    // Without a count nothing shows that the thread kept its CPU.
    made.tables.windows.preemptions = Nullable::default();
    for _ in 0..made.tables.windows.exec_ns.len() {
        made.tables.windows.preemptions.push(None);
    }
    assert_eq!(first(&analysed(made)).verdict, VerdictWord::Confounded);
}

/// Both conditions go at two speeds, in other shares; at one speed they are alike.
#[test]
fn what_frequency_explains_disappears_at_equal_frequency() {
    let mut made = run(&[Made::default(), Made { name: "slow", ..Made::default() }]);
    let windows = &mut made.tables.windows;
    let (mut before, mut after) = (Nullable::default(), Nullable::default());
    for row in 0..windows.exec_ns.len() {
        let slow = windows.condition.get(row) == Some("slow");
        let fast = row % 4 == 0 || (!slow && row % 4 != 3);
        let khz = if fast { 3_000_000 } else { 2_000_000 };
        windows.exec_ns[row] = windows.exec_ns[row] * 3_000_000 / khz;
        before.push(Some(khz));
        after.push(Some(khz));
    }
    (windows.probe_before_khz, windows.probe_after_khz) = (before, after);
    let report = analysed(made);
    let found = first(&report);
    assert!(found.ratio.value > 1.3, "{:?}", found.ratio);
    let equal = found.equal_frequency.as_ref().expect("both ran at both speeds");
    assert!((equal.ratio.value - 1.0).abs() < 0.02, "{equal:?}");
    assert!(found.workloads.iter().all(|workload| workload.equal_frequency.is_some()));
    // At one and the same speed there is nothing to hold equal.
    let same = run(&[
        Made { khz: Some(3_000_000), ..Made::default() },
        Made { name: "slow", khz: Some(3_000_000), ..Made::default() },
    ]);
    assert_eq!(first(&analysed(same)).equal_frequency, None);
}

/// The parts of the first comparison's cause, with their ends.
fn parts(made: &[Made]) -> Vec<(Part, Estimate)> {
    let report = analysed(randomised(made));
    let cause = first(&report).cause.clone().expect("a cause");
    cause.parts.iter().map(|part| (part.part, part.us)).collect()
}

#[test]
fn probes_tell_frequency_from_cycles_only_where_it_did_not_change() {
    let slow = |khz, khz_after| {
        [
            Made { khz: Some(2_000_000), ..Made::default() },
            Made { name: "slow", exec_ns: 20_000, khz: Some(khz), khz_after, ..Made::default() },
        ]
    };
    let of = |parts: &[(Part, Estimate)], wanted| {
        parts.iter().find(|(part, _)| *part == wanted).map(|(_, us)| *us)
    };
    // The same cycles at half the frequency.
    let steady = parts(&slow(1_000_000, None));
    let frequency = of(&steady, Part::Frequency).expect("a part of the frequency");
    assert!((frequency.value - 10.0).abs() < 0.5 && frequency.excludes(0.0), "{frequency:?}");
    assert!(of(&steady, Part::Cycles).expect("one of cycles").value.abs() < 0.5);
    // 4 % apart: half of that, of 20 us, is what nobody knows.
    let drifting = parts(&slow(980_000, Some(1_020_000)));
    let wider = of(&drifting, Part::Frequency).expect("a part of the frequency");
    let width = |us: Estimate| us.interval().map_or(0.0, |(low, high)| high - low);
    assert!((width(wider) - width(frequency) - 0.8).abs() < 0.05, "{wider:?} {frequency:?}");
    // From 2 to 1 GHz while it ran: when it changed is not known, and nothing is said.
    let changing = parts(&slow(2_000_000, Some(1_000_000)));
    assert_eq!((of(&changing, Part::Frequency), of(&changing, Part::Cycles)), (None, None));
    let on_cpu = of(&changing, Part::OnCpu).expect("both together");
    assert!((on_cpu.value - 10.0).abs() < 0.5 && on_cpu.excludes(0.0), "{on_cpu:?}");
}

#[test]
fn a_program_that_fails_is_in_no_figure() {
    let mut made = idle_and_slow();
    let windows = &mut made.tables.windows;
    let mut exit_status = Nullable::default();
    for (row, condition) in windows.condition.iter().enumerate() {
        exit_status.push(Some(i32::from(condition == "idle" && row % 4 == 0)));
    }
    windows.exit_status = exit_status;
    let report = analysed(made);
    assert_eq!(first(&report).verdict, VerdictWord::Confounded);
    assert!(kinds(first(&report)).contains(&"command_failed"));
    assert!(report.cells[0].n < u64::from(REPEATS) * (WINDOWS - 5));
    assert_eq!(report.disturbances[0].object, "command");
    assert!(report.warnings.iter().any(|warning| warning.contains("the program failed in")));
}

#[test]
fn settings_that_were_not_applied_are_told_and_count() {
    let mut made = idle_and_slow();
    let remark = "lock_memory: not permitted".to_owned();
    made.manifest.conditions[1].degraded = vec![remark.clone()];
    let report = analysed(made.clone());
    assert_eq!(first(&report).verdict, VerdictWord::Confounded);
    assert_eq!(report.disturbances[0].object, "settings");
    assert!(report.disturbances[0].text.contains(&remark));
    made.manifest.conditions[0].degraded = vec![remark];
    let report = analysed(made);
    assert_eq!(first(&report).verdict, VerdictWord::Effect);
    assert!(kinds(first(&report)).contains(&"not_applied"));
}

#[test]
fn runs_on_two_machines_do_not_compare() {
    let mut before = run(&[Made::default()]);
    let mut after = run(&[Made { exec_ns: 13_000, ..Made::default() }]);
    let options = AnalysisOptions::default();
    let report = analyse(&[before.clone(), after.clone()], &options);
    assert_eq!(first(&report).verdict, VerdictWord::Undecided);
    let sentence = &first(&report).sentence;
    assert!(sentence.contains("one run a side does not decide"), "{sentence}");
    // From three runs a side on, these are known to differ less than the sides do.
    (before.pooled, after.pooled) = (3, 3);
    let report = analyse(&[before.clone(), after.clone()], &options);
    assert_eq!(first(&report).verdict, VerdictWord::Effect);
    assert!(kinds(first(&report)).contains(&"runs_differ"));
    // One side's CPU alone is unknown, not different.
    let model = |run: &mut RunData, name: &str| {
        run.manifest.machine.get_or_insert_default().cpu_model = Some(name.into());
    };
    model(&mut after, "i7");
    let report = analyse(&[before.clone(), after.clone()], &options);
    assert_eq!(first(&report).verdict, VerdictWord::Effect);
    let mut other = before.clone();
    model(&mut other, "i5");
    let report = analyse(&[other, after.clone()], &options);
    assert_eq!(first(&report).verdict, VerdictWord::Confounded);
    assert!(first(&report).sentence.contains("i7 against i5"), "{}", first(&report).sentence);
    // Two programs of one name.
    let program = |run: &RunData, description: &str| {
        let mut run = run.clone();
        let (name, description) = ("car".into(), description.into());
        run.manifest.workloads =
            vec![WorkloadRecord { name, description, ..WorkloadRecord::default() }];
        run
    };
    let report = analyse(&[program(&before, "./a"), program(&before, "./b")], &options);
    assert_eq!(first(&report).verdict, VerdictWord::Confounded);
    assert!(first(&report).sentence.contains("./b against ./a"), "{}", first(&report).sentence);
}

/// What cyclictest gives: lateness, and nothing that is executed.
#[test]
fn lateness_alone_is_wake_up_latency() {
    let mut made = idle_and_slow();
    made.manifest.source = Some(SourceRecord::default());
    let windows = &mut made.tables.windows;
    for row in 0..windows.len() {
        windows.lateness_ns[row] = windows.exec_ns[row] as i64;
        windows.exec_ns[row] = 0;
    }
    let report = analysed(made);
    assert_eq!(report.cells.len(), 4);
    assert!((report.cells[0].execution.median_us.value - 10.0).abs() < 1.0);
    assert!(first(&report).sentence.contains("wake-up latency"), "{}", first(&report).sentence);
    let told = |finding: &&Finding| finding.object == "execution time";
    assert_eq!(report.not_checked.iter().filter(told).count(), 1);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
}

/// Real output of cyclictest, imported and analysed: a histogram keeps no order, so nothing drifts.
#[test]
fn cyclictest_has_figures() {
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/golden");
    for (file, threads) in
        [("cyclictest.json", 1), ("cyclictest-v.txt", 2), ("cyclictest-h.txt", 2)]
    {
        let run = import(golden.join(file), &Options::default()).expect("an import");
        let report = analysed(RunData::new(file, file, run));
        assert!(report.cells.len() >= threads, "{file}: {:?}", report.warnings);
        let cell = &report.cells[0];
        let lateness = cell.lateness.as_ref().expect("lateness");
        assert_eq!(cell.execution.median_us.value, lateness.median_us.value, "{file}");
        assert!(!report.not_checked.iter().any(|found| found.object == "lateness"), "{file}");
        for comparison in &report.comparisons {
            assert!(!kinds(comparison).contains(&"drift"), "{file}: {:?}", comparison.reasons);
        }
    }
}

#[test]
fn the_state_of_a_run_comes_first() {
    let mut made = run(&[Made::default()]);
    made.manifest.state = RunState::Invalid;
    made.warnings.push("a torn line".into());
    let report = analysed(made.clone());
    assert!(report.warnings[0].contains("must not be used"), "{:?}", report.warnings);
    // What is not whole is said before the warnings.
    made.manifest.state = RunState::Interrupted;
    let report = analysed(made);
    assert!(report.unfinished()[0].contains("interrupted"), "{:?}", report.unfinished());
    let text = render(&report, &TerminalOptions::default());
    assert!(text.starts_with("Not whole"), "{text}");
}

#[test]
fn steal_is_told_as_such() {
    let mut made = run(&[Made::default()]);
    made.manifest.machine.get_or_insert_default().virtualisation = Some("kvm".into());
    for _ in 0..3 {
        made.tables.notes.push(Note {
            severity: "warning".into(),
            object: "trial 0".into(),
            message: "steal: the hypervisor took cpu1 20 ms in the last second".into(),
            ..Note::default()
        });
    }
    let report = analysed(made.clone());
    let found: Vec<_> =
        report.disturbances.iter().filter(|found| found.object == "hypervisor steal").collect();
    assert_eq!(found.len(), 1, "{:?}", report.disturbances);
    assert!(found[0].text.contains("2 more seconds"), "{}", found[0].text);
    let unknown = |report: &Report| {
        report.not_checked.iter().any(|found| found.text.starts_with("steal per window"))
    };
    assert!(unknown(&report));
    made.manifest.machine.get_or_insert_default().virtualisation = Some("none".into());
    assert!(!unknown(&analysed(made)));
}

#[test]
fn a_program_that_always_fails_is_told_without_a_cell() {
    let mut made = RunData { name: "made".into(), ..RunData::default() };
    for index in 0..5 {
        made.tables.windows.push(Window {
            workload: "false".into(),
            condition: "idle".into(),
            index,
            exec_ns: 1_000,
            exit_status: Some(1),
            ..Window::default()
        });
    }
    let report = analysed(made);
    assert!(report.cells.is_empty());
    assert!(report.warnings[0].contains("failed in 5 of 5 windows"), "{:?}", report.warnings);
    assert!(report.disturbances[0].text.contains("exit status 1"), "{:?}", report.disturbances);
}
