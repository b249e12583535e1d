//! One clock domain: its governor, what it is told, and what becomes of its answers.

use crate::ring::{EventHead, Step};
use crate::watch::Watch;
use crate::{Actuator, DomainRecord, Entry, GovernError, Note, Times, Trail, Way};
use flyball_governors::{CpuTimes, Decision, Domain, Event, Governor, Needs, Request};
use flyball_host::{Errno, Host, HostError, Policy};
use flyball_units::{CpuId, CpuSet, KiloHertz, Nanos, Relation};
use std::borrow::Cow;
use std::path::PathBuf;

/// Writes refused in a row, after which the daemon gives up.
const MOST_FAILURES: u32 = 20;

/// Whether a domain is ruled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ruled,
    /// All of its CPUs are offline.
    Gone,
    /// Another program has set another governor.
    Taken,
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub events: u64,
    pub requests: u64,
    pub writes: u64,
    pub failures: u64,
    /// Decisions in the shadow that named a point, and those that named the machine's.
    pub compared: u64,
    pub agreed: u64,
}

/// A clock domain with its governor.
pub struct Governed {
    pub(crate) policy: Policy,
    pub(crate) number: u16,
    pub(crate) view: Domain,
    pub(crate) record: DomainRecord,
    pub(crate) governor: Box<dyn Governor>,
    pub(crate) needs: Needs,
    pub(crate) actuator: Option<Actuator>,
    pub(crate) watch: Watch,
    pub(crate) state: State,
    pub(crate) wake_at: Option<Nanos>,
    pub(crate) tick_at: Option<Nanos>,
    /// What was asked for last: new limits resolve it anew.
    asked: Option<(KiloHertz, Relation)>,
    /// What the kernel was told last.
    told: Option<KiloHertz>,
    /// Where the domain is taken to be.
    pub(crate) current: KiloHertz,
    failures: u32,
    pub(crate) counts: Counts,
    // Kept, so that a poll allocates nothing.
    times: Vec<CpuTimes>,
    before: Vec<CpuTimes>,
}

impl std::fmt::Debug for Governed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.governor.name();
        f.debug_struct("Governed").field("record", &self.record).field("governor", &name).finish()
    }
}

/// What a step needs beside the domain.
pub(crate) struct StepContext<'a> {
    pub host: &'a dyn Host,
    pub trail: &'a mut Trail,
    /// When the step began, for its cost.
    pub began: Nanos,
}

impl Governed {
    /// Opens a domain's files. `folder` is the policy's; with `way` its frequency is set, without it
    /// is only looked at (the shadow).
    ///
    /// # Errors
    /// A file that is not there or may not be used.
    pub fn open(
        host: &dyn Host,
        folder: &std::path::Path,
        (policy, number): (Policy, u16),
        (record, view): (DomainRecord, Domain),
        (governor, way): (Box<dyn Governor>, Option<Way>),
    ) -> Result<Governed, GovernError> {
        let actuator = way.map(|way| Actuator::open(host, folder, way)).transpose()?;
        let watch = Watch::open(host, folder).map_err(GovernError::host("opening the policy"))?;
        let count = policy.cpus.len();
        Ok(Governed {
            number,
            current: record.current_khz,
            needs: governor.needs(),
            policy,
            view,
            record,
            governor,
            actuator,
            watch,
            state: State::Ruled,
            wake_at: None,
            tick_at: None,
            asked: None,
            told: None,
            failures: 0,
            counts: Counts::default(),
            times: Vec::with_capacity(count),
            before: Vec::with_capacity(count),
        })
    }

    /// The policy's name.
    pub(crate) fn name(&self) -> String {
        format!("policy{}", self.policy.id)
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.policy.path().into()
    }

    /// The governor takes over.
    pub(crate) fn start(
        &mut self,
        now: Nanos,
        context: &mut StepContext<'_>,
    ) -> Result<(), GovernError> {
        self.record.current_khz = self.current;
        self.view.current = self.current;
        (self.wake_at, self.tick_at, self.asked, self.told) = (None, None, None, None);
        self.before.clear();
        let decision = self.governor.start(&self.view, now);
        self.needs = self.governor.needs();
        if let Some(hz) = self.needs.tick_hz {
            self.tick_at = Some(now + Nanos(1_000_000_000 / u64::from(hz.max(1))));
        }
        if context.trail.is_kept() {
            let tunables = self.governor.tunables();
            context.trail.whole(Entry::Start {
                t_ns: now,
                domain: self.name(),
                governor: self.governor.name().to_owned(),
                tunables: tunables.iter().map(|it| (it.name.to_owned(), it.value)).collect(),
                view: self.record.clone(),
                decision,
            });
        }
        self.carry_out(decision, now, context).map(drop)
    }

