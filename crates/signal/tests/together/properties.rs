//! What holds for every kernel with any parameters: no panics, linearity, both forms agree.

use flyball_signal::{Compatibility, Form, Kernel, Workload, WorkloadSpec};
use proptest::prelude::*;

fn run(workload: &mut dyn Workload, window: &[f32]) -> Vec<f32> {
    let mut output = vec![0.0; workload.output_len()];
    assert!(!workload.run(window, &mut output).refused);
    output
}

fn kernels() -> impl Strategy<Value = Kernel> {
    prop::sample::select(Kernel::ALL.to_vec())
}

/// Specifications that are mostly valid, of every kernel.
fn specs() -> impl Strategy<Value = WorkloadSpec> {
    let shape = (1_usize..70, 0_usize..80, 1_usize..20, 1.0..1000.0_f64);
    let filter = (-0.1..0.6_f64, -1.0..50.0_f64, 0.0..0.6_f64, 0.0..0.6_f64, 0_usize..90);
    (kernels(), shape, filter, 0_u32..10, any::<bool>()).prop_map(
        |(kernel, (window, hop, channels, rate), (f0, q, low, high, taps), log_fft, source)| {
            let mut spec = WorkloadSpec::new(kernel);
            spec.rate_hz = Some(rate);
            spec.window = Some(window);
            spec.hop = Some(hop);
            spec.channels = Some(channels);
            spec.f0_hz = Some(f0 * rate);
            spec.q = Some(q);
            spec.bands_hz = Some(vec![[low * rate, high * rate]]);
            spec.taps = Some(taps);
            spec.n_fft = Some(1 << log_fft);
            spec.compatibility =
                if source { Compatibility::Source } else { Compatibility::Continuous };
            spec
        },
    )
}

