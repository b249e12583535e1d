//! Joins a log of frequency writes seen from outside with the changes of a trace: the offset
//! between the two clocks is found by aligning the one with the other, and every write and every
//! change is accounted for.
//!
//! A logger that looks at a register now and then sees a write late, twice, or not at all; so the
//! offset is the one at which the most changes meet a write of the same domain and frequency.

use flyball_run::manifest::{FileRecord, Machine};
use flyball_run::{Frequencies, FrequencySample};
use serde::Serialize;

use super::builder::Built;
use super::clocks::SOURCE;
use super::pstates::Write;

/// What the rows of joined writes say where they come from.
pub const WRITE_SOURCE: &str = "p_state_write";
/// Width of the window in which differences count as the same offset.
const WINDOW_NS: i64 = 500_000;
/// A write that is seen later than this after a change belongs to no change.
const LATE_MAX_NS: i64 = 10_000_000;
/// Fewer aligned changes than this may be chance.
const ALIGNED_MIN: usize = 3;
/// Pairs of changes and writes that are looked at.
const PAIRS_MAX: usize = 4_000_000;

/// How a log meets a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Join {
    /// The log's clock minus the trace's: the median over the aligned changes.
    pub offset_ns: i64,
    /// The farthest that an aligned change lies from it.
    pub uncertainty_ns: u64,
    /// Changes that were aligned.
    pub aligned: usize,
    /// Writes by CPUs of no clock domain that the trace shows.
    pub foreign: usize,
    /// One per clock domain.
    pub domains: Vec<DomainJoin>,
}

/// How the writes of one clock domain meet its changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DomainJoin {
    /// The clock domain.
    pub domain: String,
    /// Changes in the trace.
    pub changes: usize,
    /// Writes in the log.
    pub writes: usize,
    /// Writes before the trace's first event.
    pub before: usize,
    /// Writes after its last.
    pub after: usize,
    /// Changes that a write meets within the window of the alignment.
    pub prompt: usize,
    /// Changes whose write was seen later.
    pub late: usize,
    /// The latest of these.
    pub latest_ns: u64,
    /// Changes without a write.
    pub unseen: usize,
    /// Writes in the trace's time that repeat the frequency already in force: seen twice.
    pub repeats: usize,
    /// Writes in the trace's time that no change explains.
    pub unexplained: usize,
}

impl DomainJoin {
    /// What became of every write and change, in words.
    pub fn sentence(&self) -> String {
        let inside = self.writes - self.before - self.after;
        let mut text = format!(
            "{}: {} changes in the trace, {} writes in the log: {} before the trace began, {} after it ended, {inside} in its time",
            self.domain, self.changes, self.writes, self.before, self.after
        );
        text += &format!("; {} of the changes are among these", self.prompt + self.late);
        let ms = self.latest_ns as f64 / 1e6;
        for (count, what) in [
            (self.late, format!("of them seen late, up to {ms:.1} ms: {}", self.late)),
            (self.unseen, format!("changes that were not seen: {}", self.unseen)),
            (
                self.repeats,
                format!("writes of the frequency in force, seen twice: {}", self.repeats),
            ),
            (self.unexplained, format!("writes that no change explains: {}", self.unexplained)),
        ] {
            if count > 0 {
                text += &format!("; {what}");
            }
        }
        text
    }
}

impl Join {
    /// The offset and every domain, in words.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = vec![format!(
            "its clock is {:.3} ms ahead of the trace's, within {:.3} ms, by {} aligned changes",
            self.offset_ns as f64 / 1e6,
            self.uncertainty_ns as f64 / 1e6,
            self.aligned
        )];
        sentences.extend(self.domains.iter().map(DomainJoin::sentence));
        sentences
    }
}

/// A change or a write: domain by its position, time, frequency.
type Point = (usize, i64, u64);

