//! Files of trace-cmd, made by trace-cmd (tests/golden/dat/README.md): every record beside what
//! `trace-cmd report` prints of the same file.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

use std::io::Read;
use std::path::PathBuf;

use flyball_events::event::{Event, Record};
use flyball_events::ftrace;
use flyball_events::import::{Options, import};
use flyball_events::questions::{FrequencyResidency, IdleResidency};
use flyball_events::stream::Counts;
use flyball_events::stream::Item;
use flyball_events::{Kind, Reader, Recording};
use flyball_run::Run;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/dat")).join(name)
}

/// An item in words that both readers have to agree on.
fn told(item: Item<'_>) -> String {
    match item {
        Item::Record(record) | Item::Reading(record) => {
            let Record { t_ns, cpu, tid, task, event, .. } = *record;
            let task = String::from_utf8_lossy(task);
            match event {
                Event::Mark(text) => {
                    format!("{t_ns} {cpu} {task}-{tid} mark {}", String::from_utf8_lossy(text))
                }
                // trace-cmd has an older kernel's letters: W for the I of an idle kernel thread, Z
                // for the X of one that exits, and no mark of a preemption.
                Event::Switch { prev, state: state @ (b"W" | b"R+" | b"Z"), next } => {
                    let state = match state {
                        b"W" => b"I",
                        b"Z" => b"X",
                        _ => b"R",
                    };
                    let event = Event::Switch { prev, state, next };
                    format!("{t_ns} {cpu} {task}-{tid} {event:?}")
                }
                event => format!("{t_ns} {cpu} {task}-{tid} {event:?}"),
            }
        }
        Item::Lost { cpu, events } => format!("lost {cpu} {events:?}"),
    }
}

fn of_dat(name: &str) -> (Vec<String>, Reader) {
    let mut reader = Reader::open(golden(name)).unwrap();
    let mut items = Vec::new();
    reader
        .for_each(|item| -> std::io::Result<()> {
            items.push(told(item));
            Ok(())
        })
        .unwrap();
    (items, reader)
}

fn of_text(name: &str) -> (Vec<String>, Counts) {
    let packed = fs_err::File::open(golden(name)).unwrap();
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut text).unwrap();
    let mut reader = ftrace::Reader::new(text.as_slice());
    let mut items = Vec::new();
    reader
        .for_each(|item| -> std::io::Result<()> {
            items.push(told(item));
            Ok(())
        })
        .unwrap();
    (items, reader.counts().clone())
}

#[test]
fn every_version_says_what_trace_cmd_prints() {
    let (expected, text) = of_text("ramp.txt.gz");
    assert_eq!((expected.len(), text.torn), (1664, 0));
    for name in ["ramp-6.dat", "ramp-7.dat", "ramp-7-zstd.dat"] {
        let (items, reader) = of_dat(name);
        for (number, (item, expected)) in items.iter().zip(&expected).enumerate() {
            assert_eq!(item, expected, "{name}: item {number}");
        }
        assert_eq!(items.len(), expected.len(), "{name}");
        let counts = reader.counts();
        assert_eq!((reader.kind(), counts.torn, counts.records), (Kind::Dat, 0, text.records));
        assert_eq!(counts.unknown, text.unknown, "{name}");
        // The tool forgets the clock where it cuts a file, and makes one up where it converts it.
        let clock = (name != "ramp-6.dat").then_some("local");
        assert_eq!(reader.header().clock.as_deref(), clock, "{name}");
        assert_eq!(reader.header().cpus, Some(4), "{name}");
    }
}

/// Layouts as kernels before 4.14 describe them: marks go to their record's end.
#[test]
fn an_old_kernels_marks_and_states_are_read() {
    let (expected, text) = of_text("old-kernel.txt.gz");
    let (items, reader) = of_dat("old-kernel.dat");
    assert_eq!(items, expected);
    let counts = reader.counts();
    assert_eq!((counts.torn, counts.records, counts.gaps), (0, text.records, 0));
    let ramp = Options { clock: Some("mono".to_owned()), ..Options::default() };
    let run = import(golden("old-kernel.dat"), &ramp).unwrap();
    let markers = &run.tables.markers;
    assert_eq!((markers.len(), markers.row(0).unwrap().name.as_str()), (4, "ramp: begin"));
    let slices = &run.tables.slices;
    let slices = (0..slices.len()).map(|row| slices.row(row).unwrap());
    let slices: Vec<_> = slices.map(|slice| (slice.task, slice.why.unwrap_or_default())).collect();
    let ends: Vec<_> = slices.iter().map(|(task, why)| (task.as_str(), why.as_str())).collect();
    // Who was met in the middle of a slice has no end of it, or no begin.
    let ends: Vec<_> = ends.into_iter().filter(|(_, why)| !why.is_empty()).collect();
    assert_eq!(ends, [("ramp", "preempted"), ("noise", "exited"), ("ramp", "slept")]);
}

/// What a module stores by `trace_printk`: as trace-cmd prints it, but for `%05d` and `%c`, which
/// that does not read; a conversion that the kernel does not have leaves the format as it is.
#[test]
fn stored_texts_and_their_arguments_are_marks() {
    let (items, reader) = of_dat("bprint.dat");
    let marks: Vec<&str> = items.iter().filter_map(|item| item.split(" mark ").nth(1)).collect();
    let expected = [
        "ints -5 4000000000 beef",
        "longs -5 5 0x123456789abc -1099511627776 9223372036854775808",
        "text of a task and    42|-42  |00007|",
        "letter A, 12 %",
        "function do_it",
        "by itself",
        "no float %f",
    ];
    assert_eq!((marks.as_slice(), reader.counts().torn), (expected.as_slice(), 0));
}

