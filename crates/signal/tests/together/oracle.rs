//! Both forms of every kernel against numpy and scipy over whole recordings, to the stated
//! tolerances. The fixtures are made by `scripts/oracle/make_fixtures.py`.
#![allow(clippy::disallowed_methods, reason = "tests read their fixtures from the repository")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "functions that tests share, which print how much of the tolerance is used"
)]

use flyball_signal::design::{firwin_bandpass, iirnotch};
use flyball_signal::input::{Recording, WindowSource};
use flyball_signal::{Compatibility, Form, Kernel, WorkloadSpec};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Deserialize)]
struct Index {
    cases: BTreeMap<String, Case>,
}

#[derive(Deserialize)]
struct Case {
    params: Params,
    arrays: BTreeMap<String, Array>,
}

#[derive(Deserialize)]
struct Params {
    rate_hz: f64,
    window: usize,
    hop: usize,
    channels: usize,
    f0_hz: f64,
    q: f64,
    goertzel_bands: Vec<[f64; 2]>,
    fir_bands: Vec<[f64; 2]>,
    taps: usize,
    n_fft: usize,
}

#[derive(Deserialize)]
struct Array {
    r#type: String,
    shape: Vec<usize>,
}

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn cases() -> BTreeMap<String, Case> {
    let text = std::fs::read_to_string(fixtures().join("fixtures.json")).unwrap();
    serde_json::from_str::<Index>(&text).unwrap().cases
}

/// An array in double precision, its length checked against the index.
fn load(case_name: &str, case: &Case, name: &str) -> Vec<f64> {
    let Array { r#type, shape } = &case.arrays[name];
    let bytes = std::fs::read(fixtures().join(format!("{case_name}_{name}.{type}"))).unwrap();
    let values: Vec<f64> = match r#type.as_str() {
        "f32" => bytes.as_chunks().0.iter().map(|&b| f64::from(f32::from_le_bytes(b))).collect(),
        "f64" => bytes.as_chunks().0.iter().map(|&b| f64::from_le_bytes(b)).collect(),
        other => panic!("unknown type {other}"),
    };
    assert_eq!(values.len(), shape.iter().product::<usize>(), "{case_name} {name}");
    values
}

fn recording(case_name: &str, case: &Case) -> Recording {
    let samples = load(case_name, case, "input").iter().map(|&x| x as f32).collect();
    let params = &case.params;
    Recording::new(case_name, params.rate_hz, params.channels, samples, None).unwrap()
}

fn spec(kernel: Kernel, form: Form, params: &Params) -> WorkloadSpec {
    let mut spec = WorkloadSpec::new(kernel);
    spec.form = form;
    spec.rate_hz = Some(params.rate_hz);
    spec.window = Some(params.window);
    spec.hop = Some(params.hop);
    spec.channels = Some(params.channels);
    spec.f0_hz = Some(params.f0_hz);
    spec.q = Some(params.q);
    spec.taps = Some(params.taps);
    spec.n_fft = Some(params.n_fft);
    spec.bands_hz = Some(match kernel {
        Kernel::Goertzel => params.goertzel_bands.clone(),
        _ => params.fir_bands.clone(),
    });
    spec
}

/// Largest difference as a share of the tolerance `atol + rtol * abs(want)`.
fn worst(got: &[f32], want: &[f64], rtol: f64, atol: f64) -> f64 {
    assert_eq!(got.len(), want.len());
    got.iter()
        .zip(want)
        .map(|(&got, want)| (f64::from(got) - want).abs() / (atol + rtol * want.abs()))
        .fold(0.0, f64::max)
}

/// Runs over all whole windows of the recording; `check` gets the window's index and its output.
/// Also checks the count of missing samples of every window.
fn run_all(spec: &WorkloadSpec, recording: &Recording, mut check: impl FnMut(usize, &[f32])) {
    let mut workload = spec.prepare().unwrap();
    let params = workload.params().clone();
    let mut windows = WindowSource::new(recording, params.window, params.hop).unwrap();
    let mut window = vec![0.0; workload.input_len()];
    let mut output = vec![0.0; workload.output_len()];
    let count = (recording.frames() - params.window) / params.hop + 1;
    for index in 0..count {
        windows.fill(&mut window).unwrap();
        let info = workload.run(&window, &mut output);
        let missing = window.iter().filter(|x| x.is_nan()).count() as u32;
        let want = if spec.kernel == Kernel::Noop { 0 } else { missing };
        assert_eq!((info.nan_replaced, info.refused), (want, false), "window {index}");
        check(index, &output);
    }
    assert!(count > 10, "a recording of {count} windows proves little");
}

