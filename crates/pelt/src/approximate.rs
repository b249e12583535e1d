//! Patches 2 and 3: where a signal will be, and how long it takes to get there.

use crate::decay::{Divider, Fading, MIN_DIVIDER, PERIOD, segments};
use crate::features::PeltMultiplier;
use crate::sched_avg::CAPACITY_SCALE;

/// Patch 2: what a utilisation of `util` becomes after running for `delta` more us on the largest
/// CPU at its highest frequency.
///
/// As the patch has it: a fresh signal at the start of a period with a sum of `util * 46718`, one
/// accumulation, one division; a unit of 1024 ns counts as a us.
#[must_use]
pub const fn approximate_util_avg(util: u32, delta: u64, multiplier: PeltMultiplier) -> u32 {
    let units = multiplier.stretch(delta);
    let start = util as u64 * MIN_DIVIDER as u64;
    let periods = units / PERIOD as u64;
    let rest = (units % PERIOD as u64) as u32;
    let sum = if periods == 0 {
        start + ((rest as u64) << 10)
    } else {
        let faded = Fading::over(periods);
        faded.left_of(start) + ((segments(faded, PERIOD, rest) as u64) << 10)
    };
    let average = Divider::new(rest).divide(sum);
    // Only a `util` that no signal has gets there.
    if average > u32::MAX as u64 { u32::MAX } else { average as u32 }
}

/// Patch 3: the time that utilisation takes from 0 to `util` on the largest CPU at its highest
/// frequency, in steps of 1024 units, which the series calls ms.
///
/// Utilisations above 1024 are never reached; they take as long as 1024.
#[must_use]
pub const fn approximate_runtime(util: u32, multiplier: PeltMultiplier) -> u32 {
    let table = match multiplier {
        PeltMultiplier::X1 => &RUNTIME_X1,
        PeltMultiplier::X2 => &RUNTIME_X2,
        PeltMultiplier::X4 => &RUNTIME_X4,
    };
    let capped = if util > CAPACITY_SCALE { CAPACITY_SCALE } else { util };
    table[capped as usize] as u32
}

type Runtimes = [u16; CAPACITY_SCALE as usize + 1];
static RUNTIME_X1: Runtimes = runtimes(1);
static RUNTIME_X2: Runtimes = runtimes(2);
static RUNTIME_X4: Runtimes = runtimes(4);

/// Steps of `periods` periods until each utilisation is reached.
const fn runtimes(periods: u64) -> Runtimes {
    let mut table = [0; CAPACITY_SCALE as usize + 1];
    let mut sum = 0;
    let mut steps = 0;
    let mut util = 1;
    let faded = Fading::over(periods);
    while util <= CAPACITY_SCALE {
        while sum / (MIN_DIVIDER as u64) < util as u64 {
            sum = faded.left_of(sum) + ((segments(faded, PERIOD, 0) as u64) << 10);
            steps += 1;
        }
        table[util as usize] = steps;
        util += 1;
    }
    table
}
