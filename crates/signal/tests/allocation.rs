//! Running a window, and cutting the next one, allocates nothing.

use flyball_signal::input::{Synthetic, WindowSource};
use flyball_signal::{Form, Kernel, WorkloadSpec};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// One test in this file: another one's allocations would be counted, too.
#[test]
fn a_window_allocates_nothing() {
    let made = Synthetic { seconds: 3.0, dropouts_per_minute: 20.0, ..Synthetic::default() };
    let recording = made.generate().unwrap();
    for &kernel in Kernel::ALL {
        for &form in Form::ALL {
            let mut spec = WorkloadSpec::new(kernel);
            spec.form = form;
            let mut workload = spec.prepare().unwrap();
            let mut windows = WindowSource::new(&recording, 160, 80).unwrap();
            let mut window = vec![0.0; workload.input_len()];
            let mut output = vec![0.0; workload.output_len()];
            let mut missing = 0;
            let mut allocations = || {
                let region = Region::new(ALLOCATOR);
                for _ in 0..20 {
                    windows.fill(&mut window).unwrap();
                    missing += workload.run(&window, &mut output).nan_replaced;
                }
                let change = region.change();
                change.allocations + change.reallocations
            };
            // What allocates does so every time; the thread that waits for this one, now and then.
            let least = (0..3).map(|_| allocations()).min();
            assert_eq!(least, Some(0), "{kernel} {form}");
            assert_eq!(missing > 0, kernel != Kernel::Noop, "{kernel} {form} saw {missing} NaN");
        }
    }
}
