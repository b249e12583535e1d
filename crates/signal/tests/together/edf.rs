//! EDF and EDF+: what is read, and the one clear error for everything that cannot be.
#![allow(clippy::disallowed_methods, reason = "tests write files for the reader")]
#![allow(clippy::unwrap_used, reason = "functions that tests share")]

use crate::common::{Channel, Edf};
use flyball_signal::input::{Given, InputError, open, parse_edf};
use proptest::prelude::*;

/// Two channels of three records of four samples, and the annotations of EDF+ between them.
fn sample() -> Edf {
    let ramp = |start: i16| (0..12).map(|i| start + i * 10).collect::<Vec<i16>>();
    Edf::new(vec![
        Channel::new("Fc5.", 4, ramp(0)),
        Channel::new("EDF Annotations", 7, vec![0x1414; 21]),
        Channel::new("Fc3.", 4, ramp(1000)),
    ])
}

fn error(edf: &Edf) -> InputError {
    let error = parse_edf(&edf.bytes(), "test.edf").unwrap_err();
    assert!(!error.hint().is_empty());
    error
}

#[test]
fn scales_orders_and_skips_annotations() {
    let recording = parse_edf(&sample().bytes(), "test.edf").unwrap();
    assert_eq!((recording.rate_hz, recording.channels, recording.frames()), (4.0, 2, 12));
    assert_eq!(recording.labels, ["Fc5.", "Fc3."]);
    for t in 0..12 {
        let want = [t as f32, 100.0 + t as f32];
        for (got, want) in recording.samples[2 * t..2 * t + 2].iter().zip(want) {
            assert!((got - want).abs() < 1e-3, "sample {t}: {got} {want}");
        }
    }
}

#[test]
fn units_ranges_and_durations() {
    let mut edf = sample();
    edf.channels[0].unit = "mV".into();
    edf.channels[0].physical = ["1".into(), "-1".into()]; // inverted, as the format permits
    edf.channels[0].digital = ["-1000".into(), "1000".into()];
    edf.channels[0].values = vec![500; 12];
    edf.record_seconds = "0.5".into();
    edf.reserved = String::new(); // plain EDF
    let recording = parse_edf(&edf.bytes(), "test.edf").unwrap();
    assert_eq!(recording.rate_hz, 8.0);
    assert!((recording.samples[0] + 500.0).abs() < 1e-3, "{}", recording.samples[0]);
}

#[test]
fn an_unclosed_file_ends_with_its_last_whole_record() {
    let mut edf = sample();
    edf.records = Some("-1".into());
    let mut bytes = edf.bytes();
    bytes.truncate(bytes.len() - 3);
    assert_eq!(parse_edf(&bytes, "test.edf").unwrap().frames(), 8);
}

#[test]
fn truncated_files() {
    let bytes = sample().bytes();
    let message = |length: usize| parse_edf(&bytes[..length], "test.edf").unwrap_err().to_string();
    assert_eq!(message(0), "test.edf: header: expected at least 256 bytes, found 0 bytes");
    assert_eq!(message(255), "test.edf: header: expected at least 256 bytes, found 255 bytes");
    assert_eq!(
        message(600),
        "test.edf: number of signals: expected 1 to 1 (the file has 600 bytes), found 3"
    );
    assert_eq!(
        message(bytes.len() - 1),
        "test.edf: data: expected 3 records of 30 bytes, found 89 bytes (2 whole records)"
    );
    // Every length but the whole one is an error, none a panic.
    for length in 0..bytes.len() {
        assert!(parse_edf(&bytes[..length], "test.edf").is_err(), "{length}");
    }
}

