//! Two kernels side by side: one scenario on both, and what lies behind each difference.
//!
//! What is different between the kernels is a list of changes, the named rules among them. The scenario
//! is played on the first kernel with each change alone as well: a change that by itself makes at
//! least half of a figure's difference is named behind it.

use crate::engine::SetupError;
use crate::record::{Outcome, Stop, Unit, spread};
use crate::scenario::Scenario;
use crate::sweep::run_phases;
use crate::text::{governors, value};
use flyball_platform::Kernel;
use flyball_units::KERNEL_RULES;
use serde_json::{Value, json};
use std::fmt::Write;

/// A smaller relative difference is not listed.
const LEAST_DIFFERENCE: f64 = 0.005;

/// The part of a difference that a change has to make by itself to be named.
const LEAST_SHARE: f64 = 0.5;

/// Something that one kernel has and the other does not.
#[derive(Clone, Debug)]
pub struct KernelChange {
    /// The rule's name, or that of a figure with both values.
    pub name: String,
    /// What it does, where it is a rule.
    pub effect: Option<&'static str>,
    /// The first kernel with this from the second one.
    kernel: Kernel,
}

/// A figure that differs.
#[derive(Clone, Debug)]
pub struct Difference {
    /// What it is about, and its name.
    pub subject: String,
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// The median over the phases on each kernel.
    pub medians: [f64; 2],
    /// The changes that make it by themselves, and their part of it.
    pub behind: Vec<(String, f64)>,
}

/// One scenario on two kernels.
#[derive(Clone, Debug)]
pub struct Beside {
    /// The kernels' names.
    pub kernels: [String; 2],
    /// What is different between them.
    pub changes: Vec<KernelChange>,
    /// What comes of it.
    pub differences: Vec<Difference>,
    /// Figures that do not differ.
    pub alike: usize,
    heading: String,
}

/// What has to be changed in the first kernel to make the second one of it, one by one.
pub fn changes(one: &Kernel, two: &Kernel) -> Vec<KernelChange> {
    let mut changes = Vec::new();
    for info in &KERNEL_RULES {
        let holds = two.rules.has(info.rule);
        if one.rules.has(info.rule) != holds {
            let kernel = Kernel { rules: one.rules.set(info.rule, holds), ..one.clone() };
            let (effect, word) = (Some(info.effect), if holds { "with" } else { "without" });
            changes.push(KernelChange { name: format!("{word} {}", info.name), effect, kernel });
        }
    }
    let mut number = |what: &str, values: [String; 2], kernel: Kernel| {
        let [from, to] = values;
        if from != to {
            changes.push(KernelChange {
                name: format!("{what} {from} -> {to}"),
                effect: None,
                kernel,
            });
        }
    };
    let text = |value: &dyn std::fmt::Debug| format!("{value:?}");
    let with = |change: &dyn Fn(&mut Kernel)| {
        let mut kernel = one.clone();
        change(&mut kernel);
        kernel
    };
    number(
        "HZ",
        [text(&one.hz), text(&two.hz)],
        with(&|k| (k.hz, k.stat_hz) = (two.hz, two.stat_hz)),
    );
    let us = |kernel: &Kernel| format!("{} us", kernel.slice.as_micros_f64());
    number("slice", [us(one), us(two)], with(&|k| k.slice = two.slice));
    let rate = |kernel: &Kernel| match kernel.rate_limit_us {
        Some(us) => format!("{us} us"),
        None => text(&kernel.rate_limit_rule),
    };
    number(
        "rate limit",
        [rate(one), rate(two)],
        with(&|k| {
            (k.rate_limit_us, k.rate_limit_rule) = (two.rate_limit_us, two.rate_limit_rule);
        }),
    );
    number("uclamp", [text(&one.uclamp), text(&two.uclamp)], with(&|k| k.uclamp = two.uclamp));
    number(
        "energy-aware",
        [text(&one.energy_aware), text(&two.energy_aware)],
        with(&|k| {
            (k.energy_aware, k.capacity_aware) = (two.energy_aware, two.capacity_aware);
        }),
    );
    number(
        "idle governor",
        [text(&one.idle_governor), text(&two.idle_governor)],
        with(&|k| k.idle_governor = two.idle_governor),
    );
    number(
        "tick of idle CPUs",
        [text(&one.idle_tick), text(&two.idle_tick)],
        with(&|k| k.idle_tick = two.idle_tick),
    );
    if one.features != two.features {
        let kernel = Kernel { features: two.features, ..one.clone() };
        let name = "patches of the response-time series".to_owned();
        changes.push(KernelChange { name, effect: None, kernel });
    }
    changes
}

/// Plays `one` on its kernel, on that of `two`, and with each change alone. None where it was stopped.
///
/// # Errors
/// A setup that contradicts itself.
pub fn beside(
    one: &Scenario,
    two: &Scenario,
    stop: Stop<'_>,
) -> Result<Option<Beside>, SetupError> {
    let play = |kernel: &Kernel| {
        let scenario = Scenario { kernel: kernel.clone(), ..one.clone() };
        let outcomes = run_phases(&scenario, 0..scenario.phases, stop, &|_| {})?;
        let whole = outcomes.len() == scenario.phases as usize;
        Ok::<_, SetupError>(whole.then(|| Figures::of(&outcomes)))
    };
    let changes = changes(&one.kernel, &two.kernel);
    let (Some(first), Some(second)) = (play(&one.kernel)?, play(&two.kernel)?) else {
        return Ok(None);
    };
    let mut alone = Vec::new();
    for change in &changes {
        match play(&change.kernel)? {
            Some(figures) => alone.push((change.name.as_str(), figures)),
            None => return Ok(None),
        }
    }
    let mut differences = Vec::new();
    let mut alike = 0;
    for (subject, name, unit, median) in &first.0 {
        let found = |figures: &Figures| figures.median(subject, name);
        let (Some(from), Some(to)) = (*median, found(&second)) else { continue };
        if (to - from).abs() <= LEAST_DIFFERENCE * from.abs().max(to.abs()) {
            alike += 1;
            continue;
        }
        let share = |(change, figures): &(&str, Figures)| {
            let part = (found(figures)? - from) / (to - from);
            (part >= LEAST_SHARE).then(|| ((*change).to_owned(), part))
        };
        differences.push(Difference {
            subject: subject.clone(),
            name: name.clone(),
            unit: *unit,
            medians: [from, to],
            behind: alone.iter().filter_map(share).collect(),
        });
    }
    let heading = format!(
        "{}\n{}, {}; {} phases of {} s",
        one.name,
        one.platform.title,
        governors(one),
        one.phases,
        one.duration.as_secs_f64()
    );
    let kernels = [one.kernel.name.clone(), two.kernel.name.clone()];
    Ok(Some(Beside { kernels, changes, differences, alike, heading }))
}

