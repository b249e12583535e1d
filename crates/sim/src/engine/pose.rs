//! One decision at a time: a machine is put into a state that was recorded elsewhere and asked where a task
//! would wake up.

use super::Machine;
use super::cpu::Activity;
use crate::setup::TaskId;
use flyball_pelt::{QueueUtilEst, SchedAvg, SchedAvgState, UtilEst};
use flyball_units::CpuId;

/// A CPU as it was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PosedCpu {
    /// Whether anything runs there.
    pub busy: bool,
    /// Who, where that is one of the machine's tasks.
    pub running: Option<TaskId>,
    /// The machine's deadline tasks that run there, or wait for their next period.
    pub reserving: Vec<TaskId>,
    /// Fair tasks that are runnable there, the running one included.
    pub fair: u32,
    /// `util_avg` of its fair queue.
    pub util: u32,
    /// `runnable_avg` of its fair queue; that of tasks of nice 0 is their load, too.
    pub runnable: u32,
    /// `util_est` of its fair queue.
    pub util_est: u32,
    /// Clamps of its runnable tasks; none where nobody is.
    pub clamps: Option<(u32, u32)>,
}

/// What was recorded of a task that wakes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PosedTask {
    /// Who.
    pub task: TaskId,
    /// The CPU it slept on.
    pub previous: CpuId,
    /// The CPU on which it is woken, where that is known: its waker's or its timer's.
    pub woken_on: Option<CpuId>,
    /// Its `util_avg`.
    pub util: u32,
    /// Its `runnable_avg`.
    pub runnable: u32,
    /// Its `util_est`.
    pub util_est: u32,
}

/// Nothing records the load: it is `runnable_avg` for tasks of nice 0.
fn average(util_avg: u32, runnable: u32) -> SchedAvg {
    let (runnable_avg, load_avg) = (runnable.into(), runnable.into());
    let state = SchedAvgState { util_avg, runnable_avg, load_avg, ..SchedAvgState::default() };
    SchedAvg::from_state(state)
}

impl Machine {
    /// The CPU on which a task wakes up where the CPUs are like this. What the machine did before
    /// does not matter; it is of no use for a run any more.
    pub fn place(&mut self, cpus: &[PosedCpu], waking: &PosedTask) -> Option<CpuId> {
        for (c, posed) in cpus.iter().enumerate().take(self.cpus.len()) {
            let activity = if posed.busy { Activity::Busy } else { Activity::Idle(None) };
            self.set_activity(c, activity);
            let cpu = &mut self.cpus[c];
            cpu.current = posed.running.map(|task| task.0 as usize);
            let reserving = posed
                .reserving
                .iter()
                .filter_map(|task| self.tasks.get(task.0 as usize)?.budget.as_ref());
            cpu.dl_bandwidth = reserving.map(|budget| budget.bandwidth()).sum();
            // Nothing records that signal: as if they used what they reserved.
            let used = cpu.reserved(self.now);
            cpu.dl =
                SchedAvg::from_state(SchedAvgState { util_avg: used, ..SchedAvgState::default() });
            cpu.fair_count = posed.fair;
            cpu.cfs = average(posed.util, posed.runnable);
            cpu.util_est = QueueUtilEst::default();
            cpu.util_est.enqueue(UtilEst::from_raw(posed.util_est));
            (cpu.uclamp_min, cpu.uclamp_max) = posed.clamps.unwrap_or((0, 1024));
        }
        // When load was last balanced is not recorded: as if just now.
        self.limit_search();
        let (t, previous) = (waking.task.0 as usize, waking.previous.0 as usize);
        let task = self.tasks.get_mut(t)?;
        task.avg = average(waking.util, waking.runnable);
        task.util_est = UtilEst::from_raw(waking.util_est);
        // It has left its share on the CPU where it slept.
        (task.cpu, task.attached) = (previous, true);
        Some(CpuId(
            self.choose_cpu(t, Some(previous), waking.woken_on.map(|cpu| cpu.0 as usize)) as u32
        ))
    }
}
