//! `flyball job`: what the guest of a board is handed.

use crate::args::JobArgs;
use crate::commands::ended;
use crate::exit::Exit;
use crate::failure::Failure;
use flyball_lab::Job;
use flyball_lab::session::{Destination, Silent};
use flyball_run::disk::{DESCRIPTION_BYTES, read_text};

pub fn run(args: &JobArgs) -> Result<Exit, Failure> {
    let host = crate::machine::real();
    host.catch_interrupts()?;
    let text = read_text(&args.file, DESCRIPTION_BYTES)?;
    let job = Job::read(&text).map_err(|slip| slip.at(args.file.display()))?;
    let to = Destination::Dir(args.out.clone());
    let outcome = job.run(&host, &to, &crate::runs::origin(), &mut Silent)?;
    ended::exit(&outcome, Ok(Exit::Ok))
}
