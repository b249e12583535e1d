//! Whose clamps are changed: on the disk before the first one is.
//!
//! Clamps go with their threads and with the boot, so the journal lies where that is forgotten at a
//! start (`/run`). It names processes: every thread of theirs is looked at when clamps are removed, and
//! only those that had a clamp of their own before are listed one by one.

use crate::QosError;
use crate::users::users_of;
use flyball_host::{
    Errno, FairShare, FolderLock, Host, HostError, ProcessIdentity, ThreadIdentity,
};
use flyball_units::{Diagnostic, ErrorKind, Mismatch, Nanos};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const FORMAT: u32 = 1;
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
const JOURNAL: &str = "qos.json";
/// The socket for programs, in the same folder.
pub(crate) const SOCKET: &str = "socket";
/// Root's folder.
const SYSTEM: &str = "/run/flyball-qos";

/// A recovery takes the lock for a moment; a controller keeps it.
const TRIES: u32 = 40;
const PAUSE: Nanos = Nanos::from_millis(50);

/// Who controls what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub format: u32,
    pub boot_id: String,
    /// The controller.
    pub owner: ProcessIdentity,
    /// The process that removes the clamps where the controller dies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guardian: Option<ProcessIdentity>,
    #[serde(rename = "created_realtime_ns")]
    pub created: Nanos,
    /// When it began, on the clock of the processes' starts.
    pub began_ticks: u64,
    /// None where threads differ in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiplier: Option<u32>,
    /// Processes whose threads may have a clamp of ours.
    pub processes: Vec<ProcessIdentity>,
    /// Processes some of whose threads were asked for at the socket, and may have a clamp of ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<AskedFor>,
    /// Threads that have a clamp that is not ours.
    pub own: Vec<Own>,
    /// Threads that were given another share of their CPU; the last entry of one counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lent: Vec<Lent>,
    /// Whether lower limits are raised: what they were is in the journal of holds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits: bool,
    /// The socket for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    /// Entries of threads with which it is pruned again.
    #[serde(skip)]
    pub prune_at: usize,
}

/// Entries of threads that are not too many.
const MANY: usize = 256;

/// A process some of whose threads were asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AskedFor {
    pub process: ProcessIdentity,
    /// When the first was, on the clock of starts: threads that were made since may have its clamp.
    pub since_ticks: u64,
    pub threads: Vec<ThreadIdentity>,
}

impl AskedFor {
    /// Whether a thread may have a clamp of ours.
    pub fn concerns(&self, thread: ThreadIdentity) -> bool {
        thread.start >= self.since_ticks || self.threads.contains(&thread)
    }
}

/// A thread that was given another share of its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lent {
    pub thread: ThreadIdentity,
    /// What it had.
    pub before: FairShare,
    /// What it has from us.
    pub set: FairShare,
}

/// A thread with a clamp that is not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Own {
    pub thread: ThreadIdentity,
    /// What it had before; none where another program set it since, and it is left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<u32>,
}

impl Journal {
    pub fn new(host: &dyn Host, multiplier: Option<u32>) -> Result<Journal, HostError> {
        let owner = ProcessIdentity::this(host)?;
        Ok(Journal {
            format: FORMAT,
            boot_id: boot_id(host)?,
            owner,
            guardian: None,
            created: host.realtime(),
            began_ticks: owner.start,
            multiplier,
            processes: Vec::new(),
            asked: Vec::new(),
            own: Vec::new(),
            lent: Vec::new(),
            limits: false,
            socket: None,
            prune_at: 0,
        })
    }

    fn parse(text: &str, path: &Path) -> Result<Journal, QosError> {
        let fail = |found: String| {
            let expected = format!("a journal of clamps, format {FORMAT}");
            QosError::Journal(Mismatch::value(expected, found).at(path.display()).hint(format!(
                "another program wrote to it; end the programs whose clamps it named, then: rm {}",
                path.display()
            )))
        };
        let journal: Journal =
            serde_json::from_str(text).map_err(|error| fail(error.to_string()))?;
        match journal.format {
            FORMAT => Ok(journal),
            other => Err(fail(format!("format {other}"))),
        }
    }

