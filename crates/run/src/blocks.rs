//! Reads text files in blocks of whole lines, parses the blocks on all cores, and hands the
//! results back in file order. Memory stays bounded by a few blocks, whatever the file's size.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fs_err as fs;

use crate::error::{Error, Result};
use crate::threads::start_threads;

/// Bytes read at a time: large enough to make the bookkeeping vanish, small enough that a block and
/// its columns stay in a core's own cache.
const BLOCK_BYTES: usize = 256 * 1024;

/// A line longer than this is not a line of a telemetry file.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Blocks that may be parsed before the one that is merged next, so that one slow thread does not
/// let the others fill the memory.
const AHEAD: usize = 64;

/// How long a thread waits for the slow one. It ends the wait where that one panicked.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whole lines of one file; only a file's last line may lack its newline.
pub struct Block {
    /// Which of the files.
    pub file: usize,
    /// The lines.
    pub bytes: Vec<u8>,
}

impl Block {
    /// The lines without their newlines, each with whether it ended in one.
    pub fn lines(&self) -> impl Iterator<Item = (&[u8], bool)> {
        self.bytes.split_inclusive(|&byte| byte == b'\n').map(|line| match line {
            [text @ .., b'\r', b'\n'] | [text @ .., b'\n'] => (text, true),
            torn => (torn, false),
        })
    }

    /// As [`Block::lines`], as text; none where any of it is not UTF-8.
    pub fn text(&self) -> Option<impl Iterator<Item = (&str, bool)>> {
        let text = str::from_utf8(&self.bytes).ok()?;
        Some(text.split_inclusive('\n').map(|line| match line.strip_suffix('\n') {
            Some(text) => (text.strip_suffix('\r').unwrap_or(text), true),
            None => (line, false),
        }))
    }
}

