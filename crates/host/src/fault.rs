//! Which call fails, when and how: the text form of a fault.

use crate::{Call, Errno};
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// One call that fails. Text form: `CALL[:OBJECT][#N|#N+]=EFFECT`. CALL is a call's name, or `any`;
/// OBJECT is a path, a CPU list, a class, a thread id or a program as the call takes it (a final `*`
/// stands for anything); `#N` fails only the N-th such call and `#N+` that one and all later ones,
/// as if the machine had died there; EFFECT is an [`Effect`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The call; any that can fail where none is given.
    pub call: Option<Call>,
    /// What it is called on; anything where none is given.
    pub object: Option<String>,
    /// The first matching call that fails, counted from 1.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// How it fails.
    pub effect: Effect,
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// With this error: `EBUSY`.
    Refused(Errno),
    /// `short`: reading a file gives the first half of its text. Any other call fails with `EIO`.
    Short,
    /// `lost`: a file is written, as it seems, and keeps what it had. Any other call fails with
    /// `EIO`.
    Lost,
    /// `hang`: it never returns, as a call into a driver that waits for its hardware.
    Hang,
}

impl Effect {
    /// The error of calls that know no other way to fail.
    pub(crate) fn errno(self) -> Errno {
        match self {
            Effect::Refused(errno) => errno,
            Effect::Short | Effect::Lost | Effect::Hang => Errno::EIO,
        }
    }
}

impl FromStr for Effect {
    type Err = String;

    fn from_str(text: &str) -> Result<Effect, String> {
        match text {
            "short" => Ok(Effect::Short),
            "lost" => Ok(Effect::Lost),
            "hang" => Ok(Effect::Hang),
            errno => errno
                .parse()
                .map(Effect::Refused)
                .map_err(|expected: String| format!("{expected}, or short, or lost, or hang")),
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Refused(errno) => f.write_str(&String::from(*errno)),
            Effect::Short => f.write_str("short"),
            Effect::Lost => f.write_str("lost"),
            Effect::Hang => f.write_str("hang"),
        }
    }
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
        let (target, effect) =
            text.rsplit_once('=').ok_or_else(|| fail("CALL[:OBJECT][#N|#N+]=ERRNO"))?;
        let effect = effect.trim().parse().map_err(|expected: String| fail(&expected))?;
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
        let call = match call.trim() {
            ANY => None,
            call => Some(call.parse().map_err(|expected: String| fail(&expected))?),
        };
        Ok(Fault { call, object, first, last, effect })
    }
}

/// Stands for every call.
const ANY: &str = "any";

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

    /// Whether this fault may be about `call`, on whatever.
    pub(crate) fn may_match(&self, call: Call) -> bool {
        self.call.is_none_or(|own| own == call)
    }

    /// Whether this fault is about `call` on `object`.
    pub(crate) fn matches(&self, call: Call, object: &str) -> bool {
        self.may_match(call)
            && match &self.object {
                None => true,
                Some(wanted) => match wanted.strip_suffix('*') {
                    Some(start) => object.starts_with(start),
                    None => wanted == object,
                },
            }
    }
}

/// Faults with what they have seen so far: of a host, and of the files that it keeps open.
#[derive(Debug)]
pub(crate) struct Faults {
    list: Vec<(Fault, AtomicU64)>,
    calls: AtomicU64,
}

impl Faults {
    pub(crate) fn new(list: Vec<Fault>) -> Faults {
        let list = list.into_iter().map(|fault| (fault, AtomicU64::new(0))).collect();
        Faults { list, calls: AtomicU64::new(0) }
    }

    /// Calls so far.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Whether some fault may be about `call`, on whatever.
    pub(crate) fn may_match(&self, call: Call) -> bool {
        self.list.iter().any(|(fault, _)| fault.may_match(call))
    }

    /// What a fault makes of this call, if any. One that hangs does not come back.
    pub(crate) fn effect(&self, call: Call, object: &str) -> Option<Effect> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut failure = None;
        for (fault, seen) in &self.list {
            if fault.matches(call, object) {
                let time = seen.fetch_add(1, Ordering::Relaxed) + 1;
                if (fault.first..=fault.last).contains(&time) && failure.is_none() {
                    failure = Some(fault.effect);
                }
            }
        }
        while failure == Some(Effect::Hang) {
            std::thread::park();
        }
        failure
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.call.map_or(ANY, Call::name))?;
        if let Some(object) = &self.object {
            write!(f, ":{object}")?;
        }
        match (self.first, self.last) {
            (1, u64::MAX) => {}
            (first, u64::MAX) => write!(f, "#{first}+")?,
            (first, _) => write!(f, "#{first}")?,
        }
        write!(f, "={}", self.effect)
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
            index in 0..=Call::ALL.len(),
            effect in 0..4,
            object in proptest::option::of("/[a-z0-9/]{0,9}"),
            first in 1u64..9,
            open in any::<bool>(),
        ) {
            let last = if open { u64::MAX } else { first };
            let call = Call::ALL.get(index).copied();
            let effects =
                [Effect::Refused(Errno::EIO), Effect::Short, Effect::Lost, Effect::Hang];
            let fault = Fault { call, object, first, last, effect: effects[effect as usize] };
            prop_assert_eq!(fault.to_string().parse::<Fault>().unwrap(), fault);
        }
    }
}
