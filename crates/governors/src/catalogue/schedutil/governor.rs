//! Schedutil behind the common trait.

use super::SugovPolicy;
use crate::tunables::{TunableSpec, Tunables};
use crate::{
    CpuSignals, Decision, Domain, Event, Governor, Needs, Tunable, TunableError, UtilFlags,
};
use flyball_pelt::{PeltMultiplier, TopPoints, default_response_time_ms};
use flyball_units::{CpuId, Nanos, Relation};

/// Linux's `schedutil`, 6.12 and with the response-time series; the rule is [`SugovPolicy`].
///
/// Where the driver can't switch from the scheduler's context, new limits take effect at once; with
/// fast switching they wait for the next utilisation update, as in the kernel.
#[derive(Debug)]
pub struct Schedutil {
    tunables: Tunables<2>,
    domain: Option<State>,
}

#[derive(Debug)]
struct State {
    policy: SugovPolicy,
    /// All CPUs of the domain.
    cpus: Vec<CpuId>,
    online: Vec<CpuId>,
    fast_switch: bool,
    response_time: bool,
}

const RATE_LIMIT: usize = 0;
const RESPONSE_TIME: usize = 1;

/// An M1's large cores.
const M1: TopPoints = TopPoints { capacity: 1024, highest: 3_204_000, second_highest: 3_144_000 };

const SPECS: [TunableSpec; 2] = [
    TunableSpec {
        name: "rate_limit_us",
        doc: "least time between changes, in us; default: the driver's delay, else from its latency \
              by the kernel's rule",
        default: 1_000,
        min: 0,
        max: u32::MAX as i64,
    },
    TunableSpec {
        name: "response_time_ms",
        doc: "time from no utilisation to the highest frequency, in ms; needs patch 6 of the \
              response-time series; default: from capacity and operating points (here those of an \
              M1's large cores)",
        default: default_response_time_ms(M1, PeltMultiplier::X1) as i64,
        min: 1,
        max: u32::MAX as i64,
    },
];

impl Schedutil {
    /// Upstream name.
    pub const NAME: &'static str = "schedutil";

    /// The policy beneath, once started.
    pub fn policy(&self) -> Option<&SugovPolicy> {
        self.domain.as_ref().map(|state| &state.policy)
    }

    /// Hands the tunables to the policy.
    fn tune(&mut self) {
        let knob = |at| u32::try_from(self.tunables.get(at)).unwrap_or(u32::MAX);
        let (rate_limit, response_time) = (knob(RATE_LIMIT), knob(RESPONSE_TIME));
        if let Some(state) = &mut self.domain {
            state.policy.set_rate_limit_us(rate_limit);
            state.policy.set_response_time_ms(response_time);
        }
    }

    /// Whether the domain's kernel has `response_time_ms`; true before the start.
    fn has_response_time(&self) -> bool {
        self.domain.as_ref().is_none_or(|state| state.response_time)
    }
}

impl State {
    /// Where `cpu` is among those that are online: mostly they are numbered one after the other.
    #[inline]
    fn position(&self, cpu: CpuId) -> Option<usize> {
        let guess = cpu.0.wrapping_sub(self.online.first()?.0) as usize;
        match self.online.get(guess) {
            Some(&there) if there == cpu => Some(guess),
            _ => self.online.iter().position(|&online| online == cpu),
        }
    }

    #[inline]
    fn update(
        &mut self,
        cpu: CpuId,
        signals: &[CpuSignals],
        flags: UtilFlags,
        now: Nanos,
    ) -> Decision {
        let Some(at) = self.position(cpu) else { return Decision::NONE };
        let next = if signals.len() == self.online.len() {
            self.policy.update(at, signals, flags, now)
        } else {
            // Signals of all CPUs while some are offline.
            let listed = self.cpus.iter().zip(signals);
            let online = listed.filter(|(cpu, _)| self.online.contains(cpu));
            let signals: Vec<CpuSignals> = online.map(|(_, signals)| *signals).collect();
            self.policy.update(at, &signals, flags, now)
        };
        match next {
            None => Decision::NONE,
            Some(next) => {
                // A point beyond limits that lie between two points is what the nearer limit
                // resolves to as well.
                let target = self.policy.limits().clamp(next);
                Decision::frequency(target, Relation::L, "utilisation with headroom")
            }
        }
    }
}

impl Default for Schedutil {
    fn default() -> Schedutil {
        Schedutil { tunables: Tunables::new(Schedutil::NAME, SPECS), domain: None }
    }
}