fn samples() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => -200.0..200.0_f32,
        1 => Just(f32::NAN),
        1 => prop::sample::select(vec![f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 0.0, -0.0, 1e-40]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_parameters_and_samples_are_safe_and_both_forms_agree(
        spec in specs(),
        pool in prop::collection::vec(samples(), 64),
    ) {
        let mut fast = spec.clone();
        fast.form = Form::Fast;
        let (Ok(mut reference), Ok(mut fast)) = (spec.prepare(), fast.prepare()) else {
            prop_assert!(spec.prepare().is_err());
            return Ok(());
        };
        prop_assert_eq!(reference.output_len(), fast.output_len());
        let n = reference.input_len();
        for start in 0..3 {
            // Without the largest floats, whose squares overflow in single precision.
            let window: Vec<f32> =
                pool.iter().cycle().skip(start * n % 61).filter(|x| **x != f32::MAX).take(n).copied().collect();
            let (a, b) = (run(&mut *reference, &window), run(&mut *fast, &window));
            let scale = a.iter().filter(|x| x.is_finite()).fold(1e-3_f32, |m, x| m.max(x.abs()));
            for (a, b) in a.iter().zip(&b) {
                let same = a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-5 * scale;
                prop_assert!(same, "{a} {b}");
                prop_assert!(spec.kernel == Kernel::Noop || a.is_finite());
            }
        }
        for pool in [&pool[..], &[f32::MAX]] {
            let window: Vec<f32> = pool.iter().cycle().take(n).copied().collect();
            run(&mut *reference, &window);
            run(&mut *fast, &window);
        }
    }

    #[test]
    fn filters_are_linear(
        kernel in prop::sample::select(vec![Kernel::Car, Kernel::NotchIir, Kernel::BandpassFir]),
        form in prop::sample::select(Form::ALL.to_vec()),
        x in prop::collection::vec(-200.0..200.0_f32, 200),
        y in prop::collection::vec(-200.0..200.0_f32, 200),
        factor in -3.0..3.0_f32,
    ) {
        let mut spec = WorkloadSpec::new(kernel);
        (spec.form, spec.window, spec.channels) = (form, Some(20), Some(10));
        let out = |window: &[f32]| run(&mut *spec.prepare().unwrap(), window);
        let mixed: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + factor * y).collect();
        let (x, y, mixed) = (out(&x), out(&y), out(&mixed));
        for ((x, y), got) in x.iter().zip(&y).zip(&mixed) {
            prop_assert!((x + factor * y - got).abs() < 2e-3, "{} {got}", x + factor * y);
        }
    }

    #[test]
    fn powers_scale_with_the_square(
        kernel in prop::sample::select(vec![Kernel::Goertzel, Kernel::WelchPsd]),
        form in prop::sample::select(Form::ALL.to_vec()),
        x in prop::collection::vec(-200.0..200.0_f32, 160 * 3),
    ) {
        let mut spec = WorkloadSpec::new(kernel);
        (spec.form, spec.channels) = (form, Some(3));
        let once = run(&mut *spec.prepare().unwrap(), &x);
        let doubled: Vec<f32> = x.iter().map(|x| 2.0 * x).collect();
        let four = run(&mut *spec.prepare().unwrap(), &doubled);
        for (once, four) in once.iter().zip(&four) {
            prop_assert!(*once >= 0.0);
            prop_assert!((4.0 * once - four).abs() <= 1e-5 * four.abs());
        }
    }

    #[test]
    fn car_leaves_no_mean(
        form in prop::sample::select(Form::ALL.to_vec()),
        x in prop::collection::vec(prop_oneof![9 => -200.0..200.0_f32, 1 => Just(f32::NAN)], 13 * 7),
    ) {
        let mut spec = WorkloadSpec::new(Kernel::Car);
        (spec.form, spec.window, spec.channels) = (form, Some(7), Some(13));
        for sample in run(&mut *spec.prepare().unwrap(), &x).chunks(13) {
            prop_assert!(sample.iter().map(|y| f64::from(*y)).sum::<f64>().abs() < 1e-3);
        }
    }

    #[test]
    fn a_reset_workload_is_a_new_one(kernel in kernels(), form in prop::sample::select(Form::ALL.to_vec())) {
        let mut spec = WorkloadSpec::new(kernel);
        (spec.form, spec.channels) = (form, Some(9));
        let window: Vec<f32> = (0..160 * 9).map(|i| (i * 37 % 101) as f32).collect();
        let mut workload = spec.prepare().unwrap();
        let first = run(&mut *workload, &window);
        run(&mut *workload, &window);
        workload.reset();
        prop_assert_eq!(run(&mut *workload, &window), first);
    }
}

#[test]
fn wrong_lengths_are_refused_visibly() {
    for &kernel in Kernel::ALL {
        let mut workload = WorkloadSpec::new(kernel).prepare().unwrap();
        let mut output = vec![0.0; workload.output_len()];
        let info = workload.run(&[0.0; 3], &mut output);
        assert!(info.refused && output.iter().all(|x| x.is_nan()));
        let window = vec![0.0; workload.input_len()];
        assert!(workload.run(&window, &mut [0.0; 1]).refused);
        assert!(!workload.run(&window, &mut output).refused);
    }
}

#[test]
fn the_work_of_a_window_does_not_shrink_when_it_is_repeated() {
    // Stateless kernels give the same output for the same window, however often and in which order.
    for kernel in [Kernel::Car, Kernel::Goertzel, Kernel::WelchPsd] {
        for &form in Form::ALL {
            let mut spec = WorkloadSpec::new(kernel);
            spec.form = form;
            let mut workload = spec.prepare().unwrap();
            let n = workload.input_len();
            let a: Vec<f32> = (0..n).map(|i| (i % 97) as f32).collect();
            let b: Vec<f32> = (0..n).map(|i| (i % 89) as f32).collect();
            let first = run(&mut *workload, &a);
            run(&mut *workload, &b);
            assert_eq!(run(&mut *workload, &a), first, "{kernel} {form}");
        }
    }
}
