//! Times kernels on request, for `scripts/bench-signal/compare.py`.
//!
//! Reads lines `KERNEL FORM REPEATS` and answers each with the nanoseconds per window, so that the
//! script can alternate between us and others within one run.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a timing tool for developers, no part of the product"
)]

use flyball_signal::input::{Synthetic, WindowSource};
use flyball_signal::{Form, Kernel, WorkloadSpec};
use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let recording = Synthetic::default().generate()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[kernel, form, repeats] = words.as_slice() else {
            return Err(format!("expected KERNEL FORM REPEATS, found `{line}`").into());
        };
        let mut spec = WorkloadSpec::new(kernel.parse::<Kernel>()?);
        spec.form = form.parse::<Form>()?;
        let repeats: u32 = repeats.parse()?;
        let mut workload = spec.prepare()?;
        let mut window = vec![0.0; workload.input_len()];
        let mut output = vec![0.0; workload.output_len()];
        WindowSource::new(&recording, 160, 80)?.fill(&mut window)?;
        workload.run(&window, &mut output);
        let start = Instant::now();
        for _ in 0..repeats {
            workload.run(black_box(&window), black_box(&mut output));
        }
        println!("{}", start.elapsed().as_nanos() as f64 / f64::from(repeats.max(1)));
        std::io::stdout().flush()?;
    }
    Ok(())
}
