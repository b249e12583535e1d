//! Background load: profiles, the generator, and the proof that it ran.
//!
//! ```text
//! Profile + Site -> Placement: one Slot per load thread
//!     Load::start   threads of our own, and stress-ng where asked for
//!     Load::sample  once a second: rows for the table `load`
//!     Load::stop    LoadProof: proven, or why not
//! ```
//!
//! [`run_alone`] does all of it for a load on its own.

mod controller;
mod error;
mod generator;
mod kinds;
mod place;
mod proof;
mod stress_ng;
#[cfg(test)]
mod tests;
pub mod text;

pub use controller::{Controller, MEMORY, PATIENCE, Step};
pub use error::{LoadError, PlacementError};
pub use flyball_units::load::{CpuChoice, DEFAULT_PERIOD, GeneratorKind, Group, Kind, Profile};
pub use place::{Placement, Site, Slot};
pub use proof::{
    CpuProof, LoadProof, LoadRow, Reading, Recorder, Shortfall, ThreadProof, ThreadReading,
    Tolerance,
};

use flyball_host::{Host, HostKind, ProcessIdentity, ProcessTimes, Wake};
use flyball_units::Nanos;
use generator::Generator;
use std::path::Path;
use std::sync::Arc;
use stress_ng::{Instance, StressNg};

/// A running load. Dropping it ends it at once, without a proof.
#[derive(Debug)]
pub struct Load {
    host: Arc<dyn Host>,
    profile: Profile,
    parts: Parts,
    recorder: Recorder,
    /// Who had used the CPUs at the start; none where that is not told.
    accounts: Option<ProcessTimes>,
}

/// Who generates, and how many slots there are.
#[derive(Debug)]
struct Parts {
    slots: usize,
    /// Numbers of the slots that our own threads serve, in the order of their readings.
    own: Vec<usize>,
    generator: Option<Generator>,
    stress: Vec<StressNg>,
}

impl Load {
    /// Starts `profile` on `site` and returns once it runs. The threads take their random places
    /// from `seed`. stress-ng dies with the calling thread, so call this from one that lives on.
    ///
    /// # Errors
    /// A profile that does not fit the machine, a setting that was refused, a generator that is
    /// not there. Nothing is left running then.
    pub fn start(
        host: &Arc<dyn Host>,
        profile: &Profile,
        site: &Site,
        seed: u64,
    ) -> Result<Load, LoadError> {
        let mut placement = Placement::of(profile, site)?;
        if host.kind() != HostKind::Real && !profile.is_idle() {
            return Err(LoadError::Unavailable {
                generator: placement.slots.first().map(|slot| slot.generator).unwrap_or_default(),
                reason: "this host is a recording".to_owned(),
            });
        }
        let mut parts = Parts::start(host, &mut placement, seed)?;
        let first = Reading {
            at: host.now(),
            threads: parts.read()?.unwrap_or_default(),
            machine: host.cpu_times().ok(),
        };
        let sources = placement.slots.iter().map(|slot| match slot.generator {
            GeneratorKind::Flyball => generator::SOURCE,
            GeneratorKind::StressNg => stress_ng::SOURCE,
        });
        let sources = sources.collect();
        let recorder = Recorder::new(placement, &site.usable, sources, first);
        let accounts =
            (!profile.is_idle()).then(|| ProcessTimes::read(host.as_ref()).ok()).flatten();
        let profile = profile.clone();
        Ok(Load { host: Arc::clone(host), profile, parts, recorder, accounts })
    }

    /// Records what happened since the last call; returns a row for each CPU, none once the user
    /// has interrupted. Call it about once a second, from any thread.
    ///
    /// # Errors
    /// A load thread has ended by itself.
    pub fn sample(&mut self) -> Result<&[LoadRow], LoadError> {
        let Some(threads) = self.parts.read()? else { return Ok(&[]) };
        let reading = Reading { at: self.host.now(), threads, machine: self.host.cpu_times().ok() };
        Ok(self.recorder.add(reading))
    }

    /// Takes the last sample, ends the load and judges it. A load that did not run is no error
    /// here: see [`LoadProof::require`].
    ///
    /// # Errors
    /// A load thread has ended by itself.
    pub fn stop(mut self, tolerance: Tolerance) -> Result<LoadProof, LoadError> {
        self.sample()?;
        let lost = self.parts.generator.as_ref().map_or(Nanos::ZERO, Generator::lost);
        let others = self.others();
        let Load { profile, parts, recorder, .. } = self;
        drop(parts);
        let mut proof = recorder.finish(profile, tolerance, others);
        if lost >= Nanos::from_millis(1) {
            proof.notes.push(format!(
                "load: {:.1} s of CPU time were lost to others for longer than can be made good",
                lost.as_secs_f64()
            ));
        }
        Ok(proof)
    }

    /// Share of the CPUs that processes other than this one and its children took since the start,
    /// interrupts and the hypervisor included; none where the machine does not tell.
    fn others(&self) -> Option<f64> {
        let before = self.accounts.as_ref()?;
        let root = ProcessIdentity::this(self.host.as_ref()).ok()?.pid;
        let now = ProcessTimes::read(self.host.as_ref()).ok()?;
        Some(now.since(before, root).share_taken())
    }

    /// The kernel's numbers of our own load threads.
    pub fn thread_ids(&self) -> Vec<u32> {
        self.parts.generator.as_ref().map(Generator::thread_ids).unwrap_or_default()
    }
}

