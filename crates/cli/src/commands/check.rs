//! `flyball check`: what on this machine distorts measurements, and the fixes; the machine itself,
//! and its recording.

mod probe;

use crate::args::{CheckArgs, CheckFormat, FailOn, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{machine, output};
use flyball_check::{Audit, Document, Facts, Severity, Style, audit};
use flyball_host::{Host, snapshot};
use serde_json::json;
use std::path::Path;

/// Version of the JSON document.
const FORMAT: u32 = 1;

pub fn run(args: &CheckArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::to_read(&args.machine, None)?;
    if let Some(folder) = &args.snapshot {
        return capture(host.as_ref(), folder);
    }
    let facts = Facts::gather(host.as_ref())?;
    let probe = probe::look(host.as_ref(), &facts, args.no_probe);
    let audit = audit(&facts, Some(&probe));
    let exit = exit(&audit, args.fail_on);
    output::data(&match args.format {
        CheckFormat::Text => {
            let here = machine::real();
            let style = Style {
                width: output::width(here.as_ref()),
                color: output::color(here.as_ref()),
                verbose: talk.verbose,
            };
            let mut text = flyball_check::text(&audit, style);
            if !talk.verbose {
                text.push_str("All, and why  flyball check --verbose\n");
            } else {
                text.push('\n');
                text.push_str(&flyball_check::listing(&facts.topology, &facts.permissions));
            }
            text
        }
        CheckFormat::Json => {
            let document = Document {
                format: FORMAT,
                audit,
                probe: Some(probe),
                machine: json!(facts.topology),
                permissions: json!(facts.permissions),
            };
            format!("{:#}\n", json!(document))
        }
    })?;
    Ok(exit)
}

fn exit(audit: &Audit, fail_on: FailOn) -> Exit {
    let found = match fail_on {
        FailOn::Warn => audit.has(Severity::Warn),
        FailOn::Bad => audit.has(Severity::Bad),
        FailOn::Never => false,
    };
    if found { Exit::Finding } else { Exit::Ok }
}

fn capture(host: &dyn Host, folder: &Path) -> Result<Exit, Failure> {
    use snapshot::SnapshotError;
    let captured = snapshot::capture(host, folder).map_err(|error| {
        let hint = error.hint();
        match error {
            SnapshotError::Host(error) => Failure::from(error),
            SnapshotError::Write(error) => Failure::io(&error),
            error => Failure::new(Exit::BadInput, error).maybe_hint(hint),
        }
    })?;
    output::talk(&format!(
        "{} files; look at them with: flyball check --machine record:{}",
        captured.files,
        folder.display()
    ));
    output::data(&format!("{}\n", folder.display()))?;
    Ok(Exit::Ok)
}
