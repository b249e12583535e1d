//! The events of a trial, as a kernel's trace would show them: who ran where, wake-ups, moves,
//! idle states and changes of frequency. They are kept beside the windows where that is asked for.

use flyball_platform::Platform;
use flyball_run::{CapacitySample, FrequencySample, IdleStay, Migration, RunWriter, Slice, Wakeup};
use flyball_sim::observe::{Observer, SwitchOut};
use flyball_sim::record::EventRows;
use flyball_sim::setup::{TaskId, TaskSetup};
use flyball_units::{CpuId, KiloHertz, Nanos};

/// Tables that a trial's events fill.
pub(super) const TABLES: [&str; 5] = ["slices", "wakeups", "migrations", "idle", "capacity"];

/// The events of a trial. Times are the trial's own.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// Who ran where.
    pub slices: Vec<Slice>,
    /// Wake-ups.
    pub wakeups: Vec<Wakeup>,
    /// Moves between CPUs.
    pub migrations: Vec<Migration>,
    /// Stays in idle states.
    pub idle: Vec<IdleStay>,
    /// Changes of frequency.
    pub frequency: Vec<FrequencySample>,
    /// Capacities of the CPUs.
    pub capacity: Vec<CapacitySample>,
}

/// Gathers the events of a trial.
pub(super) struct Gather<'a> {
    rows: EventRows<'a>,
    condition: String,
    events: Events,
}

impl<'a> Gather<'a> {
    /// Gathers the events of `trial` on a machine with these tasks and these governors, one per
    /// clock domain.
    pub(super) fn new(
        platform: &'a Platform,
        (trial, condition): (u32, &str),
        tasks: &[TaskSetup],
        governors: Vec<String>,
    ) -> Gather<'a> {
        let rows = EventRows::new(platform, tasks, governors, trial);
        let events = Events { capacity: rows.capacities(), ..Events::default() };
        Gather { rows, condition: condition.to_owned(), events }
    }

    /// Ends what is in flight at the end of the trial.
    pub(super) fn finish(mut self, at: Nanos) -> Events {
        let (slices, stays) = self.rows.end(at);
        self.events.slices.extend(slices);
        self.events.idle.extend(stays);
        self.events
    }
}

impl Observer for Gather<'_> {
    fn woken(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        self.rows.woken(at, task, cpu);
    }

    fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        self.events.wakeups.extend(self.rows.switched_in(at, task, cpu));
    }

    fn switched_out(&mut self, at: Nanos, task: TaskId, cpu: CpuId, why: SwitchOut) {
        self.events.slices.extend(self.rows.switched_out(at, task, cpu, why));
    }

    fn migrated(&mut self, at: Nanos, task: TaskId, from: CpuId, to: CpuId) {
        self.events.migrations.push(self.rows.migrated(at, task, from, to));
    }

    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        let change = self.rows.frequency(at, domain, frequency);
        let condition = Some(self.condition.clone());
        self.events.frequency.push(FrequencySample { condition, ..change });
    }

    fn idle(&mut self, at: Nanos, cpu: CpuId, state: Option<usize>) {
        self.events.idle.extend(self.rows.idle(at, cpu, state));
    }
}

impl Events {
    /// Writes all rows, their times moved by `shift` nanoseconds.
    pub(super) fn write(self, writer: &mut RunWriter, shift: u64) -> flyball_run::Result<()> {
        for mut row in self.capacity {
            row.t_ns += shift;
            writer.append(&row)?;
        }
        for mut row in self.slices {
            (row.from_ns, row.to_ns) = (row.from_ns + shift, row.to_ns + shift);
            writer.append(&row)?;
        }
        for mut row in self.wakeups {
            row.woken_ns += shift;
            row.ran_ns = row.ran_ns.map(|ran| ran + shift);
            writer.append(&row)?;
        }
        for mut row in self.migrations {
            row.t_ns += shift;
            writer.append(&row)?;
        }
        for mut row in self.idle {
            (row.from_ns, row.to_ns) = (row.from_ns + shift, row.to_ns + shift);
            writer.append(&row)?;
        }
        for mut row in self.frequency {
            row.t_ns += shift;
            writer.append(&row)?;
        }
        Ok(())
    }
}