impl Governor for Schedutil {
    fn name(&self) -> &'static str {
        Schedutil::NAME
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING.utilization(true)
    }

    fn start(&mut self, domain: &Domain, _now: Nanos) -> Decision {
        let policy = SugovPolicy::new(domain);
        self.tunables.rebase(RATE_LIMIT, i64::from(policy.rate_limit_us()), 0);
        let response_time = i64::from(policy.default_response_time_ms()).max(1);
        self.tunables.rebase(RESPONSE_TIME, response_time, 1);
        self.domain = Some(State {
            policy,
            cpus: domain.cpus.clone(),
            online: domain.cpus.clone(),
            fast_switch: domain.fast_switch,
            response_time: domain.features.response_time,
        });
        self.tune();
        Decision::NONE
    }

    fn on(&mut self, event: &Event<'_>, now: Nanos) -> Decision {
        let Some(state) = &mut self.domain else { return Decision::NONE };
        match event {
            Event::Util { cpu, signals, flags } => state.update(*cpu, signals, *flags, now),
            Event::Limits { min, max } => {
                state.policy.set_limits(*min, *max);
                if state.fast_switch {
                    return Decision::NONE;
                }
                state.policy.limits().apply_limits(*min, *max)
            }
            Event::Applied { frequency } if !state.fast_switch => {
                state.policy.set_current(*frequency);
                Decision::NONE
            }
            Event::Cpus { cpus } => {
                state.online = cpus.to_vec();
                state.policy.restart(cpus.len());
                Decision::NONE
            }
            _ => Decision::NONE,
        }
    }

    fn tunables(&self) -> Vec<Tunable> {
        let mut tunables = self.tunables.list();
        if !self.has_response_time() {
            tunables.truncate(RESPONSE_TIME);
        }
        tunables
    }

    fn set(&mut self, name: &str, value: i64) -> Result<(), TunableError> {
        if name == SPECS[RESPONSE_TIME].name && !self.has_response_time() {
            return Err(TunableError::Unknown {
                governor: Schedutil::NAME,
                name: name.to_owned(),
                known: vec![SPECS[RATE_LIMIT].name],
            });
        }
        self.tunables.set(name, value)?;
        self.tune();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use crate::testing::{domain, shared_domain};
    use flyball_pelt::Features;
    use flyball_units::KiloHertz;

    const LEVELS: [u64; 4] = [600_000, 1_000_000, 1_400_000, 1_800_000];

    fn util(cpu: u32, levels: &[u32]) -> Event<'static> {
        let signals: Vec<_> =
            levels.iter().map(|&util| CpuSignals { util, ..CpuSignals::default() }).collect();
        Event::Util { cpu: CpuId(cpu), signals: signals.into(), flags: UtilFlags::default() }
    }

    fn target(decision: Decision) -> Option<u64> {
        match decision.request {
            Some(Request::Frequency { target, .. }) => Some(target.0),
            _ => None,
        }
    }

    #[test]
    fn limits_wait_for_an_update_with_fast_switching_only() {
        for (fast_switch, at_once) in [(true, None), (false, Some(1_200_000))] {
            let mut domain = domain(&LEVELS);
            domain.fast_switch = fast_switch;
            domain.current = domain.max;
            let mut governor = Schedutil::default();
            governor.start(&domain, Nanos::ZERO);
            let limits = Event::Limits { min: KiloHertz(0), max: KiloHertz(1_200_000) };
            assert_eq!(target(governor.on(&limits, Nanos(1))), at_once);
            assert_eq!(target(governor.on(&util(0, &[1024]), Nanos(2))), Some(1_200_000));
        }
    }

    #[test]
    fn the_domains_rule_gives_the_rate_limit_and_a_setting_survives_the_start() {
        let mut governor = Schedutil::default();
        governor.start(&domain(&LEVELS), Nanos::ZERO);
        assert_eq!(governor.tunables()[0].value, 30, "1.5 x 20 us");
        governor.set("rate_limit_us", 10_000).unwrap();
        governor.start(&domain(&LEVELS), Nanos::ZERO);
        assert_eq!(governor.policy().unwrap().rate_limit_us(), 10_000);
    }

    #[test]
    fn a_stock_kernel_has_no_response_time() {
        let mut governor = Schedutil::default();
        let mut domain = domain(&LEVELS);
        governor.start(&domain, Nanos::ZERO);
        assert!(governor.set("response_time_ms", 10).is_err());
        assert_eq!(governor.tunables().len(), 1);
        domain.features = Features::SERIES;
        governor.start(&domain, Nanos::ZERO);
        governor.set("response_time_ms", 10).unwrap();
        assert!(governor.set("response_time_ms", 0).is_err());
    }

    #[test]
    fn cpus_go_and_come() {
        let mut governor = Schedutil::default();
        governor.start(&shared_domain(&LEVELS, 3), Nanos::ZERO);
        let ms = Nanos::from_millis;
        assert_eq!(target(governor.on(&util(2, &[0, 0, 900]), ms(10))), Some(1_800_000));
        governor.on(&Event::Cpus { cpus: vec![CpuId(1), CpuId(2)].into() }, ms(20));
        assert_eq!(target(governor.on(&util(2, &[0, 400]), ms(30))), Some(1_000_000));
        assert_eq!(governor.on(&util(0, &[0, 400]), ms(40)), Decision::NONE, "offline");
    }
}