#[test]
fn each_lie_in_the_header_has_its_error() {
    type Change = fn(&mut Edf);
    let cases: [(Change, &str); 16] = [
        (|e| e.version = "1".into(), "version: expected `0`, found `1`"),
        (
            |e| e.reserved = "EDF+D".into(),
            "format: expected EDF or EDF+C, found EDF+D (interrupted)",
        ),
        (
            |e| e.records = Some("99999999".into()),
            "data: expected 99999999 records of 30 bytes, found 90 bytes (3 whole records)",
        ),
        (
            |e| e.records = Some("2".into()),
            "data: expected 2 records of 30 bytes, found 90 bytes (3 whole records)",
        ),
        (
            |e| e.records = Some("many".into()),
            "number of records: expected a number in its range, found `many`",
        ),
        (|e| e.records = Some("-2".into()), "number of records: expected -1 or more, found -2"),
        (
            |e| e.record_seconds = "0".into(),
            "record duration: expected a positive number of seconds, found 0",
        ),
        (
            |e| e.record_seconds = "nan".into(),
            "record duration: expected a positive number of seconds, found NaN",
        ),
        (
            |e| e.signals = Some("9999".into()),
            "number of signals: expected 1 to 3 (the file has 1114 bytes), found 9999",
        ),
        (
            |e| e.signals = Some("0".into()),
            "number of signals: expected 1 to 3 (the file has 1114 bytes), found 0",
        ),
        (
            |e| e.signals = Some("-1".into()),
            "number of signals: expected a number in its range, found `-1`",
        ),
        (
            |e| e.header_bytes = Some("512".into()),
            "header bytes: expected 1024 (3 signals), found 512",
        ),
        (
            |e| e.channels[2].physical = ["5".into(), "5".into()],
            "signal 3 (Fc3.): range: expected two different physical and two rising digital limits, found physical (5.0, 5.0), digital (-32768.0, 32767.0)",
        ),
        (
            |e| e.channels[0].digital = ["10".into(), "10".into()],
            "signal 1 (Fc5.): range: expected two different physical and two rising digital limits, found physical (-3276.8, 3276.7), digital (10.0, 10.0)",
        ),
        (
            |e| e.channels[0].physical[0] = "low".into(),
            "signal 1 (Fc5.): physical minimum: expected a number in its range, found `low`",
        ),
        (
            |e| e.channels.truncate(0),
            "number of signals: expected 1 to 0 (the file has 256 bytes), found 0",
        ),
    ];
    for (change, want) in cases {
        let mut edf = sample();
        change(&mut edf);
        assert_eq!(error(&edf).to_string(), format!("test.edf: {want}"));
    }
}

#[test]
fn mixed_rates_annotations_only_and_bdf_are_refused() {
    let mut edf = sample();
    edf.channels[2] = Channel::new("ECG", 2, vec![0; 6]);
    assert_eq!(
        error(&edf).to_string(),
        "test.edf: rates: expected one rate, 4 samples per record as Fc5., found 2 in ECG"
    );
    let mut edf = sample();
    edf.channels = vec![edf.channels[1].clone()];
    assert_eq!(error(&edf).to_string(), "test.edf: signals: expected at least 1, found 0");
    let mut bytes = sample().bytes();
    bytes[..8].copy_from_slice(b"\xffBIOSEMI");
    let error = parse_edf(&bytes, "test.bdf").unwrap_err();
    assert_eq!(error.to_string(), "test.bdf: format: expected EDF, 16 bits, found BDF, 24 bits");
    let mut edf = sample();
    edf.channels.iter_mut().for_each(|channel| channel.values.clear());
    assert_eq!(
        parse_edf(&edf.bytes(), "e").unwrap_err().to_string(),
        "e: samples: expected at least 1, found 0"
    );
}

#[test]
fn wrong_rate_and_channel_count_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("S001R03.EDF");
    std::fs::write(&path, sample().bytes()).unwrap();
    let given = |rate_hz, channels| Given { rate_hz, channels };
    assert_eq!(open(&path, given(None, None)).unwrap().channels, 2);
    assert_eq!(open(&path, given(Some(4.0), Some(2))).unwrap().channels, 2);
    let name = path.display();
    let wrong = open(&path, given(Some(160.0), None)).unwrap_err();
    assert_eq!(wrong.to_string(), format!("{name}: rate_hz: expected 160 Hz, found 4 Hz"));
    let wrong = open(&path, given(None, Some(64))).unwrap_err();
    assert_eq!(wrong.to_string(), format!("{name}: channels: expected 64, found 2"));
}

proptest! {
    #[test]
    fn a_damaged_file_never_panics(at in 0_usize..1114, byte: u8, cut in 0_usize..1200) {
        let mut bytes = sample().bytes();
        bytes[at] = byte;
        bytes.truncate(cut);
        let _ = parse_edf(&bytes, "damaged");
    }

    #[test]
    fn what_is_written_is_read(values in prop::collection::vec(any::<i16>(), 1..200)) {
        let edf = Edf::new(vec![Channel::new("A", 1, values.clone())]);
        let recording = parse_edf(&edf.bytes(), "test").unwrap();
        for (got, value) in recording.samples.iter().zip(values) {
            prop_assert!((f64::from(*got) - f64::from(value) / 10.0).abs() < 1e-3);
        }
    }
}
