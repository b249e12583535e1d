//! What is asked of every machine alike: variants, gaps, sleeps; and what that means on a real one.

use crate::args::RampupArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::{self, time};
use flyball_lab::protocol::rampup::plan::{Condition, Plan};
use flyball_units::Nanos;

/// The gaps that are swept on this machine: half a decade apart.
const SWEEP: [&str; 7] = ["1ms", "3ms", "10ms", "30ms", "100ms", "300ms", "1s"];

/// Length of the spin there: the hardware's own choice takes some ten milliseconds, a governor's
/// some hundred.
const SPIN: &str = "200ms";

/// The gap, and how often it is slept: the kernel's signals have forgotten all work then.
const RESTED: (&str, u32) = ("10ms", 100);

/// What a variant is called where none is named.
const ONLY: &str = "as it is";

/// One variant, by its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its name.
    pub name: String,
    /// Its words, without those of the gaps.
    pub words: Vec<String>,
    /// Sleeps before a spin.
    pub sleeps: u32,
    /// Their lengths.
    pub gaps: Vec<Nanos>,
}

/// Length of the spin; `alone`: on this machine and nothing else.
pub fn spin(args: &RampupArgs, alone: bool) -> &str {
    let usual = if alone { SPIN } else { RampupArgs::SPIN };
    args.duration.as_deref().unwrap_or(usual)
}

/// The variants of the command line.
///
/// # Errors
/// A variant without a name or with one that is there already; a gap that is no time.
pub fn asked(args: &RampupArgs, alone: bool) -> Result<Vec<Asked>, Failure> {
    let usual: Vec<String> = match (args.gap.is_empty(), alone) {
        (false, _) => args.gap.clone(),
        (true, true) => SWEEP.map(str::to_owned).to_vec(),
        (true, false) => vec![RESTED.0.to_owned()],
    };
    let sleeps = args.sleeps.unwrap_or(if alone { 1 } else { RESTED.1 });
    let base = Asked {
        name: ONLY.to_owned(),
        words: Vec::new(),
        sleeps,
        gaps: times("--gap", usual.iter().map(String::as_str))?,
    };
    if args.variant.is_empty() {
        return Ok(vec![base]);
    }
    let mut all: Vec<Asked> = Vec::new();
    for text in &args.variant {
        let (name, settings) = super::variant::named(text)?;
        if all.iter().any(|one| one.name == name) {
            return Err(super::variant::same(name));
        }
        let mut one = Asked { name: name.to_owned(), ..base.clone() };
        for word in settings.split_whitespace() {
            match word.split_once('=') {
                Some(("gap", value)) => one.gaps = times("--variant: gap", value.split(','))?,
                Some(("sleeps", value)) => one.sleeps = number("sleeps", value)?,
                _ => one.words.push(word.to_owned()),
            }
        }
        all.push(one);
    }
    Ok(all)
}

/// The options with the governor and its tunables apart.
pub fn with_tunables(args: &RampupArgs) -> Result<RampupArgs, Failure> {
    let mut args = args.clone();
    if let Some(text) = &args.governor {
        let spec = flags::governor("--governor", text)?;
        let pair = |(name, value): (String, i64)| format!("{name}={value}");
        args.tunables = spec.tunables.into_iter().map(pair).collect();
        args.governor = spec.name;
    }
    Ok(args)
}

fn times<'a>(flag: &str, texts: impl Iterator<Item = &'a str>) -> Result<Vec<Nanos>, Failure> {
    texts.map(|text| Ok(Nanos(time(flag, text.trim())?.nanos()))).collect()
}

fn number<T: std::str::FromStr>(key: &str, value: &str) -> Result<T, Failure> {
    value.parse().map_err(|_| {
        Failure::new(Exit::Usage, format!("{key}: expected a whole number, found \"{value}\""))
    })
}

