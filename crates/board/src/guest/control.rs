//! Messages of the guest's `/init` on the port `control`, and the answers. The protocol is in
//! `guest/init.sh`.

use crate::clock::Exchange;
use crate::plugin;
use crate::unix::UnixListener;
use flyball_host::Host;
use flyball_units::Nanos;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the guest reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GuestReport {
    /// Release of the kernel.
    pub(super) release: Option<String>,
    /// When the command began, on the host's clock.
    pub(super) up_at: Option<Nanos>,
    /// Its status, and when it ended.
    pub(super) status: Option<u8>,
    ended_at: Option<Nanos>,
    /// What was amiss.
    pub(super) notes: Vec<String>,
    /// Clocks compared before the command, and after it.
    pub(super) before: Vec<Exchange>,
    pub(super) after: Vec<Exchange>,
    tick: Option<(i64, i64)>,
}

/// The conversation.
#[derive(Debug)]
pub(super) struct Talk {
    told: Mutex<GuestReport>,
    counters: PathBuf,
}

impl Talk {
    pub(super) fn new(counters: &Path) -> Talk {
        Talk { told: Mutex::default(), counters: counters.to_path_buf() }
    }

    /// Answers until the guest ends.
    pub(super) fn serve(&self, host: &dyn Host, socket: &UnixListener) {
        let Ok((stream, _)) = socket.accept() else { return };
        let Ok(mut answers) = stream.try_clone() else { return };
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        while let Ok(1..) = lines.read_line(&mut line) {
            let now = host.now();
            let account = plugin::account(&self.counters, 0).unwrap_or_default();
            let answer = self.hear(line.trim(), now, account.clock.at(now));
            if answers.write_all(answer.as_bytes()).is_err() {
                return;
            }
            line.clear();
        }
    }

    /// One line that was heard at `now`, `board` on the board's clock, and its answer.
    pub(super) fn hear(&self, line: &str, now: Nanos, board: Nanos) -> String {
        let mut told = self.lock();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let board_ns = i64::try_from(board.0).unwrap_or(i64::MAX);
        match word {
            "tick" => {
                told.tick = rest.parse().ok().map(|before| (before, board_ns));
                return format!("{board_ns}\n");
            }
            "tock" => {
                if let (Some((before, board)), Ok(after)) = (told.tick.take(), rest.parse()) {
                    let exchange = Exchange { before, board, after };
                    let list = match told.ended_at {
                        None => &mut told.before,
                        Some(_) => &mut told.after,
                    };
                    list.push(exchange);
                }
            }
            "up" => (told.release, told.up_at) = (Some(rest.to_owned()), Some(now)),
            "exit" => {
                told.status = rest.parse().ok();
                told.ended_at = Some(now);
                // What is left is the guest's shutdown, whose length does not matter: quickly. If it
                // cannot be lifted it merely takes longer.
                let _ = plugin::full_speed(&self.counters);
            }
            "note" => told.notes.push(rest.to_owned()),
            _ => told.notes.push(format!("the guest said \"{line}\"")),
        }
        "ok\n".to_owned()
    }

    /// Whether the command has begun.
    pub(super) fn is_up(&self) -> bool {
        self.lock().release.is_some()
    }

    /// When the command ended.
    pub(super) fn ended_at(&self) -> Option<Nanos> {
        self.lock().ended_at
    }

    /// All that was said.
    pub(super) fn told(&self) -> GuestReport {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, GuestReport> {
        // What was reported before a panic still holds.
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_conversation() {
        let talk = Talk::new(Path::new("/no/such/file"));
        let answer = talk.hear("tick 100", Nanos(5_000), Nanos(5_000));
        assert_eq!(answer, "5000\n");
        for line in ["tock 300", "note cannot load module x", "up 6.12.95+deb12-amd64"] {
            assert_eq!(talk.hear(line, Nanos(6_000), Nanos(6_000)), "ok\n");
        }
        assert_eq!(talk.ended_at(), None);
        talk.hear("exit 7", Nanos(7_000), Nanos(7_000));
        talk.hear("tick 900", Nanos(8_000), Nanos(8_000));
        talk.hear("tock 950", Nanos(8_100), Nanos(8_100));
        let told = talk.told();
        assert_eq!(told.status, Some(7));
        assert_eq!(told.release.as_deref(), Some("6.12.95+deb12-amd64"));
        assert_eq!(told.before, [Exchange { before: 100, board: 5_000, after: 300 }]);
        assert_eq!(told.after, [Exchange { before: 900, board: 8_000, after: 950 }]);
        assert_eq!(told.notes, ["cannot load module x"]);
        talk.hear("nonsense", Nanos(9_000), Nanos(9_000));
        assert_eq!(talk.told().notes.len(), 2);
    }
}