/// Subject, name, unit and median of each figure.
struct Figures(Vec<(String, String, Unit, Option<f64>)>);

impl Figures {
    fn of(outcomes: &[Outcome]) -> Figures {
        let first =
            outcomes.first().into_iter().flat_map(|outcome| outcome.metrics.iter().enumerate());
        let one = |(index, metric): (usize, &crate::record::Metric)| {
            let values = outcomes.iter().filter_map(|o| o.metrics.get(index).and_then(|m| m.value));
            let median = spread(values).map(|spread| spread.median);
            (metric.subject.clone(), metric.name.clone(), metric.unit, median)
        };
        Figures(first.map(one).collect())
    }

    fn median(&self, subject: &str, name: &str) -> Option<f64> {
        self.0.iter().find(|figure| figure.0 == subject && figure.1 == name)?.3
    }
}

impl Beside {
    /// For people.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.heading);
        let [one, two] = &self.kernels;
        let _ = writeln!(text, "\nfrom {one} to {two}");
        if self.changes.is_empty() {
            text.push_str("  nothing that the model knows is different\n");
        }
        for change in &self.changes {
            let effect = change.effect.map(|effect| format!(": {effect}")).unwrap_or_default();
            let _ = writeln!(text, "  {}{effect}", change.name);
        }
        let _ = writeln!(text, "\n{:<44}{one:>16}{two:>16}  behind it", "");
        let mut subject = "";
        for difference in &self.differences {
            if difference.subject != subject {
                let _ = writeln!(text, "{}", difference.subject);
                subject = &difference.subject;
            }
            let stem = difference.name.strip_suffix(difference.unit.suffix());
            let name = stem.unwrap_or(&difference.name).replace('_', " ");
            let [from, to] = difference.medians.map(|median| value(difference.unit, median));
            let part = |(name, part): &(String, f64)| format!("{name} ({:.0} %)", 100.0 * part);
            let mut behind: Vec<String> = difference.behind.iter().map(part).collect();
            if behind.is_empty() {
                behind.push("no change alone".to_owned());
            }
            let _ = writeln!(text, "  {name:<42}{from:>16}{to:>16}  {}", behind.join(", "));
        }
        let _ = writeln!(
            text,
            "{} other figures differ by {} % at most",
            self.alike,
            LEAST_DIFFERENCE * 100.0
        );
        text
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let changes =
            self.changes.iter().map(|change| json!({"name": change.name, "effect": change.effect}));
        let differences = self.differences.iter().map(|difference| {
            let behind = difference.behind.iter();
            let behind = behind.map(|(name, part)| json!({"name": name, "part": part}));
            json!({
                "subject": difference.subject,
                "name": difference.name,
                "unit": difference.unit,
                "medians": difference.medians,
                "behind": behind.collect::<Vec<_>>(),
            })
        });
        json!({
            "schema": "flyball-sim-beside/1",
            "kernels": self.kernels,
            "changes": changes.collect::<Vec<_>>(),
            "differences": differences.collect::<Vec<_>>(),
            "alike": self.alike,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Source, from_tree, parse_text, set};

    /// A frame of 1 ms at full speed every 16 ms on a large core, with the highest lower clamp.
    const FRAMES: &str = r#"
platform = "apple-m1"
duration = "400ms"
phases = 4

[[task]]
kind = "periodic"
name = "frame"
period = "16ms"
work = "1ms"
cpus = "4"
uclamp_min = 1024
"#;

    fn frames(kernel: &str) -> Scenario {
        let mut root = parse_text(FRAMES, "x.toml").unwrap();
        set(&mut root, "kernel", kernel).unwrap();
        let open = |_: &str| Err("no other file".to_owned());
        from_tree(&root, Source { origin: "x.toml", name: "frames", open: &open }).unwrap()
    }

    /// A clamp that counts late makes a frame longer: the rule is named, and no other.
    #[test]
    fn the_rule_behind_a_difference_is_named() {
        let (old, new) = (frames("linux-6.14-asahi"), frames("linux-6.18"));
        let found = beside(&old, &new, &|| false).unwrap().unwrap();
        let names: Vec<&str> = found.changes.iter().map(|change| change.name.as_str()).collect();
        assert_eq!(names[0], "without request-before-clamp");
        let response = found.differences.iter().find(|d| d.name == "response_p50_ns").unwrap();
        assert!(response.medians[0] > response.medians[1], "{response:?}");
        assert_eq!(response.behind.len(), 1, "{response:?}");
        assert_eq!(response.behind[0].0, "without request-before-clamp");
        let same = beside(&new, &new, &|| false).unwrap().unwrap();
        assert!(same.changes.is_empty() && same.differences.is_empty(), "{same:?}");
    }
}