    /// When something is due next.
    pub(crate) fn due(&self) -> Option<Nanos> {
        let wishes = [self.wake_at, self.tick_at];
        let next = wishes.into_iter().flatten().min();
        next.filter(|_| self.state == State::Ruled)
    }

    /// Whether the CPUs' times are needed for what is due now.
    pub(crate) fn wants_times(&self, now: Nanos) -> bool {
        let polls = self.needs.poll && self.wake_at.is_some_and(|at| at <= now);
        self.state == State::Ruled && (polls || self.tick_at.is_some_and(|at| at <= now))
    }

    /// Does what is due. `times` is none where they could not be read.
    pub(crate) fn run(
        &mut self,
        now: Nanos,
        times: Option<&Times>,
        millicelsius: Option<i32>,
        context: &mut StepContext<'_>,
    ) -> Result<(), GovernError> {
        if self.due().is_none_or(|at| at > now) {
            return Ok(());
        }
        if let Some(millicelsius) = millicelsius.filter(|_| self.needs.temperature) {
            self.tell(&Event::Temperature { millicelsius }, now, context)?;
        }
        if self.tick_at.is_some_and(|at| at <= now) {
            self.ticks(now, times, context)?;
        }
        if self.wake_at.is_none_or(|at| at > now) {
            return Ok(());
        }
        self.wake_at = None;
        if !self.needs.poll {
            return self.tell(&Event::Timer, now, context);
        }
        let interval = self.governor.poll_interval().unwrap_or(Nanos::from_secs(1));
        match times {
            Some(times) => {
                self.fill(times);
                // Taken out for the call, and put back: an event borrows them.
                let list = std::mem::take(&mut self.times);
                let told = self.tell(&Event::Poll { times: Cow::Borrowed(&list) }, now, context);
                self.times = list;
                told?;
            }
            None => self.wake_at = Some(now + interval),
        }
        // A rule that forgot to ask would sleep for ever.
        self.wake_at.get_or_insert(now + interval);
        Ok(())
    }

    fn fill(&mut self, times: &Times) {
        self.times.clear();
        if self.needs.whole_machine {
            self.times.extend(times.all());
        } else {
            self.times.extend(self.view.cpus.iter().filter_map(|&cpu| times.of(cpu)));
        }
    }

    /// Ticks, approximated by polls: a CPU that was busy for more than half of the time is busy.
    fn ticks(
        &mut self,
        now: Nanos,
        times: Option<&Times>,
        context: &mut StepContext<'_>,
    ) -> Result<(), GovernError> {
        let Some(due) = self.tick_at else { return Ok(()) };
        let period = Nanos(1_000_000_000 / u64::from(self.needs.tick_hz.unwrap_or(1).max(1)));
        // Those that were missed are skipped, without drift.
        let missed = now.since(due).0 / period.0.max(1);
        self.tick_at = Some(due + Nanos(period.0.saturating_mul(missed + 1)));
        let Some(times) = times else { return Ok(()) };
        self.fill(times);
        if self.before.len() == self.times.len() {
            for at in 0..self.times.len() {
                let (Some(now_times), Some(before)) = (self.times.get(at), self.before.get(at))
                else {
                    continue;
                };
                let busy = now_times.busy.since(before.busy) + now_times.nice.since(before.nice);
                let idle =
                    now_times.idle.since(before.idle) + now_times.iowait.since(before.iowait);
                let Some(&cpu) = self.view.cpus.get(at) else { continue };
                self.tell(&Event::Tick { cpu, busy: busy > idle }, now, context)?;
            }
        }
        self.before.clear();
        self.before.extend_from_slice(&self.times);
        Ok(())
    }

    /// Tells the governor something and carries out its answer; then, if the frequency changed, tells
    /// it that.
    pub(crate) fn tell(
        &mut self,
        event: &Event<'_>,
        now: Nanos,
        context: &mut StepContext<'_>,
    ) -> Result<(), GovernError> {
        let shadow = self.actuator.is_none();
        let machine = if shadow { self.watch.claimed() } else { None };
        if let Some(frequency) = machine.filter(|&frequency| frequency != self.current)
            && matches!(event, Event::Poll { .. } | Event::Timer)
        {
            // In the shadow, the rule decides from where the machine really is.
            self.current = frequency;
            let applied = Event::Applied { frequency };
            let decision = self.governor.on(&applied, now);
            self.log(&applied, decision, (None, false, machine), now, context);
        }
        let decision = self.governor.on(event, now);
        let before = self.current;
        let (resolved, written) = self.carry_out(decision, now, context)?;
        if shadow && matches!(event, Event::Poll { .. } | Event::Timer) {
            let named = resolved.or(Some(self.current));
            self.counts.compared += 1;
            self.counts.agreed += u64::from(named == machine);
        }
        self.log(event, decision, (resolved, written, machine), now, context);
        if self.current != before {
            let applied = Event::Applied { frequency: self.current };
            let decision = self.governor.on(&applied, now);
            self.log(&applied, decision, (None, false, None), now, context);
        }
        Ok(())
    }

