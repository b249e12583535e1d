//! Bytes at a place: a file, or memory.

use std::io;
use std::sync::Arc;

use flyball_run::disk::ReadAt;

/// Something that can be read at any place.
pub trait Source: Clone {
    /// Its length in bytes.
    ///
    /// # Errors
    /// The operating system's.
    fn length(&self) -> io::Result<u64>;

    /// Fills `to` from the place `at` on, as far as there are bytes; how many there were.
    ///
    /// # Errors
    /// The operating system's.
    fn read_at(&self, to: &mut [u8], at: u64) -> io::Result<usize>;
}

impl Source for Arc<fs_err::File> {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, to: &mut [u8], at: u64) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = to.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match ReadAt::read_at(self.as_ref(), rest, at.saturating_add(filled as u64)) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

impl Source for &[u8] {
    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, to: &mut [u8], at: u64) -> io::Result<usize> {
        let rest = usize::try_from(at).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let read = rest.len().min(to.len());
        if let (Some(to), Some(from)) = (to.get_mut(..read), rest.get(..read)) {
            to.copy_from_slice(from);
        }
        Ok(read)
    }
}