/// Every window of a kernel whose output is one continuous signal.
fn check_continuous(kernel: Kernel, rtol: f64, atol: f64) {
    for (name, case) in cases() {
        let recording = recording(&name, &case);
        let want = load(&name, &case, kernel.name());
        let (step, length) =
            (case.params.hop * case.params.channels, case.params.window * case.params.channels);
        for &form in Form::ALL {
            let mut largest = 0.0_f64;
            run_all(&spec(kernel, form, &case.params), &recording, |index, output| {
                let want = &want[index * step..][..length];
                largest = largest.max(worst(output, want, rtol, atol));
            });
            println!("{name} {kernel} {form}: {largest:.4} of the tolerance");
            assert!(largest <= 1.0, "{name} {kernel} {form}: {largest} times the tolerance");
        }
    }
}

/// Every window of a kernel whose output stands for the window.
fn check_windows(kernel: Kernel, rtol: f64, atol: f64) {
    for (name, case) in cases() {
        let recording = recording(&name, &case);
        let want = load(&name, &case, kernel.name());
        for &form in Form::ALL {
            let mut largest = 0.0_f64;
            let mut seen = 0;
            run_all(&spec(kernel, form, &case.params), &recording, |index, output| {
                let want = &want[index * output.len()..][..output.len()];
                largest = largest.max(worst(output, want, rtol, atol));
                seen += output.len();
            });
            assert_eq!(seen, want.len(), "as many windows as the oracle");
            println!("{name} {kernel} {form}: {largest:.4} of the tolerance");
            assert!(largest <= 1.0, "{name} {kernel} {form}: {largest} times the tolerance");
        }
    }
}

/// The original harness's state: each window continues from the end of the one before.
fn check_source(kernel: Kernel) {
    for (name, case) in cases() {
        let recording = recording(&name, &case);
        let want = load(&name, &case, &format!("{kernel}_source"));
        for &form in Form::ALL {
            let mut spec = spec(kernel, form, &case.params);
            spec.compatibility = Compatibility::Source;
            let mut differs = false;
            let mut continuous = Vec::new();
            let mut plain = spec.clone();
            plain.compatibility = Compatibility::Continuous;
            run_all(&plain, &recording, |_, output| continuous.push(output.to_vec()));
            run_all(&spec, &recording, |index, output| {
                let Some(want) = want.chunks_exact(output.len()).nth(index) else { return };
                let share = worst(output, want, 1e-5, 1e-6);
                assert!(share <= 1.0, "{name} {kernel} {form} window {index}: {share}");
                differs |= continuous[index] != output;
            });
            assert!(differs, "the option must make a difference");
        }
    }
}

#[test]
fn car() {
    check_continuous(Kernel::Car, 1e-5, 1e-6);
}

#[test]
fn notch_equals_one_continuous_filter() {
    check_continuous(Kernel::NotchIir, 1e-5, 1e-6);
}

#[test]
fn fir_equals_one_continuous_filter() {
    check_continuous(Kernel::BandpassFir, 1e-5, 1e-6);
}

#[test]
fn goertzel() {
    check_windows(Kernel::Goertzel, 1e-5, 1e-6);
}

#[test]
fn welch() {
    check_windows(Kernel::WelchPsd, 2e-3, 1e-4);
}

#[test]
fn source_compatibility_continues_from_the_end() {
    check_source(Kernel::NotchIir);
    check_source(Kernel::BandpassFir);
}

#[test]
fn noop_copies_every_bit() {
    let (name, case) = cases().pop_first().unwrap();
    let recording = recording(&name, &case);
    let (step, length) =
        (case.params.hop * case.params.channels, case.params.window * case.params.channels);
    run_all(&spec(Kernel::Noop, Form::Reference, &case.params), &recording, |index, output| {
        let want = &recording.samples[index * step..][..length];
        assert!(output.iter().zip(want).all(|(a, b)| a.to_bits() == b.to_bits()));
    });
}

#[test]
fn designs() {
    for (name, case) in cases() {
        let Params { rate_hz, f0_hz, q, taps, fir_bands, .. } = &case.params;
        let biquad = iirnotch(*f0_hz, *q, *rate_hz);
        let got = biquad.b.iter().chain(&biquad.a);
        for (got, want) in got.zip(load(&name, &case, "notch_ba")) {
            assert!((got - want).abs() < 1e-14, "{name} notch: {got} {want}");
        }
        let response = firwin_bandpass(*taps, fir_bands, *rate_hz);
        for (got, want) in response.iter().zip(load(&name, &case, "fir_taps")) {
            assert!((got - want).abs() < 1e-14, "{name} fir: {got} {want}");
        }
    }
}
