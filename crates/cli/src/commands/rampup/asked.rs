//! What the flags ask of every machine alike.

use crate::args::RampupArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::time;
use flyball_lab::protocol::rampup::{Ask, AskError, Variant};
use flyball_units::{GovernorSpec, Mismatch, Nanos};

/// The gaps that are swept on this machine: half a decade apart.
const SWEEP: [&str; 7] = ["1ms", "3ms", "10ms", "30ms", "100ms", "300ms", "1s"];

/// Length of the spin there: the hardware's own choice takes some ten milliseconds, a governor's
/// some hundred.
const SPIN: &str = "200ms";

/// The gap, and how often it is slept: the kernel's signals have forgotten all work then.
const RESTED: (&str, u32) = ("10ms", 100);

/// What a variant is called where none is named.
pub const ONLY: &str = "as it is";

/// Length of the spin; `alone`: on this machine and nothing else.
pub fn spin(args: &RampupArgs, alone: bool) -> &str {
    let usual = if alone { SPIN } else { RampupArgs::SPIN };
    args.duration.as_deref().unwrap_or(usual)
}

/// What the command line asks for.
///
/// # Errors
/// A variant without a name or with one that is there already; a time that does not read.
pub fn asked(args: &RampupArgs, alone: bool) -> Result<Ask, Failure> {
    let length = spin(args, alone);
    let spin = Nanos(time("--duration", length)?.nanos());
    if spin == Nanos::ZERO {
        let slip = Mismatch::text("a time above 0 for the spin", length).at("--duration");
        return Err(slip.hint("such as --duration 300ms; the sleeps before it come on top").into());
    }
    let events = args.trace.as_ref().map(|text| {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    });
    Ok(Ask {
        words: words(args)?,
        variants: variants(args, alone)?,
        spin,
        repeats: args.repeats.get(),
        phases: args.phases,
        seed: args.seed,
        events,
    })
}

/// The settings of all variants.
fn words(args: &RampupArgs) -> Result<Vec<String>, Failure> {
    let mut words = match &args.governor {
        Some(text) => governor("--governor", text)?,
        None => Vec::new(),
    };
    let numbers = [
        ("hz", args.hz),
        ("uclamp_min", args.uclamp_min),
        ("uclamp_max", args.uclamp_max),
        ("rampup_multiplier", args.multiplier),
    ];
    let number = |(key, number): (&str, Option<u32>)| Some(format!("{key}={}", number?));
    words.extend(numbers.into_iter().filter_map(number));
    words.extend(args.series.then(|| "series".to_owned()));
    for setting in &args.feature {
        let (key, value) = setting.split_once('=').ok_or_else(|| {
            let text = format!("--feature: expected KEY=VALUE, found \"{setting}\"");
            Failure::new(Exit::Usage, text)
        })?;
        words.push(format!("features.{}={}", key.trim(), value.trim()));
    }
    Ok(words)
}

/// A governor and its tunables, a word each.
fn governor(place: &str, text: &str) -> Result<Vec<String>, Failure> {
    let (name, tunables) = GovernorSpec::name_and_tunables(text).map_err(|slip| slip.at(place))?;
    let name = name.map(|name| format!("governor={name}"));
    let pair = |(name, value): (String, i64)| format!("{name}={value}");
    Ok(name.into_iter().chain(tunables.into_iter().map(pair)).collect())
}

