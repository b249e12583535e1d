//! Restoring what a killed hold left.

use crate::journal::{Journal, boot_id};
use crate::state::{State, busy};
use crate::{ControlError, Foreign, restore};
use flyball_host::{Host, ProcessIdentity};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What a recovery found and did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "found")]
pub enum Recovered {
    /// No hold had been killed.
    Nothing,
    /// The hold was killed before the machine was started anew: its settings went with that boot.
    EarlierBoot {
        /// Who had held them.
        owner: ProcessIdentity,
    },
    /// Everything is as it was before the hold.
    Restored {
        /// Who had held them.
        owner: ProcessIdentity,
        /// Files of the journal.
        files: usize,
        /// Files that somebody else had written meanwhile.
        foreign: Vec<Foreign>,
        /// Files that went with their CPUs.
        gone: Vec<PathBuf>,
    },
}

/// Restores what a hold that was killed left changed, by the journal in `folder`.
///
/// # Errors
/// A hold that is running; a journal that is not ours; settings that could not be restored, whose
/// part of the journal is kept.
pub fn recover(host: &dyn Host, folder: &Path) -> Result<Recovered, ControlError> {
    // No folder, no journal: and none is made for asking.
    if !host.exists(folder) {
        return Ok(Recovered::Nothing);
    }
    leftovers(host, &State::lock(host, folder)?)
}

/// As [`recover`], in a folder that is locked.
pub(crate) fn leftovers(host: &dyn Host, state: &State) -> Result<Recovered, ControlError> {
    let Some(journal) = state.read(host)? else { return Ok(Recovered::Nothing) };
    let owner = journal.owner;
    let boot = boot_id(host).map_err(|source| ControlError::host("recovering", source))?;
    if journal.boot_id != boot {
        state.clear(host)?;
        return Ok(Recovered::EarlierBoot { owner });
    }
    // The lock goes with its process; where it does not hold (another machine's file system), the
    // process does.
    if owner.is_alive(host) && ProcessIdentity::this(host).as_ref() != Ok(&owner) {
        return Err(busy(host, &journal));
    }
    let files = journal.files.len();
    let outcome = put_back(host, state, &journal, None)?;
    Ok(Recovered::Restored { owner, files, foreign: outcome.foreign, gone: outcome.gone })
}

/// Restores and removes the journal, or keeps of it what could not be restored.
pub(crate) fn put_back(
    host: &dyn Host,
    state: &State,
    journal: &Journal,
    cause: Option<ControlError>,
) -> Result<restore::Outcome, ControlError> {
    let outcome = restore::restore(host, &journal.files);
    if outcome.left.is_empty() {
        return match (state.clear(host), cause) {
            (Ok(()), None) => Ok(outcome),
            (_, Some(cause)) => Err(cause),
            (Err(error), None) => Err(error),
        };
    }
    let mut rest = journal.clone();
    rest.files.retain(|entry| outcome.left.iter().any(|left| left.path == entry.path));
    // Where that fails, the whole journal stays: it restores no less.
    let _ = state.save(host, &rest);
    Err(ControlError::Restore { left: outcome.left, cause: cause.map(Box::new) })
}
