//! A hold from its start to its end.

use crate::journal::Journal;
use crate::recover::{leftovers, put_back};
use crate::settle::{read, read_back, writing};
use crate::state::State;
use crate::watch::Watch;
use crate::{
    Change, ControlError, Foreign, Machine, Plan, Recovered, Settings, Step, plan, tunables,
};
use flyball_host::{Host, HostError, IdleLatencyHold};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Settings that are held. Dropping it restores them; [`Hold::end`] also says how that went.
#[derive(Debug)]
pub struct Hold {
    host: Arc<dyn Host>,
    state: State,
    journal: Journal,
    plan: Plan,
    recovered: Recovered,
    watch: Watch,
    changes: Vec<Change>,
    ended: bool,
    // The kernel lifts the bound when the process ends, however it ends: no journal is needed.
    _idle: Option<IdleLatencyHold>,
}

/// A hold that has ended: everything is as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// What was seen to change during the hold.
    pub changes: Vec<Change>,
    /// What somebody else had written at its end, and is overwritten.
    pub foreign: Vec<Foreign>,
    /// Files that went with their CPUs.
    pub gone: Vec<PathBuf>,
}

impl Hold {
    /// Sets what `settings` asks for, with the journal in `folder`. What a killed hold left is
    /// restored first.
    ///
    /// # Errors
    /// What the machine cannot do, what this process may not, and what did not work. Unless it is
    /// [`ControlError::Restore`], everything is as it was.
    pub fn start(
        host: &Arc<dyn Host>,
        folder: &Path,
        settings: &Settings,
    ) -> Result<Hold, ControlError> {
        // What cannot be done is refused before anything is made or locked.
        let (mut machine, mut planned) = preflight(host.as_ref(), settings)?;
        let state = State::lock(host.as_ref(), folder)?;
        let recovered = leftovers(host.as_ref(), &state)?;
        if recovered != Recovered::Nothing {
            (machine, planned) = preflight(host.as_ref(), settings)?;
        }
        let idle = settings.idle_latency.map(|limit| host.hold_idle_latency(limit)).transpose();
        let idle = idle.map_err(|source| ControlError::host("bounding idle states", source))?;
        let mut journal = Journal::new(host.as_ref())
            .map_err(|source| ControlError::host("preparing the journal", source))?;
        journal.add(&planned, &machine);
        steady(host.as_ref(), &mut journal, 0)?;
        let mut hold = Hold {
            host: Arc::clone(host),
            state,
            journal,
            watch: Watch::new(&planned, machine.online.clone()),
            plan: planned,
            recovered,
            changes: Vec::new(),
            ended: false,
            _idle: idle,
        };
        match hold.apply(settings, machine) {
            Ok(()) => Ok(hold),
            Err(cause) => {
                hold.ended = true;
                match put_back(host.as_ref(), &hold.state, &hold.journal, Some(cause)) {
                    Ok(_) => Err(ControlError::Interrupted),
                    Err(error) => Err(error),
                }
            }
        }
    }

    fn apply(&mut self, settings: &Settings, mut machine: Machine) -> Result<(), ControlError> {
        let host = Arc::clone(&self.host);
        if !self.journal.files.is_empty() {
            self.state.save(host.as_ref(), &self.journal)?;
        }
        let switches = self.plan.switches.clone();
        write(host.as_ref(), &switches)?;
        if settings.needs_limits() && switches.iter().any(Step::is_change) {
            // Boost moves the hardware's limits.
            verify(host.as_ref(), &switches)?;
            machine.read_limits(host.as_ref()).map_err(|source| {
                ControlError::host("reading the limits after setting boost", source)
            })?;
            let mut again = plan(&settings.without_boost(), &machine)?;
            permitted(host.as_ref(), &again)?;
            again.switches = switches;
            // What was read wrong must not be restored: a copy, until that is sure.
            let mut journal = self.journal.clone();
            journal.add(&again, &machine);
            steady(host.as_ref(), &mut journal, self.journal.files.len())?;
            self.state.save(host.as_ref(), &journal)?;
            self.journal = journal;
            self.plan = again;
        }
        write(host.as_ref(), &self.plan.steps)?;
        // The journal has those that were there before; the others go with their governor.
        let tuned = tunables::steps(host.as_ref(), &self.plan.tunables, &machine.tunables)?;
        write(host.as_ref(), &tuned)?;
        self.plan.steps.extend(tuned);
        verify(host.as_ref(), self.plan.all())?;
        self.watch = Watch::new(&self.plan, machine.online);
        Ok(())
    }

