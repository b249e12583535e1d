//! The measured loop allocates nothing: proved with an allocator that counts, per thread, through
//! the real loop, the real kernels and the real machine.
#![allow(unsafe_code, reason = "a global allocator is unsafe by definition")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use flyball_host::RealHost;
use flyball_lab::protocol::windows::telemetry::Recorder;
use flyball_lab::protocol::windows::trial::{
    Ended, ProbeMode, SignalWork, StopFlag, TrialError, TrialLabels, TrialPlan, WindowRecord, Work,
    WorkInfo, run,
};
use flyball_probe::Chain;
use flyball_signal::input::{Synthetic, WindowSource};
use flyball_signal::{Form, Kernel, WorkloadSpec};
use flyball_units::Nanos;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    /// Allocations, reallocations and frees of this thread.
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting.
struct Counting;

fn count() {
    // A thread that is being torn down has no counter any more; nobody reads it then.
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Windows before the count begins, and windows that are counted.
const WARM_UP: u64 = 4;
const WINDOWS: u64 = 100;

/// Notes the thread's count at the beginning of a window and at the end of the last one. All
/// that the loop does between, probes, accounts and the ring included, lies between the two.
struct Watched<W> {
    work: W,
    runs: u64,
    at_start: u64,
    at_end: u64,
}

impl<W: Work> Work for Watched<W> {
    fn prepare(&mut self) {
        self.work.prepare();
    }

    fn run(&mut self) -> Result<WorkInfo, Box<TrialError>> {
        if self.runs == WARM_UP {
            self.at_start = CALLS.get();
        }
        let info = self.work.run();
        self.runs += 1;
        self.at_end = CALLS.get();
        info
    }
}

fn plan() -> TrialPlan {
    let mut plan = TrialPlan::new(TrialLabels::default(), Nanos::from_millis(2), WINDOWS);
    plan.warmup_windows = WARM_UP;
    plan.probe = ProbeMode::BeforeAfter { lead: Some(Nanos::from_millis(1)) };
    plan.allow_degraded = true;
    plan
}

/// Runs the real loop and returns the calls of the allocator inside it, and its windows.
fn calls_in_loop(work: impl Work) -> (u64, Vec<WindowRecord>) {
    let host = RealHost::new();
    let mut watched = Watched { work, runs: 0, at_start: 0, at_end: 0 };
    let (mut recorder, mut take) = Recorder::unconnected((WARM_UP + WINDOWS) as usize);
    let chain = Some(Chain::new(1_000));
    let outcome =
        run(&host, &plan(), &mut watched, chain, &mut recorder, &StopFlag::default()).unwrap();
    assert_eq!(outcome.ended, Ended::Complete);
    assert_eq!(outcome.counts.recorded + outcome.counts.skipped, WARM_UP + WINDOWS);
    assert_eq!((outcome.counts.dropped, watched.runs), (0, outcome.counts.recorded));
    let records: Vec<WindowRecord> = std::iter::from_fn(&mut take).collect();
    assert_eq!(records.len() as u64, watched.runs);
    (watched.at_end - watched.at_start, records)
}

#[test]
fn no_window_of_any_kernel_allocates() {
    let recording = Arc::new(Synthetic::default().generate().unwrap());
    for &kernel in Kernel::ALL {
        for &form in Form::ALL {
            let mut spec = WorkloadSpec::new(kernel);
            spec.form = form;
            let workload = spec.prepare().unwrap();
            let params = workload.params();
            let source =
                WindowSource::new(Arc::clone(&recording), params.window, params.hop).unwrap();
            let (calls, records) = calls_in_loop(SignalWork::new(workload, source).unwrap());
            assert_eq!(calls, 0, "{kernel} {form}");
            assert!(records.iter().all(|record| record.probe_after.is_some()));
        }
    }
}

#[test]
fn the_count_sees_an_allocation() {
    /// Allocates once per window.
    struct Allocating;

    impl Work for Allocating {
        fn prepare(&mut self) {}

        fn run(&mut self) -> Result<WorkInfo, Box<TrialError>> {
            std::hint::black_box(Box::new(std::hint::black_box(7)));
            Ok(WorkInfo::default())
        }
    }
    let (calls, records) = calls_in_loop(Allocating);
    let counted = records.len() as u64 - WARM_UP;
    assert_eq!(calls, 2 * counted, "one allocation and one free per window");
}
