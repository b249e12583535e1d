//! Whatever the rows say, a question answers or refuses; it never panics, and times add up.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use flyball_events::Recording;
use flyball_events::questions::*;
use flyball_run::{FrequencySample, Loss, Run, Slice, UtilizationSample, Wakeup};
use proptest::prelude::*;

fn time() -> impl Strategy<Value = u64> {
    prop_oneof![0..60_u64, Just(u64::MAX), Just(u64::MAX - 1)]
}

prop_compose! {
    fn any_run()(
        slices in prop::collection::vec((0..3_u32, 0..3_u32, time(), time(), 0..6_usize), 0..12),
        wakeups in prop::collection::vec((0..3_u32, time(), prop::option::of(time())), 0..6),
        signals in prop::collection::vec((0..3_u32, time(), prop::option::of(0..2000_u32)), 0..8),
        clocks in prop::collection::vec((0..2_u32, time(), prop::option::of(any::<u64>())), 0..8),
        gaps in prop::collection::vec((prop::option::of(0..3_u32), time(), time()), 0..3),
    ) -> Run {
        let mut run = Run::default();
        let whys = [None, Some("slept"), Some("preempted"), Some("exited"), Some("migrated"), Some("?")];
        for (cpu, tid, from_ns, to_ns, why) in slices {
            let why = whys.get(why).copied().flatten().map(str::to_owned);
            run.tables.slices.push(Slice { cpu, tid, from_ns, to_ns, why, ..Slice::default() });
        }
        for (tid, woken_ns, ran_ns) in wakeups {
            run.tables.wakeups.push(Wakeup { tid, woken_ns, ran_ns, ..Wakeup::default() });
        }
        for (tid, t_ns, util_avg) in signals {
            let (kind, tid) = ("task".to_owned(), Some(tid));
            let row = UtilizationSample { kind, tid, t_ns, util_avg, ..UtilizationSample::default() };
            run.tables.utilization.push(row);
        }
        for (cpu, t_ns, delivered_khz) in clocks {
            let domain = format!("cpu{cpu}");
            let row = FrequencySample { domain, t_ns, delivered_khz, ..FrequencySample::default() };
            run.tables.frequency.push(row);
        }
        for (cpu, from_ns, to_ns) in gaps {
            run.tables.lost.push(Loss { cpu, from_ns, to_ns, ..Loss::default() });
        }
        run
    }
}

proptest! {
    #[test]
    fn no_rows_break_a_question(run in any_run(), from in time(), to in time()) {
        let recording = Recording::of(&run).between(from, to);
        let span = recording.span();
        for domain in recording.domains() {
            if let Ok(answer) = FrequencyResidency::of(&recording, &domain) {
                let known: u64 = answer.values.iter().map(|share| share.residency_ns).sum();
                prop_assert_eq!(known + answer.unknown_ns + answer.lost_ns, span.length_ns());
            }
        }
        for tid in 0..3 {
            let _ = Rise::of(&recording, tid, &Target::USUAL);
            let _ = Stages::of(&recording, tid);
            let _ = RunningFrequency::of(&recording, tid);
            let _ = UtilizationResidency::while_running(&recording, tid);
            if let Ok(s) = States::of(&recording, tid) {
                let sum = s.running_ns + s.runnable_ns + s.sleeping_ns + s.exited_ns + s.unknown_ns;
                prop_assert_eq!(sum, span.length_ns());
            }
        }
        let _ = (CpuTime::all(&recording), WakeupLatency::all(&recording));
        let _ = (IdleResidency::all(&recording), ItemLatency::all(&recording));
        let _ = (Transitions::all(&recording), UtilizationOverTime::all(&recording));
    }
}
