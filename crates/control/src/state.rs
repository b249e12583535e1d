//! The folder of the journal, locked while a hold or a recovery runs.

use crate::ControlError;
use crate::journal::Journal;
use crate::settle::wait;
use flyball_host::{Errno, FolderLock, Host, HostError};
use flyball_units::{Diagnostic, ErrorKind, Mismatch, Nanos};
use std::path::{Path, PathBuf};

/// Where the journal is unless `FLYBALL_STATE` says otherwise.
const DEFAULT: &str = "/var/lib/flyball";
const JOURNAL: &str = "hold.json";
/// Locked as well, wherever the journal is: there is one machine. Who may not make it (not root, no `/run`)
/// has the lock of the journal's folder alone.
const MACHINE: &str = "/run/flyball-settings";

/// A recovery takes the lock for a moment; a hold keeps it.
const TRIES: u32 = 40;
const PAUSE: Nanos = Nanos::from_millis(50);

/// The folder of the journal: `FLYBALL_STATE`, or /var/lib/flyball.
pub fn state_folder(host: &dyn Host) -> PathBuf {
    let named = host.env("FLYBALL_STATE").filter(|folder| !folder.is_empty());
    named.map_or_else(|| DEFAULT.into(), PathBuf::from)
}

/// The folder, ours until this is dropped.
#[derive(Debug)]
pub(crate) struct State {
    pub journal: PathBuf,
    _lock: FolderLock,
    _machine: Option<FolderLock>,
}

impl State {
    /// Makes, checks and locks the folder.
    ///
    /// # Errors
    /// Whose it is, where another hold has it; a folder that others could write to.
    pub fn lock(host: &dyn Host, folder: &Path) -> Result<State, ControlError> {
        let journal = folder.join(JOURNAL);
        let mut tries = 0;
        loop {
            let locked = host.lock_folder(folder).and_then(|lock| Ok((lock, machine(host)?)));
            match locked {
                Ok((lock, machine)) => {
                    return Ok(State { journal, _lock: lock, _machine: machine });
                }
                Err(error) if error.errno() == Some(Errno::EAGAIN) => {
                    let held = read(host, &journal).ok().flatten();
                    if let Some(held) = held.filter(|held| held.owner.is_alive(host)) {
                        return Err(busy(host, &held));
                    }
                    tries += 1;
                    if tries >= TRIES {
                        return Err(ControlError::Busy { owner: None, since: None });
                    }
                    wait(host, PAUSE);
                }
                Err(error) => return Err(unusable(folder, error)),
            }
        }
    }

    /// The journal, where there is one.
    pub fn read(&self, host: &dyn Host) -> Result<Option<Journal>, ControlError> {
        read(host, &self.journal)
    }

    /// Puts the journal on the disk.
    pub fn save(&self, host: &dyn Host, journal: &Journal) -> Result<(), ControlError> {
        host.save(&self.journal, &journal.to_text())
            .map_err(|source| ControlError::host("writing the journal", source))
    }

    /// Removes the journal: nothing is held any more. Tried again, because one that stays would
    /// undo what the user sets later.
    pub fn clear(&self, host: &dyn Host) -> Result<(), ControlError> {
        let mut tries = 0;
        loop {
            match host.remove_file(&self.journal) {
                Ok(()) => return Ok(()),
                Err(error)
                    if error.errno() == Some(Errno::ENOENT) && !host.exists(&self.journal) =>
                {
                    return Ok(());
                }
                Err(_) if tries < 3 => {
                    tries += 1;
                    wait(host, PAUSE);
                }
                Err(source) => {
                    let doing = "everything was restored, but the journal is still there";
                    return Err(ControlError::host(doing, source));
                }
            }
        }
    }
}

/// The lock of the machine's settings.
fn machine(host: &dyn Host) -> Result<Option<FolderLock>, HostError> {
    match host.lock_folder(Path::new(MACHINE)) {
        Ok(lock) => Ok(Some(lock)),
        Err(error) if error.errno() == Some(Errno::EAGAIN) => Err(error),
        Err(_) => Ok(None),
    }
}

fn read(host: &dyn Host, path: &Path) -> Result<Option<Journal>, ControlError> {
    match host.read_saved(path) {
        Ok(text) => Journal::parse(&text, path).map(Some),
        // An error of the moment must not pass for "nothing to restore".
        Err(error) if error.errno() == Some(Errno::ENOENT) && !host.exists(path) => Ok(None),
        Err(source) => Err(ControlError::host("reading the journal", source)),
    }
}

/// Who has it.
pub(crate) fn busy(host: &dyn Host, held: &Journal) -> ControlError {
    let since = host.realtime().since(held.created);
    ControlError::Busy { owner: Some(held.owner), since: Some(since) }
}

fn unusable(folder: &Path, error: HostError) -> ControlError {
    let object = format!("{} (the journal's folder)", folder.display());
    let expected = "a folder that only this user may write to".to_owned();
    let hint = Some("name another one: FLYBALL_STATE=DIR".to_owned());
    let refused = |found: String| {
        ControlError::BadInput(Mismatch { hint, ..Mismatch::value(expected, found).at(object) })
    };
    match &error {
        HostError::Malformed { found, .. } => refused(found.clone()),
        _ if error.errno() == Some(Errno::ELOOP) => refused("a symbolic link".to_owned()),
        _ => {
            let own = ControlError::host("making the journal's folder", error);
            match own.kind() {
                ErrorKind::Permission => ControlError::Permission { path: folder.into() },
                _ => own,
            }
        }
    }
}