/// A recording of a Juno board by others; the counts are those of trace-cmd.
#[test]
fn a_real_boards_marks_are_read() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/real-traces/juno-rt-app.dat");
    if !std::path::Path::new(path).exists() {
        eprintln!("skipped: {path} is not there");
        return;
    }
    let mut reader = Reader::open(path).unwrap();
    let (mut marks, mut switches, mut changes) = (Vec::new(), 0, 0);
    reader
        .for_each(|item| -> std::io::Result<()> {
            if let Item::Record(record) = item {
                match record.event {
                    Event::Mark(text) => marks.push(String::from_utf8_lossy(text).into_owned()),
                    Event::Switch { state, .. } => {
                        assert_ne!(state, b"?");
                        switches += 1;
                    }
                    Event::Frequency { .. } => changes += 1,
                    _ => {}
                }
            }
            Ok(())
        })
        .unwrap();
    let (stored, marks): (Vec<String>, Vec<String>) =
        marks.into_iter().partition(|mark| mark.starts_with("evt="));
    assert_eq!((stored.len(), marks.len(), switches, changes), (6242, 14, 1552, 12));
    assert_eq!(
        stored[0],
        "evt=util_est_rq step=pre pid=6972 comm=sudo cpu=1 rq=0xffffffc97fed2f68 event=enqueue \
         t_avg=0 t_est=966 q_avg=20 q_est=0"
    );
    assert_eq!(
        (marks[0].as_str(), marks[13].as_str()),
        ("TRACE_MARKER_START", "TRACE_MARKER_STOP")
    );
    assert_eq!(reader.counts().torn, 0);
}

#[test]
fn lost_events_are_where_trace_cmd_says() {
    let (expected, text) = of_text("lost.txt.gz");
    let (items, reader) = of_dat("lost.dat");
    assert!(text.gaps > 0, "{text:?}");
    assert_eq!((reader.counts().gaps, reader.counts().lost), (text.gaps, text.lost));
    for (number, (item, expected)) in items.iter().zip(&expected).enumerate() {
        assert_eq!(item, expected, "item {number}");
    }
    assert_eq!(items.len(), expected.len());
    assert_eq!(reader.header().clock.as_deref(), Some("boot"), "a file as recorded names it");
}

/// The figures are those of the same questions to the text of `trace-cmd report -t`.
#[test]
fn an_import_answers_like_one_of_the_text() {
    let options = Options { clock: Some("mono".to_owned()), ..Options::default() };
    let run = import(golden("ramp-7-zstd.dat"), &options).unwrap();
    let text = tempfile::NamedTempFile::new().unwrap();
    let mut packed =
        flate2::read::GzDecoder::new(fs_err::File::open(golden("ramp.txt.gz")).unwrap());
    std::io::copy(&mut packed, &mut text.as_file()).unwrap();
    let from_text = import(text.path(), &options).unwrap();
    assert_eq!(run.manifest.source.as_ref().unwrap().tool, "trace-cmd");
    assert_eq!(run.manifest.clocks, from_text.manifest.clocks);
    assert_eq!(run.manifest.machine, {
        let mut machine = from_text.manifest.machine.clone().unwrap();
        machine.cpu_count = Some(4);
        Some(machine)
    });
    let of = |run: &Run| {
        let recording = Recording::of(run);
        let span = recording.span();
        let frequency = FrequencyResidency::of(&recording, "policy0").unwrap();
        let idle = IdleResidency::all(&recording).unwrap();
        format!("{span:?} {frequency:?} {idle:?}")
    };
    assert_eq!(of(&run), of(&from_text));
    assert_eq!(run.tables.slices, from_text.tables.slices);
    // The tool's text leaves out the flags, and with them who was only interrupted.
    let wakeups =
        |run: &Run| (run.tables.wakeups.woken_ns.clone(), run.tables.wakeups.ran_ns.clone());
    assert_eq!(wakeups(&run), wakeups(&from_text));
    assert_eq!(run.tables.interrupts, from_text.tables.interrupts);
    assert_eq!(run.tables.markers.row(0).unwrap().name, "flyball begin");
}

#[test]
fn what_is_no_whole_file_is_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.dat");
    let whole = fs_err::read(golden("ramp-6.dat")).unwrap();
    let refused = |bytes: &[u8]| {
        fs_err::write(&path, bytes).unwrap();
        import(&path, &Options::default()).unwrap_err()
    };
    let error = refused(&whole[..300]);
    assert_eq!(error.kind(), flyball_units::ErrorKind::BadInput);
    assert!(error.object().contains("bad.dat: byte"), "{error}");
    assert!(error.found().contains("end"), "{error}");
    assert!(error.hint().contains("trace-cmd report"), "{error:?}");
    let mut version = whole.clone();
    version[10] = b'9';
    let error = refused(&version);
    assert_eq!(error.kind(), flyball_units::ErrorKind::Unsupported);
    assert!(error.to_string().ends_with("expected version 6 or 7, found version \"9\""), "{error}");
    let mut order = whole.clone();
    order[12] = 1;
    assert_eq!(refused(&order).kind(), flyball_units::ErrorKind::Unsupported);
    // All of the head but none of the pages.
    let error = refused(&whole[..whole.len() - 13 * 4096]);
    assert!(error.to_string().contains("an event of scheduler or clocks"), "{error}");
}

#[test]
fn a_file_that_ends_early_keeps_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.dat");
    let whole = fs_err::read(golden("ramp-6.dat")).unwrap();
    fs_err::write(&path, &whole[..whole.len() - 5000]).unwrap();
    let run = import(&path, &Options::default()).unwrap();
    let told: Vec<&str> = run.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert!(told.iter().any(|message| message.contains("torn of")), "{told:?}");
    assert!(run.tables.slices.len() > 50);
}
