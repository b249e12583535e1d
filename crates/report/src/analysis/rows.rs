//! Which windows belong to which cell and repeat, without copying them.

use std::collections::HashMap;
use std::ops::Range;

use flyball_run::Windows;

use super::source::RunData;

/// The windows of one workload under one condition, warm-up left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CellRows {
    pub workload: String,
    pub condition: String,
    /// In order of first execution.
    pub repeats: Vec<RepeatRows>,
    /// Windows whose program failed: they are in no repeat, since a program that fails is often
    /// faster than one that works.
    pub failed: usize,
}

/// The windows of one repeat.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RepeatRows {
    pub repeat: u32,
    /// Block of the randomised order that its first window belongs to.
    pub block: u32,
    /// Rows of the table, in order of execution.
    pub spans: Vec<Range<usize>>,
}

/// The rows of some spans: in a crate that is built for size, adapters would be several calls for each.
struct Rows<I> {
    spans: I,
    here: Range<usize>,
}

impl<'a, I: Iterator<Item = &'a Range<usize>>> Iterator for Rows<I> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.here.start >= self.here.end {
            self.here = self.spans.next()?.clone();
        }
        self.here.start += 1;
        Some(self.here.start - 1)
    }
}

impl CellRows {
    /// Number of windows.
    pub fn len(&self) -> usize {
        self.repeats.iter().map(RepeatRows::len).sum()
    }

    /// Rows of the table, in order of execution.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        let spans = self.repeats.iter().flat_map(|repeat| &repeat.spans);
        Rows { spans, here: 0..0 }
    }
}

impl RepeatRows {
    pub fn len(&self) -> usize {
        self.spans.iter().map(ExactSizeIterator::len).sum()
    }

    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        Rows { spans: self.spans.iter(), here: 0..0 }
    }

    fn push(&mut self, row: usize) {
        match self.spans.last_mut() {
            Some(span) if span.end == row => span.end += 1,
            _ => self.spans.push(row..row + 1),
        }
    }
}

/// Codes of workload and condition, and the repeat.
type Key = (u32, u32, u32);

/// Position of a cell, and of a repeat in it.
type Place = (usize, usize);

/// Groups a run's windows into cells: workloads in the manifest's order, and within each the
/// conditions in the manifest's order; what the manifest does not name follows as it appears.
pub(super) fn group(run: &RunData) -> Vec<CellRows> {
    let windows = &run.tables.windows;
    let (workloads, conditions) = (&windows.workload, &windows.condition);
    let keys = workloads.codes().iter().zip(conditions.codes().iter()).zip(&windows.repeat);
    let mut cells: Vec<(u32, u32, CellRows)> = Vec::new();
    let mut index: HashMap<Key, Place> = HashMap::new();
    let mut last: Option<(Key, Place)> = None;
    let aside = SetAside::of(run);
    for (row, (((workload, condition), &repeat), &warmup)) in keys.zip(&windows.warmup).enumerate()
    {
        if warmup || aside.has(windows, row) {
            continue;
        }
        let key = (workload, condition, repeat);
        // Windows of one repeat stand together: the map is asked only where that changes.
        let place = match last {
            Some((known, place)) if known == key => place,
            _ => *index.entry(key).or_insert_with(|| {
                let names = (workloads.name(workload), conditions.name(condition));
                let block = windows.block.get(row).copied().unwrap_or(0);
                new_repeat(&mut cells, key, names, block)
            }),
        };
        last = Some((key, place));
        let Some((_, _, cell)) = cells.get_mut(place.0) else { continue };
        if failed(windows, row) {
            cell.failed += 1;
        } else if let Some(rows) = cell.repeats.get_mut(place.1) {
            rows.push(row);
        }
    }
    let order = Order::of(run);
    cells.sort_by_key(|(workload, condition, cell)| {
        (order.workload(&cell.workload, *workload), order.condition(&cell.condition, *condition))
    });
    cells.into_iter().map(|(_, _, cell)| cell).collect()
}

/// The blocks that others disturbed and that were done again.
#[derive(Debug)]
pub(super) struct SetAside(Vec<u32>);

