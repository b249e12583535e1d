//! What a recording shows of its machine: clock domains, frequencies, capacities, signals.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use flyball_run::{Error, Run};
use serde::Serialize;

use flyball_events::Reader;
use flyball_events::Recording;
use flyball_events::event::Event;
use flyball_events::import::{Builder, check};
use flyball_events::recording::Subject;
use flyball_events::stream::Item;

/// The machine as far as a recording shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// Clock domains whose frequency changed, by their lowest CPU.
    pub domains: Vec<SeenDomain>,
    /// Capacity of each CPU, where it was recorded.
    pub capacities: BTreeMap<u32, u32>,
    /// Readings of a CPU's utilisation.
    pub updates: u64,
}

/// One clock domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SeenDomain {
    /// Its name.
    pub name: String,
    /// Its CPUs, ascending.
    pub cpus: Vec<u32>,
    /// Frequencies that it had, ascending.
    pub khz: Vec<u64>,
    /// Shortest time between two changes: no rate limit was longer.
    pub closest_ns: Option<u64>,
}

impl Seen {
    /// In a recorded trace: one pass in bounded memory.
    ///
    /// # Errors
    /// The file cannot be read, or is not a trace.
    pub fn of_text(path: &Path) -> Result<Seen, Error> {
        let failed = |error: &io::Error| Error::io(path, "to read it", error);
        let mut reader = Reader::open(path)?;
        let mut builder = Builder::new();
        let mut updates = 0;
        let outcome = reader.for_each(|item| -> io::Result<()> {
            if let Item::Record(record) | Item::Reading(record) = item
                && matches!(record.event, Event::QueueAverages { .. })
            {
                updates += 1;
            }
            builder.item(item);
            if builder.is_full() {
                // Frequencies and capacities come at the end; the rest is not asked for here.
                drop(builder.take());
            }
            Ok(())
        });
        outcome.map_err(|error| failed(&error))?;
        check(&reader)?;
        let built = builder.finish();
        let run = Run { tables: built.tables, manifest: built.manifest, ..Run::default() };
        Ok(Seen { updates, ..Seen::of(&Recording::of(&run)) })
    }

    /// In the tables of a run or of one trial.
    pub fn of(recording: &Recording<'_>) -> Seen {
        let mut cpus = BTreeMap::<&str, BTreeSet<u32>>::new();
        let mut capacities = BTreeMap::new();
        for cpu in recording.topology().cpus() {
            if let Some(domain) = &cpu.domain {
                cpus.entry(domain).or_default().insert(cpu.cpu);
            }
            capacities.extend(cpu.capacity.map(|capacity| (cpu.cpu, capacity)));
        }
        let domain = |name: String| {
            let cpus = cpus.get(name.as_str())?.iter().copied().collect();
            let steps = recording.frequency(&name);
            let khz: BTreeSet<u64> = steps.points().map(|point| point.1).collect();
            let times: Vec<u64> = steps.changes().map(|(t_ns, ..)| t_ns).collect();
            let apart = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
            let closest_ns = apart.min();
            Some(SeenDomain { cpus, khz: khz.into_iter().collect(), closest_ns, name })
        };
        let mut domains: Vec<SeenDomain> =
            recording.domains().into_iter().filter_map(domain).collect();
        domains.sort_by_key(|domain| domain.cpus.first().copied());
        let of_cpus = recording
            .signals()
            .filter(|s| matches!(s.subject, Subject::Cpu(_)) && s.util_avg.is_some());
        Seen { domains, capacities, updates: of_cpus.count() as u64 }
    }
}
