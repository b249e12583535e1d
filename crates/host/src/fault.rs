//! Which call fails, when and how: the text form of a fault.

use crate::{Call, Errno};
use std::fmt;
use std::str::FromStr;

/// One call that fails. Text form: `CALL[:OBJECT][#N|#N+]=ERRNO`, where OBJECT is a path, a CPU
/// list, a class, a thread id or a program as the call takes it (a final `*` stands for anything),
/// `#N` fails only the N-th such call and `#N+` that one and all later ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The call.
    pub call: Call,
    /// What it is called on; anything where none is given.
    pub object: Option<String>,
    /// The first matching call that fails, counted from 1.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// How it fails.
    pub errno: Errno,
}

/// A fault that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fault {fault:?}: expected {expected}")]
pub struct FaultError {
    /// The text of the fault.
    pub fault: String,
    /// What should have been there.
    pub expected: String,
}

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Fault, FaultError> {
        let fail =
            |expected: &str| FaultError { fault: text.to_owned(), expected: expected.to_owned() };
        // Paths may hold any of the signs, so split from the outside in.
        let (target, errno) =
            text.rsplit_once('=').ok_or_else(|| fail("CALL[:OBJECT][#N|#N+]=ERRNO"))?;
        let errno = errno.trim().parse().map_err(|expected: String| fail(&expected))?;
        let (target, (first, last)) = match target.rsplit_once('#') {
            None => (target, (1, u64::MAX)),
            Some((target, times)) => {
                let range = parse_times(times).ok_or_else(|| fail("#N or #N+, N from 1"))?;
                (target, range)
            }
        };
        let (call, object) = match target.split_once(':') {
            Some((call, object)) => (call, Some(object.trim().to_owned())),
            None => (target, None),
        };
        let call = call.trim().parse().map_err(|expected: String| fail(&expected))?;
        Ok(Fault { call, object, first, last, errno })
    }
}

/// Reads `N` or `N+` as the range of calls that fail.
fn parse_times(times: &str) -> Option<(u64, u64)> {
    let (digits, open) = match times.strip_suffix('+') {
        Some(digits) => (digits, true),
        None => (times, false),
    };
    let first = digits.parse().ok().filter(|&first| first > 0)?;
    Some((first, if open { u64::MAX } else { first }))
}

impl Fault {
    /// Reads a list of faults, parted by commas that a new fault follows:
    /// `sched_set=EPERM,read:/sys/devices/system/cpu/online=ENOENT`. The empty text is no fault.
    pub fn parse_list(text: &str) -> Result<Vec<Fault>, FaultError> {
        let mut faults = Vec::new();
        let mut pending = String::new();
        for part in text.split(',') {
            if !pending.is_empty() {
                pending.push(',');
            }
            pending.push_str(part);
            // A comma inside an object (`affinity_set:0,2=EINVAL`) comes before the equals sign.
            if part.contains('=') {
                faults.push(pending.trim().parse()?);
                pending.clear();
            }
        }
        if !pending.trim().is_empty() {
            faults.push(pending.trim().parse()?);
        }
        Ok(faults)
    }

    /// Whether this fault is about `call` on `object`.
    pub(crate) fn matches(&self, call: Call, object: &str) -> bool {
        self.call == call
            && match &self.object {
                None => true,
                Some(wanted) => match wanted.strip_suffix('*') {
                    Some(start) => object.starts_with(start),
                    None => wanted == object,
                },
            }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.call)?;
        if let Some(object) = &self.object {
            write!(f, ":{object}")?;
        }
        match (self.first, self.last) {
            (1, u64::MAX) => {}
            (first, u64::MAX) => write!(f, "#{first}+")?,
            (first, _) => write!(f, "#{first}")?,
        }
        write!(f, "={}", String::from(self.errno))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_keep_commas_inside_objects() {
        let faults = Fault::parse_list("affinity_set:0,2=EINVAL,wrong").unwrap_err();
        assert_eq!(faults.fault, "wrong");
        let faults = Fault::parse_list("affinity_set:0,2=EINVAL, read:/x=y#3=EIO").unwrap();
        assert_eq!(faults[0].object.as_deref(), Some("0,2"));
        assert_eq!((faults[1].object.as_deref(), faults[1].first), (Some("/x=y"), 3));
        for wrong in ["read", "read=EWHAT", "now=EIO", "read#0=EIO", "read#x=EIO"] {
            assert!(Fault::parse_list(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in ".{0,80}") {
            let _ = Fault::parse_list(&text);
        }

        #[test]
        fn printing_then_parsing_is_identity(
            index in 0..Call::ALL.len(),
            object in proptest::option::of("/[a-z0-9/]{0,9}"),
            first in 1u64..9,
            open in any::<bool>(),
        ) {
            let last = if open { u64::MAX } else { first };
            let fault = Fault { call: Call::ALL[index], object, first, last, errno: Errno::EIO };
            prop_assert_eq!(fault.to_string().parse::<Fault>().unwrap(), fault);
        }
    }
}
