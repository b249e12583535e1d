//! Two hand-made reports that every renderer is tested against: a quick bench in a KVM guest and an
//! import of mixtures. The windows are drawn from a seeded generator, so they never change.
#![allow(dead_code)] // each test binary uses its own part

mod build;
mod cortex;
mod kvm;

#[allow(unused_imports)]
pub use build::Rng;
pub use cortex::cortex;
pub use kvm::bench;

use flyball_report::model::{Cell, Report};

/// A hostile, very long and very foreign set of names over many cells.
pub fn awkward(cells: usize) -> Report {
    let mut report = bench();
    let template: Vec<Cell> = report.cells.clone();
    report.cells = (0..cells)
        .map(|i| {
            let mut cell = template[i % template.len()].clone();
            cell.workload = match i % 4 {
                0 => "<script>alert(1)</script>".to_owned(),
                1 => {
                    "a-very-long-workload-name-that-nobody-should-use-but-somebody-will".to_owned()
                }
                2 => "信号処理カーネル".to_owned(),
                _ => "\"quoted\" & 'single' \u{1b}[31m | `tick` =1+1".to_owned(),
            };
            cell.condition = format!("condition {} \"><img src=x onerror=alert(1)>", i / 4);
            cell
        })
        .collect();
    let hostile = "<script>alert(2)</script>";
    for comparison in &mut report.comparisons {
        comparison.title = hostile.to_owned();
        comparison.sentence = hostile.to_owned();
    }
    for finding in &mut report.not_checked {
        finding.hint = Some(format!("echo '{hostile}' \" & ` $(x)"));
    }
    report.conditions = flyball_report::view::conditions(&report);
    report.runs[0].machine = hostile.to_owned();
    report
}
