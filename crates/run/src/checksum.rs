//! The checksum of a file: CRC-32, which finds every flip of up to three bits in files up to 11 KiB and
//! every burst up to 32 bits in any; another change passes once in four billion.

use std::io;
use std::path::Path;

use fs_err as fs;
use rayon::prelude::*;

use crate::disk::ReadAt;

/// Bytes of a file that one core sums up at a time.
const PART: u64 = 4 * 1024 * 1024;

/// A checksum in the making.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checksum(crc32fast::Hasher);

impl Checksum {
    /// Adds the bytes that follow.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// As it stands in a manifest.
    pub fn text(self) -> String {
        format!("crc32:{:08x}", self.0.finalize())
    }

    /// That of some bytes.
    fn of(bytes: &[u8]) -> String {
        let mut sum = Checksum::default();
        sum.add(bytes);
        sum.text()
    }

    /// That of a file, its parts summed up on all cores.
    pub fn of_file(path: &Path) -> io::Result<String> {
        let file = fs::File::open(path)?;
        let parts = file.metadata()?.len().div_ceil(PART);
        let sums = (0..parts).into_par_iter().map(|part| Checksum::of_part(&file, part * PART));
        let sums: Vec<Checksum> = sums.collect::<io::Result<_>>()?;
        let mut whole = Checksum::default();
        sums.iter().for_each(|sum| whole.0.combine(&sum.0));
        Ok(whole.text())
    }

    /// That of the part from `start` on, as far as the file goes.
    fn of_part(file: &fs::File, start: u64) -> io::Result<Checksum> {
        let (mut sum, mut done) = (Checksum::default(), 0);
        let mut buffer = vec![0; 256 * 1024];
        while done < PART {
            match file.read_at(&mut buffer, start + done) {
                Ok(0) => break,
                Ok(read) => {
                    let read = read.min(usize::try_from(PART - done).unwrap_or(usize::MAX));
                    sum.add(buffer.get(..read).unwrap_or_default());
                    done += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(sum)
    }
}

/// A text of TOML behind the checksum of it, a comment: at its start, so that no cut takes it away.
pub(crate) fn sealed(text: &str) -> String {
    format!("# {}\n{text}", Checksum::of(text.as_bytes()))
}

/// A sealed text, and its seal; none of one without.
fn parts(text: &str) -> Option<(&str, &str)> {
    let (seal, body) = text.strip_prefix("# ")?.split_once('\n')?;
    seal.starts_with("crc32:").then_some((body, seal))
}

/// What became of the manifest `before`, sealed where that was: for who changes the text knowingly.
pub fn resealed(before: &str, after: String) -> String {
    match parts(before).filter(|_| broken_seal(before).is_none()) {
        Some(_) => sealed(parts(&after).map_or(after.as_str(), |(body, _)| body)),
        None => after,
    }
}

/// What is wrong with a text that was sealed; nothing of one that never was.
pub(crate) fn broken_seal(text: &str) -> Option<String> {
    let (body, expected) = parts(text)?;
    let found = Checksum::of(body.as_bytes());
    (found != expected)
        .then(|| format!("has other bytes than were written, {found} instead of {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_several_parts_has_the_sum_of_its_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        for length in [0, 1, PART - 1, PART, 2 * PART + 17] {
            let bytes: Vec<u8> = (0..length).map(|at| ((at * at) >> 7) as u8).collect();
            fs::write(&path, &bytes).unwrap();
            assert_eq!(Checksum::of_file(&path).unwrap(), Checksum::of(&bytes), "{length} bytes");
        }
    }

    #[test]
    fn every_flip_and_every_cut_of_a_sealed_text_is_seen() {
        let text = sealed("format = 1\nkind = \"bench\"\n");
        assert_eq!(broken_seal(&text), None);
        assert_eq!(broken_seal("format = 1\n"), None);
        let other = resealed(&text, text.replace("bench", "sim"));
        assert!(other.contains("sim") && broken_seal(&other).is_none(), "{other}");
        assert_eq!(resealed(&text, "format = 1\n".to_owned()), sealed("format = 1\n"));
        let body = "# crc32:00000000\n".len();
        for bit in body * 8..text.len() * 8 {
            let mut bytes = text.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(flipped) = String::from_utf8(bytes) else { continue };
            assert!(broken_seal(&flipped).is_some(), "bit {bit}: {flipped}");
        }
        for length in body..text.len() {
            assert!(broken_seal(text.get(..length).unwrap()).is_some(), "{length}");
        }
    }
}
