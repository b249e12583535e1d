//! What the machine did while somebody else's benchmark ran: whether its numbers may be believed.

use crate::error::{json, wrong};
use flyball_host::{Host, ProcessIdentity, ProcessTimes, RealHost, Surroundings, Topology};
use flyball_probe::{Calibration, Calibrations, calibrate, calibration_targets};
use flyball_units::{CpuId, CpuSet};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json as value};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A machine that is watched.
#[pyclass(frozen, module = "flyball._flyball")]
pub struct Watch {
    host: RealHost,
    topology: Topology,
    calibrations: Calibrations,
    begun: Mutex<Option<Begun>>,
}

/// What was there when a benchmark began.
struct Begun {
    times: ProcessTimes,
    throttled: Option<u64>,
    state: State,
}

/// What is in force at one instant.
#[derive(Clone, Serialize)]
struct State {
    cpu: Option<u32>,
    governors: Vec<String>,
    claimed_khz: Option<u64>,
    delivered_khz: Option<u64>,
    delivered_permille: Option<u32>,
}

fn failed(error: impl std::fmt::Display) -> PyErr {
    wrong(error, Some("this needs Linux's /proc and /sys".to_owned()))
}

#[pymethods]
impl Watch {
    /// Looks at the machine and calibrates the frequency probe on the CPUs that may be used, on `most` at
    /// most: some 50 ms each.
    #[new]
    fn new(py: Python<'_>, most: usize) -> PyResult<Watch> {
        py.detach(|| {
            let host = RealHost::new();
            let topology = Topology::discover(&host).map_err(failed)?;
            let allowed = host.affinity_get().map_err(failed)?;
            let cpus: CpuSet = allowed.iter().take(most).collect();
            let targets = calibration_targets(&topology, &cpus, None);
            // A machine whose probe cannot be calibrated still tells the rest.
            let calibrations = Calibrations(calibrate(&host, &targets).unwrap_or_default());
            Ok(Watch { host, topology, calibrations, begun: Mutex::default() })
        })
    }

    /// A benchmark begins.
    fn begin(&self) -> PyResult<()> {
        let state = self.state();
        let times = ProcessTimes::read(&self.host).map_err(failed)?;
        let begun = Begun { times, throttled: self.throttled(), state };
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun);
        Ok(())
    }

    /// It ended: what the machine did meanwhile, JSON.
    fn end(&self) -> PyResult<String> {
        let now = ProcessTimes::read(&self.host).map_err(failed)?;
        let state = self.state();
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner).take();
        let begun =
            begun.ok_or_else(|| wrong("expected a benchmark that began, found none", None))?;
        let root = ProcessIdentity::this(&self.host).map_err(failed)?.pid;
        let usage = now.since(&begun.times, root);
        let others: Vec<Value> = (usage.others.iter().take(NAMED))
            .map(|(name, time)| value!({"name": name, "share": usage.share_of(*time)}))
            .collect();
        let others_share = usage.share_of(usage.taken()) - usage.share_of(usage.stolen);
        let throttled = self.throttled().zip(begun.throttled);
        json(&value!({
            "seconds": usage.interval().0 as f64 / 1e9,
            "cpus": usage.cpus,
            "own_share": usage.share_of(usage.own),
            "steal_share": usage.share_of(usage.stolen),
            "others_share": others_share.max(0.0),
            "others": others,
            "throttled": throttled.map(|(now, then)| now.saturating_sub(then)),
            "before": begun.state,
            "after": state,
        }))
    }
}

/// Other programs that are named.
const NAMED: usize = 3;

impl Watch {
    /// Right after the caller worked on this CPU, so that it is still as fast as then.
    fn state(&self) -> State {
        let cpu = self.host.current_cpu().ok();
        let calibration = cpu.and_then(|cpu| self.calibrations.of(cpu));
        let sample = calibration.map(|own: &Calibration| own.chain.sample(&self.host));
        let speed = sample.map(|sample| self.calibrations.speed(sample, cpu));
        State {
            cpu: cpu.map(|cpu| cpu.0),
            governors: self.governors(),
            claimed_khz: cpu.and_then(|cpu| self.claimed(cpu)),
            delivered_khz: speed.and_then(|speed| speed.khz),
            delivered_permille: speed.and_then(|speed| speed.permille),
        }
    }

    fn claimed(&self, cpu: CpuId) -> Option<u64> {
        let claimed = self.topology.claimed(&self.host).ok()?;
        claimed.iter().find(|(own, _)| *own == cpu).map(|(_, khz)| khz.0)
    }

    /// Each governor that is in force, once.
    fn governors(&self) -> Vec<String> {
        let read = |policy: &flyball_host::Policy| {
            let file =
                format!("/sys/devices/system/cpu/cpufreq/policy{}/scaling_governor", policy.id);
            Some(self.host.read(Path::new(&file)).ok()?.trim().to_owned())
        };
        let mut governors: Vec<String> = self.topology.policies.iter().filter_map(read).collect();
        governors.sort();
        governors.dedup();
        governors
    }

    /// Times that heat slowed a core or a package since boot; none where nothing counts.
    fn throttled(&self) -> Option<u64> {
        let counts = Surroundings::read(&self.host, &self.topology.online).throttled?;
        Some(counts.iter().map(|own| own.core + own.package).sum())
    }
}