    fn log(
        &mut self,
        event: &Event<'_>,
        decision: Decision,
        (resolved, written, machine): (Option<KiloHertz>, bool, Option<KiloHertz>),
        now: Nanos,
        context: &mut StepContext<'_>,
    ) {
        self.counts.events += 1;
        if !context.trail.is_kept() {
            return;
        }
        let empty: (&[CpuTimes], &[CpuId]) = (&[], &[]);
        let (told, (times, cpus)) = match event {
            Event::Poll { times } => (EventHead::Poll, (times.as_ref(), empty.1)),
            Event::Cpus { cpus } => (EventHead::Cpus, (empty.0, cpus.as_ref())),
            Event::Timer => (EventHead::Timer, empty),
            Event::Tick { cpu, busy } => (EventHead::Tick { cpu: *cpu, busy: *busy }, empty),
            Event::Applied { frequency } => (EventHead::Applied { frequency: *frequency }, empty),
            Event::Limits { min, max } => (EventHead::Limits { min: *min, max: *max }, empty),
            Event::Temperature { millicelsius } => {
                (EventHead::Temperature { millicelsius: *millicelsius }, empty)
            }
            // Rules that need any other are refused.
            _ => return,
        };
        let cost = u32::try_from(context.host.now().since(context.began).0).unwrap_or(u32::MAX);
        let step =
            Step { at: now, domain: self.number, told, decision, resolved, written, machine, cost };
        context.trail.step(step, times, cpus);
    }

    /// Writes what a decision asks for, unless the kernel was told that already. Gives the operating
    /// point that it became, and whether it was written.
    fn carry_out(
        &mut self,
        decision: Decision,
        now: Nanos,
        context: &mut StepContext<'_>,
    ) -> Result<(Option<KiloHertz>, bool), GovernError> {
        if let Some(at) = decision.wake_at {
            // Not now: time has to pass between two decisions.
            self.wake_at = Some(at.max(now + Nanos(1)));
        }
        let wanted = match decision.request {
            None => return Ok((None, false)),
            Some(Request::Frequency { target, relation }) => (target, relation),
            // Hardware that is told one frequency gets the upper end.
            Some(Request::Range { max, .. }) => (max, Relation::H),
            // Rules that ask for anything else need the scheduler's signals, and are refused.
            Some(_) => return Ok((None, false)),
        };
        self.counts.requests += 1;
        self.asked = Some(wanted);
        let resolved = self.resolve(wanted);
        let written = self.write(resolved, now, context)?;
        Ok((Some(resolved), written))
    }

    fn resolve(&self, (target, relation): (KiloHertz, Relation)) -> KiloHertz {
        let Domain { opps, min, max, .. } = &self.view;
        opps.resolve(target, *min, *max, relation)
    }

    fn write(
        &mut self,
        khz: KiloHertz,
        now: Nanos,
        context: &mut StepContext<'_>,
    ) -> Result<bool, GovernError> {
        let Some(actuator) = self.actuator.as_mut() else { return Ok(false) };
        if self.told == Some(khz) {
            return Ok(false);
        }
        match actuator.set(khz) {
            Ok(()) => {
                (self.told, self.current, self.failures) = (Some(khz), khz, 0);
                self.counts.writes += 1;
                Ok(true)
            }
            Err(errno) => {
                (self.told, self.failures) = (None, self.failures + 1);
                self.counts.failures += 1;
                context.trail.note(now, Some(self.number), Note::WriteFailed { errno: errno.0 });
                let last = (self.failures >= MOST_FAILURES).then(|| actuator.error(errno));
                match last {
                    Some(last) if !self.is_elsewhere() => {
                        Err(GovernError::Writes { count: self.failures, last })
                    }
                    _ => Ok(false),
                }
            }
        }
    }

    /// Whether a refused write has a reason that the next look at the machine deals with.
    fn is_elsewhere(&self) -> bool {
        !self.watch.is_there() || self.state != State::Ruled
    }

    /// Looks at what others changed.
    pub(crate) fn look(
        &mut self,
        now: Nanos,
        online: Option<&CpuSet>,
        context: &mut StepContext<'_>,
    ) -> Result<(), GovernError> {
        let there = self.watch.is_there();
        if let Some(online) = online {
            self.hotplug(online, there, now, context)?;
        }
        if self.state == State::Gone || !there {
            return Ok(());
        }
        let changed = self.watch.look();
        let speed = self.actuator.as_ref().map(Actuator::way) == Some(Way::Speed);
        if speed && (changed.governor || self.state == State::Taken) {
            let ours = self.watch.governor() == b"userspace";
            match (ours, self.state) {
                (false, State::Ruled) => {
                    self.state = State::Taken;
                    context.trail.note(now, Some(self.number), Note::GovernorTaken);
                }
                (true, State::Taken) => {
                    self.state = State::Ruled;
                    context.trail.note(now, Some(self.number), Note::GovernorBack);
                    self.take_limits();
                    return self.start(now, context);
                }
                _ => {}
            }
        }
        if changed.limits && self.state == State::Ruled {
            return self.limits(now, context);
        }
        Ok(())
    }

