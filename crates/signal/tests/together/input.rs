//! CSV, raw floats and the synthetic recording.
#![allow(clippy::disallowed_methods, reason = "tests write files for the readers")]

use flyball_signal::input::{Given, InputError, Synthetic, open, parse_csv, parse_raw};
use flyball_signal::{Kernel, WorkloadSpec};
use proptest::prelude::*;

fn csv(text: &str) -> Result<(usize, Vec<f32>, Vec<String>), InputError> {
    parse_csv(text.as_bytes(), "x.csv", 10.0).map(|r| (r.channels, r.samples, r.labels))
}

#[test]
fn csv_with_and_without_header_and_with_any_separator() {
    let want = (2, vec![1.0, 2.5, -3.0, 4e-1], vec!["1".to_owned(), "2".to_owned()]);
    assert_eq!(csv("1,2.5\n-3,4e-1\n").unwrap(), want);
    assert_eq!(csv("1;2.5\r\n-3;0.4").unwrap(), want);
    assert_eq!(csv("# made by hand\n1\t2.5\n\n-3\t0.4\n").unwrap(), want);
    let (channels, samples, labels) =
        csv("\u{feff}time, Fc5, Fc3\n0.0, 1, 2\n0.1, 3, 4\n").unwrap();
    assert_eq!((channels, samples), (2, vec![1.0, 2.0, 3.0, 4.0]));
    assert_eq!(labels, ["Fc5", "Fc3"]);
    assert_eq!(csv("Fc5,Fc3\n1,2\n").unwrap().2, ["Fc5", "Fc3"]);
}

#[test]
fn csv_gaps_are_nan() {
    let (_, samples, _) = csv("1,nan\n,4\n").unwrap();
    assert!(samples[1].is_nan() && samples[2].is_nan());
    assert_eq!((samples[0], samples[3]), (1.0, 4.0));
}

#[test]
fn csv_errors_name_line_and_column() {
    let message = |text: &str| csv(text).unwrap_err().to_string();
    assert_eq!(message("1,2\n3,x\n"), "x.csv: line 2, column 2: expected a number, found `x`");
    assert_eq!(message("a,b\n1,2\n3\n"), "x.csv: line 3: expected 2 columns, found 1");
    assert_eq!(message(""), "x.csv: channels: expected at least 1, found 0");
    assert_eq!(message("a,b\n"), "x.csv: samples: expected at least 1, found 0");
    assert_eq!(message("time\n1\n"), "x.csv: channels: expected at least 1, found 0");
    let error = parse_csv(b"a,b\n1,\xff\n", "x.csv", 10.0).unwrap_err().to_string();
    assert!(error.starts_with("x.csv: line 2: expected text in UTF-8"), "{error}");
    let error = parse_csv(b"1,2\n", "x.csv", 0.0).unwrap_err().to_string();
    assert_eq!(error, "x.csv: rate_hz: expected a positive number of Hz, found 0");
}

#[test]
fn raw_floats() {
    let bytes: Vec<u8> =
        [1.0_f32, f32::NAN, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let recording = parse_raw(&bytes, "x.f32", 160.0, 2).unwrap();
    assert_eq!((recording.frames(), recording.missing()), (2, 1));
    assert_eq!(recording.seconds(), 2.0 / 160.0);
    let message = |bytes: &[u8], channels| {
        parse_raw(bytes, "x.f32", 160.0, channels).unwrap_err().to_string()
    };
    assert_eq!(message(&bytes[..15], 2), "x.f32: size: expected a multiple of 4 bytes, found 15");
    assert_eq!(
        message(&bytes[..12], 2),
        "x.f32: samples: expected a multiple of 2 (the channels), found 3"
    );
    assert_eq!(message(&[], 2), "x.f32: samples: expected at least 1, found 0");
    assert_eq!(message(&bytes, 0), "x.f32: channels: expected at least 1, found 0");
}

#[test]
fn files_are_opened_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.csv"), "1,2\n3,4\n").unwrap();
    std::fs::write(path("a.f32"), [0; 16]).unwrap();
    std::fs::write(path("a.wav"), "RIFF").unwrap();
    let given = |rate_hz, channels| Given { rate_hz, channels };
    let message = |name: &str, given| open(&path(name), given).unwrap_err().to_string();

    assert_eq!(open(&path("a.csv"), given(Some(160.0), Some(2))).unwrap().frames(), 2);
    assert_eq!(open(&path("a.f32"), given(Some(160.0), Some(2))).unwrap().frames(), 2);
    assert!(
        message("a.csv", given(None, None))
            .ends_with("rate_hz: expected a rate (the format holds none), found none")
    );
    assert!(
        message("a.f32", given(Some(1.0), None))
            .ends_with("channels: expected a number (the format holds none), found none")
    );
    assert!(message("a.csv", given(Some(1.0), Some(3))).ends_with("channels: expected 3, found 2"));
    assert!(message("a.wav", given(None, None)).contains("format: expected a name ending in .edf"));
    assert!(message("none.edf", given(None, None)).ends_with("none.edf: cannot be read"));
    let missing = open(&path("none.edf"), given(None, None)).unwrap_err();
    assert_eq!(missing.hint(), "check the path; it is taken from the current folder");
    assert!(open(folder.path(), given(None, None)).is_err(), "a folder is no recording");
}

