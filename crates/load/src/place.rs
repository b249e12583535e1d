//! From a profile to threads on this machine's CPUs.
//!
//! Decided here, and told in [`Placement::notes`]:
//! - an unpinned thread may run on every usable CPU (or every listed one), the measured one too:
//!   that is what the sources' stress-ng did, and what a busy machine does;
//! - a pinned group takes CPUs that nothing is measured on first, in ascending order;
//! - half of n CPUs is n / 2 rounded down, but at least one.

use super::error::PlacementError;
use super::{CpuChoice, GeneratorKind, Group, Kind, Profile};
use flyball_host::{Host, HostError, Topology};
use flyball_units::{CpuId, CpuSet, Nanos};

/// Where load may run, and where it had better not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// CPUs that are online and allowed to this program.
    pub usable: CpuSet,
    /// CPUs on which something is measured.
    pub measured: CpuSet,
}

/// One load thread to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Number of the group in the profile, from 0.
    pub group: usize,
    /// Where it may run; a single CPU where it is pinned.
    pub cpus: CpuSet,
    /// Share of one CPU, 1 to 100.
    pub percent: u8,
    /// Length of a burst and its pause; none where the generator's own is meant.
    pub period: Option<Nanos>,
    /// What it does.
    pub kind: Kind,
    /// Bytes to stream over, if they are given and the kind is memory.
    pub buffer: Option<u64>,
    /// Nice value.
    pub nice: i8,
    /// Who runs it.
    pub generator: GeneratorKind,
}

/// All threads of a profile on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The threads, in the order of the groups.
    pub slots: Vec<Slot>,
    /// What was decided that the profile left open, one sentence each.
    pub notes: Vec<String>,
}

impl Site {
    /// The CPUs that are online and that the calling thread may use; nothing is measured yet.
    /// Call it before the thread confines itself to one CPU.
    pub fn of(host: &dyn Host) -> Result<Site, HostError> {
        let online = Topology::online(host)?;
        Ok(Site { usable: online.intersection(&host.affinity_get()?), measured: CpuSet::new() })
    }

    /// The same site with something measured on `cpus`.
    pub fn measuring_on(mut self, cpus: CpuSet) -> Site {
        self.measured = cpus;
        self
    }
}

impl Placement {
    /// Gives every thread of `profile` its CPUs on `site`, and checks that they can carry the load.
    ///
    /// # Errors
    /// A profile that does not fit there.
    pub fn of(profile: &Profile, site: &Site) -> Result<Placement, PlacementError> {
        let mut placement = Placement { slots: Vec::new(), notes: Vec::new() };
        if site.usable.is_empty() && !profile.is_idle() {
            return Err(PlacementError::NoCpu);
        }
        for (index, group) in profile.groups.iter().enumerate() {
            placement.add(index, group, site)?;
        }
        placement.check_room(site)?;
        Ok(placement)
    }

    /// Load asked for on `cpu`, in percent of it: what is pinned there, and an equal share of
    /// each thread that may run on several CPUs.
    pub fn wanted_on(&self, cpu: CpuId) -> f64 {
        let here = self.slots.iter().filter(|slot| slot.cpus.contains(cpu));
        here.map(|slot| f64::from(slot.percent) / slot.cpus.len() as f64).sum()
    }

    fn add(&mut self, index: usize, group: &Group, site: &Site) -> Result<(), PlacementError> {
        let (count, pool) = match &group.cpus {
            CpuChoice::All => (site.usable.len(), site.usable.clone()),
            CpuChoice::Half => ((site.usable.len() / 2).max(1), site.usable.clone()),
            CpuChoice::Count(count) => (*count as usize, site.usable.clone()),
            CpuChoice::Others => {
                let others = site.usable.difference(&site.measured);
                if others.is_empty() {
                    return Err(PlacementError::NoOthers { usable: site.usable.clone() });
                }
                (others.len(), others)
            }
            CpuChoice::List(list) => {
                let missing = list.difference(&site.usable);
                if !missing.is_empty() {
                    return Err(PlacementError::NotUsable { missing, usable: site.usable.clone() });
                }
                (list.len(), list.clone())
            }
        };
        if group.pinned && count > pool.len() {
            return Err(PlacementError::TooMany { wanted: count as u32, usable: pool.len() });
        }
        let homes = group.pinned.then(|| homes(&pool, site, count));
        self.explain(index, group, site, count, homes.as_deref());
        for thread in 0..count {
            let home = homes.as_ref().and_then(|homes| homes.get(thread).copied());
            self.slots.push(Slot {
                group: index,
                cpus: home.map_or_else(|| pool.clone(), CpuSet::from),
                percent: group.percent,
                period: group.period,
                kind: group.kind,
                buffer: group.buffer,
                nice: group.nice,
                generator: group.generator,
            });
        }
        Ok(())
    }

