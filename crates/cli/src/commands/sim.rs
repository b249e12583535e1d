//! `flyball sim`: a scenario on a model, or a sweep over its parameters.

mod over_time;
mod print;
mod sweep;

use super::figure::Target;
use crate::args::{CheckFormat, RecordChoice, SimArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::meter::Meter;
use crate::{hosts, input, output};
use flyball_host::Host;
use flyball_run::RunWriter;
use flyball_sim::record::manifest;
use flyball_sim::scenario::{EXAMPLES, Node, Record, Scenario, Source, from_tree, parse_text, set};
use flyball_sim::sweep::Ended;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use print::{json, value};

pub fn run(args: &SimArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = hosts::real();
    host.catch_interrupts()?;
    let figure = args.figure.as_deref().map(Target::of).transpose()?;
    let beside = over_time::open(&args.beside)?;
    let input = Input::open(&args.scenario)?;
    let mut root = parse_text(&input.text, &args.scenario)?;
    apply(&mut root, args)?;
    if !args.sweep.is_empty() {
        return sweep::run(args, talk, &host, &root, &input);
    }
    let scenario = checked(&root, &input, &args.scenario)?;
    let writer = writer(&scenario, args.out.as_deref(), host.as_ref())?;
    let meter = Meter::new(&host, talk.quiet, scenario.phases as usize, "phases");
    let stop = || host.interrupted() > 0;
    let ended = flyball_sim::sweep::run(&scenario, writer, &stop, &|done| meter.at(done))?;
    meter.finish();
    let Some(Ended { outcomes, dir }) = ended else {
        output::talk("interrupted: no phase is complete, so there is no result");
        return Ok(Exit::Interrupted);
    };
    if let (Some(figure), Some(dir)) = (figure, &dir) {
        figure.write(&over_time::views(&scenario, dir, &beside)?, talk)?;
    }
    output::data(&match args.format {
        CheckFormat::Text => print::text(&scenario, &outcomes, dir.as_deref()),
        CheckFormat::Json => format!("{:#}\n", json(&scenario, &outcomes, dir.as_deref())),
    })?;
    Ok(Exit::Ok)
}

/// A scenario that ships, or a file, with the keys of the command line.
pub fn scenario(name: &str, settings: &[String]) -> Result<Scenario, Failure> {
    let input = Input::open(name)?;
    let mut root = parse_text(&input.text, name)?;
    set_keys(&mut root, settings)?;
    checked(&root, &input, name)
}

fn checked(root: &Node, input: &Input, origin: &str) -> Result<Scenario, Failure> {
    let open = |path: &str| input.read_beside(path);
    let scenario = from_tree(root, Source { origin, name: &input.name, open: &open })?;
    scenario.check(origin)?;
    Ok(scenario)
}

/// A scenario's text, its name and the folder that its paths are relative to.
pub struct Input {
    pub text: String,
    pub name: String,
    folder: Option<PathBuf>,
}

impl Input {
    /// A scenario that ships, or a file.
    fn open(name: &str) -> Result<Input, Failure> {
        let shipped = EXAMPLES.iter().map(|example| (example.name, example.text));
        let hint = "write one with: flyball init --scenario mine.toml; those that ship: \
                    flyball help scenarios";
        let input::Input { text, folder } = input::shipped_or_file(name, shipped, hint)?;
        let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        Ok(Input { text, name: stem.unwrap_or_else(|| name.to_owned()), folder })
    }

    /// A file that the scenario names.
    fn read_beside(&self, path: &str) -> Result<String, String> {
        let path = self.folder.as_deref().unwrap_or(Path::new("")).join(path);
        fs_err::read_to_string(path).map_err(|error| error.to_string())
    }
}

/// `--set`.
fn set_keys(root: &mut Node, settings: &[String]) -> Result<(), Failure> {
    for setting in settings {
        let (path, value) = setting.split_once('=').ok_or_else(|| {
            Failure::new(Exit::Usage, format!("--set: expected KEY=VALUE, found \"{setting}\""))
                .hint("such as --set governor.rate_limit_us=70")
        })?;
        set(root, path, value.trim())?;
    }
    Ok(())
}

/// What the command line changes.
fn apply(root: &mut Node, args: &SimArgs) -> Result<(), Failure> {
    set_keys(root, &args.set)?;
    if let Some(phases) = args.phases {
        set(root, "phases", &phases.to_string())?;
    }
    if let Some(seed) = args.seed {
        set(root, "seed", &seed.to_string())?;
    }
    if let Some(record) = args.record {
        set(root, "record", record.word())?;
    }
    if args.figure.is_some() {
        if let Some(choice) = args.record.filter(|choice| *choice != RecordChoice::Full) {
            let text = format!("--figure: expected --record full, found {}", choice.word());
            return Err(Failure::new(Exit::Usage, text));
        }
        set(root, "record", RecordChoice::Full.word())?;
    }
    if args.record == Some(RecordChoice::None) && args.out.is_some() {
        return Err(Failure::new(
            Exit::Usage,
            "--out: expected something to keep, found --record none",
        ));
    }
    Ok(())
}

fn writer(
    scenario: &Scenario,
    out: Option<&Path>,
    host: &dyn Host,
) -> Result<Option<RunWriter>, Failure> {
    if scenario.record == Record::None && out.is_none() {
        return Ok(None);
    }
    let manifest = manifest("sim", scenario);
    Ok(Some(create(out, host, &manifest)?))
}

/// A run is a directory: a file or a device of that name can't hold one.
pub fn check_out(out: Option<&Path>) -> Result<(), Failure> {
    match out.filter(|out| out.exists() && !out.is_dir()) {
        None => Ok(()),
        Some(out) => Err(Failure::new(
            Exit::BadInput,
            format!("--out {}: expected a new or empty directory, found a file", out.display()),
        )
        .hint("give a directory; `flyball sim --record none` keeps nothing")),
    }
}

/// The run directory that was asked for, or a new one.
pub fn create(
    out: Option<&Path>,
    host: &dyn Host,
    manifest: &flyball_run::Manifest,
) -> Result<RunWriter, Failure> {
    let seconds = host.realtime().0 / 1_000_000_000;
    check_out(out)?;
    Ok(match out {
        Some(dir) => RunWriter::create(dir, manifest)?,
        None => RunWriter::create_below(Path::new(super::report::RUNS), seconds, manifest)?,
    })
}

/// Shared with the sweep.
type SharedHost = Arc<dyn Host>;
