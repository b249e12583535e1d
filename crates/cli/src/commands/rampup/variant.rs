//! Variants of a ramp-up: each is a scenario, made of the command line's options and its own
//! settings.

use crate::args::RampupArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use flyball_sim::scenario::{Node, Scenario, Source, Value, from_tree, keys, parse_text, set};
use flyball_units::{Mismatch, Nanos};

/// One column of the result.
pub struct Variant {
    /// Its name.
    pub name: String,
    /// What is simulated.
    pub scenario: Scenario,
}

/// The command line's own run, and every `--variant` beside it. Where variants are named, the
/// command line alone is one of them only if it says something.
pub fn all(args: &RampupArgs, platform: &str, kernel: &str) -> Result<Vec<Variant>, Failure> {
    let base = base(args, platform, kernel)?;
    if args.variant.is_empty() {
        let mut only = read(platform.to_owned(), base, args)?;
        if let Some(governor) = only.scenario.governor_in_charge() {
            only.name = format!("{platform} {governor}");
        }
        return Ok(vec![only]);
    }
    let mut variants: Vec<Variant> = Vec::new();
    for text in &args.variant {
        let (name, settings) = named(text)?;
        if variants.iter().any(|variant| variant.name == name) {
            return Err(same(name));
        }
        let mut tree = base.clone();
        for setting in settings.split_whitespace() {
            apply(&mut tree, setting)?;
        }
        variants.push(read(name.to_owned(), tree, args)?);
    }
    Ok(variants)
}

/// Name and settings of a `--variant`.
pub fn named(text: &str) -> Result<(&str, &str), Failure> {
    let (name, settings) = text.split_once(':').ok_or_else(|| {
        Failure::new(Exit::Usage, format!("--variant: expected NAME: SETTINGS, found \"{text}\""))
            .hint("such as --variant 'series: series rate_limit_us=70'")
    })?;
    match name.trim() {
        "" => Err(same("")),
        name => Ok((name, settings)),
    }
}

/// A variant whose name says nothing.
pub fn same(name: &str) -> Failure {
    Failure::new(Exit::Usage, format!("--variant: expected names that differ, found \"{name}\""))
}

/// The scenario of the options alone.
fn base(args: &RampupArgs, platform: &str, kernel: &str) -> Result<Node, Failure> {
    let mut tree = parse_text("[[task]]\nkind = \"rampup\"\n", "rampup")?;
    // Texts in quotes, so that no name is taken for a number.
    let text = |value: &str| toml_text(value);
    set(&mut tree, "platform", &text(platform))?;
    set(&mut tree, "kernel", &text(kernel))?;
    if let Some(governor) = &args.governor {
        set(&mut tree, "governor.name", &text(governor))?;
    }
    set(&mut tree, "phases", &args.phases.to_string())?;
    let numbers = [
        ("hz", args.hz),
        ("task.0.uclamp_min", args.uclamp_min),
        ("task.0.uclamp_max", args.uclamp_max),
        ("task.0.rampup_multiplier", args.multiplier),
    ];
    for (path, number) in numbers {
        if let Some(number) = number {
            set(&mut tree, path, &number.to_string())?;
        }
    }
    if args.series {
        set(&mut tree, "features.series", "true")?;
    }
    for (flag, settings, table) in
        [("--governor", &args.tunables, "governor"), ("--feature", &args.feature, "features")]
    {
        for setting in settings {
            let (key, value) = setting.split_once('=').ok_or_else(|| {
                Failure::new(
                    Exit::Usage,
                    format!("{flag}: expected KEY=VALUE, found \"{setting}\""),
                )
            })?;
            set(&mut tree, &format!("{table}.{}", key.trim()), value.trim())?;
        }
    }
    Ok(tree)
}

/// One word of a variant: where its key belongs follows from its name.
fn apply(tree: &mut Node, setting: &str) -> Result<(), Failure> {
    if setting == "series" {
        return Ok(set(tree, "features.series", "true")?);
    }
    let (key, value) = setting.split_once('=').ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!("--variant: expected `series` or KEY=VALUE, found \"{setting}\""),
        )
    })?;
    let has = |keys: &[keys::Key]| keys.iter().any(|known| known.name == key);
    let rampup = keys::KINDS.iter().find(|kind| kind.name == "rampup");
    let path = match key {
        "governor" => "governor.name".to_owned(),
        "hz" | "kernel" | "platform" | "placement" | "load" => key.to_owned(),
        _ if has(keys::FEATURES) => format!("features.{key}"),
        _ if has(keys::TASK) || rampup.is_some_and(|kind| has(kind.keys)) => {
            format!("task.0.{key}")
        }
        _ => format!("governor.{key}"),
    };
    Ok(set(tree, &path, value)?)
}

/// The duration covers the sleeps and the time asked for behind them.
fn read(name: String, mut tree: Node, args: &RampupArgs) -> Result<Variant, Failure> {
    let asked = args.duration.as_deref().unwrap_or(RampupArgs::SPIN);
    let spin: Nanos = asked.parse().map_err(|slip: Mismatch| slip.at("--duration"))?;
    if spin == Nanos::ZERO {
        let slip = Mismatch::text("a time above 0 for the spin", asked).at("--duration");
        return Err(slip.hint("such as --duration 300ms; the sleeps before it come on top").into());
    }
    let total = Nanos(sleeps(&tree).0.saturating_add(spin.0));
    set(&mut tree, "duration", &toml_text(&format!("{}ns", total.0)))?;
    let scenario = from_tree(&tree, Source::text_only("command line", "rampup"))?;
    scenario.check("command line")?;
    Ok(Variant { name, scenario })
}

/// How long the task sleeps before it spins; what is wrong there, the reader says.
fn sleeps(tree: &Node) -> Nanos {
    let task = match tree.entry("task").map(|entry| &entry.node.value) {
        Some(Value::List(tasks)) => tasks.first(),
        _ => None,
    };
    let value = |key: &str| task.and_then(|task| task.entry(key)).map(|entry| &entry.node.value);
    let count = match value("sleeps") {
        Some(Value::Integer(count)) => u64::try_from(*count).unwrap_or(0),
        _ => 100,
    };
    let gap = match value("gap") {
        Some(Value::Text(gap)) => gap.parse().unwrap_or_default(),
        _ => Nanos::from_millis(10),
    };
    Nanos(gap.0.saturating_mul(count))
}

/// A text in TOML's quotes.
fn toml_text(text: &str) -> String {
    format!("{:?}", text)
}
