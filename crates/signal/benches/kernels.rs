//! Time per window of every kernel in both forms, with the sources' parameters.
#![allow(missing_docs, reason = "criterion's macros generate public functions")]
#![allow(clippy::expect_used, reason = "a benchmark has no caller to tell")]

use criterion::{Criterion, criterion_group, criterion_main};
use flyball_signal::input::{Synthetic, WindowSource};
use flyball_signal::{Form, Kernel, WorkloadSpec};
use std::hint::black_box;

fn kernels(criterion: &mut Criterion) {
    let recording = Synthetic::default().generate().expect("the defaults are valid");
    for &kernel in Kernel::ALL {
        let mut group = criterion.benchmark_group(kernel.name());
        for &form in Form::ALL {
            let mut spec = WorkloadSpec::new(kernel);
            spec.form = form;
            let mut workload = spec.prepare().expect("the defaults are valid");
            let mut windows = WindowSource::new(&recording, 160, 80).expect("long enough");
            let mut window = vec![0.0; workload.input_len()];
            let mut output = vec![0.0; workload.output_len()];
            windows.fill(&mut window).expect("the right length");
            group.bench_function(form.name(), |bencher| {
                bencher.iter(|| workload.run(black_box(&window), black_box(&mut output)));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, kernels);
criterion_main!(benches);