    fn hotplug(
        &mut self,
        online: &CpuSet,
        there: bool,
        now: Nanos,
        context: &mut StepContext<'_>,
    ) -> Result<(), GovernError> {
        let cpus: Vec<CpuId> = self.policy.cpus.intersection(online).iter().collect();
        if cpus.is_empty() || (self.state == State::Gone && !there) {
            if self.state != State::Gone {
                self.state = State::Gone;
                context.trail.note(now, Some(self.number), Note::DomainGone);
            }
            return Ok(());
        }
        if cpus == self.view.cpus && self.state != State::Gone {
            return Ok(());
        }
        self.view.cpus.clone_from(&cpus);
        self.record.cpus.clone_from(&cpus);
        if self.state == State::Gone {
            context.trail.note(now, Some(self.number), Note::DomainBack);
            self.state = State::Ruled;
            // What the kernel kept of it is looked at as if it were new.
            self.reopen(context.host).map_err(GovernError::host("opening a policy again"))?;
            self.take_limits();
            return self.start(now, context);
        }
        self.before.clear();
        self.tell(&Event::Cpus { cpus: Cow::Owned(cpus) }, now, context)
    }

    /// Opens the files anew: those of a policy that went may be gone for good.
    fn reopen(&mut self, host: &dyn Host) -> Result<(), HostError> {
        let folder = self.folder();
        self.watch = Watch::open(host, &folder)?;
        if let Some(actuator) = &self.actuator {
            let way = actuator.way();
            self.actuator = Actuator::open(host, &folder, way).ok();
            if self.actuator.is_none() {
                let path = folder.display();
                return Err(HostError::call(flyball_host::Call::OpenKept, path, Errno::ENODEV));
            }
        }
        Ok(())
    }

    /// Takes over the policy's limits, where they are not what this daemon writes itself.
    fn take_limits(&mut self) -> bool {
        let by_limits = self.actuator.as_ref().map(Actuator::way) == Some(Way::Limits);
        let Some((min, max)) = self.watch.limits().filter(|_| !by_limits) else { return false };
        (self.view.min, self.view.max) = (min, max.max(min));
        (self.record.min_khz, self.record.max_khz) = (min, max.max(min));
        true
    }

    fn limits(&mut self, now: Nanos, context: &mut StepContext<'_>) -> Result<(), GovernError> {
        let Some((min_khz, max_khz)) = self.watch.limits() else { return Ok(()) };
        if !self.take_limits() {
            // The limits are how this daemon sets the frequency.
            if Some((min_khz, max_khz)) == self.told.map(|khz| (khz, khz)) {
                return Ok(());
            }
            context.trail.note(now, Some(self.number), Note::LimitsTaken { min_khz, max_khz });
            if let Some(actuator) = &mut self.actuator {
                actuator.forget();
            }
            let told = self.told.take();
            return match told {
                Some(khz) => self.write(khz, now, context).map(drop),
                None => Ok(()),
            };
        }
        context.trail.note(now, Some(self.number), Note::LimitsChanged { min_khz, max_khz });
        // As in the simulator: what was asked for is resolved anew, then the governor is told.
        if let Some(asked) = self.asked {
            let (before, khz) = (self.current, self.resolve(asked));
            self.write(khz, now, context)?;
            if self.current != before {
                self.tell(&Event::Applied { frequency: self.current }, now, context)?;
            }
        }
        self.tell(&Event::Limits { min: min_khz, max: max_khz }, now, context)
    }

    /// The machine slept: times that passed meanwhile mean nothing, and the kernel may have moved the
    /// frequency.
    pub(crate) fn resumed(
        &mut self,
        now: Nanos,
        context: &mut StepContext<'_>,
    ) -> Result<(), GovernError> {
        if self.state != State::Ruled {
            return Ok(());
        }
        self.before.clear();
        if let Some(actuator) = &mut self.actuator {
            actuator.forget();
        }
        self.told = None;
        let cpus = self.view.cpus.clone();
        self.tell(&Event::Cpus { cpus: Cow::Owned(cpus) }, now, context)?;
        if let Some(asked) = self.asked {
            let khz = self.resolve(asked);
            self.write(khz, now, context)?;
        }
        Ok(())
    }
}
