//! The loop's body: what is due, for all domains.

use crate::govern_one::{State, StepContext};
use crate::watch::Online;
use crate::{DomainStatus, GovernError, Governed, Note, Status, Times, Trail};
use flyball_host::{Host, HostError, KeptFile};
use flyball_units::{CpuSet, Nanos};
use std::sync::Arc;

/// How often limits, governors and CPUs are looked at.
const LOOK_EVERY: Nanos = Nanos::from_secs(1);
/// How long a look waits for a poll.
const LOOK_WAITS: Nanos = Nanos::from_millis(500);
/// What the two clocks may drift apart between two looks without a suspend.
const SUSPEND: Nanos = Nanos::from_millis(100);

/// All domains, with what they are told.
#[derive(Debug)]
pub struct Engine {
    host: Arc<dyn Host>,
    domains: Vec<Governed>,
    times: Times,
    thermometer: Option<KeptFile>,
    online: Option<Online>,
    trail: Trail,
    next_look: Nanos,
    /// CLOCK_BOOTTIME ahead of CLOCK_MONOTONIC.
    asleep: Nanos,
    began: Nanos,
    polls: u64,
    late: u64,
    suspends: u64,
}

/// When something is due next, and for how long nothing may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// When to call [`Engine::step`] again.
    pub next: Nanos,
    /// Time between two polls of the fastest domain.
    pub interval: Nanos,
}

impl Engine {
    /// An engine that has not started.
    pub fn new(
        host: Arc<dyn Host>,
        domains: Vec<Governed>,
        times: Times,
        thermometer: Option<KeptFile>,
        trail: Trail,
    ) -> Engine {
        let now = host.now();
        let online = Online::open(host.as_ref()).ok();
        let asleep = ahead(host.as_ref());
        Engine {
            host,
            domains,
            times,
            thermometer,
            online,
            trail,
            next_look: now + LOOK_EVERY,
            asleep,
            began: now,
            polls: 0,
            late: 0,
            suspends: 0,
        }
    }

    /// Every governor takes over its domain.
    ///
    /// # Errors
    /// A frequency that could not be written, too often.
    pub fn start(&mut self, now: Nanos) -> Result<(), GovernError> {
        let Engine { host, domains, trail, .. } = self;
        let mut around = StepContext { host: host.as_ref(), trail, began: now };
        domains.iter_mut().try_for_each(|domain| domain.start(now, &mut around))
    }

    /// Does what is due at `now`, and says when it wants to be called again. While nothing but polls
    /// is due and nothing changes it allocates nothing and takes no lock.
    ///
    /// # Errors
    /// A frequency that could not be written, too often. A time that cannot be read is noted.
    pub fn step(&mut self, now: Nanos) -> Result<Spot, GovernError> {
        let Engine { host, domains, times, trail, thermometer, .. } = self;
        let mut around = StepContext { host: host.as_ref(), trail, began: now };
        let asleep = ahead(around.host);
        if asleep.since(self.asleep) > SUSPEND {
            self.suspends += 1;
            let note = Note::Suspended { for_ns: asleep.since(self.asleep) };
            around.trail.note(now, None, note);
            for domain in domains.iter_mut() {
                domain.resumed(now, &mut around)?;
            }
        }
        self.asleep = self.asleep.max(asleep);
        if now >= self.next_look {
            self.next_look = now + LOOK_EVERY;
            let online: Option<CpuSet> = self.online.as_mut().and_then(Online::look);
            let waits = domains.iter().any(|domain| domain.state == State::Gone);
            // A domain that is gone is asked every time whether it is back.
            let online = match (online, waits) {
                (None, true) => crate::domain::online(around.host).ok(),
                (online, _) => online,
            };
            for domain in domains.iter_mut() {
                domain.look(now, online.as_ref(), &mut around)?;
            }
        }
        let due = domains.iter().filter_map(Governed::due).min();
        if let Some(due) = due.filter(|&due| due <= now) {
            self.polls += 1;
            if now.since(due) > interval(domains) {
                self.late += 1;
                around.trail.note(now, None, Note::Late { by_ns: now.since(due) });
            }
            let mut seen = None;
            if domains.iter().any(|domain| domain.wants_times(now)) {
                match times.look(now) {
                    Ok(()) => seen = Some(&*times),
                    Err(error) => {
                        let errno = error.errno().map_or(0, |errno| errno.0);
                        around.trail.note(now, None, Note::ReadFailed { errno });
                    }
                }
            }
            let millicelsius = thermometer.as_ref().and_then(temperature);
            for domain in domains.iter_mut() {
                domain.run(now, seen, millicelsius, &mut around)?;
            }
        }
        // The look waits for a poll that comes soon, so that it wakes nobody by itself.
        let next = match domains.iter().filter_map(Governed::due).min() {
            Some(due) if due <= self.next_look + LOOK_WAITS => due,
            _ => self.next_look,
        };
        Ok(Spot { next, interval: interval(domains) })
    }

