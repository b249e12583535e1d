//! Operating points and how a wanted frequency becomes one of them.

use crate::KiloHertz;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One operating point of a clock domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Opp {
    /// Its frequency.
    #[serde(rename = "khz")]
    pub frequency: KiloHertz,
    /// Whether another point gives more speed for the same energy or less: the kernel's energy
    /// model marks such points and relation E passes over them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inefficient: bool,
}

/// How a target frequency is resolved to an operating point (cpufreq's `CPUFREQ_RELATION_*`).
///
/// The variants with `E` prefer efficient points; where no efficient one lies inside the limits,
/// they fall back to the plain relation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// Lowest point at or above the target.
    #[default]
    L,
    /// Highest point at or below the target.
    H,
    /// Closest point; the lower one of two equally close.
    C,
    /// Lowest efficient point at or above the target.
    LE,
    /// Highest efficient point at or below the target.
    HE,
    /// Closest efficient point.
    CE,
}

/// Operating points in ascending order; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Opp>", into = "Vec<Opp>")]
pub struct OppTable(Vec<Opp>);

/// Why a list is no table of operating points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OppTableError {
    /// There is no point.
    Empty,
    /// A point has the frequency 0.
    Zero,
    /// Two points have the same frequency.
    Duplicate(KiloHertz),
}

impl OppTable {
    /// A table of the given points, in any order.
    pub fn new(mut opps: Vec<Opp>) -> Result<OppTable, OppTableError> {
        opps.sort_by_key(|opp| opp.frequency);
        match opps.first() {
            None => return Err(OppTableError::Empty),
            Some(first) if first.frequency.0 == 0 => return Err(OppTableError::Zero),
            Some(_) => {}
        }
        match opps.windows(2).find(|pair| pair[0].frequency == pair[1].frequency) {
            Some(pair) => Err(OppTableError::Duplicate(pair[0].frequency)),
            None => Ok(OppTable(opps)),
        }
    }

    /// A table of efficient points with these frequencies.
    pub fn from_khz(khz: &[u64]) -> Result<OppTable, OppTableError> {
        let opp = |&khz: &u64| Opp { frequency: KiloHertz(khz), inefficient: false };
        OppTable::new(khz.iter().map(opp).collect())
    }

    /// The points, ascending.
    pub fn as_slice(&self) -> &[Opp] {
        &self.0
    }

    /// Lowest frequency.
    pub fn min(&self) -> KiloHertz {
        self.0[0].frequency
    }

    /// Highest frequency.
    pub fn max(&self) -> KiloHertz {
        self.0[self.0.len() - 1].frequency
    }

    /// Number of the point with exactly this frequency, counted from the lowest.
    pub fn index_of(&self, frequency: KiloHertz) -> Option<usize> {
        self.0.binary_search_by_key(&frequency, |opp| opp.frequency).ok()
    }

    /// The next lower point's frequency; the lowest one's where there is none.
    pub fn step_down(&self, frequency: KiloHertz) -> KiloHertz {
        let below = self.0.partition_point(|opp| opp.frequency < frequency);
        self.0[below.saturating_sub(1)].frequency
    }

    /// The operating point for `target` under policy limits, as cpufreq resolves it: the target is
    /// clamped to the limits first, then the relation is applied inside them. Where no point lies
    /// on the relation's side, the nearest one on the other side is taken.
    pub fn resolve(
        &self,
        target: KiloHertz,
        min: KiloHertz,
        max: KiloHertz,
        relation: Relation,
    ) -> KiloHertz {
        let target = target.max(min).min(max);
        let (plain, efficient) = match relation {
            Relation::L => (Relation::L, false),
            Relation::H => (Relation::H, false),
            Relation::C => (Relation::C, false),
            Relation::LE => (Relation::L, true),
            Relation::HE => (Relation::H, true),
            Relation::CE => (Relation::C, true),
        };
        let chosen = self.find(target, plain, efficient);
        match chosen {
            Some(frequency) if !efficient || (min <= frequency && frequency <= max) => frequency,
            _ => self.find(target, plain, false).unwrap_or(self.min()),
        }
    }

