//! Whatever the bytes are: the reader counts them, the import makes rows of them, the shadow hears
//! them, and nothing panics.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::reading;

use flyball_events::Recording;
use flyball_events::stream::Counts;
use flyball_run::Run;
use proptest::prelude::*;

fn read(bytes: &[u8]) -> (Run, Counts) {
    let (built, reader) = reading::read(bytes);
    let run = Run { tables: built.tables, manifest: built.manifest, ..Run::default() };
    (run, reader.counts().clone())
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..5_u32).prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        Just("4294967295".to_owned()),
        Just("-1".to_owned()),
        Just(String::new()),
        Just("0x8000000c".to_owned()),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let n = number;
    prop_oneof![
        (n(), n(), n(), n(), "[RSDXZ+]{0,2}").prop_map(|(a, b, c, d, s)| format!(
            "sched_switch: prev_comm=a b prev_pid={a} prev_prio={b} prev_state={s} ==> next_comm=c next_pid={c} next_prio={d}"
        )),
        (n(), n()).prop_map(|(a, b)| format!("sched_wakeup: comm=a pid={a} prio=120 target_cpu={b}")),
        n().prop_map(|a| format!("sched_waking: comm=a pid={a} prio=120 target_cpu=001")),
        (n(), n(), n()).prop_map(|(a, b, c)| format!(
            "sched_migrate_task: comm=a pid={a} prio=120 orig_cpu={b} dest_cpu={c}"
        )),
        (n(), n()).prop_map(|(a, b)| format!("cpu_frequency: state={a} cpu_id={b}")),
        (n(), n()).prop_map(|(a, b)| format!("cpu_idle: state={a} cpu_id={b}")),
        (n(), n()).prop_map(|(a, b)| format!("pelt_se: (x) pid={a} my_q=0x0 util={b} runnable={b}")),
        (n(), n()).prop_map(|(a, b)| format!("pelt_cfs: (x) cpu={a} util={b} ue={b}")),
        (n(), n()).prop_map(|(a, b)| format!("cap: (x) cpu={a} cap={b}")),
        n().prop_map(|a| format!("q: (get_next_freq+0x0/0x1) cpu={a} util=4 max=9")),
        n().prop_map(|a| format!("r: (x <- get_next_freq) khz={a}")),
        "[ -~]{0,40}",
    ]
}

prop_compose! {
    fn line()(tid in number(), cpu in number(), time in number(), text in text(), kind in 0..12_u8) -> String {
        match kind {
            0 => format!("CPU:{cpu} [LOST {tid} EVENTS]"),
            1 => text,
            _ => format!("  task-{tid} [{cpu}] d..2. {time}.000001: {text}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let (_, counts) = read(&bytes);
        prop_assert_eq!(counts.bytes, bytes.len() as u64);
    }

    #[test]
    fn any_lines(lines in prop::collection::vec(line(), 0..40)) {
        let text = lines.join("\n") + "\n";
        let (run, counts) = read(text.as_bytes());
        let kept = counts.records + counts.unknown_events() + counts.gaps;
        prop_assert!(kept + counts.torn <= counts.lines);
        let slices = &run.tables.slices;
        for (from, to) in slices.from_ns.iter().zip(slices.to_ns.iter()) {
            prop_assert!(from <= to);
        }
        let _ = Recording::of(&run).span();
    }

    #[test]
    fn a_trace_cut_anywhere_loses_its_last_line_alone(cut in 0..700_usize) {
        let whole = "  <idle>-0 [001] d..1. 1.000000: cpu_idle: state=1 cpu_id=1\n".repeat(12);
        let cut = cut.min(whole.len());
        let (_, counts) = read(&whole.as_bytes()[..cut]);
        let line = whole.len() / 12;
        prop_assert_eq!(counts.records, (cut / line) as u64);
        prop_assert_eq!(counts.torn, u64::from(!cut.is_multiple_of(line)));
    }
}
