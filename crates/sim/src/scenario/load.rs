//! Background load on a machine of so many CPUs.

use super::model::LoadGroup;
use flyball_units::load::{CpuChoice, Group, Profile};
use flyball_units::{CpuId, Mismatch};

/// Reads a profile for a machine with `cpus` CPUs.
pub fn parse(text: &str, cpus: u32) -> Result<Vec<LoadGroup>, Mismatch> {
    let profile: Profile = text.parse()?;
    profile.groups.iter().map(|one| group(one, cpus)).collect()
}

fn group(group: &Group, cpus: u32) -> Result<LoadGroup, Mismatch> {
    let wrong = |expected: String| Mismatch::text(expected, &group.to_string());
    let plain = Group { pinned: group.pinned, ..Group::new(group.cpus.clone(), group.percent) };
    if *group != plain {
        return Err(wrong("a load of CPUs and percent alone on a model".to_owned()));
    }
    let (count, list) = match &group.cpus {
        CpuChoice::All => (cpus, None),
        CpuChoice::Half => ((cpus / 2).max(1), None),
        CpuChoice::Count(count) => (*count, None),
        CpuChoice::List(list) => (list.len() as u32, Some(list.iter().collect::<Vec<CpuId>>())),
        CpuChoice::Others => {
            return Err(wrong(
                "CPUs by number or count, for a scenario measures on none".to_owned(),
            ));
        }
    };
    if let Some(CpuId(cpu)) = list.iter().flatten().find(|cpu| cpu.0 >= cpus) {
        let last = cpus.saturating_sub(1);
        return Err(Mismatch::value(
            format!("CPUs 0 to {last}"),
            format_args!("{cpu} in \"{group}\""),
        ));
    }
    if group.pinned && count > cpus {
        return Err(wrong(format!("at most {cpus} pinned threads")));
    }
    let tasks = match (group.pinned, list) {
        (false, None) => vec![Vec::new(); count as usize],
        (false, Some(list)) => vec![list; count as usize],
        (true, None) => (0..count).map(|cpu| vec![CpuId(cpu)]).collect(),
        (true, Some(list)) => list.into_iter().map(|cpu| vec![cpu]).collect(),
    };
    Ok(LoadGroup { tasks, percent: group.percent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles() {
        assert_eq!(parse("idle", 8), Ok(vec![]));
        let medium = parse("medium", 8).unwrap();
        assert_eq!((medium[0].tasks.len(), medium[0].percent), (4, 50));
        assert_eq!(parse("heavy", 8).unwrap()[0].tasks.len(), 8);
        let both = parse("2x50% + cpus=0-1,3,percent=90", 4).unwrap();
        assert_eq!(both[0].tasks, vec![vec![], vec![]]);
        assert_eq!(both[1].tasks, vec![vec![CpuId(0)], vec![CpuId(1)], vec![CpuId(3)]]);
        assert_eq!(both[1].percent, 90);
        let pinned = parse("2x50%,pinned + cpus=2-3,10%,unpinned", 4).unwrap();
        assert_eq!(pinned[0].tasks, vec![vec![CpuId(0)], vec![CpuId(1)]]);
        assert_eq!(pinned[1].tasks, vec![vec![CpuId(2), CpuId(3)]; 2]);
    }

    #[test]
    fn what_is_none() {
        for (text, words) in [
            ("hevy", "did you mean `heavy`?"),
            ("0x50%", "count: expected a whole number of threads from 1"),
            ("2x500%", "from 1 to 100"),
            ("cpus=0-9,percent=90", "CPUs 0 to 3"),
            ("cpus=0", "expected percent"),
            ("5x50%,pinned", "at most 4 pinned threads"),
            ("2x50%,memory", "expected a load of CPUs and percent alone"),
            ("othersx50%", "expected CPUs by number or count"),
            ("", "expected a load"),
        ] {
            let line = parse(text, 4).unwrap_err().line();
            assert!(line.contains(words), "{text}: {line}");
        }
    }
}
