//! A policy that switches fast: `SugovPolicy`.

use super::{Event, Player, advance, domain, limits};
use flyball_governors::schedutil::SugovPolicy;
use flyball_governors::units::{KernelRules, Nanos};
use flyball_governors::{CpuSignals, UtilFlags};

pub struct Schedutil {
    rules: KernelRules,
    now: Nanos,
    policy: Option<SugovPolicy>,
    uclamp_used: bool,
    signals: Vec<CpuSignals>,
}

impl Schedutil {
    pub fn new(rules: KernelRules) -> Schedutil {
        Schedutil { rules, now: Nanos::ZERO, policy: None, uclamp_used: false, signals: Vec::new() }
    }
}

impl Player for Schedutil {
    fn play(&mut self, event: &Event, values: &mut Vec<u64>) {
        if event[0] & 0xff == 0 {
            let Some(domain) = domain(event, self.rules) else { return };
            self.now = Nanos(event[5]);
            self.signals = vec![CpuSignals::IDLE; domain.cpus.len()];
            self.uclamp_used = domain.uclamp_used;
            let mut policy = SugovPolicy::new(&domain);
            policy.set_rate_limit_us((event[1] >> 32) as u32);
            self.policy = Some(policy);
        }
        let Some(policy) = &mut self.policy else { return };
        let mut accepted = None;
        match event[0] & 0xff {
            1 => {
                advance(&mut self.now, event);
                let cpu = (event[0] >> 8 & 0xff) as usize;
                let Some(signals) = self.signals.get_mut(cpu) else { return };
                let quarter = |word: usize, at: u64| (event[word] >> (16 * at) & 0xffff) as u32;
                *signals = CpuSignals::IDLE
                    .util(quarter(2, 0))
                    .runnable(quarter(2, 1))
                    .util_est(quarter(2, 2))
                    .rt(quarter(2, 3))
                    .dl(quarter(3, 0))
                    .bw_dl(quarter(3, 1))
                    .irq(quarter(3, 2))
                    .rt_runnable(event[4] >> 16 & 1 == 1)
                    .idle_calls(signals.idle_calls + (event[0] >> 17 & 1));
                if self.uclamp_used {
                    *signals = signals.uclamp_min(quarter(3, 3)).uclamp_max(quarter(4, 0));
                }
                let flags = UtilFlags::NONE.iowait(event[0] >> 16 & 1 == 1);
                accepted = policy.update(cpu, &self.signals, flags, self.now);
            }
            2 => {
                advance(&mut self.now, event);
                let (min, max) = limits(event);
                policy.set_limits(min, max);
            }
            3 => policy.set_rate_limit_us(event[2] as u32),
            4 => policy.restart(self.signals.len()),
            _ => {}
        }
        values.extend([
            accepted.map_or(0, |khz| khz.0),
            policy.next().0,
            policy.cached_raw().0,
            policy.last_update().0,
        ]);
    }
}
