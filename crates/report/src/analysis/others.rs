//! Who else used the CPUs while something was measured.

use std::collections::BTreeMap;

use super::findings::finding;
use super::rows::SetAside;
use super::source::Context;
use super::words;
use crate::model::Finding;

/// Below this share of the CPUs others are not worth a line.
const NOTABLE: f64 = 0.01;
/// From this share of the CPUs on others are worth waiting for.
const DISTURBING: f64 = 0.10;
/// Programs that are named.
const NAMED: usize = 3;

/// One line: who took how much of the CPUs, and what was done about it.
pub(super) fn users(context: &Context<'_>, prefix: &str) -> Option<Finding> {
    let table = &context.run.tables.cpu_users;
    let (mut whole, mut stolen) = (0.0, 0.0);
    let mut others: BTreeMap<&str, f64> = BTreeMap::new();
    for row in 0..table.len() {
        let (Some(who), Some(&cpu_ns)) = (table.who.get(row), table.cpu_ns.get(row)) else {
            continue;
        };
        let time = cpu_ns as f64;
        match who {
            // Every stretch has exactly one row of the run itself.
            "run" => {
                let ends = table.from_ns.get(row).zip(table.to_ns.get(row));
                let length = ends.map_or(0, |(from, to)| to.saturating_sub(*from));
                whole += length as f64 * f64::from(table.cpus.get(row).copied().unwrap_or(0));
            }
            "hypervisor" => stolen += time,
            _ => *others.entry(table.name.get(row).unwrap_or_default()).or_default() += time,
        }
    }
    let aside = SetAside::of(context.run).len() as u64;
    let taken = others.values().sum::<f64>() + stolen;
    if whole <= 0.0 || (taken / whole < NOTABLE && aside == 0) {
        return None;
    }
    let mut others: Vec<(&str, f64)> = others.into_iter().collect();
    others.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut named: Vec<String> = (others.iter().take(NAMED))
        .filter(|(_, time)| time / whole >= NOTABLE / 2.0)
        .map(|(name, time)| format!("{name} {}", words::share(time / whole)))
        .collect();
    if stolen / whole >= NOTABLE / 2.0 {
        named.push(format!("the hypervisor {}", words::share(stolen / whole)));
    }
    let by = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
    let again = match aside {
        0 => String::new(),
        1 => "; 1 block was disturbed by them, set aside and done again".to_owned(),
        many => {
            let blocks = words::count(many, "block");
            format!("; {blocks} were disturbed by them, set aside and done again")
        }
    };
    let share = words::share(taken / whole);
    let text = format!("{prefix}others used {share} of the CPUs while it ran{by}{again}");
    let advice = (taken / whole >= DISTURBING)
        .then_some("wait_quiet in the experiment waits until they are done");
    Some(finding("other programs", text, advice))
}