/// Finds the offset and accounts for every write.
///
/// # Errors
/// What was found instead of an offset, in words.
pub fn join(
    frequency: &Frequencies,
    machine: Option<&Machine>,
    writes: &[Write],
    span: Option<(u64, u64)>,
) -> Result<Join, String> {
    let domains = machine.map(|machine| machine.domains.as_slice()).unwrap_or_default();
    let rows = (0..frequency.len()).filter_map(|row| frequency.row(row));
    let changes: Vec<Point> = rows
        .filter(|row| row.source == SOURCE)
        .filter_map(|row| {
            let domain = domains.iter().position(|domain| domain.name == row.domain)?;
            Some((domain, i64::try_from(row.t_ns).ok()?, row.claimed_khz?))
        })
        .collect();
    let seen: Vec<Point> = writes
        .iter()
        .filter_map(|write| {
            let domain = domains.iter().position(|domain| domain.cpus.contains(&write.cpu))?;
            Some((domain, i64::try_from(write.t_ns).ok()?, write.khz))
        })
        .collect();
    let (offset_ns, uncertainty_ns, aligned) = align(&changes, &seen)?;
    let (from, to) = span.unwrap_or_default();
    let bound = |t_ns: u64| i64::try_from(t_ns).unwrap_or(i64::MAX).saturating_add(offset_ns);
    let inside = (bound(from), bound(to));
    let of_domain = |points: &[Point], number: usize| -> Vec<(i64, u64)> {
        points.iter().filter(|point| point.0 == number).map(|point| (point.1, point.2)).collect()
    };
    let account = |(number, record): (usize, &flyball_run::manifest::DomainRecord)| {
        let changes = of_domain(&changes, number);
        account(&record.name, &changes, &of_domain(&seen, number), offset_ns, inside)
    };
    let domains = domains.iter().enumerate().map(account).collect();
    Ok(Join { offset_ns, uncertainty_ns, aligned, foreign: writes.len() - seen.len(), domains })
}

/// The offset at which the most changes meet a write: a window slides over all differences.
fn align(changes: &[Point], writes: &[Point]) -> Result<(i64, u64, usize), String> {
    let looked_at = changes.len().min(PAIRS_MAX / writes.len().max(1));
    let mut differences: Vec<(i64, usize)> = Vec::new();
    for (number, change) in changes.iter().take(looked_at).enumerate() {
        let same = writes.iter().filter(|write| write.0 == change.0 && write.2 == change.2);
        differences.extend(same.map(|write| (write.1.saturating_sub(change.1), number)));
    }
    differences.sort_unstable();
    let mut met = vec![0_u32; looked_at];
    let (mut first, mut distinct, mut best) = (0, 0_usize, (0_usize, 0..0));
    for (last, (difference, number)) in differences.iter().enumerate() {
        if let Some(count) = met.get_mut(*number) {
            *count += 1;
            distinct += usize::from(*count == 1);
        }
        while let Some((begin, gone)) = differences.get(first)
            && difference.saturating_sub(*begin) > WINDOW_NS
        {
            if let Some(count) = met.get_mut(*gone) {
                *count -= 1;
                distinct -= usize::from(*count == 0);
            }
            first += 1;
        }
        if distinct > best.0 {
            best = (distinct, first..last + 1);
        }
    }
    let (aligned, window) = best;
    if aligned < ALIGNED_MIN.min(looked_at.max(1)) {
        let (changes, writes) = (changes.len(), writes.len());
        return Err(format!(
            "{aligned} of {changes} changes that meet one of {writes} writes at any offset"
        ));
    }
    let window = differences.get(window).unwrap_or_default();
    let (offset, _) = window.get(window.len() / 2).copied().unwrap_or_default();
    let farthest = window.iter().map(|(difference, _)| difference.abs_diff(offset)).max();
    Ok((offset, farthest.unwrap_or(0), aligned))
}

/// Every change takes the first write of its frequency that is not taken and not before it.
fn account(
    domain: &str,
    changes: &[(i64, u64)],
    writes: &[(i64, u64)],
    offset_ns: i64,
    (from, to): (i64, i64),
) -> DomainJoin {
    // A trace may claim any times.
    let (from, to) = (from.saturating_sub(WINDOW_NS), to.saturating_add(WINDOW_NS));
    let mut result = DomainJoin {
        domain: domain.to_owned(),
        changes: changes.len(),
        writes: writes.len(),
        before: writes.iter().filter(|write| write.0 < from).count(),
        after: writes.iter().filter(|write| write.0 > to).count(),
        ..DomainJoin::default()
    };
    let mut taken = vec![false; writes.len()];
    let mut next = 0;
    for &(t_ns, khz) in changes {
        let due = t_ns.saturating_add(offset_ns);
        // The writes are in order of time.
        let from =
            writes.partition_point(|write| write.0 < due.saturating_sub(WINDOW_NS)).max(next);
        let in_time = |write: &&(i64, u64)| write.0 <= due.saturating_add(LATE_MAX_NS);
        let mut candidates = writes.get(from..).unwrap_or_default().iter().take_while(in_time);
        let Some(at) = candidates.position(|write| write.1 == khz).map(|at| at + from) else {
            result.unseen += 1;
            continue;
        };
        let late_ns = writes.get(at).map_or(0, |write| write.0.saturating_sub(due));
        if late_ns <= WINDOW_NS {
            result.prompt += 1;
        } else {
            result.late += 1;
            result.latest_ns = result.latest_ns.max(late_ns.unsigned_abs());
        }
        if let Some(taken) = taken.get_mut(at) {
            *taken = true;
        }
        next = at + 1;
    }
    let mut in_force = None;
    for (&(t_ns, khz), taken) in writes.iter().zip(taken) {
        if !taken && (from..=to).contains(&t_ns) {
            if in_force == Some(khz) {
                result.repeats += 1;
            } else {
                result.unexplained += 1;
            }
        }
        in_force = Some(khz);
    }
    result
}

