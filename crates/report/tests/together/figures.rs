//! The figures: drawn in both forms, honest about mixtures.
#![allow(
    clippy::disallowed_methods,
    reason = "the drawings are kept under target/ to be looked at"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise and keeps what it drew under target/"
)]

use crate::sample;

use flyball_report::figures::{
    Figure, Size, governor_comparison, per_kernel_comparison, platform_comparison,
};

fn keep(figure: &Figure, name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
    std::fs::create_dir_all(&folder).unwrap();
    let png = figure.png().unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    std::fs::write(folder.join(format!("{name}.png")), png).unwrap();
    std::fs::write(folder.join(format!("{name}.svg")), figure.svg()).unwrap();
    figure.svg()
}

#[test]
fn mixtures_are_hatched_and_their_modes_drawn() {
    let report = sample::cortex();
    let svg = keep(&governor_comparison(&report, Size::default()), "governor");
    assert!(svg.contains("mixture in 4 of 4"));
    assert!(svg.contains("load unproven"));
    assert!(svg.contains("like for like (E at 600 MHz) 1.00x [0.99, 1.01]"));
    assert!(svg.contains("E at 600 MHz: 762 us, 45 % of windows"), "the E mode's geometric mean");
    assert!(svg.contains("hatched: do not read alone"));
}

#[test]
fn a_clean_run_is_not_hatched() {
    let svg = keep(&governor_comparison(&sample::bench(), Size::default()), "governor-bench");
    assert!(!svg.contains("hatched") && svg.contains("0.95x"));
}

#[test]
fn every_workload_and_platform_has_its_panel() {
    let (a, b) = (sample::cortex(), sample::bench());
    let svg = keep(&per_kernel_comparison(&a, Size::default()), "kernels");
    for name in ["car", "notch_iir", "goertzel", "bandpass_fir"] {
        assert!(svg.contains(&format!(">{name}</text>")));
    }
    let svg = keep(
        &platform_comparison(&[("Linux", &a), ("Virtual machine", &b)], Size::default()),
        "platforms",
    );
    assert!(svg.contains(">Linux</text>") && svg.contains(">Virtual machine</text>"));
}

#[test]
fn any_report_and_size_draws() {
    let size = Size { width: f64::NAN, height: 0.0 };
    for cells in [0, 1, 40] {
        let report = sample::awkward(cells);
        for figure in [governor_comparison(&report, size), per_kernel_comparison(&report, size)] {
            assert!(!figure.svg().contains("<script") && !figure.svg().contains("NaN"));
            figure.png().unwrap();
        }
    }
    platform_comparison(&[], size).png().unwrap();
}