    /// Notes what a thread has that is not ours.
    pub fn note(&mut self, own: Own) {
        self.own.retain(|other| other.thread != own.thread);
        self.own.push(own);
    }

    /// Notes that a thread is asked for. Of others of its process those stay noted that are `watched`: the rest
    /// has nothing of ours.
    pub fn ask(
        &mut self,
        process: ProcessIdentity,
        thread: ThreadIdentity,
        now_ticks: u64,
        watched: impl Fn(ThreadIdentity) -> bool,
    ) {
        let found = self.asked.iter_mut().find(|known| known.process == process);
        match found {
            Some(known) => {
                known.threads.retain(|other| *other != thread && watched(*other));
                known.threads.push(thread);
            }
            None => {
                let threads = vec![thread];
                self.asked.push(AskedFor { process, since_ticks: now_ticks, threads });
            }
        }
    }

    /// Forgets threads that were asked for and have ended, once there are many: programs may make and ask
    /// for ever.
    pub fn prune(&mut self, host: &dyn Host) {
        if self.own.len() + self.lent.len() < self.prune_at.max(MANY) {
            return;
        }
        let Journal { processes, asked, own, lent, .. } = self;
        let is_asked = |pid: u32| {
            asked.iter().any(|asked| asked.process.pid == pid)
                && !processes.iter().any(|process| process.pid == pid)
        };
        let stays = |thread: ThreadIdentity| !is_asked(thread.pid) || thread.is_alive(host);
        own.retain(|own| stays(own.thread));
        lent.retain(|lent| stays(lent.thread));
        self.prune_at = 2 * (self.own.len() + self.lent.len());
    }

    /// What a thread has without ours; none where it is left alone.
    pub fn own(&self, thread: ThreadIdentity) -> Option<u32> {
        let found = self.own.iter().rev().find(|own| own.thread == thread);
        found.map_or(Some(0), |own| own.least)
    }
}

/// The folder of the journal: `FLYBALL_STATE/qos`, or for root `/run/flyball-qos`, or for others
/// `XDG_RUNTIME_DIR/flyball-qos`.
///
/// # Errors
/// None of them.
pub fn qos_folder(host: &dyn Host) -> Result<PathBuf, QosError> {
    if let Some(state) = named(host, "FLYBALL_STATE") {
        return Ok(state.join("qos"));
    }
    usual_folder(host).ok_or_else(|| {
        QosError::BadInput(
            Mismatch::value("a folder for the journal in XDG_RUNTIME_DIR", "none")
                .hint("name one: FLYBALL_STATE=DIR"),
        )
    })
}

/// The folder of this user, whatever `FLYBALL_STATE` says.
fn usual_folder(host: &dyn Host) -> Option<PathBuf> {
    match users_of(host, "self") {
        Some([_, 0, ..]) => Some(SYSTEM.into()),
        _ => named(host, "XDG_RUNTIME_DIR").map(|folder| folder.join("flyball-qos")),
    }
}

/// The sockets at which a service may be asked: this user's, then the system's.
pub(crate) fn sockets(host: &dyn Host) -> Vec<PathBuf> {
    let own = qos_folder(host).ok().map(|folder| folder.join(SOCKET));
    own.into_iter().chain([Path::new(SYSTEM).join(SOCKET)]).collect()
}

