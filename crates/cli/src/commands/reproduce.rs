//! `flyball reproduce`: every published number of the five sources beside ours.

use crate::args::{ReproduceArgs, ReproduceFormat, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{machine, output};
use flyball_console::Meter;
use flyball_reproduce::{
    Catalogue, Options, Reproduction, Rows, TerminalOptions, Verdict, figures, markdown, reproduce,
    terminal,
};
use flyball_run::disk::write_file;
use std::path::Path;
use std::sync::OnceLock;

pub fn run(args: &ReproduceArgs, talk: Talk) -> Result<Exit, Failure> {
    let options = options(args)?;
    let (host, meter) = (machine::real(), OnceLock::new());
    let progress = |done: usize, all: usize| {
        meter.get_or_init(|| Meter::new(&host, talk.quiet, all, "numbers")).at(done);
    };
    let mut all = reproduce(&options, &progress)?;
    if let Some(meter) = meter.get() {
        meter.finish();
    }
    all.keep(&args.verdict);
    if all.rows.is_empty() {
        return Err(Failure::usage("no published number fits the filters")
            .hint("all ids: flyball reproduce --format json | jq -r '.rows[].id'"));
    }
    let plots = args.figures.as_ref().map(|dir| write_figures(dir, talk)).transpose()?;
    let text = match args.format {
        ReproduceFormat::Text => text(&all, args, talk) + &plots.unwrap_or_default(),
        ReproduceFormat::Json => {
            all.json().map_err(|error| Failure::new(Exit::Own, error.to_string()))?
        }
        ReproduceFormat::Md => markdown(&all),
    };
    output::data(&text)?;
    Ok(Exit::Ok)
}

/// A source or a folder that is not there would give an empty table, and no reason for it.
fn options(args: &ReproduceArgs) -> Result<Options, Failure> {
    let catalogue = Catalogue::load()?;
    let letters: Vec<&str> =
        catalogue.sources.iter().map(|source| source.letter.as_str()).collect();
    let unknown = |wanted: &&String| !letters.iter().any(|l| l.eq_ignore_ascii_case(wanted));
    if let Some(wanted) = args.source.iter().find(unknown) {
        let message = format!("--source: expected one of {}, found {wanted}", letters.join(", "));
        return Err(Failure::usage(message));
    }
    if let Some(dir) = args.data.as_ref().filter(|dir| !dir.is_dir()) {
        let message = format!("--data: expected a folder, found {}", dir.display());
        return Err(Failure::input(message)
            .hint("without --data, tables of the recordings that ship are read"));
    }
    Ok(Options { data: args.data.clone(), sources: args.source.clone(), ids: args.id.clone() })
}

fn text(all: &Reproduction, args: &ReproduceArgs, talk: Talk) -> String {
    let host = machine::real();
    let inputs = args.verdict.contains(&Verdict::Input);
    // Whoever asks for certain numbers wants to see them; a thousand rows are no answer.
    let asked = talk.verbose || !args.id.is_empty() || !args.verdict.is_empty();
    let rows = match (args.summary, asked) {
        (true, _) => Rows::None,
        (false, true) => Rows::All,
        (false, false) => Rows::Refuted,
    };
    let text = terminal(
        all,
        TerminalOptions {
            width: output::width(host.as_ref()),
            color: output::color(host.as_ref()),
            verbose: talk.verbose,
            inputs: talk.verbose || inputs,
            rows,
        },
    );
    match rows {
        Rows::Refuted => {
            text + "All of them: --verbose; those of one verdict: --verdict not-reproduced\n"
        }
        Rows::None | Rows::All => text,
    }
}

/// Writes the figures and gives them as text for the terminal.
fn write_figures(dir: &Path, talk: Talk) -> Result<String, Failure> {
    fs_err::create_dir_all(dir)?;
    let drawn = figures::all().map_err(|error| Failure::new(Exit::Own, error.to_string()))?;
    let width = output::width(machine::real().as_ref());
    let mut plots = String::new();
    for figure in drawn {
        plots.push('\n');
        plots.push_str(&figure.terminal(width));
        let path = dir.join(format!("{}.svg", figure.name));
        write_file(&path, figure.svg().as_bytes())?;
        if !talk.quiet {
            output::talk(&format!("figure  {}", path.display()));
        }
    }
    Ok(plots)
}
