//! What programs ask for at the socket, as part of a session.

use super::Session;
use crate::journal::SOCKET;
use crate::message::{Asking, Message, What};
use crate::programs::{Heard, Programs};
use crate::recover::{is_gone, restore};
use crate::served::{Served, ServedProgram};
use crate::threads::{Asker, Inherited};
use crate::{By, QosError, Wish};
use flyball_host::{Host, HostError, ProcessIdentity};
use flyball_units::Mismatch;
use std::path::{Path, PathBuf};

/// A thread that is taken in, another class and the status take so much more time than another message.
const DEAR: u32 = 20;

/// Listens where it is wished.
pub(super) fn listen(
    host: &dyn Host,
    folder: &Path,
    socket: &Option<PathBuf>,
    wish: &Wish,
) -> Result<Programs, QosError> {
    if wish.by == By::SchedExt {
        let slip = Mismatch::value("a socket beside clamps", "one beside sched_ext");
        return Err(QosError::BadInput(slip));
    }
    let path = socket.clone().unwrap_or_else(|| folder.join(SOCKET));
    // The journal's folder is locked already.
    let locked = path.parent() == Some(folder);
    Programs::listen(host, &path, locked, &wish.rules.limits)
        .map_err(QosError::host("making the socket"))
}

impl Session<'_> {
    /// Hears what programs say, and notes what they are to have; whether the journal changed.
    pub(super) fn hear(&mut self) -> bool {
        let Some(mut programs) = self.programs.take() else { return false };
        let mut changed = false;
        for heard in programs.hear(self.host) {
            match heard {
                Heard::Left(client) => changed |= self.left(client),
                Heard::Silenced(client) => self.threads.end_works(client),
                Heard::Said(client, Message { asks, what }) => {
                    let outcome = match what {
                        What::Status => {
                            let spent = programs.spend(self.host, client, DEAR);
                            spent.map(|()| self.served(&programs, client))
                        }
                        What::Thread { tid, wish } => {
                            let given = self.give(&mut programs, client, tid, &wish);
                            given.map(|journal| {
                                changed |= journal;
                                "ok".to_owned()
                            })
                        }
                    };
                    if !programs.answer(client, asks, outcome) {
                        changed |= self.left(client);
                    }
                }
            }
        }
        self.programs = Some(programs);
        changed
    }

    /// Takes back what a client had that has gone; whether the journal changed.
    fn left(&mut self, client: u64) -> bool {
        let changed = self.threads.withdraw(self.host, client, &mut self.journal);
        self.forget() || changed
    }

    /// Gives a thread what its program asks for.
    fn give(
        &mut self,
        programs: &mut Programs,
        client: u64,
        tid: u32,
        wish: &Asking,
    ) -> Result<bool, Mismatch> {
        let host = self.host;
        // The end is for whoever began, whatever became of it since.
        let found = match wish {
            Asking::End => programs.client(client),
            _ => Some(programs.vouched(host, client)?),
        };
        let Some(found) = found else { return Ok(false) };
        let asker = Asker { client, user: found.user, process: found.process };
        let mut changed = false;
        let is_new = !self.threads.has(host, asker.process.pid, tid);
        if is_new {
            // What it does not have cannot be taken from it.
            if matches!(wish, Asking::End | Asking::Deadline(None) | Asking::Class(None)) {
                return Ok(false);
            }
            if let Asking::Class(Some(name)) = wish {
                programs.limits.class(name)?;
            }
            let most = programs.limits.threads as usize;
            if self.threads.asked_by(asker.user) >= most {
                let expected = format!("at most {most} threads of a user");
                return Err(Mismatch::value(expected, "one more"));
            }
        }
        if is_new || matches!(wish, Asking::Class(_)) {
            programs.spend(host, client, DEAR)?;
        }
        if is_new {
            changed = self.take_guest(asker.process, tid)?;
            // The number of a process is its own until it has ended: if it has not by now, the thread is its.
            if let Err(slip) = programs.vouched(host, client) {
                self.threads.drop_guest(asker.process.pid, tid);
                return Err(slip);
            }
        }
        let limits = &programs.limits;
        let given = self.threads.ask(host, asker, tid, wish, limits, &mut self.journal);
        Ok(given? || changed)
    }

    /// Takes a thread of a process in for nothing but what is asked for it. The kernel says whose it is.
    fn take_guest(&mut self, process: ProcessIdentity, tid: u32) -> Result<bool, Mismatch> {
        let host = self.host;
        let refused = |error: HostError| {
            let expected = format!("a thread of process {}", process.pid);
            match is_gone(&error) {
                true => Mismatch::value(expected, format!("none with number {tid}")),
                false => Mismatch::value(expected + " that may be treated", error),
            }
        };
        let journal = &mut self.journal;
        self.threads.take(host, process.pid, tid, None, true, journal).map_err(refused)?;
        let Some(thread) = self.threads.identity(process.pid, tid) else { return Ok(false) };
        let now = host.boot_time().0 / (1_000_000_000 / host.user_hz().max(1)).max(1);
        let threads = &self.threads;
        self.journal.ask(process, thread, now, |other| {
            threads.identity(other.pid, other.tid) == Some(other)
        });
        self.journal.prune(host);
        Ok(true)
    }

    /// What a thread made that has something because its program asked: that is its maker's alone.
    pub(super) fn made_by_guest(&mut self, pid: u32, tid: u32, before: Inherited) {
        let Ok(process) = ProcessIdentity::of(self.host, pid) else { return };
        match self.disinherit_alone(process, tid, before.least) {
            Ok(false) => {}
            // It may have made others before.
            Ok(true) => self.clean(process),
            Err(error) if is_gone(&error) => {}
            Err(error) => self.threads.leave_out(&error),
        }
    }

    /// Takes what it inherited away from a thread; whether it had anything.
    fn disinherit_alone(
        &self,
        process: ProcessIdentity,
        tid: u32,
        own: u32,
    ) -> Result<bool, HostError> {
        let task = self.host.open_task(process.pid, tid)?;
        let taken = super::take_back(self.host, &self.journal, &task)?;
        if self.journal.limits || self.host.least_utilization(&task)? == own {
            return Ok(taken);
        }
        super::give_back(self.host, &task, own).map(|()| true)
    }

    /// Gives the threads of a process that are not watched what they had.
    fn clean(&mut self, process: ProcessIdentity) {
        let names = self.host.list(Path::new(&format!("/proc/{}/task", process.pid)));
        for tid in names.unwrap_or_default().iter().filter_map(|name| name.parse().ok()) {
            if !self.threads.has(self.host, process.pid, tid) {
                match restore(self.host, &self.journal, process, tid) {
                    Ok(_) => {}
                    Err(error) if is_gone(&error) => {}
                    Err(error) => self.threads.leave_out(&error),
                }
            }
        }
    }

    /// Takes processes out of the journal of whose threads none has anything any more; whether there was one.
    pub(super) fn forget(&mut self) -> bool {
        let asked = std::mem::take(&mut self.journal.asked);
        let (keep, leave): (Vec<_>, Vec<_>) =
            asked.into_iter().partition(|asked| self.threads.has_any_of(asked.process));
        self.journal.asked = leave.clone();
        for left in &leave {
            self.clean(left.process);
        }
        self.journal.asked = keep;
        let is_left = |pid: u32| leave.iter().any(|left| left.process.pid == pid);
        let processes = &self.journal.processes;
        let others = |pid: u32| processes.iter().any(|process| process.pid == pid);
        self.journal.own.retain(|own| !is_left(own.thread.pid) || others(own.thread.pid));
        self.journal.lent.retain(|lent| !is_left(lent.thread.pid) || others(lent.thread.pid));
        !leave.is_empty()
    }

    /// Who is at the socket, as far as this client may know: root and this user all, others their own.
    fn served(&self, programs: &Programs, client: u64) -> String {
        let user = programs.client(client).map_or(u32::MAX, |client| client.user);
        let of = |(number, it): (u64, &crate::programs::Client)| ServedProgram {
            pid: it.process.pid,
            user: it.user,
            messages: it.messages,
            refused: it.refused,
            because: it.because.clone(),
            threads: self.threads.of_client(number),
        };
        let clients = programs.clients().filter(|(number, it)| {
            *number != client && it.messages > 0 && programs.shows(user, it.user)
        });
        let served = Served {
            socket: programs.socket().path().to_owned(),
            programs: clients.map(of).collect(),
            refused: programs.refused,
            sent_away: programs.sent_away,
        };
        // A struct of texts and numbers always serialises.
        serde_json::to_string(&served).unwrap_or_default()
    }
}
