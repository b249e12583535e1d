//! Requests that arrive independently of each other.

use super::{exponential, uniform};
use crate::behavior::{Behavior, Step, Work};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;

/// How much work one request is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Service {
    /// Always the same.
    #[default]
    Fixed,
    /// Between half and one and a half of the mean, all equally likely.
    Uniform,
    /// Exponentially distributed with the given mean.
    Exponential,
}

/// Arrivals with exponential times between them; those that find the task busy wait.
#[derive(Clone, Debug)]
pub struct Poisson {
    /// Mean time between arrivals.
    pub mean: Nanos,
    /// Mean work of a request.
    pub work: Work,
    /// Its distribution.
    pub service: Service,
    arrival: Nanos,
    number: u64,
    step: u8,
}

impl Poisson {
    /// Requests on average every `mean`.
    pub fn new(mean: Nanos, work: Work, service: Service) -> Poisson {
        Poisson {
            mean: mean.max(Nanos(1)),
            work,
            service,
            arrival: Nanos::ZERO,
            number: 0,
            step: 0,
        }
    }

    fn request(&self, random: &mut Xoshiro256PlusPlus) -> Work {
        const ONE: u64 = 1 << 20;
        let part = match self.service {
            Service::Fixed => ONE,
            Service::Uniform => ONE / 2 + uniform(random, ONE + 1),
            Service::Exponential => exponential(random, Nanos(ONE)).0,
        };
        let scaled = |value: u64| {
            u64::try_from((u128::from(value) * u128::from(part)) >> 20).unwrap_or(u64::MAX)
        };
        Work { cycles: scaled(self.work.cycles), memory: Nanos(scaled(self.work.memory.0)) }
    }
}

impl Behavior for Poisson {
    fn next(&mut self, _: Nanos, random: &mut Xoshiro256PlusPlus) -> Step {
        self.step = (self.step + 1) % 4;
        match self.step {
            1 => {
                self.arrival = self.arrival + exponential(random, self.mean).max(Nanos(1));
                Step::AwaitUntil(self.arrival)
            }
            2 => Step::Begin { item: self.number, released: self.arrival },
            3 => Step::Run(self.request(random)),
            _ => {
                self.number += 1;
                Step::End { item: self.number - 1 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::play;

    #[test]
    fn arrivals_have_their_rate_and_requests_their_mean() {
        for service in [Service::Fixed, Service::Uniform, Service::Exponential] {
            let work = Work { cycles: 1_000_000, memory: Nanos::ZERO };
            let mut poisson = Poisson::new(Nanos::from_millis(10), work, service);
            let steps = play(&mut poisson, Nanos::from_secs(100), 1_000_000);
            let runs: Vec<u64> = steps
                .iter()
                .filter_map(|(_, step)| match step {
                    Step::Run(work) => Some(work.cycles),
                    _ => None,
                })
                .collect();
            assert!((9_500..10_500).contains(&runs.len()), "{service:?}: {}", runs.len());
            let mean = runs.iter().sum::<u64>() as f64 / runs.len() as f64;
            assert!((mean / 1e6 - 1.0).abs() < 0.05, "{service:?}: {mean}");
        }
    }
}