    /// Notes what the profile left open.
    fn explain(
        &mut self,
        index: usize,
        group: &Group,
        site: &Site,
        count: usize,
        homes: Option<&[CpuId]>,
    ) {
        let all = site.usable.len();
        let group_name = format!("load group {} ({group})", index + 1);
        match (&group.cpus, homes) {
            (CpuChoice::List(_), _) => {}
            (_, Some(homes)) => {
                let set: CpuSet = homes.iter().copied().collect();
                self.notes.push(format!("{group_name}: {count} of {all} CPUs, pinned to {set}"));
                let shared = set.intersection(&site.measured);
                if !shared.is_empty() {
                    self.notes.push(format!("{group_name}: shares CPUs {shared} with what is measured"));
                }
            }
            (_, None) => self.notes.push(format!(
                "{group_name}: {count} threads for {all} CPUs, unpinned: the scheduler places them, \
                 also on measured CPUs"
            )),
        }
    }

    /// No CPU may be asked for more than 100 %, nor all of them together.
    fn check_room(&self, site: &Site) -> Result<(), PlacementError> {
        for cpu in site.usable.iter() {
            let pinned = self.slots.iter().filter(|slot| slot.cpus == CpuSet::from(cpu));
            let percent: u64 = pinned.map(|slot| u64::from(slot.percent)).sum();
            if percent > 100 {
                return Err(PlacementError::CpuOverfull { cpu, percent });
            }
        }
        // A necessary condition for each set of CPUs that some thread is confined to.
        let pools = std::iter::once(&site.usable).chain(self.slots.iter().map(|slot| &slot.cpus));
        for pool in pools {
            let inside = self.slots.iter().filter(|slot| slot.cpus.difference(pool).is_empty());
            let wanted: u64 = inside.map(|slot| u64::from(slot.percent)).sum();
            let available = 100 * pool.len() as u64;
            if wanted > available {
                return Err(PlacementError::Overfull { wanted, usable: pool.clone(), available });
            }
        }
        Ok(())
    }
}

/// `count` CPUs of `pool`: those where nothing is measured first, ascending.
fn homes(pool: &CpuSet, site: &Site, count: usize) -> Vec<CpuId> {
    let free = pool.difference(&site.measured);
    let taken = pool.intersection(&site.measured);
    free.iter().chain(taken.iter()).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(usable: &str, measured: &str) -> Site {
        Site { usable: usable.parse().unwrap(), measured: measured.parse().unwrap() }
    }

    fn place(profile: &str, site: &Site) -> Result<Placement, PlacementError> {
        Placement::of(&profile.parse().unwrap(), site)
    }

    fn cpus(placement: &Placement) -> Vec<String> {
        placement.slots.iter().map(|slot| slot.cpus.to_string()).collect()
    }

    #[test]
    fn medium_is_half_the_cpus_and_floats() {
        let placement = place("medium", &site("0-7", "0")).unwrap();
        assert_eq!(cpus(&placement), ["0-7"; 4]);
        assert_eq!(placement.wanted_on(CpuId(3)), 25.0);
        assert!(placement.notes[0].contains("4 threads for 8 CPUs, unpinned"));
        assert_eq!(place("medium", &site("0-4", "")).unwrap().slots.len(), 2);
        assert_eq!(place("medium", &site("5", "")).unwrap().slots.len(), 1);
    }

    #[test]
    fn pinned_groups_leave_the_measured_cpu_to_the_last() {
        let placement = place("medium,pinned", &site("0-3", "0")).unwrap();
        assert_eq!(cpus(&placement), ["1", "2"]);
        let placement = place("heavy,pinned", &site("0-1", "0")).unwrap();
        assert_eq!(cpus(&placement), ["1", "0"]);
        assert!(placement.notes[1].contains("shares CPUs 0"));
        assert_eq!(placement.wanted_on(CpuId(0)), 90.0);
    }

    #[test]
    fn others_are_those_on_which_nothing_is_measured() {
        assert_eq!(cpus(&place("othersx50%", &site("0-3", "1")).unwrap()), ["0", "2", "3"]);
        let alone = place("othersx50%", &site("1", "1"));
        assert!(matches!(alone, Err(PlacementError::NoOthers { .. })));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let two = site("0-1", "");
        assert_eq!(
            place("cpus=1-4,50%", &two).unwrap_err().to_string(),
            "load: CPUs 2-4 are not usable: expected some of 0-1"
        );
        assert!(matches!(
            place("3x10%,pinned", &two),
            Err(PlacementError::TooMany { wanted: 3, usable: 2 })
        ));
        assert!(matches!(place("3x90%", &two), Err(PlacementError::Overfull { wanted: 270, .. })));
        assert!(matches!(
            place("cpu=0,60% + cpu=0,50%", &two),
            Err(PlacementError::CpuOverfull { cpu: CpuId(0), percent: 110 })
        ));
        assert!(matches!(
            place("cpus=0-1,60%,unpinned + cpu=0,90%", &two),
            Err(PlacementError::Overfull { wanted: 210, .. })
        ));
        assert!(place("3x10%", &two).is_ok());
        assert_eq!(place("1x10%", &site("", "")), Err(PlacementError::NoCpu));
        assert!(place("idle", &site("", "")).unwrap().slots.is_empty());
    }
}
