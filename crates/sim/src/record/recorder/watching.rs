//! What the recorder writes at each change.

use super::{Recorder, tid};
use crate::observe::{Observer, SwitchOut};
use crate::setup::{Hint, TaskId};
use flyball_governors::{Decision, Event};
use flyball_run::{
    FrequencySample, Marker, Migration, TemperatureSample, UtilizationSample, Wakeup,
};
use flyball_units::{CpuId, KiloHertz, Nanos};

impl Observer for Recorder<'_> {
    fn woken(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        if let Some(task) = self.task(task) {
            task.woken = Some((at, cpu));
        }
    }

    fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        self.now = at;
        if let Some(cpu) = self.cpu(cpu) {
            cpu.running = Some((at, task));
        }
        let Some((woken, placed)) = self.task(task).and_then(|task| task.woken.take()) else {
            return;
        };
        self.put(&Wakeup {
            woken_ns: woken.0,
            ran_ns: Some(at.0),
            latency_ns: Some(at.since(woken).0),
            cpu: placed.0,
            ran_cpu: Some(cpu.0),
            tid: tid(task),
            task: self.task_name(task),
            waker_tid: None,
            trial: Some(self.trial),
        });
    }

    fn switched_out(&mut self, at: Nanos, task: TaskId, cpu: CpuId, why: SwitchOut) {
        self.now = at;
        let why = match why {
            SwitchOut::Slept => "slept",
            SwitchOut::Preempted => "preempted",
            SwitchOut::Migrated => "migrated",
        };
        if let Some((from, _)) = self.cpu(cpu).and_then(|cpu| cpu.running.take()) {
            self.slice(cpu, task, from, Some(why), None);
        }
    }

    fn migrated(&mut self, at: Nanos, task: TaskId, from: CpuId, to: CpuId) {
        self.put(&Migration {
            t_ns: at.0,
            tid: tid(task),
            task: self.task_name(task),
            from_cpu: from.0,
            to_cpu: to.0,
            why: None,
            trial: Some(self.trial),
        });
    }

    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        let described = self.platform.domains.get(domain);
        let point = described
            .and_then(|domain| domain.points.iter().find(|point| point.frequency == frequency));
        self.put(&FrequencySample {
            t_ns: at.0,
            domain: self.domain_name(domain),
            claimed_khz: Some(frequency.0),
            delivered_khz: point.map(|point| point.effective.0),
            source: "model".to_owned(),
            condition: None,
            trial: Some(self.trial),
            governor: self.governors.get(domain).cloned(),
        });
    }

    fn idle(&mut self, at: Nanos, cpu: CpuId, state: Option<usize>) {
        self.now = at;
        let Some(known) = self.cpu(cpu) else { return };
        let before = std::mem::replace(&mut known.idle, state.map(|state| (at, state)));
        if let Some((from, state)) = before {
            self.idle_stay(cpu, state, from, None);
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
            task: Some(self.task_name(task)),
            util_avg: Some(util),
            runnable_avg: None,
            util_est: Some(util_est),
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
        self.now = at;
        let begun = self.task(task).and_then(|task| task.item.take());
        if let Some(begun) = begun.filter(|begun| begun.0 == item) {
            self.item(task, begun, Some(cpu));
        }
    }

    fn mark(&mut self, at: Nanos, task: TaskId, name: &'static str) {
        self.put(&Marker {
            t_ns: at.0,
            cpu: None,
            tid: Some(tid(task)),
            task: Some(self.task_name(task)),
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
            task: Some(self.task_name(task)),
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
