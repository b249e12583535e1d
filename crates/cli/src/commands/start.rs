//! `flyball` alone: what this machine is, and what people ask of it.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::{machine, output};
use flyball_host::Topology;

const QUESTIONS: [(&str, &[(&str, &str)]); 3] = [
    (
        "First",
        &[
            ("What distorts measurements here?", "flyball check"),
            ("Does load or frequency scaling change my latency?", "flyball bench"),
            ("... the latency of my own program?", "flyball bench -- ./my-program"),
            ("Is this program faster than that one?", "flyball ab './old' './new'"),
        ],
    ),
    (
        "Then",
        &[
            ("What made the slow windows slow?", "sudo flyball bench --trace"),
            ("Can I hold the frequency while it runs?", "sudo flyball hold --frequency max -- CMD"),
            ("Which change meets my latency goal?", "sudo flyball fix --goal 'p99<2ms' -- CMD"),
            ("How long until a demand gets its frequency?", "flyball rampup"),
            ("What does somebody else's data support?", "flyball report FILE"),
        ],
    ),
    (
        "Without such a machine",
        &[
            ("What would another machine or governor do?", "flyball sim"),
            (
                "... with the load of this machine?",
                "flyball capture load -- CMD; flyball replay RUN",
            ),
            ("What does a real kernel do on it?", "flyball board run -- CMD"),
        ],
    ),
];

pub fn run() -> Result<Exit, Failure> {
    let host = machine::real();
    // Only read: nothing is measured.
    let here = match Topology::discover(host.as_ref()) {
        Ok(topology) => flyball_check::summary(&topology),
        Err(error) => format!("This machine: {error}\n"),
    };
    let mut text = format!("{here}\n");
    for (title, questions) in QUESTIONS {
        text.push_str(&format!("{title}\n"));
        for (question, command) in questions {
            text.push_str(&format!("  {question:<51}{command}\n"));
        }
    }
    text.push_str(
        "\nAll commands: flyball --help   One: flyball bench --help   Lists: flyball help\n",
    );
    output::data(&text)?;
    Ok(Exit::Ok)
}
