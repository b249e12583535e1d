//! Load-tracking signals and what the governor was told and answered.

use flyball_run::{GovernorStep, UtilizationSample};

use super::builder::Builder;
use super::clocks::name_of;
use crate::event::{Class, Record};

impl Builder {
    pub(super) fn entity(&mut self, t_ns: u64, tid: Option<u32>, util: u32, runnable: Option<u32>) {
        let Some(tid) = tid else {
            self.groups += 1;
            return;
        };
        self.task_signals(t_ns, tid, Some(util), runnable, None);
    }

    pub(super) fn estimate(&mut self, t_ns: u64, tid: u32, util: Option<u32>, estimate: u32) {
        self.task_signals(t_ns, tid, util, None, Some(estimate));
    }

    fn task_signals(
        &mut self,
        t_ns: u64,
        tid: u32,
        util_avg: Option<u32>,
        runnable_avg: Option<u32>,
        util_est: Option<u32>,
    ) {
        let known = self.tasks.find(tid);
        let (cpu, task) = (known.and_then(|task| task.cpu), known.map(|task| task.name.clone()));
        self.rows += 1;
        self.tables.utilization.push(UtilizationSample {
            t_ns,
            kind: "task".to_owned(),
            cpu,
            tid: Some(tid),
            task,
            util_avg,
            runnable_avg,
            util_est,
            period_contrib: None,
            updater_cpu: None,
            trial: None,
        });
    }

    pub(super) fn queue(
        &mut self,
        record: &Record<'_>,
        cpu: u32,
        util: u32,
        (runnable_avg, util_est): (Option<u32>, Option<u32>),
        period_contrib: Option<u32>,
    ) {
        let signals = self.of_cpu(record, "cpu", cpu, util, period_contrib);
        self.tables.utilization.push(UtilizationSample { runnable_avg, util_est, ..signals });
    }

    pub(super) fn class(
        &mut self,
        record: &Record<'_>,
        class: Class,
        cpu: u32,
        util: u32,
        period_contrib: Option<u32>,
    ) {
        let signals = self.of_cpu(record, class.name(), cpu, util, period_contrib);
        self.tables.utilization.push(signals);
    }

    /// A row of a CPU's signals.
    fn of_cpu(
        &mut self,
        record: &Record<'_>,
        kind: &str,
        cpu: u32,
        util: u32,
        period_contrib: Option<u32>,
    ) -> UtilizationSample {
        self.rows += 1;
        UtilizationSample {
            t_ns: record.t_ns,
            kind: kind.to_owned(),
            cpu: Some(cpu),
            util_avg: Some(util),
            period_contrib,
            updater_cpu: Some(record.cpu),
            ..UtilizationSample::default()
        }
    }

    /// The governor answered on the CPU where it was asked: it runs without interruption.
    pub(super) fn answered(&mut self, record: &Record<'_>, khz: u64) {
        let asked = self.cpu(record.cpu).asked.take();
        let cpu = asked.and_then(|(cpu, ..)| cpu).unwrap_or(record.cpu);
        self.rows += 1;
        let step = GovernorStep {
            t_ns: record.t_ns,
            governor: Some("schedutil".to_owned()),
            event: "util".to_owned(),
            cpu: Some(record.cpu),
            util: asked.map(|(_, util, _)| util),
            max: asked.and_then(|(_, _, max)| max),
            resolved_khz: Some(khz),
            ..GovernorStep::default()
        };
        self.steps.push((cpu, step));
    }

    /// Gives the governor's rows their clock domain, as far as it is known by now; `cpuN` else.
    pub(super) fn name_steps(&mut self) {
        if self.steps.is_empty() {
            return;
        }
        let domains = self.clocks.domains();
        for (cpu, step) in self.steps.drain(..) {
            let domain = name_of(&domains, cpu).unwrap_or_else(|| format!("cpu{cpu}"));
            self.tables.governor.push(GovernorStep { domain, ..step });
        }
    }
}