    /// The relation over all points, or over the efficient ones only (None where there are none).
    fn find(&self, target: KiloHertz, relation: Relation, efficient: bool) -> Option<KiloHertz> {
        let split = self.0.partition_point(|opp| opp.frequency < target);
        let wanted = |opp: &&Opp| !efficient || !opp.inefficient;
        let above = self.0[split..].iter().find(wanted).map(|opp| opp.frequency);
        if above == Some(target) {
            return above;
        }
        let below = self.0[..split].iter().rfind(wanted).map(|opp| opp.frequency);
        match (relation, below, above) {
            (_, below, None) => below,
            (_, None, above) => above,
            (Relation::L | Relation::LE, _, above) => above,
            (Relation::H | Relation::HE, below, _) => below,
            (Relation::C | Relation::CE, Some(below), Some(above)) => {
                Some(if target.0 - below.0 > above.0 - target.0 { above } else { below })
            }
        }
    }
}

impl TryFrom<Vec<Opp>> for OppTable {
    type Error = OppTableError;
    fn try_from(opps: Vec<Opp>) -> Result<OppTable, OppTableError> {
        OppTable::new(opps)
    }
}

impl From<OppTable> for Vec<Opp> {
    fn from(table: OppTable) -> Vec<Opp> {
        table.0
    }
}

impl fmt::Display for OppTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OppTableError::Empty => f.write_str("no operating point, at least one expected"),
            OppTableError::Zero => f.write_str("an operating point of 0 kHz"),
            OppTableError::Duplicate(khz) => write!(f, "operating point {} kHz twice", khz.0),
        }
    }
}

impl std::error::Error for OppTableError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> OppTable {
        let opp = |khz, inefficient| Opp { frequency: KiloHertz(khz), inefficient };
        OppTable::new(vec![opp(600, false), opp(800, true), opp(1000, false), opp(1400, true)])
            .unwrap()
    }

    fn resolve(target: u64, relation: Relation) -> u64 {
        table().resolve(KiloHertz(target), KiloHertz(600), KiloHertz(1400), relation).0
    }

    #[test]
    fn each_relation_takes_its_side() {
        assert_eq!(resolve(700, Relation::L), 800);
        assert_eq!(resolve(700, Relation::H), 600);
        assert_eq!(resolve(700, Relation::C), 600, "of two equally close the lower");
        assert_eq!(resolve(701, Relation::C), 800);
        assert_eq!(resolve(800, Relation::H), 800);
        assert_eq!(resolve(9999, Relation::L), 1400);
        assert_eq!(resolve(1, Relation::H), 600);
    }

    #[test]
    fn efficient_relations_pass_over_inefficient_points() {
        assert_eq!(resolve(700, Relation::LE), 1000);
        assert_eq!(resolve(900, Relation::HE), 600);
        assert_eq!(resolve(1300, Relation::LE), 1000, "nothing efficient above: the highest");
        let inside = table().resolve(KiloHertz(800), KiloHertz(800), KiloHertz(800), Relation::LE);
        assert_eq!(inside.0, 800, "no efficient point inside the limits");
    }

    #[test]
    fn limits_clamp_the_target() {
        let frequency =
            table().resolve(KiloHertz(1400), KiloHertz(600), KiloHertz(900), Relation::H);
        assert_eq!(frequency.0, 800);
    }

    #[test]
    fn steps_end_at_the_lowest() {
        assert_eq!(table().step_down(KiloHertz(1000)).0, 800);
        assert_eq!(table().step_down(KiloHertz(600)).0, 600);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert_eq!(OppTable::from_khz(&[]), Err(OppTableError::Empty));
        assert_eq!(OppTable::from_khz(&[0, 1]), Err(OppTableError::Zero));
        assert_eq!(OppTable::from_khz(&[2, 2]), Err(OppTableError::Duplicate(KiloHertz(2))));
    }
}
