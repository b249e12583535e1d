//! What a hold says.

use super::verify::{Delivered, Verdict};
use crate::args::Talk;
use crate::output;
use flyball_control::{Foreign, Plan, Recovered, Step};
use std::fmt::Write;

/// The plan, for `--dry-run`.
pub fn plan(plan: &Plan) -> String {
    let mut text = String::new();
    for step in plan.all() {
        let _ = writeln!(text, "{}", line(step));
    }
    for tuning in &plan.tunables {
        let (policy, governor, name) = (tuning.policy, &tuning.governor, &tuning.name);
        let _ = writeln!(text, "policy{policy}, {governor}: {name} = {}", tuning.value);
    }
    if let Some(limit) = plan.idle_latency {
        let _ = writeln!(text, "/dev/cpu_dma_latency: held open with {} us", limit.0 / 1_000);
    }
    for note in &plan.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn line(step: &Step) -> String {
    let path = step.path.display();
    match (step.is_change(), step.old.as_str()) {
        (false, _) => format!("{path}: {}, already", step.new),
        (true, "") => format!("{path}: {}", step.new),
        (true, old) => format!("{path}: {old} -> {}", step.new),
    }
}

/// What is held.
pub fn held(plan: &Plan, talk: Talk) {
    if talk.quiet {
        return;
    }
    let changes = plan.all().filter(|step| step.is_change()).count();
    let settings = if changes == 1 { "setting" } else { "settings" };
    let domains = match plan.domains.len() {
        1 => "1 clock domain".to_owned(),
        count => format!("{count} clock domains"),
    };
    output::talk(&format!("held: {changes} {settings} changed, {domains}"));
    if talk.verbose {
        plan.all().for_each(|step| output::talk(&line(step)));
    }
    if let Some(limit) = plan.idle_latency {
        output::talk(&format!("held: idle states that wake within {} us", limit.0 / 1_000));
    }
    for note in &plan.notes {
        output::talk(&format!("note: {note}"));
    }
}

/// What the cores deliver.
pub fn delivered(all: &[Delivered], talk: Talk) {
    for one in all {
        let cpu = one.cpu;
        let text = match (one.verdict, one.khz, one.pinned_khz) {
            (Verdict::Differs, Some(khz), Some(pinned)) => format!(
                "warning: {cpu}: expected {} MHz, found {} MHz delivered",
                pinned / 1_000,
                khz / 1_000
            ),
            (_, Some(khz), _) if !talk.quiet => {
                format!("{cpu}: delivers {} MHz{}", khz / 1_000, how(one))
            }
            (Verdict::Unknown, None, Some(_)) if !talk.quiet => {
                format!("note: {cpu}: what it delivers is not known: {}", one.note)
            }
            _ => continue,
        };
        output::talk(&text);
    }
}

fn how(one: &Delivered) -> &'static str {
    match one.verdict {
        Verdict::Agrees => ", as asked for",
        Verdict::Differs | Verdict::Unknown => "",
    }
}

/// What a killed hold had left.
pub fn recovered(recovered: &Recovered, talk: Talk) {
    match recovered {
        Recovered::Nothing => {}
        Recovered::EarlierBoot { owner } => output::talk(&format!(
            "note: the hold of {owner} ended with an earlier boot: its settings went with that; \
             its journal is removed"
        )),
        Recovered::Restored { owner, files, foreign: others, gone } => {
            if !talk.quiet {
                let settings = if *files == 1 { "setting" } else { "settings" };
                output::talk(&format!("restored {files} {settings} of {owner}, which was killed"));
            }
            others.iter().for_each(foreign);
            for path in gone {
                output::talk(&format!("note: {} went with its CPUs", path.display()));
            }
        }
    }
}

/// What somebody else had written.
pub fn foreign(foreign: &Foreign) {
    let Foreign { path, found, restored } = foreign;
    output::talk(&format!(
        "warning: {} had {found}, neither the hold's value nor the one before; it is {restored} \
         again",
        path.display()
    ));
}
