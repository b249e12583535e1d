//! Every question, asked of a recording whose answers were worked out by hand.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::sample::{NOISE, RAMP, ms, ramp};
use flyball_events::questions::*;
use flyball_events::recording::Subject;
use flyball_events::{Missing, Recording, Span};
use flyball_run::{Loss, Run};

fn shares<V: Copy>(shares: &[Share<V>]) -> Vec<(V, u64)> {
    shares.iter().map(|share| (share.value, share.residency_ns / 1_000_000)).collect()
}

fn with_gap(cpu: Option<u32>, from: u64, to: u64) -> Run {
    let mut run = ramp(1);
    let (from_ns, to_ns) = (ms(from), ms(to));
    run.tables.lost.push(Loss { cpu, from_ns, to_ns, events: Some(7), ..Loss::default() });
    run
}

#[test]
fn a_recording_knows_its_span_tasks_and_cpus() {
    let run = ramp(1);
    let recording = Recording::of(&run);
    assert_eq!(recording.span(), Span { from_ns: 0, to_ns: ms(100) });
    assert_eq!(recording.domains(), ["little", "big"]);
    assert_eq!(recording.topology().core_type(0).as_deref(), Some("little"));
    for name in ["ramp", "1", "ramp-1"] {
        assert_eq!(recording.find(name).unwrap().tid, RAMP, "{name}");
    }
    let error = recording.find("nobody").unwrap_err();
    assert_eq!((error.object.as_str(), error.found.as_str()), ("task `nobody`", "2 other tasks"));
    assert!(!error.hint().is_empty());
    assert_eq!(recording.marker("starts").unwrap().t_ns, ms(10));
}

#[test]
fn time_to_levels_from_a_marker() {
    let run = ramp(1);
    let recording = Recording::of(&run).between(ms(10), u64::MAX);
    let rise = Rise::of(&recording, RAMP, &Target::USUAL).unwrap();
    let after: Vec<_> =
        rise.times.iter().map(|t| (t.level, t.outcome.after_ns().map(|ns| ns / ms(1)))).collect();
    let expected = [
        (450, Some(45)),
        (1000, Some(70)),
        (512, Some(70)),
        (820, Some(70)),
        (973, Some(70)),
        (1014, None),
    ];
    assert_eq!(after, expected);
    assert_eq!((rise.initial, rise.peak, rise.since_ns), (Some(0), 1000, ms(10)));
    let reached = Outcome::Reached { after_ns: ms(45), within_ns: ms(20), lost: false };
    assert_eq!(rise.times[0].outcome, reached);
    let peak = Rise::of(&recording, RAMP, &[Target::PercentOfPeak(46)]).unwrap();
    assert_eq!(peak.times[0].outcome, reached);
}

#[test]
fn a_level_that_holds_at_the_begin_was_reached_already() {
    let run = ramp(1);
    let recording = Recording::of(&run).between(ms(60), ms(90));
    let rise = Rise::of(&recording, RAMP, &[Target::Value(450)]).unwrap();
    assert_eq!(rise.times[0].outcome, Outcome::Already);
}

#[test]
fn time_on_the_little_core() {
    let run = ramp(1);
    let stages = Stages::of(&Recording::of(&run), RAMP).unwrap();
    let [little, big] = stages.stages.as_slice() else { panic!("{stages:?}") };
    assert_eq!((little.core_type.as_deref(), little.capacity), (Some("little"), Some(400)));
    assert_eq!((little.from_ns, little.left_ns, little.ran_ns), (ms(11), Some(ms(51)), ms(38)));
    assert_eq!((big.from_ns, big.left_ns, big.ran_ns), (ms(51), None, ms(49)));
    assert_eq!(big.cpus, [1]);
    assert!(stages.capacities_known);
}

