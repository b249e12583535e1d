//! What is asked for: whose threads, and how fast.

use crate::users::users_of;
use crate::{QosError, Rules, backend};
use flyball_governors::ResponseRamp;
use flyball_host::{CGROUPS, Host, Membership};
use flyball_units::{Mismatch, Nanos, Share};
use std::path::{Path, PathBuf};

/// Whose threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A program to run, and its arguments.
    Program(Vec<String>),
    /// Processes that run already, by number and by name (the kernel's, of at most 15 bytes).
    Running {
        /// Numbers.
        pids: Vec<u32>,
        /// Names.
        names: Vec<String>,
        /// Single threads, by number.
        threads: Vec<u32>,
    },
    /// Processes that rules name, of those that these words leave, and those that come later, too; until it
    /// is asked to end.
    Named(Whose),
}

impl Target {
    /// What a person named: a program to run, or processes and threads that run, or where there is `more` to
    /// go by (rules, or what programs ask for) those that come and go. None where nothing was.
    #[must_use]
    pub fn named(program: &[String], running: Target, whose: Whose, more: bool) -> Option<Target> {
        let nobody = Target::Running { pids: Vec::new(), names: Vec::new(), threads: Vec::new() };
        match (running == nobody, program.is_empty()) {
            (true, true) => (more || !whose.is_anybody()).then_some(Target::Named(whose)),
            (true, false) => Some(Target::Program(program.to_vec())),
            (false, _) => Some(running),
        }
    }
}

/// Which processes, beside their names; with neither, those that rules name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whose {
    /// In this cgroup (v2), or below it.
    pub cgroup: Option<String>,
    /// Of this user, by number.
    pub user: Option<u32>,
}

impl Whose {
    /// As people name them: a path with or without the place where cgroups are, a user by name or number.
    ///
    /// # Errors
    /// A user or a cgroup that is not there.
    pub fn named(
        host: &dyn Host,
        cgroup: Option<&str>,
        user: Option<&str>,
    ) -> Result<Whose, Mismatch> {
        let cgroup = cgroup.map(|path| {
            let path = path.strip_prefix(CGROUPS).unwrap_or(path).trim_matches('/');
            match host.exists(Path::new(&format!("{CGROUPS}/{path}/cgroup.procs"))) {
                true => Ok(format!("/{path}")),
                false => Err(Mismatch::text(format!("a cgroup (v2) below {CGROUPS}"), path)),
            }
        });
        let user = user.map(|name| number(host, name));
        Ok(Whose { cgroup: cgroup.transpose()?, user: user.transpose()? })
    }

    /// Whether a process is one of them, as far as this is to decide.
    pub(crate) fn has(&self, host: &dyn Host, pid: u32) -> bool {
        let in_group = self.cgroup.as_ref().is_none_or(|wanted| {
            let text = host.read(Path::new(&format!("/proc/{pid}/cgroup"))).unwrap_or_default();
            Membership::unified(&text)
                .and_then(|path| path.strip_prefix(wanted.as_str()))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || wanted == "/")
        });
        in_group
            && self
                .user
                .is_none_or(|wanted| users_of(host, pid).is_some_and(|[real, ..]| real == wanted))
    }

    /// Whether it leaves all processes.
    pub(crate) fn is_anybody(&self) -> bool {
        *self == Whose::default()
    }
}

/// A user's number.
fn number(host: &dyn Host, name: &str) -> Result<u32, Mismatch> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    let users = host.read(Path::new("/etc/passwd")).unwrap_or_default();
    let of = |line: &str| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then(|| fields.nth(1)?.parse().ok()).flatten()
    };
    users
        .lines()
        .find_map(of)
        .ok_or_else(|| Mismatch::text("a user of /etc/passwd, or a number", name))
}

/// By what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Utilisation clamps, from outside of the kernel: they move threads to faster cores, too.
    #[default]
    Clamps,
    /// A program in the kernel (sched_ext), which asks for frequency alone.
    SchedExt,
    /// The lower policy limit of the CPU on which a thread runs: frequency alone, for whatever runs there.
    Limits,
}

impl By {
    /// The first that this machine has, of those that are no program in the kernel: clamps where it has neither.
    #[must_use]
    pub fn best(host: &dyn Host) -> By {
        let found = [By::Clamps, By::Limits].into_iter().find(|by| backend(host, *by).is_ok());
        found.unwrap_or_default()
    }
}

impl std::str::FromStr for By {
    type Err = Mismatch;