/// The plan for a real machine.
///
/// # Errors
/// What only a model has; a word that is no setting.
pub fn plan(args: &RampupArgs, asked: &[Asked], spin: &str) -> Result<Plan, Failure> {
    let only_models = [
        (args.series, "--series"),
        (!args.feature.is_empty(), "--feature"),
        (args.multiplier.is_some(), "--multiplier"),
        (args.hz.is_some(), "--hz"),
    ];
    if let Some((_, flag)) = only_models.iter().find(|(given, _)| *given) {
        return Err(model_only(flag));
    }
    let mut conditions = Vec::new();
    for one in asked {
        let mut condition = Condition {
            name: one.name.clone(),
            sleeps: one.sleeps,
            gaps: one.gaps.clone(),
            ..Condition::default()
        };
        let options = [
            ("governor", args.governor.clone()),
            ("uclamp_min", args.uclamp_min.map(|value| value.to_string())),
            ("uclamp_max", args.uclamp_max.map(|value| value.to_string())),
        ];
        for (key, value) in options {
            if let Some(value) = value {
                apply(&mut condition, key, &value)?;
            }
        }
        for word in args.tunables.iter().chain(&one.words) {
            match word.split_once('=') {
                Some((key, value)) => apply(&mut condition, key.trim(), value.trim())?,
                None => return Err(model_only(word)),
            }
        }
        conditions.push(condition);
    }
    let spin = Nanos(time("--duration", spin)?.nanos());
    Ok(Plan { conditions, repeats: args.repeats.get(), spin, seed: args.seed })
}

/// One setting of a real machine.
fn apply(condition: &mut Condition, key: &str, value: &str) -> Result<(), Failure> {
    if matches!(key, "hz" | "kernel" | "platform" | "placement" | "load" | "rampup_multiplier") {
        return Err(model_only(key));
    }
    condition.settings.set(key, value).map_err(|slip| {
        Failure::from(slip).hint("on a machine tunables are whole numbers; patches are for models")
    })
}

fn model_only(what: &str) -> Failure {
    Failure::new(Exit::Usage, format!("{what}: expected a setting that a real machine has"))
        .hint("only models have it: --machine model:NAME by itself")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn args(more: &[&str]) -> RampupArgs {
        let words = ["flyball", "rampup"].into_iter().chain(more.iter().copied());
        match crate::args::Cli::parse_from(words).command {
            Some(crate::args::Command::Rampup(args)) => with_tunables(&args).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn this_machine_alone_sweeps_gaps_and_others_rest() {
        let alone = asked(&args(&[]), true).unwrap();
        assert_eq!((alone[0].gaps.len(), alone[0].sleeps), (7, 1));
        let beside = asked(&args(&[]), false).unwrap();
        assert_eq!((beside[0].gaps[0], beside[0].sleeps), (Nanos::from_millis(10), 100));
    }

    #[test]
    fn variants_become_settings() {
        let args = args(&[
            "--governor",
            "schedutil",
            "--variant",
            "a: rate_limit_us=500 gap=1ms,5ms",
            "--variant",
            "b: uclamp_min=512 cpus=0 sleeps=3",
        ]);
        let asked = asked(&args, true).unwrap();
        let plan = plan(&args, &asked, "100ms").unwrap();
        let [a, b] = &plan.conditions[..] else { panic!("{plan:?}") };
        assert_eq!(a.settings.tunables["rate_limit_us"], 500);
        assert_eq!(a.settings.governor.as_deref(), Some("schedutil"));
        assert_eq!(a.gaps.len(), 2);
        assert_eq!((b.settings.clamp(), b.sleeps, b.gaps.len()), (Some((512, 1024)), 3, 7));
        assert_eq!(b.settings.cpus.as_ref().map(ToString::to_string).as_deref(), Some("0"));
    }

    #[test]
    fn what_only_models_have_is_refused() {
        for more in [&["--series"][..], &["--variant", "x: series"], &["--variant", "x: hz=100"]] {
            let args = args(more);
            let asked = asked(&args, true).unwrap();
            let failure = plan(&args, &asked, "100ms").unwrap_err();
            assert_eq!(failure.exit, Exit::Usage);
            assert!(failure.hint.unwrap().contains("only models"), "{more:?}");
        }
        assert!(asked(&args(&["--gap", "soon"]), true).is_err());
        assert!(asked(&args(&["--variant", "a:", "--variant", "a:"]), true).is_err());
    }
}