/// FNV-1a over the bits, so that one number stands for the whole recording.
fn fingerprint(samples: &[f32]) -> u64 {
    samples
        .iter()
        .flat_map(|x| x.to_bits().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

fn short() -> Synthetic {
    Synthetic { seconds: 4.0, channels: 3, ..Synthetic::default() }
}

#[test]
fn the_same_seed_gives_the_same_bits_everywhere() {
    let recording = short().generate().unwrap();
    assert_eq!(recording, short().generate().unwrap());
    assert_eq!(
        fingerprint(&recording.samples),
        1_539_724_590_715_139_313,
        "other bits than on x86-64"
    );
    let other = Synthetic { seed: 2, ..short() }.generate().unwrap();
    assert_ne!(recording.samples, other.samples);
}

#[test]
fn a_channel_depends_neither_on_the_others_nor_on_dropouts() {
    let three = short().generate().unwrap();
    let two = Synthetic { channels: 2, ..short() }.generate().unwrap();
    for (wide, narrow) in three.samples.chunks(3).zip(two.samples.chunks(2)) {
        assert_eq!(wide[..2], *narrow);
    }
    let gaps = Synthetic { dropouts_per_minute: 60.0, ..short() }.generate().unwrap();
    assert!(gaps.missing() > 20 && gaps.missing() < gaps.samples.len() / 2, "{}", gaps.missing());
    let differ =
        gaps.samples.iter().zip(&three.samples).filter(|(gap, whole)| gap != whole).count();
    assert_eq!(differ, gaps.missing());
    assert_eq!(three.missing(), 0);
}

#[test]
fn the_spectrum_is_that_of_an_electroencephalogram() {
    // One window over the whole recording: 120 s, averaged over many segments of 256 samples.
    let made = Synthetic { seconds: 120.0, channels: 8, ..Synthetic::default() };
    let recording = made.generate().unwrap();
    let mut spec = WorkloadSpec::new(Kernel::WelchPsd);
    spec.window = Some(recording.frames());
    spec.channels = Some(8);
    let mut welch = spec.prepare().unwrap();
    let mut psd = vec![0.0; welch.output_len()];
    welch.run(&recording.samples, &mut psd);
    let at = |hz: f64| {
        let bin = (hz * 256.0 / 160.0).round() as usize;
        psd[bin * 8..bin * 8 + 8].iter().sum::<f32>() / 8.0
    };
    // 1/f: a tenth of the density at ten times the frequency, within a factor of two.
    let slope = at(2.5) / at(25.0);
    assert!((5.0..20.0).contains(&slope), "density falls by {slope} over a decade");
    assert!(at(10.0) > 1.5 * at(6.0).max(at(15.0)), "alpha stands out");
    assert!(at(60.0) > 10.0 * at(50.0).max(at(70.0)), "the power line stands out");
    let mean_square = recording.samples.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>()
        / recording.samples.len() as f64;
    assert!((15.0..30.0).contains(&mean_square.sqrt()), "{} uV", mean_square.sqrt());
}

#[test]
fn synthetic_parameters_are_checked_and_have_defaults() {
    let message = |made: Synthetic| made.generate().unwrap_err().to_string();
    assert_eq!(
        message(Synthetic { rate_hz: -1.0, ..short() }),
        "synthetic: rate_hz: expected a positive number of Hz, found -1"
    );
    assert!(message(Synthetic { channels: 0, ..short() }).contains("channels"));
    assert!(message(Synthetic { channels: usize::MAX, ..short() }).contains("seconds"));
    assert!(message(Synthetic { seconds: 0.0, ..short() }).contains("seconds"));
    assert!(message(Synthetic { seconds: f64::NAN, ..short() }).contains("seconds"));
    assert!(message(Synthetic { line_uv: f64::INFINITY, ..short() }).contains("line_uv"));
    let made: Synthetic = toml::from_str("seed = 7\ndropouts_per_minute = 2").unwrap();
    assert_eq!((made.seed, made.channels), (7, 64));
    assert!(toml::from_str::<Synthetic>("sead = 7").is_err());
}

proptest! {
    #[test]
    fn no_text_makes_the_csv_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse_csv(&bytes, "x", 10.0);
        let _ = parse_raw(&bytes, "x", 10.0, 3);
    }

    #[test]
    fn no_table_makes_the_csv_reader_panic(text in "[0-9a-z.,;\n\"# -]{0,80}") {
        let _ = csv(&text);
    }
}