/// Parses `files` block by block in parallel; `merge(file, parsed)` sees them in order.
///
/// # Errors
/// A file that cannot be opened or read, or with a line above 16 MiB; the first error of `merge`.
pub fn parse_files<T: Send>(
    files: &[PathBuf],
    parse: impl Fn(&Block) -> T + Sync,
    merge: impl FnMut(usize, T) -> Result<()> + Send,
) -> Result<()> {
    let reader = Mutex::new(BlockReader::new(files));
    let merger = Mutex::new(Merger { next: 0, waiting: BTreeMap::new(), merge, error: None });
    let merged = Condvar::new();
    let work = || {
        let mut buffer = Vec::new();
        loop {
            let (number, block) = match lock(&reader).next(std::mem::take(&mut buffer)) {
                Ok(Some(numbered)) => numbered,
                Ok(None) => return,
                Err(error) => return lock(&merger).fail(error),
            };
            let parsed = parse(&block);
            let turn = merged.wait_timeout_while(lock(&merger), PATIENCE, |merger| {
                merger.error.is_none() && number >= merger.next + AHEAD
            });
            let (mut turn, _) = turn.unwrap_or_else(PoisonError::into_inner);
            let going = turn.add(number, block.file, parsed);
            drop(turn);
            merged.notify_all();
            if !going {
                return lock(&reader).stop();
            }
            buffer = block.bytes;
        }
    };
    start_threads();
    rayon::scope(|scope| {
        (1..rayon::current_num_threads()).for_each(|_| scope.spawn(|_| work()));
        work();
    });
    let merger = merger.into_inner().unwrap_or_else(PoisonError::into_inner);
    merger.error.map_or(Ok(()), Err)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts parsed blocks back in order.
struct Merger<T, M> {
    next: usize,
    waiting: BTreeMap<usize, (usize, T)>,
    merge: M,
    error: Option<Error>,
}

impl<T, M: FnMut(usize, T) -> Result<()>> Merger<T, M> {
    /// Takes block `number`; false where there was an error and reading should stop.
    fn add(&mut self, number: usize, file: usize, parsed: T) -> bool {
        self.waiting.insert(number, (file, parsed));
        while self.error.is_none() {
            let Some((file, parsed)) = self.waiting.remove(&self.next) else { break };
            self.next += 1;
            self.error = (self.merge)(file, parsed).err();
        }
        self.error.is_none()
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}

/// Cuts files into blocks at line ends.
struct BlockReader<'a> {
    files: &'a [PathBuf],
    file: usize,
    open: Option<fs::File>,
    /// The unfinished line at the end of the last block.
    carry: Vec<u8>,
    number: usize,
}

impl<'a> BlockReader<'a> {
    fn new(files: &'a [PathBuf]) -> Self {
        BlockReader { files, file: 0, open: None, carry: Vec::new(), number: 0 }
    }

    fn stop(&mut self) {
        self.file = self.files.len();
    }

    /// The next block with its number, in the recycled `buffer`.
    fn next(&mut self, mut buffer: Vec<u8>) -> Result<Option<(usize, Block)>> {
        while let Some(path) = self.files.get(self.file) {
            let outcome = self.fill(path, &mut buffer);
            if outcome.is_err() {
                self.stop();
            }
            let file = self.file;
            if outcome? {
                self.open = None;
                self.file += 1;
            }
            if !buffer.is_empty() {
                self.number += 1;
                return Ok(Some((self.number - 1, Block { file, bytes: buffer })));
            }
        }
        Ok(None)
    }

    /// Fills `buffer` with whole lines; true at the file's end.
    fn fill(&mut self, path: &Path, buffer: &mut Vec<u8>) -> Result<bool> {
        let failed = |error: io::Error| Error::io(path, "to read it", &error);
        let file = match &mut self.open {
            Some(file) => file,
            none => none.insert(fs::File::open(path).map_err(failed)?),
        };
        buffer.clear();
        buffer.append(&mut self.carry);
        loop {
            let before = buffer.len();
            let read = file.take(BLOCK_BYTES as u64).read_to_end(buffer).map_err(failed)?;
            if read == 0 {
                return Ok(true);
            }
            if let Some(end) = last_line_end(buffer, before) {
                self.carry.extend_from_slice(buffer.get(end..).unwrap_or_default());
                buffer.truncate(end);
                return Ok(false);
            }
            if buffer.len() > LINE_BYTES_MAX {
                return Err(Error::bad_input(
                    path.display(),
                    "text in lines",
                    format!("a line above {} MiB", LINE_BYTES_MAX >> 20),
                    "is this a text file?",
                ));
            }
        }
    }
}

/// Position behind the last newline at or behind `from`.
fn last_line_end(bytes: &[u8], from: usize) -> Option<usize> {
    let fresh = bytes.get(from..)?;
    fresh.iter().rposition(|&byte| byte == b'\n').map(|at| from + at + 1)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests write their own files")]
mod tests {
    use super::*;

    #[test]
    fn order_survives_and_only_the_last_line_may_be_torn() {
        let dir = tempfile::tempdir().unwrap();
        let text: String = (0..700_000).map(|n| format!("{n}\n")).collect();
        let files = [dir.path().join("a"), dir.path().join("b")];
        std::fs::write(&files[0], &text).unwrap();
        std::fs::write(&files[1], "700000\r\n70").unwrap();
        let mut seen = Vec::new();
        parse_files(
            &files,
            |block| block.lines().map(|(line, whole)| (line.to_vec(), whole)).collect::<Vec<_>>(),
            |_, lines| {
                seen.extend(lines);
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(seen.len(), 700_002);
        assert!(
            seen[..700_001]
                .iter()
                .enumerate()
                .all(|(n, (line, whole))| { *whole && line == n.to_string().as_bytes() })
        );
        assert_eq!(seen[700_001], (b"70".to_vec(), false));
        for bytes in ["a\n\r\n\n\rb\r\nc\r", "\n", "", "\u{e9}\n"] {
            let block = Block { file: 0, bytes: bytes.into() };
            let text = block.text().unwrap().map(|(line, whole)| (line.as_bytes(), whole));
            assert!(text.eq(block.lines()), "{bytes:?}");
        }
        assert!(Block { file: 0, bytes: vec![b'a', 0xff] }.text().is_none());
    }

    #[test]
    fn an_endless_line_is_an_error_not_all_memory() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("zeros");
        std::fs::write(&file, vec![0; LINE_BYTES_MAX + 2 * BLOCK_BYTES]).unwrap();
        let error = parse_files(&[file], |_| (), |_, ()| Ok(())).unwrap_err();
        assert!(error.found().contains("16 MiB"), "{error:?}");
    }
}
