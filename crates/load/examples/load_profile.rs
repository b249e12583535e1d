//! Runs a load profile: `load_profile PROFILE [SECONDS]`, until interrupted where no time is given.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example speaks to the terminal")]

use flyball_host::{Host, RealHost};
use flyball_load::{LoadError, LoadProof, LoadRow, Profile, Site, Until, run_alone};
use flyball_units::{Diagnostic, Nanos};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (profile, seconds) = match arguments.as_slice() {
        [profile] => (profile, None),
        [profile, seconds] => (profile, seconds.parse().ok()),
        _ => {
            eprintln!("usage: load_profile PROFILE [SECONDS]");
            return ExitCode::from(2);
        }
    };
    match run(profile, seconds) {
        Ok(proof) => {
            proof.notes.iter().for_each(|note| eprintln!("note: {note}"));
            eprintln!("{}", if proof.proven { "proven" } else { "not proven" });
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            if let Some(hint) = error.hint() {
                eprintln!("hint: {hint}");
            }
            ExitCode::from(5)
        }
    }
}

fn run(profile: &str, seconds: Option<f64>) -> Result<LoadProof, LoadError> {
    let profile: Profile = profile.parse()?;
    let host: Arc<dyn Host> = Arc::new(RealHost::new());
    host.catch_interrupts()?;
    let site = Site::of(host.as_ref())?;
    let until =
        seconds.map_or(Until::Interrupted, |seconds| Until::Elapsed(Nanos((seconds * 1e9) as u64)));
    run_alone(&host, &profile, &site, 1, until, |rows| rows.iter().for_each(show))?.require()
}

fn show(row: &LoadRow) {
    let figure = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.1}"));
    println!(
        "{} wanted {:.1} achieved {:.1} busy {} steal {} %",
        row.cpu,
        row.wanted,
        row.achieved,
        figure(row.busy),
        figure(row.steal)
    );
}
