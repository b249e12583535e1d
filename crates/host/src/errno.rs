//! Error numbers of the system, with their symbolic names.

#[cfg(unix)]
use libc as number;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An error number of the system (`errno`). Serialised as its name, `EPERM`, or as `errno 4711`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Errno(pub i32);

macro_rules! names {
    ($($name:ident)*) => {
        /// Names of the error numbers that this crate's calls return.
        const NAMES: &[(&str, i32)] = &[$((stringify!($name), number::$name),)*];

        impl Errno {
            $(#[doc = concat!("`", stringify!($name), "`.")]
            pub const $name: Errno = Errno(number::$name);)*
        }
    };
}

/// Linux's numbers (include/uapi/asm-generic/errno.h), where the system has none of its own: recordings of machines
/// name them.
#[cfg(not(unix))]
mod number {
    pub(super) const EPERM: i32 = 1;
    pub(super) const ENOENT: i32 = 2;
    pub(super) const ESRCH: i32 = 3;
    pub(super) const EINTR: i32 = 4;
    pub(super) const EIO: i32 = 5;
    pub(super) const ENXIO: i32 = 6;
    pub(super) const E2BIG: i32 = 7;
    pub(super) const EBADF: i32 = 9;
    pub(super) const ECHILD: i32 = 10;
    pub(super) const EAGAIN: i32 = 11;
    pub(super) const ENOMEM: i32 = 12;
    pub(super) const EACCES: i32 = 13;
    pub(super) const EFAULT: i32 = 14;
    pub(super) const EBUSY: i32 = 16;
    pub(super) const EEXIST: i32 = 17;
    pub(super) const ENODEV: i32 = 19;
    pub(super) const ENOTDIR: i32 = 20;
    pub(super) const EISDIR: i32 = 21;
    pub(super) const EINVAL: i32 = 22;
    pub(super) const ENFILE: i32 = 23;
    pub(super) const EMFILE: i32 = 24;
    pub(super) const ETXTBSY: i32 = 26;
    pub(super) const EFBIG: i32 = 27;
    pub(super) const ENOSPC: i32 = 28;
    pub(super) const EROFS: i32 = 30;
    pub(super) const EPIPE: i32 = 32;
    pub(super) const ERANGE: i32 = 34;
    pub(super) const EDEADLK: i32 = 35;
    pub(super) const ENAMETOOLONG: i32 = 36;
    pub(super) const ENOSYS: i32 = 38;
    pub(super) const ENOTEMPTY: i32 = 39;
    pub(super) const ELOOP: i32 = 40;
    pub(super) const ENODATA: i32 = 61;
    pub(super) const EOVERFLOW: i32 = 75;
    pub(super) const EILSEQ: i32 = 84;
    pub(super) const EOPNOTSUPP: i32 = 95;
    pub(super) const ETIMEDOUT: i32 = 110;
    pub(super) const ENOEXEC: i32 = 8;
    pub(super) const ENOTSUP: i32 = 95;
}

names! {
    EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT EBUSY
    EEXIST ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ETXTBSY EFBIG ENOSPC EROFS EPIPE ERANGE
    EDEADLK ENAMETOOLONG ENOSYS ENOTEMPTY ELOOP ENODATA EOVERFLOW EILSEQ EOPNOTSUPP ETIMEDOUT
    ENOEXEC ENOTSUP
}

impl Errno {
    /// The error number inside `error`, or `EIO` where it carries none (text that is not UTF-8
    /// becomes `EILSEQ`).
    pub fn of(error: &std::io::Error) -> Errno {
        // fs_err wraps the system's error to add the path; the number is in the wrapped one.
        let wrapped =
            || error.get_ref()?.source()?.downcast_ref::<std::io::Error>()?.raw_os_error();
        match (error.raw_os_error().or_else(wrapped), error.kind()) {
            (Some(number), _) => Errno(number),
            (None, std::io::ErrorKind::InvalidData) => Errno::EILSEQ,
            (None, std::io::ErrorKind::NotFound) => Errno::ENOENT,
            (None, std::io::ErrorKind::InvalidInput) => Errno::EINVAL,
            (None, _) => Errno::EIO,
        }
    }

    /// The error number left by the last system call of this thread.
    #[cfg(target_os = "linux")]
    pub(crate) fn last() -> Errno {
        Errno::of(&std::io::Error::last_os_error())
    }

    /// The symbolic name, where this crate knows it.
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().find(|(_, number)| *number == self.0).map(|(name, _)| *name)
    }
}

impl fmt::Display for Errno {
    /// The system's text and the name: `Operation not permitted (EPERM)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = std::io::Error::from_raw_os_error(self.0).to_string();
        let text = text.split(" (os error").next().unwrap_or_default();
        match self.name() {
            Some(name) => write!(f, "{text} ({name})"),
            None => write!(f, "{text} (errno {})", self.0),
        }
    }
}

impl From<Errno> for String {
    fn from(errno: Errno) -> String {
        errno.name().map_or_else(|| format!("errno {}", errno.0), str::to_owned)
    }
}

impl TryFrom<String> for Errno {
    type Error = String;
    fn try_from(text: String) -> Result<Errno, String> {
        text.parse()
    }
}

impl FromStr for Errno {
    type Err = String;

    /// Accepts `EPERM`, `errno 1` and `1`.
    fn from_str(text: &str) -> Result<Errno, String> {
        if let Some((_, number)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(Errno(*number));
        }
        let digits = text.strip_prefix("errno ").unwrap_or(text);
        match digits.parse::<u16>() {
            Ok(number) if (1..4096).contains(&number) => Ok(Errno(i32::from(number))),
            _ => Err("an error name such as EPERM, or a number from 1 to 4095".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "its strerror knows few errors")]
    fn text_round_trips() {
        for (name, number) in NAMES {
            assert_eq!(name.parse(), Ok(Errno(*number)));
        }
        assert_eq!(Errno(4000).to_string(), "Unknown error 4000 (errno 4000)");
        assert_eq!(String::from(Errno(4000)).parse(), Ok(Errno(4000)));
        assert_eq!(Errno::EPERM.to_string(), "Operation not permitted (EPERM)");
        assert!("EWHAT".parse::<Errno>().is_err());
        assert!("0".parse::<Errno>().is_err());
    }
}
