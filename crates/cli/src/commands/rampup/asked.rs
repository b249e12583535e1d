//! What the flags ask of every machine alike.

use crate::args::RampupArgs;
use crate::failure::Failure;
use crate::flags::time;
use flyball_lab::protocol::rampup::{Ask, Variant, variant};
use flyball_units::{Mismatch, Nanos};

/// Length of the spin there: the hardware's own choice takes some ten milliseconds, a governor's
/// some hundred.
const SPIN: &str = "200ms";

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
        Some(text) => variant::governor(text).map_err(|slip| slip.at("--governor"))?,
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
        let slip = || Mismatch::text("KEY=VALUE", setting).at("--feature");
        let (key, value) = setting.split_once('=').ok_or_else(slip)?;
        words.push(format!("features.{}={}", key.trim(), value.trim()));
    }
    Ok(words)
}

fn variants(args: &RampupArgs, alone: bool) -> Result<Vec<Variant>, Failure> {
    let mut base = Variant::usual(alone);
    base.sleeps = args.sleeps.unwrap_or(base.sleeps);
    if !args.gap.is_empty() {
        let given = args.gap.iter().map(String::as_str);
        base.gaps = variant::gaps(given).map_err(|slip| slip.at("--gap"))?;
    }
    if args.variant.is_empty() {
        return Ok(vec![base]);
    }
    let mut all: Vec<Variant> = Vec::new();
    for text in &args.variant {
        let wrong = |expected: &str, found| Mismatch::text(expected, found).at("--variant");
        let (name, settings) = text.split_once(':').ok_or_else(|| {
            wrong("NAME: SETTINGS", text)
                .hint("such as --variant 'series: series rate_limit_us=70'")
        })?;
        let name = name.trim();
        if name.is_empty() || all.iter().any(|one| one.name == name) {
            return Err(wrong("names that differ", name).into());
        }
        all.push(base.with(name, settings).map_err(|slip| slip.at("--variant"))?);
    }
    Ok(all)
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
    fn what_only_models_have_is_refused() {
        for more in [&["--series"][..], &["--variant", "x: series"], &["--variant", "x: hz=100"]] {
            let error = asked(&args(more), true).unwrap().plan().unwrap_err();
            let failure = Failure::of(&error);
            assert_eq!(failure.exit, crate::exit::Exit::Usage);
            assert!(failure.hint.unwrap().contains("only models"), "{more:?}");
        }
        assert!(asked(&args(&["--gap", "soon"]), true).is_err());
        assert!(asked(&args(&["--variant", "a:", "--variant", "a:"]), true).is_err());
    }
}
