//! Numbers and strings one behind the other.

use super::Broken;
use crate::source::Source;

/// Longest name of a system of events, of an algorithm, of a buffer.
const STRING_BYTES: u64 = 4096;
/// Largest part that is read at once: /proc/kallsyms has some 20 MB.
pub(super) const PART_BYTES: u64 = 256 << 20;

/// Where the reading is.
pub(super) struct Cursor<S> {
    source: S,
    at: u64,
    end: u64,
}

impl<S: Source> Cursor<S> {
    pub fn new(source: S, at: u64) -> Result<Cursor<S>, Broken> {
        let end = source.length()?;
        Ok(Cursor { source, at, end })
    }

    /// The same bytes from another place on.
    pub fn other(&self, at: u64) -> Cursor<S> {
        Cursor { source: self.source.clone(), at, end: self.end }
    }

    /// The place of the next byte.
    pub fn at(&self) -> u64 {
        self.at
    }

    pub fn left(&self) -> u64 {
        self.end.saturating_sub(self.at)
    }

    /// The next `bytes` bytes, which are `what`.
    pub fn take(&mut self, bytes: u64, what: &str) -> Result<Vec<u8>, Broken> {
        if bytes > self.left() || bytes > PART_BYTES {
            return Err(Broken::wrong(
                self.at,
                format!("{what} of {bytes} bytes"),
                format!("the file's end after {}", self.left()),
            ));
        }
        let mut taken = vec![0; bytes as usize];
        let read = self.source.read_at(&mut taken, self.at)?;
        if read < taken.len() {
            return Err(Broken::wrong(self.at, what, "a file that became shorter"));
        }
        self.at += bytes;
        Ok(taken)
    }

    fn number<const BYTES: usize>(&mut self, what: &str) -> Result<[u8; BYTES], Broken> {
        let mut bytes = [0; BYTES];
        if self.source.read_at(&mut bytes, self.at)? < BYTES {
            return Err(Broken::wrong(self.at, what, "the file's end"));
        }
        self.at += BYTES as u64;
        Ok(bytes)
    }

    pub fn u8(&mut self, what: &str) -> Result<u8, Broken> {
        Ok(u8::from_le_bytes(self.number(what)?))
    }

    pub fn u16(&mut self, what: &str) -> Result<u16, Broken> {
        Ok(u16::from_le_bytes(self.number(what)?))
    }

    pub fn u32(&mut self, what: &str) -> Result<u32, Broken> {
        Ok(u32::from_le_bytes(self.number(what)?))
    }

    pub fn u64(&mut self, what: &str) -> Result<u64, Broken> {
        Ok(u64::from_le_bytes(self.number(what)?))
    }

    /// A string up to its 0.
    pub fn string(&mut self, what: &str) -> Result<Vec<u8>, Broken> {
        let from = self.at;
        let mut bytes = vec![0; STRING_BYTES.min(self.left()) as usize];
        let read = self.source.read_at(&mut bytes, from)?;
        bytes.truncate(read);
        let Some(end) = bytes.iter().position(|byte| *byte == 0) else {
            return Err(Broken::wrong(from, format!("{what}, ended by a 0"), "no 0"));
        };
        bytes.truncate(end);
        self.at += end as u64 + 1;
        Ok(bytes)
    }

    /// A string that has to be `expected`.
    pub fn word(&mut self, expected: &str) -> Result<(), Broken> {
        let at = self.at;
        let found = self.string(expected)?;
        if found != expected.as_bytes() {
            let found = String::from_utf8_lossy(&found).chars().take(32).collect::<String>();
            return Err(Broken::wrong(at, expected, format!("{found:?}")));
        }
        Ok(())
    }
}
