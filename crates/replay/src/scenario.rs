//! A recording as a scenario, which a model simulates and a board plays.

use crate::error::ReplayError;
use crate::place::Load;
use flyball_sim::scenario::recorded;
use flyball_sim::workload::Pace;
use flyball_units::Pattern;
use std::fmt::Write;

/// The longest name of a thread that the kernel keeps.
const LONGEST_NAME: usize = 15;

/// The scenario of a load on a platform, and a kernel where that is not the platform's own, as TOML: a task for each CPU
/// or task of the recording of which the name fits `tasks`, with its number or without, or for all where that is empty.
/// Platform and kernel are names that ship, or files.
///
/// # Errors
/// Work that becomes due after the work before it; nothing that fits.
pub fn scenario(
    load: &Load,
    platform: &str,
    kernel: Option<&str>,
    tasks: &[Pattern],
) -> Result<String, ReplayError> {
    if load.pace == Pace::Closed {
        let found = "a closed loop";
        return Err(ReplayError::usage("scenario", "items that are due when they were", found));
    }
    let fits = |name: &str| {
        let any = |name: &str| tasks.iter().any(|task| task.fits(name));
        tasks.is_empty() || any(name) || any(plain(name))
    };
    let stints: Vec<_> = load
        .stints
        .iter()
        .filter(|stint| fits(&stint.name) && stint.items.iter().any(|item| item.work.cycles > 0))
        .collect();
    if stints.is_empty() {
        let mut names: Vec<&str> = load.stints.iter().map(|stint| plain(&stint.name)).collect();
        names.sort_unstable();
        names.dedup();
        let asked: Vec<&str> = tasks.iter().map(|task| task.0.as_str()).collect();
        let found = format!("{} among {}", asked.join(", "), list(&names));
        return Err(ReplayError::usage(&load.name, "the name of a task that works there", found));
    }
    let mut text = format!("# {}, recorded\n", load.name);
    for note in &load.notes {
        let _ = writeln!(text, "# {note}");
    }
    let _ = writeln!(text, "platform = {platform:?}");
    if let Some(kernel) = kernel {
        let _ = writeln!(text, "kernel = {kernel:?}");
    }
    let _ = writeln!(text, "duration = \"{}\"", load.duration);
    let mut names: Vec<String> = Vec::new();
    for stint in stints {
        let name = own_name(&stint.name, &names);
        let cpu = (!load.free).then_some(stint.cpu.0);
        let items = stint.items.iter().filter(|item| item.work.cycles > 0);
        let items = items.map(|item| (item.released, item.work.cycles));
        let _ = write!(text, "\n{}", recorded::write(&name, cpu, load.interval, items));
        names.push(name);
    }
    Ok(text)
}

/// The first of a long list.
fn list(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// A task's name without its number, which says nothing anywhere else.
fn plain(name: &str) -> &str {
    let numbered = name.rsplit_once('-').filter(|(_, tid)| tid.parse::<u32>().is_ok());
    numbered.map_or(name, |(plain, _)| plain)
}

/// A name that the kernel keeps whole and TOML takes, unlike those before.
fn own_name(name: &str, taken: &[String]) -> String {
    let shown = |c: char| c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ';
    let plain: String = plain(name).chars().map(|c| if shown(c) { c } else { '_' }).collect();
    let mut number = 1;
    loop {
        let end = if number == 1 { String::new() } else { format!("-{number}") };
        let room = LONGEST_NAME - end.len();
        let cut = (0..=room.min(plain.len())).rev().find(|at| plain.is_char_boundary(*at));
        let name = format!("{}{end}", &plain[..cut.unwrap_or(0)]);
        if !taken.contains(&name) {
            return name;
        }
        number += 1;
    }
}