    /// What is held.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What a killed hold had left, before this one began.
    pub fn recovered(&self) -> &Recovered {
        &self.recovered
    }

    /// What has changed since the last look, though not by this hold: another program's write, a
    /// CPU that went offline.
    pub fn look(&mut self) -> Vec<Change> {
        let changes = self.watch.look(self.host.as_ref());
        self.changes.extend(changes.iter().cloned());
        changes
    }

    /// Restores everything, also what somebody else has written meanwhile: a value that was chosen
    /// beside the held ones belongs to no state that anybody had wanted before. It is told.
    ///
    /// # Errors
    /// [`ControlError::Restore`] with every file that is not as it was.
    pub fn end(mut self) -> Result<Ended, ControlError> {
        self.look();
        self.ended = true;
        let outcome = put_back(self.host.as_ref(), &self.state, &self.journal, None)?;
        let changes = std::mem::take(&mut self.changes);
        Ok(Ended { changes, foreign: outcome.foreign, gone: outcome.gone })
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if !self.ended {
            // Nobody is left to tell; what fails stays in the journal.
            let _ = put_back(self.host.as_ref(), &self.state, &self.journal, None);
        }
    }
}

/// Looks whether `settings` can be held, and how: nothing is written.
///
/// # Errors
/// What the machine cannot do, and what this process may not.
pub fn preflight(host: &dyn Host, settings: &Settings) -> Result<(Machine, Plan), ControlError> {
    let machine = Machine::read(host, settings)
        .map_err(|source| ControlError::host("reading what can be held", source))?;
    let plan = plan(settings, &machine)?;
    permitted(host, &plan)?;
    Ok((machine, plan))
}

/// Whether everything may be written, asked before anything is.
fn permitted(host: &dyn Host, plan: &Plan) -> Result<(), ControlError> {
    let changed = plan.all().filter(|step| step.is_change()).map(|step| step.path.clone());
    for path in changed.chain(plan.moving_paths()) {
        match host.writable(&path) {
            Ok(true) => {}
            Ok(false) => return Err(ControlError::Permission { path }),
            Err(source) => return Err(ControlError::host("asking for permission", source)),
        }
    }
    Ok(())
}

/// Reads what will be restored once more: an old value that was read wrong, or while another program
/// was setting it, would be restored wrong; one that could not be read, not at all. The first `from`
/// files have been changed since, and were read before that.
fn steady(host: &dyn Host, journal: &mut Journal, from: usize) -> Result<(), ControlError> {
    for entry in journal.files.iter().skip(from) {
        let unsteady = |first: &str, then: String| {
            Err(ControlError::Unsteady { path: entry.path.clone(), first: first.to_owned(), then })
        };
        match (&entry.old, read(host, &entry.path)) {
            (Some(old), Ok(then)) if then == *old => {}
            (Some(old), Ok(then)) => return unsteady(old, then),
            // `<unsupported>`, or not there.
            (None, Ok(then)) if then.starts_with('<') => {}
            (None, Err(error)) if error.is_absent() && !host.exists(&entry.path) => {}
            (None, Ok(then)) => return unsteady("nothing", then),
            (_, Err(source)) => {
                return Err(ControlError::host("reading what is to be restored", source));
            }
        }
    }
    journal.forget();
    Ok(())
}

fn write(host: &dyn Host, steps: &[Step]) -> Result<(), ControlError> {
    for step in steps.iter().filter(|step| step.is_change()) {
        if host.interrupted() > 0 {
            return Err(ControlError::Interrupted);
        }
        let fail = |source: HostError| ControlError::host(writing(&step.path, &step.new), source);
        host.write(&step.path, &step.new).map_err(fail)?;
    }
    Ok(())
}

/// Reads everything back, at the end: a later write may undo an earlier one.
fn verify<'a>(
    host: &dyn Host,
    steps: impl IntoIterator<Item = &'a Step>,
) -> Result<(), ControlError> {
    steps.into_iter().try_for_each(|step| read_back(host, &step.path, &step.new))
}