fn variants(args: &RampupArgs, alone: bool) -> Result<Vec<Variant>, Failure> {
    let usual: Vec<&str> = match (args.gap.is_empty(), alone) {
        (false, _) => args.gap.iter().map(String::as_str).collect(),
        (true, true) => SWEEP.to_vec(),
        (true, false) => vec![RESTED.0],
    };
    let base = Variant {
        name: ONLY.to_owned(),
        words: Vec::new(),
        sleeps: args.sleeps.unwrap_or(if alone { 1 } else { RESTED.1 }),
        gaps: times("--gap", usual.into_iter())?,
    };
    if args.variant.is_empty() {
        return Ok(vec![base]);
    }
    let mut all: Vec<Variant> = Vec::new();
    for text in &args.variant {
        let (name, settings) = text.split_once(':').ok_or_else(|| {
            let text = format!("--variant: expected NAME: SETTINGS, found \"{text}\"");
            Failure::new(Exit::Usage, text)
                .hint("such as --variant 'series: series rate_limit_us=70'")
        })?;
        let name = name.trim();
        if name.is_empty() || all.iter().any(|one| one.name == name) {
            let text = format!("--variant: expected names that differ, found \"{name}\"");
            return Err(Failure::new(Exit::Usage, text));
        }
        let mut one = Variant { name: name.to_owned(), ..base.clone() };
        for word in settings.split_whitespace() {
            match word.split_once('=') {
                Some(("gap", value)) => one.gaps = times("--variant: gap", value.split(','))?,
                Some(("sleeps", value)) => {
                    one.sleeps = value.parse().map_err(|_| {
                        let slip = Mismatch::text("a whole number", value);
                        Failure::from(slip.at("--variant: sleeps"))
                    })?;
                }
                Some(("governor", value)) => {
                    one.words.extend(governor("--variant: governor", value)?);
                }
                _ => one.words.push(word.to_owned()),
            }
        }
        all.push(one);
    }
    Ok(all)
}

fn times<'a>(flag: &str, texts: impl Iterator<Item = &'a str>) -> Result<Vec<Nanos>, Failure> {
    texts.map(|text| Ok(Nanos(time(flag, text.trim())?.nanos()))).collect()
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Failure {
        match error {
            AskError::Scenario(error) => error.into(),
            AskError::Setting(slip) => Failure::from(slip)
                .hint("on a machine tunables are whole numbers; patches are for models"),
            AskError::Word(_) => Failure::new(Exit::Usage, format!("--variant: {error}")),
            AskError::ModelOnly(_) => Failure::new(Exit::Usage, error)
                .hint("only models have it: --machine model:NAME by itself"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn args(more: &[&str]) -> RampupArgs {
        let words = ["flyball", "rampup"].into_iter().chain(more.iter().copied());
        match crate::args::Cli::parse_from(words).command {
            Some(crate::args::Command::Rampup(args)) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn this_machine_alone_sweeps_gaps_and_others_rest() {
        let alone = &asked(&args(&[]), true).unwrap().variants[0];
        assert_eq!((alone.gaps.len(), alone.sleeps), (7, 1));
        let beside = &asked(&args(&[]), false).unwrap().variants[0];
        assert_eq!((beside.gaps[0], beside.sleeps), (Nanos::from_millis(10), 100));
    }

    #[test]
    fn variants_become_settings() {
        let args = args(&[
            "--governor",
            "schedutil",
            "--variant",
            "a: rate_limit_us=500 gap=1ms,5ms",
            "--variant",
            "b: uclamp_min=512 cpus=0 sleeps=3 governor=ondemand:up_threshold=60",
        ]);
        let plan = asked(&args, true).unwrap().plan().unwrap();
        let [a, b] = &plan.conditions[..] else { panic!("{plan:?}") };
        assert_eq!(a.settings.tunables["rate_limit_us"], 500);
        assert_eq!(a.settings.governor.as_deref(), Some("schedutil"));
        assert_eq!(a.gaps.len(), 2);
        assert_eq!((b.settings.clamp(), b.sleeps, b.gaps.len()), (Some((512, 1024)), 3, 7));
        assert_eq!(b.settings.governor.as_deref(), Some("ondemand"));
        assert_eq!(b.settings.tunables["up_threshold"], 60);
        assert_eq!(b.cpus.as_ref().map(ToString::to_string).as_deref(), Some("0"));
    }

    #[test]
    fn what_only_models_have_is_refused() {
        for more in [&["--series"][..], &["--variant", "x: series"], &["--variant", "x: hz=100"]] {
            let error = asked(&args(more), true).unwrap().plan().unwrap_err();
            let failure = Failure::from(error);
            assert_eq!(failure.exit, Exit::Usage);
            assert!(failure.hint.unwrap().contains("only models"), "{more:?}");
        }
        assert!(asked(&args(&["--gap", "soon"]), true).is_err());
        assert!(asked(&args(&["--variant", "a:", "--variant", "a:"]), true).is_err());
    }
}
