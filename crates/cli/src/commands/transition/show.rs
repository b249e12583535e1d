//! The findings of a run, shown.

use crate::args::Talk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{machine, output};
use flyball_board::guest::WRITES;
use flyball_events::import::pstates::{self, Write};
use flyball_report::kinds::switches::outside::{self, Seen};
use flyball_report::kinds::switches::{analyse, figures, page, terminal};
use flyball_run::Run;
use std::path::Path;

/// Seed of the resampling where the run has none.
const SEED: u64 = 1;

/// Where the findings go.
pub struct Shown<'a> {
    /// As JSON instead of text.
    pub json: bool,
    /// Folder for the figures.
    pub figures: Option<&'a Path>,
    /// File for the page.
    pub page: Option<&'a Path>,
}

/// Analyses a run and shows what comes out; beside what was seen from outside, where `dir` has that.
pub fn findings(
    run: &Run,
    dir: Option<&Path>,
    shown: &Shown<'_>,
    talk: Talk,
) -> Result<(), Failure> {
    let mut found = analyse(run, run.manifest.seed.unwrap_or(SEED));
    if let Some(log) = dir.map(|dir| dir.join(WRITES)).filter(|log| log.is_file()) {
        let seen = |write: Write| Seen { t_ns: write.t_ns, cpu: write.cpu, khz: write.khz };
        let writes: Vec<Seen> = pstates::read(log)?.into_iter().map(seen).collect();
        found.outside = outside::compare(run, &writes);
    }
    if shown.figures.is_some() || shown.page.is_some() {
        let drawn = figures::all(run, &found);
        if let Some(dir) = shown.figures {
            fs_err::create_dir_all(dir).map_err(|error| Failure::io(&error))?;
            for figure in &drawn {
                let png = figure.png().map_err(|error| Failure::new(Exit::Own, error))?;
                let files = [("svg", figure.svg().into_bytes()), ("png", png)];
                for (extension, bytes) in files {
                    let file = dir.join(format!("{}.{extension}", figure.name));
                    fs_err::write(&file, bytes).map_err(|error| Failure::io(&error))?;
                    if !talk.quiet {
                        output::talk(&format!("figure  {}", file.display()));
                    }
                }
            }
        }
        if let Some(file) = shown.page {
            let generator = format!("flyball {}", env!("CARGO_PKG_VERSION"));
            let text = page::render(&found, &drawn, &generator);
            fs_err::write(file, text).map_err(|error| Failure::io(&error))?;
            if !talk.quiet {
                output::talk(&format!("page    {}", file.display()));
            }
        }
    }
    match shown.json {
        true => {
            let text = serde_json::to_string_pretty(&found);
            output::data(&(text.map_err(|error| Failure::new(Exit::Own, error))? + "\n"))
        }
        false => output::data(&terminal::render(&found, output::width(machine::real().as_ref()))),
    }
}
