//! perfetto's traces, made by its own trace builder (tests/golden/perfetto/make.py) from a recording
//! whose text is here, too.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::io::Read;
use std::path::PathBuf;
use std::sync::LazyLock;

use flyball_events::import::{Builder, Options, import};
use flyball_events::questions::{FrequencyResidency, IdleResidency};
use flyball_events::{Kind, Reader, Recording, perfetto};
use flyball_run::Run;
use proptest::prelude::*;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(name)
}

fn of_text() -> Run {
    let mut text = tempfile::NamedTempFile::new().unwrap();
    let packed = fs_err::File::open(golden("dat/ramp.txt.gz")).unwrap();
    std::io::copy(&mut flate2::read::GzDecoder::new(packed), &mut text).unwrap();
    import(text.path(), &Options::default()).unwrap()
}

#[test]
fn a_trace_answers_like_the_text_it_was_made_from() {
    let path = golden("perfetto/ramp.pftrace");
    assert_eq!(Kind::of(&path).unwrap(), Some(Kind::Perfetto));
    let (run, text) = (import(&path, &Options::default()).unwrap(), of_text());
    let source = run.manifest.source.as_ref().unwrap();
    assert_eq!((source.tool.as_str(), source.files[0].torn_lines), ("perfetto", 0));
    assert_eq!(run.manifest.clocks[0].clock, "boot");
    assert_eq!(run.manifest.machine, text.manifest.machine);
    let of = |run: &Run| {
        let recording = Recording::of(run);
        let frequency = FrequencyResidency::of(&recording, "policy0").unwrap();
        format!("{frequency:?} {:?}", IdleResidency::all(&recording).unwrap())
    };
    assert_eq!(of(&run), of(&text));
    let times = |run: &Run| {
        let slices = &run.tables.slices;
        (slices.tid.clone(), slices.from_ns.clone(), slices.to_ns.clone(), slices.task.clone())
    };
    assert_eq!(times(&run), times(&text));
    let woken =
        |run: &Run| (run.tables.wakeups.woken_ns.clone(), run.tables.wakeups.ran_ns.clone());
    assert_eq!(woken(&run), woken(&text));
    assert_eq!(run.tables.migrations, text.tables.migrations);
    assert_eq!(run.tables.markers, text.tables.markers);
}

/// Files of perfetto's own daemons (tests/golden/perfetto/record), as a capture of the same kernel saw the same
/// seconds: wake-ups, stretches of running on a CPU (at the edges one more or less), frequencies in MHz.
#[test]
fn files_of_traced_hold_what_a_capture_beside_them_saw() {
    let messages = [
        1600, 2000, 2400, 2800, 3200, 1600, 800, 600, 800, 1600, 1200, 2000, 2400, 2800, 3200, 600,
        800, 1200, 1600, 2000, 2800, 3200, 2800, 2400, 2000, 1600, 1200, 800, 600,
    ];
    let columns = [
        800, 600, 800, 1200, 1600, 600, 800, 600, 800, 1600, 2000, 2400, 1200, 2800, 3200, 600,
        800, 1200, 1600, 600, 800, 1200, 1600, 2000, 2400, 2800, 3200, 2800, 2400, 1600, 1200, 800,
        600,
    ];
    for (name, wakeups, slices, mhz) in
        [("traced", 218, 224, &messages[..]), ("traced-compact", 206, 211, &columns[..])]
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("{name}.pftrace"));
        let packed = fs_err::File::open(golden(&format!("perfetto/{name}.pftrace.gz"))).unwrap();
        let mut file = fs_err::File::create(&path).unwrap();
        std::io::copy(&mut flate2::read::GzDecoder::new(packed), &mut file).unwrap();
        assert_eq!(Kind::of(&path).unwrap(), Some(Kind::Perfetto), "{name}");
        let run = import(&path, &Options::default()).unwrap();
        assert_eq!(run.manifest.source.as_ref().unwrap().files[0].torn_lines, 0, "{name}");
        assert_eq!(run.tables.wakeups.len(), wakeups, "{name}");
        let whole = (0..run.tables.slices.len()).filter_map(|row| run.tables.slices.row(row));
        let whole = whole.filter(|slice| slice.cut.is_none()).count();
        assert!(whole.abs_diff(slices) <= 1, "{name}: {whole}");
        let found: Vec<u64> =
            run.tables.frequency.claimed_khz.iter().flatten().map(|khz| khz / 1000).collect();
        assert!(found.ends_with(mhz) && found.len() <= mhz.len() + 1, "{name}: {found:?}");
        // task_newtask and task_rename are in none of our tables.
        let left_out = |of: &str| run.warnings.iter().any(|warning| warning.message.contains(of));
        assert!(left_out("2 task_newtask, 2 task_rename"), "{name}: {:?}", run.warnings);
    }
}

