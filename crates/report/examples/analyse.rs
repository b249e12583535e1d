//! Reads run directories or other tools' data, analyses them, and prints the report as text
//! (`--verbose` for all of it) or, with `--json`, as JSON:
//! `cargo run --release -p flyball-report --example analyse -- DIR...`
#![allow(clippy::print_stdout)] // an example talks to the terminal

use std::error::Error;

use flyball_import::{Options, import};
use flyball_report::analysis::{AnalysisOptions, RunData, analyse};
use flyball_report::terminal::{TerminalOptions, render};

fn main() -> Result<(), Box<dyn Error>> {
    let (flags, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let mut runs = Vec::new();
    for path in &paths {
        let run = import(path, &Options::default())?;
        let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
        runs.push(RunData::new(name, path, run));
    }
    let report = analyse(&runs, &AnalysisOptions::default());
    if flags.iter().any(|flag| flag == "--json") {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        let verbose = flags.iter().any(|flag| flag == "--verbose");
        print!("{}", render(&report, &TerminalOptions { verbose, ..TerminalOptions::default() }));
    }
    Ok(())
}