impl SetAside {
    pub fn of(run: &RunData) -> SetAside {
        let order = run.manifest.order.iter();
        let mut blocks: Vec<u32> =
            order.filter(|trial| trial.set_aside).map(|trial| trial.block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        SetAside(blocks)
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn has(&self, windows: &Windows, row: usize) -> bool {
        let block = || windows.block.get(row).copied().unwrap_or(0);
        !self.0.is_empty() && self.0.binary_search(&block()).is_ok()
    }
}

/// Whether the program of the window in `row` failed.
pub(super) fn failed(windows: &Windows, row: usize) -> bool {
    windows.exit_status.get(row).is_some_and(|status| status != 0)
}

/// Adds an empty repeat, and its cell where it is the first; gives its place.
fn new_repeat(
    cells: &mut Vec<(u32, u32, CellRows)>,
    (workload, condition, repeat): Key,
    names: (Option<&str>, Option<&str>),
    block: u32,
) -> Place {
    let found = cells.iter().position(|cell| (cell.0, cell.1) == (workload, condition));
    let at = found.unwrap_or(cells.len());
    if found.is_none() {
        let name = |name: Option<&str>| name.unwrap_or_default().to_owned();
        let cell = CellRows {
            workload: name(names.0),
            condition: name(names.1),
            repeats: Vec::new(),
            failed: 0,
        };
        cells.push((workload, condition, cell));
    }
    let Some((_, _, cell)) = cells.get_mut(at) else { return (at, 0) };
    cell.repeats.push(RepeatRows { repeat, block, spans: Vec::new() });
    (at, cell.repeats.len() - 1)
}

/// The manifest's order of names.
struct Order<'a> {
    workloads: HashMap<&'a str, usize>,
    conditions: HashMap<&'a str, usize>,
}

impl<'a> Order<'a> {
    fn of(run: &'a RunData) -> Order<'a> {
        let manifest = &run.manifest;
        let workloads = manifest.workloads.iter().map(|workload| workload.name.as_str());
        let conditions = manifest.conditions.iter().map(|condition| condition.name.as_str());
        Order { workloads: numbered(workloads), conditions: numbered(conditions) }
    }

    fn workload(&self, name: &str, code: u32) -> (usize, u32) {
        (self.workloads.get(name).copied().unwrap_or(usize::MAX), code)
    }

    fn condition(&self, name: &str, code: u32) -> (usize, u32) {
        (self.conditions.get(name).copied().unwrap_or(usize::MAX), code)
    }
}

fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut numbers = HashMap::new();
    for (number, name) in names.enumerate() {
        numbers.entry(name).or_insert(number);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_run::Window;
    use flyball_run::manifest::WorkloadRecord;

    fn window(workload: &str, condition: &str, repeat: u32, warmup: bool) -> Window {
        Window {
            workload: workload.into(),
            condition: condition.into(),
            repeat,
            warmup,
            ..Window::default()
        }
    }

    #[test]
    fn groups_in_the_manifests_order_and_skips_warm_up() {
        let mut run = RunData::default();
        run.manifest.workloads =
            vec![WorkloadRecord { name: "car".into(), ..WorkloadRecord::default() }];
        for row in [
            window("noop", "idle", 1, true),
            window("noop", "idle", 1, false),
            window("car", "heavy", 2, false),
            window("car", "heavy", 1, false),
            window("car", "heavy", 2, false),
            window("car", "heavy", 2, false),
        ] {
            run.tables.windows.push(row);
        }
        let cells = group(&run);
        assert_eq!(cells.len(), 2);
        assert_eq!((cells[0].workload.as_str(), cells[0].len()), ("car", 4));
        assert_eq!(cells[0].repeats[0].repeat, 2);
        assert_eq!(cells[0].repeats[0].spans, [2..3, 4..6]);
        assert_eq!(cells[1].rows().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn windows_of_a_program_that_failed_are_counted_and_left_out() {
        let mut run = RunData::default();
        for exit_status in [Some(0), Some(1), None, Some(127)] {
            run.tables.windows.push(Window { exit_status, ..window("command", "idle", 1, false) });
        }
        let cells = group(&run);
        assert_eq!((cells[0].len(), cells[0].failed), (2, 2));
        assert_eq!(cells[0].rows().collect::<Vec<_>>(), [0, 2]);
    }
}
