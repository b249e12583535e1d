//! What switches cost on this machine (root), as text: every clock domain by the methods named on the
//! command line, all where none is. Settings are restored.
//!
//! `cargo run -p flyball-transition --example switches -- detect`
#![allow(clippy::print_stdout, clippy::print_stderr)]

use flyball_control::state_folder;
use flyball_host::{Host, RealHost};
use flyball_run::{Note, Run, SwitchTrial};
use flyball_transition::live::{self, Control, Live, board_notes};
use flyball_transition::methods::{Method, Plan, Sink, run};
use flyball_transition::{TransitionError, analyse, terminal};
use flyball_units::Nanos;
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Default)]
struct Memory(Run);

impl Memory {
    fn note(&mut self, severity: &str, object: &str, message: &str) {
        self.0.tables.notes.push(Note {
            severity: severity.to_owned(),
            object: object.to_owned(),
            message: message.to_owned(),
            ..Note::default()
        });
    }
}

impl Sink for Memory {
    fn trial(&mut self, trial: SwitchTrial) -> Result<(), TransitionError> {
        self.0.tables.trials.push(trial);
        Ok(())
    }

    fn refused(&mut self, object: &str, why: &str) -> Result<(), TransitionError> {
        self.note("error", object, why);
        Ok(())
    }
}

fn measure() -> Result<Run, TransitionError> {
    let host: Arc<dyn Host> = Arc::new(RealHost::new());
    let named = std::env::args().skip(1).map(|name| name.parse::<Method>());
    let mut methods: Vec<Method> = named.filter_map(Result::ok).collect();
    if methods.is_empty() {
        methods = Method::ALL.to_vec();
    }
    let plan =
        Plan { methods, trials: 8, runs: 5, window: Nanos::from_millis(50), ..Plan::default() };
    let machine = live::machine(host.as_ref())?;
    let mut memory = Memory::default();
    for note in board_notes(host.as_ref()) {
        memory.note("info", "board", &note);
    }
    for policy in &machine.policies {
        let Some(cpu) = policy.cpus.iter().last() else { continue };
        let control = Control::of(&machine, cpu, &[])?;
        let mut live = Live::start(&host, &state_folder(host.as_ref()), control)?;
        let measured = run(&mut live, &plan, &mut memory);
        live.end()?;
        measured?;
    }
    Ok(memory.0)
}

fn main() -> ExitCode {
    match measure() {
        Ok(run) => {
            print!("{}", terminal::render(&analyse(&run, 1), 160));
            for trial in (0..run.tables.trials.len()).filter_map(|at| run.tables.trials.row(at)) {
                // The write's time and the new speed's, to be laid beside a log from outside.
                if let (Some(t), Some(transition)) = (trial.t_ns, trial.transition_ns) {
                    eprintln!("switch {} {t} {} {}", trial.to_khz, transition, trial.attempt);
                }
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(4)
        }
    }
}
