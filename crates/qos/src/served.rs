//! What a service says of the programs at its socket.

use crate::journal::sockets;
use crate::threads::AskedThread;
use flyball_host::Host;
use flyball_units::Nanos;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A service answers between two looks at its threads.
const PATIENCE: Nanos = Nanos::from_secs(2);

/// The socket of a service, and who is there: for root and the service's user all, for others their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// Its path.
    pub socket: PathBuf,
    /// Programs that are connected and said something.
    pub programs: Vec<ServedProgram>,
    /// Messages that were refused, of all programs there ever were.
    pub refused: u64,
    /// Connections that were.
    pub sent_away: u64,
}

/// A program at the socket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedProgram {
    /// Its process.
    pub pid: u32,
    /// Its user.
    pub user: u32,
    /// What it said so far.
    pub messages: u64,
    /// How much of it was refused.
    pub refused: u64,
    /// Why the last of that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Its threads.
    pub threads: Vec<AskedThread>,
}

/// Asks the service at `socket`, or where none is named this user's, then the system's; none where nobody
/// answers.
pub fn served(host: &dyn Host, socket: Option<&Path>) -> Option<Served> {
    let usual = || sockets(host);
    let places = socket.map_or_else(usual, |socket| vec![socket.to_owned()]);
    let ask = |place: PathBuf| {
        let answer = host.ask(&place, "status", PATIENCE).ok()?;
        serde_json::from_str(&answer).ok()
    };
    places.into_iter().find_map(ask)
}
