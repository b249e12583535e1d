//! What the recorder writes at each change.

use super::{Recorder, tid};
use crate::observe::{Observer, SwitchOut};
use crate::setup::{Hint, TaskId};
use flyball_governors::{Decision, Event};
use flyball_run::{Marker, TemperatureSample, UtilizationSample};
use flyball_units::{CpuId, KiloHertz, Nanos};

impl Observer for Recorder<'_> {
    fn woken(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        self.rows.woken(at, task, cpu);
    }

    fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        if let Some(wakeup) = self.rows.switched_in(at, task, cpu) {
            self.put(&wakeup);
        }
    }

    fn switched_out(&mut self, at: Nanos, task: TaskId, cpu: CpuId, why: SwitchOut) {
        if let Some(slice) = self.rows.switched_out(at, task, cpu, why) {
            self.put(&slice);
        }
    }

    fn migrated(&mut self, at: Nanos, task: TaskId, from: CpuId, to: CpuId) {
        self.put(&self.rows.migrated(at, task, from, to));
    }

    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        self.put(&self.rows.frequency(at, domain, frequency));
    }

    fn idle(&mut self, at: Nanos, cpu: CpuId, state: Option<usize>) {
        if let Some(stay) = self.rows.idle(at, cpu, state) {
            self.put(&stay);
        }
    }

    fn task_util(&mut self, at: Nanos, task: TaskId, cpu: CpuId, util: u32, util_est: u32) {
        let signals = Some((util, util_est, cpu));
        let Some(known) = self.task(task).filter(|task| task.signals != signals) else { return };
        known.signals = signals;
        self.put(&UtilizationSample {
            t_ns: at.0,
            kind: "task".to_owned(),
            cpu: Some(cpu.0),
            tid: Some(tid(task)),
            task: Some(self.rows.task_name(task)),
            util_avg: Some(util),
            runnable_avg: None,
            util_est: Some(util_est),
            period_contrib: None,
            updater_cpu: None,
            trial: Some(self.trial),
        });
    }

    fn cpu_util(&mut self, at: Nanos, cpu: CpuId, util: u32, runnable: u32, util_est: u32) {
        let signals = Some((util, runnable, util_est));
        let Some(known) = self.cpu(cpu).filter(|cpu| cpu.signals != signals) else { return };
        known.signals = signals;
        self.put(&UtilizationSample {
            t_ns: at.0,
            kind: "cpu".to_owned(),
            cpu: Some(cpu.0),
            tid: None,
            task: None,
            util_avg: Some(util),
            runnable_avg: Some(runnable),
            util_est: Some(util_est),
            period_contrib: None,
            updater_cpu: None,
            trial: Some(self.trial),
        });
    }

    /// Only what was decided: a governor hears of far more than it answers.
    fn governor(&mut self, at: Nanos, domain: usize, event: &Event<'_>, decision: &Decision) {
        if decision.request.is_none() {
            return;
        }
        self.put(&self.step(at, domain, event, decision));
    }

    fn item_begun(&mut self, at: Nanos, task: TaskId, item: u64, released: Nanos, cpu: CpuId) {
        if let Some(task) = self.task(task) {
            task.item = Some((item, released, at, cpu));
        }
    }

    fn item_ended(&mut self, at: Nanos, task: TaskId, item: u64, cpu: CpuId) {
        let begun = self.task(task).and_then(|task| task.item.take());
        if let Some(begun) = begun.filter(|begun| begun.0 == item) {
            self.item(task, begun, Some((at, cpu)));
        }
    }

    fn mark(&mut self, at: Nanos, task: TaskId, name: &'static str) {
        self.put(&Marker {
            t_ns: at.0,
            cpu: None,
            tid: Some(tid(task)),
            task: Some(self.rows.task_name(task)),
            name: name.to_owned(),
            trial: Some(self.trial),
        });
    }

    /// A mark of the hint's name and value.
    fn hinted(&mut self, at: Nanos, task: TaskId, hint: Hint) {
        let Hint::RampupMultiplier(multiplier) = hint;
        self.put(&Marker {
            t_ns: at.0,
            cpu: None,
            tid: Some(tid(task)),
            task: Some(self.rows.task_name(task)),
            name: format!("rampup_multiplier={multiplier}"),
            trial: Some(self.trial),
        });
    }

    fn temperature(&mut self, at: Nanos, celsius: f64) {
        self.put(&TemperatureSample {
            t_ns: at.0,
            zone: "package".to_owned(),
            celsius,
            trial: Some(self.trial),
        });
    }
}
