//! The checksum of a file: CRC-32, which finds every flip of up to three bits in files up to 11 KiB and
//! every burst up to 32 bits in any; another change passes once in four billion.

use std::io::{self, Read};
use std::path::Path;

use fs_err as fs;

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

    /// That of a file.
    pub fn of_file(path: &Path) -> io::Result<String> {
        let mut file = fs::File::open(path)?;
        let mut sum = Checksum::default();
        let mut buffer = vec![0; 256 * 1024];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(sum.text()),
                read => sum.add(buffer.get(..read).unwrap_or_default()),
            }
        }
    }
}
