//! Lower policy limits that follow the ramp: a thread's demand, told to the kernel as the lowest frequency of the clock
//! of the CPU on which it runs. For kernels without clamps, and drivers that choose the frequency themselves.

use crate::QosError;
use flyball_control::{ControlError, Hold, Machine, Moving, Settings, state_folder};
use flyball_host::{Access, Call, Errno, Host, HostError, KeptFile, Policy, Task};
use flyball_units::{CpuId, CpuSet, KiloHertz, Mismatch};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The whole demand, and the capacity of the fastest CPUs.
const FULL: u64 = 1024;

/// The lower limits of all policies, held: they are restored at the end, by [`Floors::end`] or by the journal of holds.
#[derive(Debug)]
pub(crate) struct Floors {
    hold: Hold,
    floors: Vec<Floor>,
}

/// One policy's.
#[derive(Debug)]
struct Floor {
    cpus: CpuSet,
    file: KeptFile,
    range: Range,
    /// The largest demand of the threads on its CPUs, since it was told the last time.
    asked: u32,
    now: KiloHertz,
}

/// Between which limits a floor moves.
#[derive(Clone, Copy, Debug)]
struct Range {
    /// The lower limit that was there: never less.
    least: KiloHertz,
    /// The upper one: never more.
    most: KiloHertz,
    /// Of the whole demand. Above `most` on CPUs that are not the fastest.
    whole: KiloHertz,
}

impl Range {
    /// Rounded up: a floor below what is asked for is none.
    fn floor(self, demand: u32) -> KiloHertz {
        let khz = (self.whole.0 * u64::from(demand)).div_ceil(FULL);
        KiloHertz(khz.min(self.most.0).max(self.least.0))
    }
}

impl Floors {
    /// Holds the limits, as they are.
    ///
    /// # Errors
    /// Another hold; no permission; no limits.
    pub fn start(host: &Arc<dyn Host>) -> Result<Floors, QosError> {
        let settings = Settings { moving: Some(Moving::LowerLimits), ..Settings::default() };
        let hold = Hold::start(host, &state_folder(host.as_ref()), &settings)?;
        let machine = Machine::read(host.as_ref(), &settings)
            .map_err(QosError::host("reading the limits of frequencies"))?;
        let opened = machine.policies.iter().map(|policy| Floor::open(host.as_ref(), policy));
        Ok(Floors { hold, floors: opened.collect::<Result<_, _>>()? })
    }

    /// A thread on this CPU is to count for so much.
    pub fn ask(&mut self, cpu: CpuId, demand: u32) {
        if let Some(floor) = self.floors.iter_mut().find(|floor| floor.cpus.contains(cpu)) {
            floor.asked = floor.asked.max(demand);
        }
    }

    /// Tells the kernel what was asked for since the last time: how many limits were raised, and how many are now
    /// what they were before.
    ///
    /// # Errors
    /// A limit that could not be written, of a CPU that is there; the others were.
    pub fn tell(&mut self) -> Result<(u64, u64), HostError> {
        let (mut raised, mut back, mut failed) = (0, 0, None);
        for floor in &mut self.floors {
            let wanted = floor.range.floor(std::mem::take(&mut floor.asked));
            if wanted == floor.now {
                continue;
            }
            match floor.file.write(format!("{}\n", wanted.0).as_bytes()) {
                Ok(()) => {}
                // Its CPUs are not there, and the limit with them.
                Err(Errno::ENODEV | Errno::ENOENT | Errno::EBUSY) => continue,
                Err(errno) => {
                    failed = Some(floor.file.error(Call::Write, errno));
                    continue;
                }
            }
            match wanted == floor.range.least {
                true => back += 1,
                false => raised += 1,
            }
            floor.now = wanted;
        }
        failed.map_or(Ok((raised, back)), Err)
    }

    /// Restores the limits.
    ///
    /// # Errors
    /// Those that are not as they were.
    pub fn end(self) -> Result<(), ControlError> {
        drop(self.floors);
        self.hold.end().map(drop)
    }
}

impl Floor {
    fn open(host: &dyn Host, policy: &Policy) -> Result<Floor, QosError> {
        let Some((least, most)) = policy.min_khz.zip(policy.max_khz) else {
            let slip = Mismatch::value("two limits of its frequency", "fewer that can be read");
            return Err(QosError::Unsupported(slip.at(policy.path())));
        };
        let fastest = policy.hardware_max_khz.unwrap_or(most);
        let capacity = policy.cpus.iter().next().and_then(|cpu| capacity(host, cpu));
        let whole = KiloHertz(fastest.0 * FULL / capacity.unwrap_or(FULL).clamp(1, FULL));
        let path = PathBuf::from(policy.path()).join("scaling_min_freq");
        let file = host
            .open_kept(&path, Access::Write)
            .map_err(QosError::host("opening the lower limits"))?;
        let range = Range { least, most, whole };
        Ok(Floor { cpus: policy.cpus.clone(), file, range, asked: 0, now: least })
    }
}

/// Of 1024 of the fastest; none where all are alike.
fn capacity(host: &dyn Host, cpu: CpuId) -> Option<u64> {
    let path = format!("/sys/devices/system/cpu/cpu{}/cpu_capacity", cpu.0);
    host.read(Path::new(&path)).ok()?.trim().parse().ok()
}

/// The CPU on which a thread runs, or ran the last time.
pub(crate) fn cpu_of(host: &dyn Host, task: &Task) -> Option<CpuId> {
    let thread = task.identity();
    let path = format!("/proc/{}/task/{}/stat", thread.pid, thread.tid);
    let text = host.read(Path::new(&path)).ok()?;
    // proc(5): field 39, of which the name is the second and may hold anything.
    text.rsplit_once(") ")?.1.split_ascii_whitespace().nth(36)?.parse().ok().map(CpuId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_the_demand_in_the_units_of_its_cpus_and_within_the_limits() {
        let big = Range {
            least: KiloHertz(800_000),
            most: KiloHertz(2_000_000),
            whole: KiloHertz(2_400_000),
        };
        assert_eq!(big.floor(0), KiloHertz(800_000));
        assert_eq!(big.floor(512), KiloHertz(1_200_000));
        assert_eq!(big.floor(1), KiloHertz(800_000));
        assert_eq!(big.floor(1024), KiloHertz(2_000_000));
        // 1 kHz more than it is rather than less.
        let odd = Range { whole: KiloHertz(1_000_001), least: KiloHertz(0), ..big };
        assert_eq!(odd.floor(512), KiloHertz(500_001));
        // Limits that somebody set the wrong way round.
        let turned = Range { least: KiloHertz(2_100_000), ..big };
        assert_eq!(turned.floor(1024), KiloHertz(2_100_000));
    }
}
