//! `flyball hold --load`: background load with proof, alone or beside CMD.

use crate::args::{HoldArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::duration;
use crate::{output, program};
use flyball_host::Host;
use flyball_load::{
    Load, LoadError, LoadProof, LoadRow, Profile, Site, Tolerance, Until, run_alone, text,
};
use flyball_units::Mismatch;
use std::sync::Arc;

/// A load as it was asked for.
pub struct Asked {
    profile: Profile,
    until: Until,
}

impl Asked {
    /// Reads `--load` and `--duration`.
    pub fn of(args: &HoldArgs) -> Result<Option<Asked>, Failure> {
        let Some(profile) = &args.load else { return Ok(None) };
        let profile = profile
            .parse()
            .map_err(|slip: Mismatch| Failure::from(LoadError::Profile(slip.at("load"))))?;
        let until = duration(args.duration.as_deref())?.map_or(Until::Interrupted, Until::Elapsed);
        Ok(Some(Asked { profile, until }))
    }

    /// Loads the machine while CMD runs, or as long as was asked for; calls `look` every second.
    pub fn run(
        self,
        host: &Arc<dyn Host>,
        command: &[String],
        talk: Talk,
        look: &mut dyn FnMut(),
    ) -> (Result<Exit, Failure>, Option<LoadProof>) {
        let ran = match command.is_empty() {
            true => self.alone(host, talk, look),
            false => self.beside(host, command, look),
        };
        match ran {
            Ok((exit, proof)) => (exit, Some(proof)),
            Err(failure) => (Err(failure), None),
        }
    }

    fn alone(
        self,
        host: &Arc<dyn Host>,
        talk: Talk,
        look: &mut dyn FnMut(),
    ) -> Result<(Result<Exit, Failure>, LoadProof), Failure> {
        let site = Site::of(host.as_ref())?;
        let Asked { profile, until } = self;
        if !talk.quiet {
            output::talk(&text::begun(&profile, &site, until));
        }
        let proof = run_alone(host, &profile, &site, 1, until, |rows: &[LoadRow]| {
            if !talk.quiet {
                output::talk(&text::second(rows));
            }
            look();
        })?;
        let cut = matches!(until, Until::Elapsed(_)) && host.interrupted() > 0;
        Ok((Ok(if cut { Exit::Interrupted } else { Exit::Ok }), proof))
    }

    fn beside(
        self,
        host: &Arc<dyn Host>,
        command: &[String],
        look: &mut dyn FnMut(),
    ) -> Result<(Result<Exit, Failure>, LoadProof), Failure> {
        let mut load = Load::start(host, &self.profile, &Site::of(host.as_ref())?, 1)?;
        let mut failed = None;
        let exit = program::run(host.as_ref(), command, program::stdin(), &mut || {
            look();
            // A load that ended by itself is told when CMD is done.
            failed = failed.take().or_else(|| load.sample().err());
        });
        let proof = load.stop(Tolerance::default())?;
        Ok((failed.map_or(exit, |error| Err(error.into())), proof))
    }
}
