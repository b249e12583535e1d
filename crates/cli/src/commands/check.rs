//! `flyball check`: what on this machine distorts measurements, and the fixes; the machine itself,
//! and its recording.

use crate::args::{CheckArgs, CheckFormat, FailOn, Talk};
use crate::exit::Exit;
use crate::failure::{self, Failure};
use crate::{machine, output};
use flyball_check::{Audit, Document, Facts, Severity, Style, audit};
use flyball_host::snapshot::{self, SnapshotError};
use flyball_host::{Host, HostKind};
use flyball_lab::quick_look::quick_look;
use flyball_probe::board::discover;
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
    let left_out = match host.kind() {
        _ if args.no_probe => Some("left out by --no-probe"),
        HostKind::Real if discover(host.as_ref()).is_some() => {
            Some("on a virtual board the probe takes seconds: flyball bench has it")
        }
        _ => None,
    };
    let probe = quick_look(host.as_ref(), &facts, left_out);
    let mut audit = audit(&facts, Some(&probe));
    for fix in audit.findings.iter_mut().filter_map(|finding| finding.fix.as_mut()) {
        if let Some(command) = fix.persistent.as_deref().and_then(failure::command) {
            fix.command = Some(command.to_owned());
        }
    }
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
    let captured = snapshot::capture(host, folder).map_err(|error| match error {
        SnapshotError::Write(error) => Failure::of(&error),
        error => Failure::of(&error),
    })?;
    output::talk(&format!(
        "{} files; look at them with: flyball check --machine record:{}",
        captured.files,
        folder.display()
    ));
    output::data(&format!("{}\n", folder.display()))?;
    Ok(Exit::Ok)
}
