//! What a load thread does while it works, in chunks of a chosen length.

use super::Kind;
use flyball_units::Nanos;
use std::hint::black_box;

/// Length of one chunk of CPU time. Between chunks the thread reads its clocks and looks whether
/// it is to stop; about 0.5 us, so 2 % of a chunk.
pub const CHUNK: Nanos = Nanos::from_micros(25);

/// `u64`s in one unit of memory work: a cache line of 64 bytes.
const LINE: usize = 8;

/// Rounds in one unit of integer and float work, some 10 ns.
const ROUNDS: u32 = 8;

/// Endless work of one kind.
#[derive(Debug)]
pub enum Work {
    /// Four independent generators: xorshift and multiply.
    Integer([u64; 4]),
    /// Four independent affine maps with a fixed point: no overflow, no denormals.
    Float([f64; 4]),
    /// A buffer read and written line by line, from `at` on.
    Memory {
        /// The buffer.
        buffer: Vec<u64>,
        /// Next element.
        at: usize,
    },
}

impl Work {
    /// Work of `kind`; `bytes` is the size of the buffer of kind memory. None where there is no
    /// memory for it. The buffer is touched by the calling thread, so that it lies near its CPU.
    pub fn new(kind: Kind, bytes: u64) -> Option<Work> {
        match kind {
            Kind::Integer => Some(Work::Integer([1, 2, 3, 4])),
            Kind::Float => Some(Work::Float([0.1, 0.2, 0.3, 0.4])),
            Kind::Memory => {
                let length = usize::try_from(bytes / 8).ok()?.max(LINE) / LINE * LINE;
                let mut buffer = Vec::new();
                buffer.try_reserve_exact(length).ok()?;
                buffer.extend((0..length as u64).map(black_box));
                Some(Work::Memory { buffer, at: 0 })
            }
        }
    }

    /// Does `units` of work: some 10 ns each in registers, one cache line each in memory.
    pub fn run(&mut self, units: u64) {
        match self {
            Work::Integer(state) => {
                for _ in 0..units {
                    integer(state);
                }
                black_box(state);
            }
            Work::Float(state) => {
                for _ in 0..units {
                    float(state);
                }
                black_box(state);
            }
            Work::Memory { buffer, at } => {
                let mut left = units;
                while left > 0 {
                    let rest = buffer.get_mut(*at..).unwrap_or_default();
                    if rest.is_empty() {
                        *at = 0;
                        continue;
                    }
                    let lines = left.min((rest.len() / LINE) as u64);
                    for value in rest.iter_mut().take(lines as usize * LINE) {
                        *value = value.wrapping_add(1);
                    }
                    *at += lines as usize * LINE;
                    left -= lines;
                }
                black_box(buffer);
            }
        }
    }
}

#[inline(always)]
fn integer(state: &mut [u64; 4]) {
    for _ in 0..ROUNDS {
        for value in state.iter_mut() {
            *value ^= *value >> 29;
            *value = value.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
        }
    }
}

#[inline(always)]
fn float(state: &mut [f64; 4]) {
    for _ in 0..ROUNDS {
        for value in state.iter_mut() {
            *value = *value * 0.999_999 + 0.000_001;
        }
    }
}

/// How many units fill a given CPU time: measured while working, because frequency and
/// neighbours change it.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    units_per_ns: f64,
}

impl Pace {
    /// Nothing is known yet: a thousandth of a unit per ns, far below any machine, so that the
    /// first chunks are too short rather than too long.
    pub fn new() -> Pace {
        Pace { units_per_ns: 1e-3 }
    }

    /// Units for `time`, at least one.
    pub fn units(self, time: Nanos) -> u64 {
        ((time.0 as f64 * self.units_per_ns) as u64).max(1)
    }

    /// Learns that `units` took `time`. Follows half of the difference, and no more than a factor
    /// of two: one page fault must not spoil it. A time of zero (a coarse clock) teaches nothing.
    pub fn learn(&mut self, units: u64, time: Nanos) {
        if time == Nanos::ZERO {
            return;
        }
        let seen = units as f64 / time.0 as f64;
        let (least, most) = (self.units_per_ns / 2.0, self.units_per_ns * 2.0);
        self.units_per_ns = ((self.units_per_ns + seen) / 2.0).clamp(least, most).clamp(1e-6, 1e3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pace_converges_and_survives_nonsense() {
        let mut pace = Pace::new();
        for _ in 0..40 {
            let units = pace.units(CHUNK);
            pace.learn(units, Nanos(units * 11));
        }
        let units = pace.units(CHUNK);
        assert!((2200..2350).contains(&units), "{units}");
        pace.learn(units, Nanos(u64::MAX));
        assert!(pace.units(CHUNK) >= units / 2 - 1);
        pace.learn(u64::MAX, Nanos(1));
        pace.learn(1, Nanos::ZERO);
        assert!(pace.units(Nanos::ZERO) == 1 && pace.units(Nanos(u64::MAX)) > 0);
    }

    #[test]
    fn memory_work_touches_every_line_in_turn() {
        let mut work = Work::new(Kind::Memory, 8 * 64 + 63).unwrap();
        work.run(8 * 3 + 1);
        let Work::Memory { buffer, at } = work else { panic!("memory") };
        assert_eq!((buffer.len(), at), (64, 8));
        assert_eq!((buffer[0], buffer[7], buffer[8], buffer[63]), (4, 11, 11, 66));
    }

    #[test]
    fn floats_stay_normal() {
        let mut work = Work::new(Kind::Float, 0).unwrap();
        work.run(1_000_000);
        let Work::Float(state) = work else { panic!("float") };
        assert!(state.iter().all(|value| value.is_normal() && *value <= 1.0), "{state:?}");
    }

    #[test]
    fn impossible_buffers_are_refused() {
        assert!(Work::new(Kind::Memory, u64::MAX).is_none());
    }
}