#[test]
fn frequency_that_the_task_itself_got() {
    let run = ramp(1);
    let answer = RunningFrequency::of(&Recording::of(&run), RAMP).unwrap();
    let [little, big] = answer.cores.as_slice() else { panic!("{answer:?}") };
    assert_eq!(shares(&little.values), [(600_000, 10), (1_000_000, 18), (1_800_000, 10)]);
    assert_eq!(shares(&big.values), [(600_000, 10), (3_000_000, 39)]);
    let cycles = 0.6 * 10.0 + 18.0 + 1.8 * 10.0 + 0.6 * 10.0 + 3.0 * 39.0;
    assert!((answer.mean_khz.unwrap() - cycles / 87.0 * 1e6).abs() < 1.0);
    assert_eq!((answer.unknown_ns, answer.lost_ns), (0, 0));
}

#[test]
fn residencies_of_frequency_utilisation_and_idle() {
    let run = ramp(1);
    let recording = Recording::of(&run);
    let little = FrequencyResidency::of(&recording, "little").unwrap();
    assert_eq!(shares(&little.values), [(600_000, 21), (1_000_000, 20), (1_800_000, 59)]);
    let running = UtilizationResidency::while_running(&recording, RAMP).unwrap();
    let expected = [(0, 4), (100, 10), (200, 8), (330, 20), (460, 25), (1000, 20)];
    assert_eq!(shares(&running.values), expected);
    let all = UtilizationResidency::of(&recording, Subject::Task(RAMP)).unwrap();
    assert_eq!(shares(&all.values)[0], (0, 15));
    let idle = IdleResidency::all(&recording).unwrap();
    assert_eq!(shares(&idle[0].states), [(1, 11), (2, 49)]);
    assert_eq!(idle[0].names[1].as_deref(), Some("C2"));
    assert_eq!((idle[0].awake_ns, idle[1].awake_ns), (ms(40), ms(49)));
}

#[test]
fn shares_of_running_runnable_and_sleeping_sum_to_the_span() {
    let run = ramp(1);
    let recording = Recording::of(&run);
    let ramp = States::of(&recording, RAMP).unwrap();
    assert_eq!((ramp.running_ns, ramp.runnable_ns, ramp.sleeping_ns), (ms(87), ms(3), 0));
    assert_eq!(ramp.unknown_ns, ms(10));
    let noise = States::of(&recording, NOISE).unwrap();
    assert_eq!((noise.running_ns, noise.sleeping_ns, noise.unknown_ns), (ms(2), ms(67), ms(31)));
    assert_eq!(States::all(&recording).unwrap(), [ramp, noise]);
}

#[test]
fn wake_ups_items_and_time_per_cpu() {
    let run = ramp(1);
    let recording = Recording::of(&run);
    let wakeups = WakeupLatency::all(&recording).unwrap();
    assert_eq!(wakeups[0].latency.as_ref().unwrap().p50_ns, ms(1));
    assert_eq!(wakeups[1].latency.as_ref().unwrap().max_ns, 0);
    let items = ItemLatency::all(&recording).unwrap();
    let latency = items[0].latency.as_ref().unwrap();
    assert_eq!((latency.min_ns, latency.max_ns), (ms(41), ms(60)));
    assert_eq!((items[0].unfinished, items[0].with_deadline, items[0].missed), (1, 2, 1));
    let time = CpuTime::all(&recording).unwrap();
    assert_eq!((time[0].busy_ns, time[1].busy_ns), (ms(40), ms(49)));
    assert_eq!((time[0].tasks[0].task.tid, time[0].tasks[0].ran_ns), (RAMP, ms(38)));
    assert_eq!(CpuTime::of_task(&recording, NOISE).unwrap()[0].busy_ns, ms(2));
}

#[test]
fn changes_of_frequency_have_causes_or_are_unexplained() {
    let run = ramp(1);
    let recording = Recording::of(&run);
    let little = Transitions::of(&recording, "little").unwrap();
    assert_eq!((little.count, little.up, little.down, little.unexplained), (2, 2, 0, 0));
    assert!((little.per_second.unwrap() - 20.0).abs() < 1e-9);
    assert_eq!((little.causes[0].event.as_str(), little.causes[0].count), ("util", 2));
    assert_eq!(little.delay.unwrap().max_ns, ms(1));
    let big = Transitions::of(&recording, "big").unwrap();
    assert_eq!((big.count, big.unexplained, big.causes.len()), (1, 1, 0));
}

