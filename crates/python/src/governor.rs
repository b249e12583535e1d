//! A governor on a clock domain of a platform: events in, decisions out.

use crate::error::{json, missing, raise, wrong};
use flyball_governors::{CpuSignals, Domain, Event, Request};
use flyball_platform::{Kernel, Platform, rule};
use flyball_units::{KiloHertz, Nanos};
use pyo3::prelude::*;
use serde_json::json as value;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The rule and its domain; the class that people meet is `flyball.Governor`.
#[pyclass(frozen, module = "flyball._flyball")]
pub struct Governor {
    rule: Mutex<Started>,
}

struct Started {
    governor: Box<dyn flyball_governors::Governor>,
    domain: Domain,
    now: Nanos,
}

#[pymethods]
impl Governor {
    #[new]
    #[pyo3(signature = (name, platform, kernel, domain, tunables))]
    fn new(
        name: &str,
        platform: &str,
        kernel: Option<&str>,
        domain: Option<&str>,
        tunables: Vec<(String, i64)>,
    ) -> PyResult<Governor> {
        let platform = Platform::named(platform).map_err(raise)?;
        let kernel = Kernel::named(kernel.unwrap_or(&platform.default_kernel)).map_err(raise)?;
        let mut governor =
            rule::governor(name, &kernel).map_err(|error| missing(&error, error.hint()))?;
        for (name, value) in &tunables {
            governor.set(name, *value).map_err(|error| wrong(error, None))?;
        }
        let own = match domain {
            None => platform.domains.last(),
            Some(name) => platform.domains.iter().find(|own| own.name == name),
        };
        let Some(own) = own else {
            let names: Vec<&str> = platform.domains.iter().map(|own| own.name.as_str()).collect();
            let found = domain.unwrap_or_default();
            return Err(missing(
                format!(
                    "domain: expected {} of {}, found \"{found}\"",
                    names.join(" or "),
                    platform.name
                ),
                None,
            ));
        };
        let domain = rule::domain(&platform, own, &kernel, false);
        governor.start(&domain, Nanos::ZERO);
        let now = Nanos::ZERO;
        Ok(Governor { rule: Mutex::new(Started { governor, domain, now }) })
    }

    /// What it is, needs and rules, JSON.
    fn describe(&self) -> PyResult<String> {
        let Started { governor, domain, .. } = &*self.started();
        let khz: Vec<u64> = domain.opps.as_slice().iter().map(|opp| opp.frequency.0).collect();
        json(&value!({
            "name": governor.name(),
            "needs": governor.needs(),
            "poll_interval_ns": governor.poll_interval(),
            "tunables": governor.tunables(),
            "cpus": domain.cpus,
            "khz": khz,
            "idle": CpuSignals::IDLE,
        }))
    }

    /// Sets a tunable.
    fn set(&self, name: &str, value: i64) -> PyResult<()> {
        self.started().governor.set(name, value).map_err(|error| wrong(error, None))
    }

    /// Decides on an event, JSON; the decision as JSON.
    fn on(&self, now_ns: u64, event: &str) -> PyResult<String> {
        let event: Event<'_> = serde_json::from_str(event).map_err(|error| {
            let message = format!("expected an event of a governor, found one of which {error}");
            wrong(message, Some("flyball.Governor's docstring has them".to_owned()))
        })?;
        let mut started = self.started();
        let Started { governor, domain, now } = &mut *started;
        if now_ns < now.0 {
            return Err(wrong(
                format!("expected a time of {} ns or later, found {now_ns}", now.0),
                None,
            ));
        }
        *now = Nanos(now_ns);
        match &event {
            Event::Limits { min, max } => (domain.min, domain.max) = (*min, *max),
            Event::Applied { frequency } => domain.current = *frequency,
            _ => {}
        }
        let decision = governor.on(&event, *now);
        let khz: Option<KiloHertz> = match decision.request {
            Some(Request::Frequency { target, relation }) => {
                Some(domain.opps.resolve(target, domain.min, domain.max, relation))
            }
            _ => None,
        };
        json(&value!({
            "khz": khz,
            "request": decision.request,
            "wake_at_ns": decision.wake_at,
            "why": decision.why,
        }))
    }
}

impl Governor {
    fn started(&self) -> MutexGuard<'_, Started> {
        self.rule.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