fn named(host: &dyn Host, name: &str) -> Option<PathBuf> {
    host.env(name).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// The folder, ours until this is dropped.
#[derive(Debug)]
pub(crate) struct State {
    path: PathBuf,
    _lock: FolderLock,
    /// That of the user, where the journal is elsewhere.
    _usual: Option<FolderLock>,
}

impl State {
    /// Makes, checks and locks the folder.
    pub fn lock(host: &dyn Host, folder: &Path) -> Result<State, QosError> {
        let lock = take(host, folder)?;
        Ok(State { path: folder.join(JOURNAL), _lock: lock, _usual: None })
    }

    /// As [`State::lock`], and the folder that this user has without `FLYBALL_STATE`: of two controllers, the
    /// second would take the first one's clamps for the program's own. Who may not make that folder has the
    /// one lock alone. A recovery waits for nobody else's controller.
    pub fn lock_alone(host: &dyn Host, folder: &Path) -> Result<State, QosError> {
        let state = State::lock(host, folder)?;
        let usual = match usual_folder(host).filter(|usual| usual != folder) {
            None => None,
            Some(usual) => match take(host, &usual) {
                Err(QosError::Busy(owner)) => return Err(QosError::Busy(owner)),
                taken => taken.ok(),
            },
        };
        Ok(State { _usual: usual, ..state })
    }

    pub fn save(&self, host: &dyn Host, journal: &Journal) -> Result<(), QosError> {
        // A struct of texts and numbers always serialises.
        let text = serde_json::to_string_pretty(journal).unwrap_or_default() + "\n";
        host.save(&self.path, &text).map_err(QosError::host("writing the journal"))
    }

    /// Removes the journal; tried again, because one that stays would be undone a second time.
    pub fn clear(&self, host: &dyn Host) -> Result<(), QosError> {
        let mut tries = 0;
        loop {
            match host.remove_file(&self.path) {
                Ok(()) => return Ok(()),
                Err(error) if error.errno() == Some(Errno::ENOENT) && !host.exists(&self.path) => {
                    return Ok(());
                }
                Err(_) if tries < 3 => tries += 1,
                Err(source) => {
                    let doing = "every clamp was removed, but the journal is still there";
                    return Err(QosError::host(doing)(source));
                }
            }
            let _ = host.wait_streams(&[], host.now() + PAUSE);
        }
    }
}

/// Makes, checks and locks a folder.
fn take(host: &dyn Host, folder: &Path) -> Result<FolderLock, QosError> {
    for _ in 0..TRIES {
        match host.lock_folder(folder) {
            Ok(lock) => return Ok(lock),
            Err(error) if error.errno() == Some(Errno::EAGAIN) => {
                let held = read(host, folder).ok().flatten();
                if let Some(held) = held.filter(|held| held.owner.is_alive(host)) {
                    return Err(QosError::Busy(Some(held.owner)));
                }
                // Also while the program is being asked to end, which cuts other sleeps short.
                let _ = host.wait_streams(&[], host.now() + PAUSE);
            }
            Err(error) if error.kind() == ErrorKind::BadInput => {
                return Err(QosError::Journal(
                    Mismatch::value("a folder that only this user may write to", error)
                        .at(folder.display())
                        .hint("name another one: FLYBALL_STATE=DIR"),
                ));
            }
            Err(error) => return Err(QosError::host("making the journal's folder")(error)),
        }
    }
    Err(QosError::Busy(None))
}

/// The journal in `folder`, where there is one.
pub(crate) fn read(host: &dyn Host, folder: &Path) -> Result<Option<Journal>, QosError> {
    let path = folder.join(JOURNAL);
    let absent = |error: &HostError| error.errno() == Some(Errno::ENOENT);
    let found = match host.read_saved(&path) {
        // An error of the moment must not pass for "nothing to remove".
        Err(error) if absent(&error) && !host.exists(&path) => return Ok(None),
        // It came meanwhile.
        Err(error) if absent(&error) => host.read_saved(&path),
        found => found,
    };
    match found {
        Ok(text) => Journal::parse(&text, &path).map(Some),
        Err(source) => Err(QosError::host("reading the journal")(source)),
    }
}

pub(crate) fn boot_id(host: &dyn Host) -> Result<String, HostError> {
    host.read(Path::new(BOOT_ID)).map(|text| text.trim().to_owned())
}
