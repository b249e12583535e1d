//! Recorded traces cut at any byte, and with flipped bits: refused, or said, or nothing is missing. What a format cannot tell is
//! listed: text may end after any line, perfetto's list of packets after any packet.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test lays out its own files"
)]

use std::path::{Path, PathBuf};

use flyball_events::import::{Options, import};

/// Rows of every table but the notes, and the remarks; none where the file is refused.
fn told(path: &Path) -> Option<(Vec<usize>, Vec<String>)> {
    let run = import(path, &Options::default()).ok()?;
    let tables = &run.tables;
    let rows = vec![
        tables.slices.len(),
        tables.wakeups.len(),
        tables.migrations.len(),
        tables.idle.len(),
        tables.interrupts.len(),
        tables.frequency.len(),
        tables.utilization.len(),
        tables.capacity.len(),
        tables.markers.len(),
        tables.governor.len(),
        tables.lost.len(),
    ];
    Some((rows, run.warnings.into_iter().map(|warning| warning.message).collect()))
}

/// Where the packets of perfetto's end.
fn packet_ends(bytes: &[u8]) -> Vec<usize> {
    let (mut at, mut ends) = (0, Vec::new());
    while at < bytes.len() {
        let (mut length, mut shift) = (0, 0);
        at += 1;
        loop {
            length |= usize::from(bytes[at] & 0x7f) << shift;
            (at, shift) = (at + 1, shift + 7);
            if bytes[at - 1] & 0x80 == 0 {
                break;
            }
        }
        at += length;
        ends.push(at);
    }
    ends
}

fn cut_everywhere(path: &Path, step: usize) -> usize {
    let bytes = fs_err::read(path).unwrap();
    let extension = path.extension().unwrap().to_str().unwrap();
    let ends = if extension == "pftrace" { packet_ends(&bytes) } else { Vec::new() };
    let dir = tempfile::tempdir().unwrap();
    let cut = dir.path().join(path.file_name().unwrap());
    // Some hold no event of scheduler or clocks, and are refused as a whole.
    let Some((rows, remarks)) = told(path) else { return 0 };
    let mut cuts = 0;
    for at in (0..bytes.len()).step_by(step) {
        fs_err::write(&cut, &bytes[..at]).unwrap();
        cuts += 1;
        let Some((cut_rows, cut_remarks)) = told(&cut) else { continue };
        let said = cut_remarks.iter().any(|remark| !remarks.contains(remark));
        let line_end = extension == "txt" && bytes[..at].ends_with(b"\n");
        let nothing = cut_rows == rows && cut_remarks == remarks;
        assert!(
            said || nothing || line_end || ends.contains(&at),
            "{} cut at {at} of {}: {cut_rows:?} of {rows:?}, {cut_remarks:?}",
            path.display(),
            bytes.len()
        );
    }
    cuts
}

fn goldens() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files = Vec::new();
    for folder in ["", "dat", "perf", "perfetto"] {
        for entry in fs_err::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if matches!(extension, Some("txt" | "dat" | "pftrace")) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

#[test]
fn no_cut_is_silent() {
    let cuts: usize = goldens().iter().map(|path| cut_everywhere(path, 997)).sum();
    assert!(cuts > 200, "{cuts}");
}

#[test]
#[ignore = "takes minutes: every byte of every golden trace"]
fn no_cut_is_silent_at_any_byte() {
    let cuts: usize = goldens().iter().map(|path| cut_everywhere(path, 1)).sum();
    println!("{cuts} cuts");
}

/// 1,000 flips of a random bit of every golden trace: read or refused. Traces hold no checksums, so another
/// digit of a time is another time; it is counted here, and told in docs/traces.md.
fn flip_all(flips: usize) {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    println!("seed {random:#x}; refused, said, the same rows, other numbers of rows");
    for path in goldens() {
        let bytes = fs_err::read(&path).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join(path.file_name().unwrap());
        let Some(whole) = told(&path) else { continue };
        let mut became = [0; 4];
        for _ in 0..flips {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let bit = (random >> 33) as usize % (bytes.len() * 8);
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs_err::write(&target, flipped).unwrap();
            became[match told(&target) {
                None => 0,
                Some((_, remarks)) if remarks != whole.1 => 1,
                Some((rows, _)) if rows == whole.0 => 2,
                Some(_) => 3,
            }] += 1;
        }
        println!("{}: {became:?}", path.display());
    }
}

#[test]
fn flips_are_read_or_refused() {
    flip_all(5);
}

#[test]
#[ignore = "takes minutes: 1,000 flips of every golden trace"]
fn flips_are_read_or_refused_often() {
    flip_all(1_000);
}
