//! Stretches of time that may overlap, sorted into lanes in which none does.

/// Lanes that overlapping stretches may take.
const MOST: usize = 4;

/// A stretch of time, ns from the group's begin, and what it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stay {
    pub from: u64,
    pub to: u64,
    pub what: u32,
}

/// Stretches in lanes.
#[derive(Debug, Default)]
pub(super) struct Apart {
    /// The lanes, each ascending; the first has most. With each stretch its position in the input.
    pub lanes: Vec<Vec<(Stay, usize)>>,
    /// Stretches that overlapped more than four others and are in no lane.
    pub left: usize,
}

/// Puts each stretch into the first lane that is free at its begin.
pub(super) fn apart(stays: impl IntoIterator<Item = Stay>) -> Apart {
    let mut all: Vec<(Stay, usize)> =
        stays.into_iter().enumerate().map(|(at, stay)| (stay, at)).collect();
    // Tables are in order of ends, so mostly in order of begins as well.
    if !all.is_sorted_by_key(|(stay, _)| stay.from) {
        all.sort_by_key(|(stay, _)| (stay.from, stay.to));
    }
    if all.windows(2).all(|pair| pair[0].0.to <= pair[1].0.from) {
        return Apart { lanes: if all.is_empty() { Vec::new() } else { vec![all] }, left: 0 };
    }
    let mut found = Apart::default();
    for (stay, at) in all {
        let free =
            |lane: &Vec<(Stay, usize)>| lane.last().is_none_or(|(last, _)| last.to <= stay.from);
        match found.lanes.iter().position(free) {
            Some(lane) => found.lanes[lane].push((stay, at)),
            None if found.lanes.len() < MOST => found.lanes.push(vec![(stay, at)]),
            None => found.left += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_get_lanes_of_their_own_and_none_vanishes_unsaid() {
        let stay = |from, to| Stay { from, to, what: 0 };
        let input = [stay(10, 20), stay(0, 15), stay(20, 20), stay(15, 30), stay(20, 25)];
        let found = apart(input);
        let spans = |lane: &Vec<(Stay, usize)>| -> Vec<(u64, u64)> {
            lane.iter().map(|(stay, _)| (stay.from, stay.to)).collect()
        };
        let lanes: Vec<_> = found.lanes.iter().map(spans).collect();
        assert_eq!(lanes, [vec![(0, 15), (15, 30)], vec![(10, 20), (20, 20), (20, 25)]]);
        assert_eq!(found.lanes[0][0].1, 1, "its position in the input");
        let many = apart((0..7).map(|_| stay(0, 9)));
        assert_eq!((many.lanes.len(), many.left), (4, 3));
        assert!(apart([]).lanes.is_empty());
    }
}
