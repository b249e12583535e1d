//! `/proc/PID/task/TID/schedstat`, kept open: one system call per reading, no allocation.

use super::unix::FileExt;
use crate::{Call, Errno, HostError, SchedStat, files};
use flyball_units::Nanos;
use std::fs::File;

/// Reads the scheduler's account of one thread, repeatedly.
#[derive(Debug)]
pub struct SchedStatReader {
    path: String,
    source: Source,
}

#[derive(Debug)]
enum Source {
    File(File),
    Fixed(SchedStat),
}

impl SchedStatReader {
    /// Opens the account of a thread of this process.
    pub(crate) fn open(tid: u32) -> Result<SchedStatReader, HostError> {
        Self::at(format!("/proc/self/task/{tid}/schedstat"))
    }

    /// Opens the account of the first thread of a process.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_process(pid: u32) -> Result<SchedStatReader, HostError> {
        Self::at(format!("/proc/{pid}/schedstat"))
    }

    fn at(path: String) -> Result<SchedStatReader, HostError> {
        let file = files::open(path.as_ref())
            .map_err(|errno| HostError::call(Call::Schedstat, &path, errno))?;
        Ok(SchedStatReader { path, source: Source::File(file) })
    }

    /// A reader that always returns the same, for recorded machines.
    pub(crate) fn fixed(value: SchedStat) -> SchedStatReader {
        SchedStatReader { path: "recorded schedstat".to_owned(), source: Source::Fixed(value) }
    }

    /// The account now. After the thread has ended: `ESRCH`.
    pub fn read(&self) -> Result<SchedStat, HostError> {
        let file = match &self.source {
            Source::Fixed(value) => return Ok(*value),
            Source::File(file) => file,
        };
        let mut buffer = [0u8; 64];
        let length = file
            .read_at(&mut buffer, 0)
            .map_err(|error| HostError::call(Call::Schedstat, &self.path, Errno::of(&error)))?;
        let bytes = &buffer[..length];
        parse(bytes).ok_or_else(|| {
            HostError::malformed(
                &self.path,
                "three numbers: run time, run delay, slices",
                &String::from_utf8_lossy(bytes),
            )
        })
    }
}

/// Reads `RUN_TIME_NS RUN_DELAY_NS SLICES`.
pub(crate) fn parse(text: &[u8]) -> Option<SchedStat> {
    let text = std::str::from_utf8(text).ok()?;
    let mut numbers = text.split_ascii_whitespace().map(|number| number.parse::<u64>().ok());
    let (run_time, run_delay, slices) = (numbers.next()??, numbers.next()??, numbers.next()??);
    numbers.next().is_none().then_some(SchedStat {
        run_time: Nanos(run_time),
        run_delay: Nanos(run_delay),
        slices,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_the_kernels_line() {
        let expected = SchedStat { run_time: Nanos(12), run_delay: Nanos(3), slices: 4 };
        assert_eq!(parse(b"12 3 4\n"), Some(expected));
        for wrong in ["", "1 2", "1 2 3 4", "1 -2 3", "a b c"] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = parse(&bytes);
        }
    }
}