    /// Sets a tunable in all domains; in none where one refuses it, or where polls would then come too
    /// fast.
    ///
    /// # Errors
    /// No such tunable, a value out of its range, polls that come too fast, needs that are not met.
    pub fn set(&mut self, name: &str, value: i64, now: Nanos) -> Result<(), GovernError> {
        let has_thermometer = self.thermometer.is_some();
        let mut done = Vec::new();
        let mut failed = None;
        for (at, domain) in self.domains.iter_mut().enumerate() {
            let known = domain.governor.tunables();
            let before = known.iter().find(|it| it.name == name).map(|it| it.value);
            let set = domain.governor.set(name, value).map_err(GovernError::from);
            if set.is_ok() {
                done.push((at, before));
            }
            let governor = domain.governor.as_ref();
            let fits = set
                .and_then(|()| crate::rules::met(governor, has_thermometer))
                .and_then(|()| self.times.allows(governor));
            if let Err(error) = fits {
                failed = Some(error);
                break;
            }
        }
        if let Some(error) = failed {
            for (at, before) in done {
                if let (Some(domain), Some(before)) = (self.domains.get_mut(at), before) {
                    // It was there before.
                    let _ = domain.governor.set(name, before);
                }
            }
            return Err(error);
        }
        self.trail.whole(crate::Entry::Set { t_ns: now, name: name.to_owned(), value });
        for domain in &mut self.domains {
            domain.needs = domain.governor.needs();
            // It takes effect with the next event: one that was far away comes now.
            domain.wake_at = domain.wake_at.map(|at| at.min(now + Nanos::from_millis(20)));
            if domain.wake_at.is_none() && domain.tick_at.is_none() {
                domain.wake_at = Some(now);
            }
        }
        Ok(())
    }

    /// Puts other governors, one per domain and in their order, in the place of the present ones.
    ///
    /// # Errors
    /// As [`Engine::start`].
    pub fn switch(
        &mut self,
        governors: Vec<Box<dyn flyball_governors::Governor>>,
        now: Nanos,
    ) -> Result<(), GovernError> {
        let Engine { host, domains, trail, .. } = self;
        let mut around = StepContext { host: host.as_ref(), trail, began: now };
        for (domain, governor) in domains.iter_mut().zip(governors) {
            domain.governor = governor;
            if domain.state == State::Ruled {
                domain.start(now, &mut around)?;
            }
        }
        Ok(())
    }

    /// Governors of `name` that would do for all domains, not yet started.
    ///
    /// # Errors
    /// No such governor, needs that are not met, polls that come too fast.
    pub fn make(
        &self,
        name: &str,
    ) -> Result<Vec<Box<dyn flyball_governors::Governor>>, GovernError> {
        let one = |domain: &Governed| {
            let mut trial = crate::rules::make(name, &[], self.thermometer.is_some())?;
            trial.start(&domain.view, Nanos::ZERO);
            self.times.allows(trial.as_ref())?;
            crate::rules::make(name, &[], self.thermometer.is_some())
        };
        self.domains.iter().map(one).collect()
    }

    /// Where things stand.
    pub fn status(&self, now: Nanos) -> Status {
        let first = self.domains.first();
        Status {
            governor: first.map(|it| it.governor.name().to_owned()).unwrap_or_default(),
            shadow: first.is_some_and(|it| it.actuator.is_none()),
            tunables: first.map(|it| it.governor.tunables()).unwrap_or_default(),
            source: self.times.kind(),
            resolution_ns: self.times.resolution(),
            running_ns: now.since(self.began),
            cpu_time_ns: self.host.thread_cpu_time().unwrap_or_default(),
            polls: self.polls,
            late: self.late,
            suspends: self.suspends,
            dropped: self.trail.dropped(),
            domains: self.domains.iter().map(DomainStatus::of).collect(),
        }
    }
}

/// CLOCK_BOOTTIME ahead of CLOCK_MONOTONIC. It is read first: who is preempted between the two reads
/// too little, which the larger one of before corrects, and never a suspend that was none.
fn ahead(host: &dyn Host) -> Nanos {
    let boot = host.boot_time();
    boot.since(host.now())
}

/// Time between two polls of the fastest domain.
fn interval(domains: &[Governed]) -> Nanos {
    let of = |domain: &Governed| match domain.needs.tick_hz {
        Some(hz) => Some(Nanos(1_000_000_000 / u64::from(hz.max(1)))),
        None => domain.governor.poll_interval(),
    };
    domains.iter().filter_map(of).min().unwrap_or(LOOK_EVERY)
}

/// Thousandths of a degree.
fn temperature(file: &KeptFile) -> Option<i32> {
    let mut buffer = [0; 32];
    std::str::from_utf8(file.read(&mut buffer).ok()?).ok()?.trim().parse().ok()
}

/// The first thermal zone that names the package or a CPU, else the first one that can be read.
///
/// # Errors
/// A zone that is there and cannot be opened.
pub(crate) fn thermometer(host: &dyn Host) -> Result<Option<KeptFile>, HostError> {
    const FOLDER: &str = "/sys/class/thermal";
    let names = host.list(std::path::Path::new(FOLDER)).unwrap_or_default();
    let zones = names.iter().filter(|name| name.starts_with("thermal_zone"));
    let kind = |name: &&String| {
        let path = format!("{FOLDER}/{name}/type");
        let text = host.read(std::path::Path::new(&path)).unwrap_or_default().to_lowercase();
        ["pkg", "cpu", "soc", "package"].iter().any(|word| text.contains(word))
    };
    let all: Vec<&String> = zones.collect();
    let Some(name) = all.iter().copied().find(kind).or(all.first().copied()) else {
        return Ok(None);
    };
    let path = format!("{FOLDER}/{name}/temp");
    host.open_kept(std::path::Path::new(&path), flyball_host::Access::Read).map(Some)
}
