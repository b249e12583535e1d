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
    let (variants, words) = variants(args, alone)?;
    Ok(Ask {
        words,
        variants,
        spin,
        repeats: args.repeats.get(),
        phases: args.phases,
        seed: args.seed,
        events,
    })
}

/// The settings of all variants.
fn words(args: &RampupArgs) -> Result<Vec<String>, Failure> {
    let numbers = [
        ("hz", args.hz),
        ("uclamp_min", args.uclamp_min),
        ("uclamp_max", args.uclamp_max),
        ("rampup_multiplier", args.multiplier),
    ];
    let number = |(key, number): (&str, Option<u32>)| Some(format!("{key}={}", number?));
    let mut words: Vec<String> = numbers.into_iter().filter_map(number).collect();
    words.extend(args.series.then(|| "series".to_owned()));
    for setting in &args.feature {
        let slip = || Mismatch::text("KEY=VALUE", setting).at("--feature");
        let (key, value) = setting.split_once('=').ok_or_else(slip)?;
        words.push(format!("features.{}={}", key.trim(), value.trim()));
    }
    Ok(words)
}

/// The variants, and the settings of all of them.
fn variants(args: &RampupArgs, alone: bool) -> Result<(Vec<Variant>, Vec<String>), Failure> {
    let mut base = Variant::usual(alone);
    base.sleeps = args.sleeps.unwrap_or(base.sleeps);
    if !args.gap.is_empty() {
        let given = args.gap.iter().map(String::as_str);
        base.gaps = variant::gaps(given).map_err(|slip| slip.at("--gap"))?;
    }
    let governors = args.governor.iter().map(|text| variant::per_governor(&base, text));
    let governors =
        governors.collect::<Result<Vec<_>, _>>().map_err(|slip| slip.at("--governor"))?.concat();
    let mut words = words(args)?;
    if governors.len() > 1 && args.variant.is_empty() {
        return Ok((governors, words));
    }
    if governors.len() > 1 {
        let text = format!("--governor: expected one beside --variant, found {}", governors.len());
        return Err(Failure::usage(text).hint("or a governor per variant: governor=NAME"));
    }
    words.splice(..0, governors.into_iter().flat_map(|one| one.words));
    let named = variant::named(&base, &args.variant).map_err(|slip| slip.at("--variant"))?;
    Ok((if named.is_empty() { vec![base] } else { named }, words))
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
