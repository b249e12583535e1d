//! Whatever the bytes of a binary trace are: the reader counts, and nothing panics or hangs.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::sync::LazyLock;

use flyball_events::dat;
use flyball_events::import::Builder;
use proptest::prelude::*;

static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/dat");
    let names = ["ramp-6.dat", "ramp-7.dat", "ramp-7-zstd.dat", "lost.dat"];
    names.iter().map(|name| fs_err::read(format!("{folder}/{name}")).unwrap()).collect()
});

/// Reads it all; how many records there were, none where it is no such file.
fn read(bytes: &[u8]) -> Option<u64> {
    let mut reader = dat::Reader::of(bytes).ok()?;
    let mut builder = Builder::new();
    reader
        .for_each(|item| -> std::io::Result<()> {
            builder.item(item);
            Ok(())
        })
        .unwrap();
    let slices = builder.finish().tables.slices;
    assert!(slices.from_ns.iter().zip(slices.to_ns.iter()).all(|(from, to)| from <= to));
    Some(reader.counts().records)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_cut_anywhere(file in 0..4_usize, cut in 0.0..1.0_f64) {
        let whole = &FILES[file];
        let all = read(whole).unwrap();
        let cut = (whole.len() as f64 * cut) as usize;
        prop_assert!(read(&whole[..cut]).unwrap_or(0) <= all);
    }

    #[test]
    fn a_file_with_wrong_bytes(
        file in 0..4_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 1..9_usize), 1..12),
    ) {
        let mut bytes = FILES[file].clone();
        for (at, byte, count) in changes {
            let at = at.index(bytes.len());
            bytes.iter_mut().skip(at).take(count).for_each(|slot| *slot = byte);
        }
        read(&bytes);
    }

    /// The head alone, where every number counts.
    #[test]
    fn a_head_with_wrong_numbers(file in 0..4_usize, at in 10..4000_usize, number in any::<u64>()) {
        let mut bytes = FILES[file].clone();
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        read(&bytes);
    }

    #[test]
    fn any_bytes_behind_the_magic(bytes in prop::collection::vec(any::<u8>(), 0..600), seven in any::<bool>()) {
        let mut file = dat::MAGIC.to_vec();
        file.extend_from_slice(if seven { b"7\0\0\x08\0\x10\0\0" } else { b"6\0\0\x08\0\x10\0\0" });
        file.extend_from_slice(&bytes);
        read(&file);
    }
}