/// Adds the writes of the trace's time to the table `frequency`, on the trace's clock, and the
/// offset with its uncertainty to the manifest.
pub(super) fn add(built: &mut Built, name: &str, writes: &[Write], join: &Join) {
    let Some((from, to)) = built.span else { return };
    let domains = built.manifest.machine.as_ref().map(|machine| machine.domains.clone());
    let domains = domains.unwrap_or_default();
    let table = &built.tables.frequency;
    let mut rows: Vec<FrequencySample> =
        (0..table.len()).filter_map(|row| table.row(row)).collect();
    let before = rows.len();
    for write in writes {
        let t_ns = i64::try_from(write.t_ns).unwrap_or(i64::MAX).saturating_sub(join.offset_ns);
        let t_ns = u64::try_from(t_ns).ok().filter(|t_ns| (from..=to).contains(t_ns));
        let domain = domains.iter().find(|domain| domain.cpus.contains(&write.cpu));
        if let (Some(t_ns), Some(domain)) = (t_ns, domain) {
            rows.push(FrequencySample {
                t_ns,
                domain: domain.name.clone(),
                delivered_khz: Some(write.khz),
                source: WRITE_SOURCE.to_owned(),
                ..FrequencySample::default()
            });
        }
    }
    let added = (rows.len() - before) as u64;
    rows.sort_by_key(|row| row.t_ns);
    built.tables.frequency = Frequencies::default();
    rows.into_iter().for_each(|row| built.tables.frequency.push(row));
    for clock in built.manifest.clocks.iter_mut().filter(|clock| clock.table == "frequency") {
        clock.offset_to = Some(format!("log {name}"));
        clock.offset_ns = Some(join.offset_ns);
        clock.uncertainty_ns = Some(join.uncertainty_ns);
    }
    if let Some(source) = &mut built.manifest.source {
        let path = name.to_owned();
        let skipped = writes.len() as u64 - added;
        source.files.push(FileRecord { path, rows: added, skipped, ..FileRecord::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn the_offset_is_where_most_changes_meet() {
        let changes = [(0, 10 * MS, 1), (0, 20 * MS, 2), (0, 35 * MS, 1), (1, 40 * MS, 1)];
        let mut writes: Vec<Point> =
            changes.iter().map(|(domain, t, khz)| (*domain, t + 7 * MS + 1000, *khz)).collect();
        writes.insert(0, (0, 11 * MS, 1));
        assert_eq!(align(&changes, &writes), Ok((7 * MS + 1000, 0, 4)));
        assert!(align(&changes, &[(0, MS, 5)]).is_err());
        assert!(align(&[], &[]).is_err());
    }

    #[test]
    fn every_write_is_accounted_for() {
        let changes = [(10 * MS, 1), (20 * MS, 2), (30 * MS, 1), (40 * MS, 3)];
        let writes = [
            (MS, 9),
            (10 * MS, 1),
            (11 * MS, 1),
            (24 * MS, 2),
            (30 * MS, 1),
            (33 * MS, 7),
            (90 * MS, 1),
        ];
        let found = account("d", &changes, &writes, 0, (5 * MS, 60 * MS));
        let expected = DomainJoin {
            domain: "d".into(),
            changes: 4,
            writes: 7,
            before: 1,
            after: 1,
            prompt: 2,
            late: 1,
            latest_ns: 4_000_000,
            unseen: 1,
            repeats: 1,
            unexplained: 1,
        };
        assert_eq!(found, expected);
        assert!(found.sentence().contains("seen twice"));
    }
}