impl Parts {
    fn start(
        host: &Arc<dyn Host>,
        placement: &mut Placement,
        seed: u64,
    ) -> Result<Parts, LoadError> {
        let numbered = placement.slots.iter().cloned().enumerate();
        let (own, other): (Vec<_>, Vec<_>) =
            numbered.partition(|(_, slot)| slot.generator == GeneratorKind::Flyball);
        let mut parts = Parts {
            slots: placement.slots.len(),
            own: own.iter().map(|(number, _)| *number).collect(),
            generator: None,
            stress: Vec::new(),
        };
        // stress-ng first: it needs up to seconds to start, our threads start together.
        for instance in Instance::gather(&other) {
            parts.stress.push(StressNg::start(host, &instance)?);
        }
        if !own.is_empty() {
            let buffer = memory_buffer(host.as_ref(), &own, &mut placement.notes)?;
            let (generator, start) = Generator::start(host, &own, buffer, seed)?;
            parts.generator = Some(generator);
            host.sleep_until(start)?;
        }
        Ok(parts)
    }

    /// The clocks of all slots, in their order. None when some of them have ended because the
    /// user interrupted: what they did last is not known.
    fn read(&mut self) -> Result<Option<Vec<ThreadReading>>, LoadError> {
        let mut readings = vec![ThreadReading::default(); self.slots];
        let mut put = |number: usize, reading: ThreadReading| {
            if let Some(place) = readings.get_mut(number) {
                *place = reading;
            }
        };
        if let Some(generator) = &mut self.generator {
            let Some(own) = generator.read()? else { return Ok(None) };
            for (&number, reading) in self.own.iter().zip(own) {
                put(number, reading);
            }
        }
        for stress in &mut self.stress {
            let Some(workers) = stress.read()? else { return Ok(None) };
            for (number, reading) in workers {
                put(number, reading);
            }
        }
        Ok(Some(readings))
    }
}

/// When a load on its own ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After this time.
    Elapsed(Nanos),
    /// When the user interrupts it (after [`Host::catch_interrupts`]).
    Interrupted,
}

/// Runs `profile` alone on `site` until `until`, or until the user interrupts; calls `progress`
/// with the rows of each second. Returns the proof, which may be of a load that did not run: see
/// [`LoadProof::require`].
pub fn run_alone(
    host: &Arc<dyn Host>,
    profile: &Profile,
    site: &Site,
    seed: u64,
    until: Until,
    mut progress: impl FnMut(&[LoadRow]),
) -> Result<LoadProof, LoadError> {
    let mut load = Load::start(host, profile, site, seed)?;
    let start = host.now();
    let end = match until {
        Until::Elapsed(time) => start + time,
        Until::Interrupted => Nanos(u64::MAX),
    };
    for second in 1.. {
        let next = (start + Nanos::from_secs(second)).min(end);
        if host.sleep_until(next)? == Wake::Interrupted || next >= end {
            break;
        }
        progress(load.sample()?);
    }
    let before = load.recorder.len();
    let proof = load.stop(Tolerance::default())?;
    if let Some(rows) = proof.rows.get(before..).filter(|rows| !rows.is_empty()) {
        progress(rows);
    }
    Ok(proof)
}

/// Bytes of buffer for each thread of kind memory: twice the largest cache, at least 64 MiB, so
/// that streaming over it misses every cache. All buffers together may take half of the memory
/// that is available.
fn memory_buffer(
    host: &dyn Host,
    slots: &[(usize, Slot)],
    notes: &mut Vec<String>,
) -> Result<u64, LoadError> {
    const LEAST: u64 = 64 << 20;
    let streaming: Vec<&Slot> =
        slots.iter().map(|(_, slot)| slot).filter(|slot| slot.kind == Kind::Memory).collect();
    if streaming.is_empty() {
        return Ok(0);
    }
    let cache = largest_cache(host);
    let buffer = cache.map_or(LEAST, |cache| (2 * cache).max(LEAST));
    if streaming.iter().any(|slot| slot.buffer.is_none()) {
        let because = cache.map_or("the caches' size is unknown".to_owned(), |cache| {
            format!("the largest cache has {} MiB", cache >> 20)
        });
        notes
            .push(format!("load of kind memory: {} MiB for each thread ({because})", buffer >> 20));
    }
    let sizes: Vec<u64> = streaming.iter().map(|slot| slot.buffer.unwrap_or(buffer)).collect();
    let wanted = sizes.iter().copied().fold(0, u64::saturating_add);
    match available_memory(host) {
        Some(available) if wanted > available / 2 => Err(LoadError::Memory {
            threads: sizes.len() as u64,
            bytes: sizes.iter().copied().max().unwrap_or(buffer),
            available,
        }),
        _ => Ok(buffer),
    }
}

/// The size of CPU 0's largest cache, in bytes.
fn largest_cache(host: &dyn Host) -> Option<u64> {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let sizes = host.list(folder).ok()?.into_iter().filter_map(|index| {
        let text = host.read(&folder.join(index).join("size")).ok()?;
        let kilobytes: u64 = text.trim().strip_suffix('K')?.parse().ok()?;
        kilobytes.checked_mul(1024)
    });
    sizes.max()
}

/// `MemAvailable` of /proc/meminfo, in bytes.
fn available_memory(host: &dyn Host) -> Option<u64> {
    let text = host.read(Path::new("/proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}