    fn from_str(text: &str) -> Result<By, Mismatch> {
        match text {
            "clamps" => Ok(By::Clamps),
            "sched_ext" => Ok(By::SchedExt),
            "limits" => Ok(By::Limits),
            other => Err(Mismatch::text("clamps, limits or sched_ext", other)),
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Whose threads.
    pub target: Target,
    /// What each gets.
    pub rules: Rules,
    /// Whether processes that they start are taken in, too.
    pub children: bool,
    /// By what.
    pub by: By,
    /// Where programs may ask for themselves: at this path, or without one in the journal's folder.
    pub socket: Option<Option<PathBuf>>,
}

impl Wish {
    /// Whether any thread may come to have a ramp.
    pub(crate) fn has_ramps(&self) -> bool {
        self.socket.is_some() || self.rules.has_ramps()
    }
}

/// A ramp as people ask for it.
#[derive(Clone, Debug, Default)]
pub struct Ask<'a> {
    /// The series' multiplier.
    pub multiplier: Option<u32>,
    /// A share of the highest frequency, such as `80%`, and the time from the begin of a run until it is
    /// there.
    pub reach: Option<(&'a str, &'a str)>,
    /// A quarter on top.
    pub headroom: bool,
}

/// The multiplier without any wish: advised by the series for what people wait for.
const USUAL: u32 = 4;

/// From the begin of a run to a frequency, beside the ramp: at most one period of the controller (4 ms)
/// and the kernel's own time from a clamp to the frequency (2 to 3 ms, measured on a board).
const DELAY: Nanos = Nanos::from_millis(7);

impl Ask<'_> {
    /// The ramp.
    ///
    /// # Errors
    /// What does not read, or is faster than a controller outside of the kernel can be.
    pub fn ramp(&self) -> Result<ResponseRamp, QosError> {
        let ramp = match self.reach {
            None => ResponseRamp::new(self.multiplier.unwrap_or(USUAL)),
            Some((share, time)) => reaching(share, time)?,
        };
        Ok(ramp.with_headroom(self.headroom))
    }
}

fn reaching(share: &str, time: &str) -> Result<ResponseRamp, Mismatch> {
    let Share(part) = share.parse()?;
    let within: Nanos = time.parse()?;
    let level = (part * 1024.0).ceil() as u32;
    let left = within.since(DELAY);
    ResponseRamp::reaching(level, left).ok_or_else(|| {
        let fastest = (1..1000).map(Nanos::from_millis);
        let fastest = fastest.into_iter().find(|time| {
            ResponseRamp::new(ResponseRamp::LARGEST).demand(time.since(DELAY)) >= level
        });
        let fastest = fastest.unwrap_or(DELAY).0 / 1_000_000;
        Mismatch::text(format!("{fastest}ms or more for {:.0} %", part * 100.0), time).hint(
            "4 ms of it are the controller's period, 3 ms the kernel's way from a clamp to the frequency",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn multiplier(share: &str, time: &str) -> Result<u32, String> {
        let ask = Ask { reach: Some((share, time)), ..Ask::default() };
        ask.ramp().map(ResponseRamp::multiplier).map_err(|error| error.to_string())
    }

    #[test]
    fn a_persons_words_become_the_slowest_ramp_that_is_fast_enough() {
        assert_eq!(multiplier("80%", "20ms"), Ok(6));
        assert_eq!(multiplier("80 %", "27ms"), Ok(4));
        assert_eq!(multiplier("50%", "1s"), Ok(1));
        assert_eq!(Ask::default().ramp().unwrap().multiplier(), USUAL);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_would() {
        let error = multiplier("80%", "7ms").unwrap_err();
        assert_eq!(error, "expected 9ms or more for 80 %, found \"7ms\"");
        for (share, time) in [("0%", "20ms"), ("100%", "1s"), ("80%", "x")] {
            assert!(multiplier(share, time).is_err(), "{share} {time}");
        }
    }

    #[test]
    fn processes_are_found_by_cgroup_and_user() {
        let listing = "/etc/passwd = root:x:0:0::/root:/bin/sh\\nana:x:1000:1000::/home/ana:/bin/sh\n\
                       /sys/fs/cgroup/games/cgroup.procs = 5\n\
                       /proc/5/cgroup = 0::/games/one\n/proc/5/status = Uid: 1000 1000 1000 1000\n\
                       /proc/6/cgroup = 0::/gamesome\n/proc/6/status = Uid: 0 0 0 0\n";
        let host = flyball_host::RecordedHost::from_listing(listing).unwrap();
        let named = |cgroup, user| Whose::named(&host, cgroup, user);
        let games = named(Some("/sys/fs/cgroup/games/"), None).unwrap();
        assert_eq!((games.has(&host, 5), games.has(&host, 6)), (true, false));
        assert_eq!(named(Some("games"), None).unwrap(), games);
        let root = named(None, Some("0")).unwrap();
        assert_eq!((root.has(&host, 5), root.has(&host, 6)), (false, true));
        assert!(Whose::default().has(&host, 5) && Whose::default().is_anybody());
        assert!(named(Some("none"), None).unwrap_err().to_string().contains("a cgroup (v2)"));
        assert!(named(None, Some("nobody here")).unwrap_err().to_string().contains("/etc/passwd"));
    }
}
