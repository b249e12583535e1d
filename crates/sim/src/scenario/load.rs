//! Background load profiles, in the words of `flyball bench`: `medium`, `2x50%`,
//! `cpus=0-3,percent=90`, joined with `+`.

use super::model::LoadGroup;
use super::quantity;
use flyball_units::{CpuId, nearest};

/// Length of one burst and the pause after it, as the load generator's.
pub const PERIOD_NS: u64 = 5_000_000;

/// Reads a profile for a machine with `cpus` CPUs.
pub fn parse(text: &str, cpus: u32) -> Result<Vec<LoadGroup>, String> {
    let mut groups = Vec::new();
    for part in text.split('+') {
        groups.extend(group(part.trim(), cpus)?);
    }
    Ok(groups)
}

fn group(text: &str, cpus: u32) -> Result<Option<LoadGroup>, String> {
    let free = |count: u32, percent| {
        Ok(Some(LoadGroup { tasks: vec![Vec::new(); count as usize], percent }))
    };
    match text {
        "idle" => return Ok(None),
        // Half of the CPUs at 50 %, all at 90 %: the sources' medium and heavy.
        "medium" => return free((cpus / 2).max(1), 50),
        "heavy" => return free(cpus, 90),
        _ => {}
    }
    if let Some((count, percent)) = text.split_once('x') {
        let count = count.trim().parse::<u32>().ok().filter(|count| (1..=4096).contains(count));
        let count = count.ok_or_else(|| wrong(text))?;
        return free(count, percent_of(percent, text)?);
    }
    on_cpus(text, cpus).map(Some)
}

/// `cpus=0-3,percent=90`: the commas inside the list of CPUs belong to it.
fn on_cpus(text: &str, cpus: u32) -> Result<LoadGroup, String> {
    let rest = text.strip_prefix("cpus=").ok_or_else(|| wrong(text))?;
    let (list, percent) = rest.rsplit_once(',').ok_or_else(|| wrong(text))?;
    let percent = percent.trim();
    let percent = percent.strip_prefix("percent=").unwrap_or(percent);
    let list = quantity::cpus(list)?;
    match list.iter().find(|cpu| cpu.0 >= cpus) {
        Some(CpuId(cpu)) => {
            Err(format!("expected CPUs 0 to {}, found {cpu} in \"{text}\"", cpus.saturating_sub(1)))
        }
        None => Ok(LoadGroup {
            tasks: list.into_iter().map(|cpu| vec![cpu]).collect(),
            percent: percent_of(percent, text)?,
        }),
    }
}

fn percent_of(text: &str, whole: &str) -> Result<u8, String> {
    let number = text.trim().trim_end_matches('%').trim();
    let percent = number.parse().ok().filter(|percent| (1..=100).contains(percent));
    percent.ok_or_else(|| format!("expected 1 to 100 %, found \"{text}\" in \"{whole}\""))
}

fn wrong(text: &str) -> String {
    let near = nearest(text, ["idle", "medium", "heavy"])
        .map(|near| format!("; did you mean \"{near}\"?"))
        .unwrap_or_default();
    format!(
        "expected a load (idle, medium, heavy, 2x50%, cpus=0-3,percent=90), found \"{text}\"{near}"
    )
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
    }

    #[test]
    fn what_is_none() {
        for (text, words) in [
            ("hevy", "did you mean \"heavy\"?"),
            ("0x50%", "expected a load"),
            ("2x500%", "1 to 100 %"),
            ("cpus=0-9,percent=90", "CPUs 0 to 3"),
            ("cpus=0", "expected a load"),
            ("", "expected a load"),
        ] {
            let error = parse(text, 4).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