#[test]
fn what_lies_in_a_gap_is_unknown() {
    let run = with_gap(None, 60, 70);
    let recording = Recording::of(&run);
    assert_eq!((recording.gaps().len(), recording.gaps().events()), (1, 7));
    let big = FrequencyResidency::of(&recording, "big").unwrap();
    assert_eq!(shares(&big.values), [(600_000, 60), (3_000_000, 30)]);
    assert_eq!(big.lost_ns, ms(10));
    let rise = Rise::of(&recording, RAMP, &[Target::Value(450), Target::Value(1000)]).unwrap();
    let lost = |at: usize| matches!(rise.times[at].outcome, Outcome::Reached { lost: true, .. });
    assert!(!lost(0) && lost(1));
    let noise = States::of(&recording, NOISE).unwrap();
    assert_eq!((noise.sleeping_ns, noise.unknown_ns), (ms(57), ms(41)));
    let early = with_gap(Some(1), 30, 32);
    let early = Recording::of(&early);
    assert_eq!(WakeupLatency::of(&early, NOISE).unwrap().lost, 0, "it ran at once");
    assert_eq!(Stages::of(&early, RAMP).unwrap().lost_ns, ms(2));
}

#[test]
fn trials_keep_apart() {
    let mut run = ramp(1);
    let mut second = ramp(2);
    for (trial, run) in [(0, &mut run), (1, &mut second)] {
        let mut slices = flyball_run::Slices::default();
        for row in 0..run.tables.slices.len() {
            slices.push(flyball_run::Slice {
                trial: Some(trial),
                ..run.tables.slices.row(row).unwrap()
            });
        }
        run.tables.slices = slices;
    }
    flyball_run::Table::append(&mut run.tables.slices, second.tables.slices);
    assert_eq!(Recording::trials(&run), [0, 1]);
    let busy = |trial| CpuTime::all(&Recording::of_trial(&run, trial)).unwrap()[0].busy_ns;
    assert_eq!((busy(0), busy(1)), (ms(40), ms(80)));
}

#[test]
fn an_empty_run_answers_nothing_and_says_why() {
    let run = Run::default();
    let recording = Recording::of(&run);
    let tables = |missing: Missing| missing.expected;
    assert!(tables(CpuTime::all(&recording).unwrap_err()).contains("`slices`"));
    assert!(tables(Rise::of(&recording, 1, &[]).unwrap_err()).contains("`utilization`"));
    assert!(tables(WakeupLatency::all(&recording).unwrap_err()).contains("`wakeups`"));
    assert!(tables(IdleResidency::all(&recording).unwrap_err()).contains("`idle`"));
    assert!(tables(FrequencyOverTime::of(&recording, "x").unwrap_err()).contains("`frequency`"));
    assert!(Transitions::all(&recording).is_empty());
    assert!(UtilizationOverTime::all(&recording).is_empty());
}

#[test]
fn answers_are_json_with_units_in_their_names() {
    let run = ramp(1);
    let recording = Recording::of(&run);
    let rise = Rise::of(&recording, RAMP, &[Target::Value(450), Target::PercentOfScale(99)]);
    let json = serde_json::to_value(rise.unwrap()).unwrap();
    assert_eq!(json["times"][0]["outcome"]["reached"]["after_ns"], 55_000_000);
    assert_eq!(json["times"][1]["target"]["percent_of_scale"], 99);
    assert_eq!(json["times"][1]["outcome"], "never");
    let over = UtilizationOverTime::of(&recording.between(ms(20), ms(60)), Subject::Task(RAMP));
    let json = serde_json::to_value(over.unwrap()).unwrap();
    assert_eq!(json["subject"]["task"], 1);
    assert_eq!(
        json["points"][0],
        serde_json::json!({
            "t_ns": 20_000_000, "util_avg": 100, "runnable_avg": null, "util_est": 50
        })
    );
    assert_eq!(json["points"].as_array().unwrap().len(), 4);
}