#[test]
fn columns_and_packed_packets_hold_the_same_switches() {
    let run = import(golden("perfetto/compact.pftrace"), &Options::default()).unwrap();
    let whole = import(golden("perfetto/ramp.pftrace"), &Options::default()).unwrap();
    let slices = |run: &Run| {
        let slices = &run.tables.slices;
        let rows = (0..slices.len()).filter_map(|row| slices.row(row));
        // The first slice of a CPU begins before its first switch; the last ends behind the last.
        let rows = rows.filter(|row| row.cut.is_none());
        rows.map(|row| (row.cpu, row.tid, row.from_ns, row.to_ns, row.why)).collect::<Vec<_>>()
    };
    assert!(slices(&run).len() > 50);
    assert_eq!(slices(&run), slices(&whole));
}

#[test]
fn sched_analyzers_counters_are_utilisation() {
    let path = golden("perfetto/sched-analyzer.pftrace");
    let run = import(&path, &Options::default()).unwrap();
    let signals = &run.tables.utilization;
    let rows: Vec<_> = (0..signals.len()).filter_map(|row| signals.row(row)).collect();
    let cpu: Vec<_> = rows.iter().filter(|row| row.kind == "cpu").collect();
    let task: Vec<_> = rows.iter().filter(|row| row.kind == "task").collect();
    // util_avg and util_est of the CPU at each step; one track of the task.
    assert_eq!((cpu.len(), task.len()), (200, 100));
    let last = cpu.last().unwrap();
    assert_eq!((last.util_avg, last.util_est, last.t_ns), (Some(1000), Some(500), 1_400_000_000));
    let first = task.first().unwrap();
    assert_eq!((first.tid, first.util_avg, first.t_ns), (Some(163), Some(9), 1_004_000_000));
    assert_eq!(first.task.as_deref(), Some("rampup"));
    let from = run.tables.slices.from_ns.first();
    assert_eq!(from, Some(1_010_000_000), "a counter says nothing of who ran");
    assert_eq!(run.tables.frequency.len(), 2);
    let mut reader = Reader::open(&path).unwrap();
    reader.for_each(|_| -> std::io::Result<()> { Ok(()) }).unwrap();
    assert_eq!(reader.counts().unknown["CPU0 nr_running"], 100);
}

#[test]
fn a_cut_trace_keeps_what_it_has_and_text_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.pftrace");
    let whole = fs_err::read(golden("perfetto/ramp.pftrace")).unwrap();
    fs_err::write(&path, &whole[..whole.len() / 2]).unwrap();
    let run = import(&path, &Options::default()).unwrap();
    assert!(run.warnings.iter().any(|warning| warning.message.contains("1 torn of")));
    let config = [0x0a, 4, 0x8a, 0x02, 1, 0];
    fs_err::write(&path, config).unwrap();
    let error = import(&path, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("an event of scheduler or clocks"), "{error}");
    assert!(error.hint().contains("linux.ftrace"), "{error:?}");
    fs_err::write(&path, "\n\nname,value\nx,1\n").unwrap();
    assert_eq!(Kind::of(&path).unwrap(), None);
}

static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let names = ["ramp", "compact", "sched-analyzer"];
    let path = |name: &&str| golden(&format!("perfetto/{name}.pftrace"));
    let mut files: Vec<Vec<u8>> =
        names.iter().map(|name| fs_err::read(path(name)).unwrap()).collect();
    // The packed packets laid open, so that what is in them is changed, too.
    let mut inner = Vec::new();
    let packed = &files[1][files[1].windows(2).position(|pair| pair == [0x78, 0xda]).unwrap()..];
    flate2::read::ZlibDecoder::new(packed).read_to_end(&mut inner).unwrap();
    files.push(inner);
    files
});

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_bytes_are(
        file in 0..4_usize,
        cut in 0.0..2.0_f64,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
    ) {
        let mut bytes = FILES[file].clone();
        let kept = (bytes.len() as f64 * cut) as usize;
        bytes.truncate(kept);
        for (at, byte) in changes {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        let mut reader = perfetto::Reader::of(bytes);
        let (mut builder, mut items) = (Builder::new(), 0);
        reader.for_each(|item| -> std::io::Result<()> {
            builder.item(item);
            items += 1;
            Ok(())
        }).unwrap();
        prop_assert_eq!(items, reader.counts().records + reader.counts().gaps);
        let slices = builder.finish().tables.slices;
        prop_assert!(slices.from_ns.iter().zip(slices.to_ns.iter()).all(|(from, to)| from <= to));
    }
}
