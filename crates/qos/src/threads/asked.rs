//! What programs ask for threads of theirs: classes, deadlines, and the work that goes on.

use super::{Loan, Threads, Watched};
use crate::Treatment;
use crate::journal::Journal;
use crate::limits::Limits;
use crate::message::Asking;
use flyball_governors::{ClampStep, ResponseRamp};
use flyball_host::{Host, ProcessIdentity, ThreadIdentity};
use flyball_units::{Mismatch, Nanos};
use serde::{Deserialize, Serialize};

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker {
    /// Its number at the socket.
    pub client: u64,
    pub user: u32,
    pub process: ProcessIdentity,
}

/// What is asked for a thread.
#[derive(Debug)]
pub(super) struct Asked {
    client: u64,
    user: u32,
    class: Option<(String, Treatment)>,
    deadline: Option<(Nanos, ResponseRamp)>,
    work: Option<Work>,
}

/// Work that goes on.
#[derive(Clone, Copy, Debug)]
struct Work {
    since: Nanos,
    ramp: ResponseRamp,
    /// Then it counts as done.
    until: Nanos,
}

/// What a thread has because its program asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedThread {
    /// Its number.
    pub tid: u32,
    /// Its class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// How long after its begin its work is to be done.
    #[serde(default, rename = "deadline_ns", skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Nanos>,
    /// Whether it works.
    pub works: bool,
    /// Its lower clamp, or what the lower limit of its CPU has for it.
    pub least: u32,
}

impl Asked {
    pub(super) fn treatment(&self) -> Option<Treatment> {
        self.class.as_ref().map(|(_, treatment)| *treatment)
    }

    /// What work counts for now, and when that is to be looked at again; none where none goes on.
    pub(super) fn work(&mut self, now: Nanos) -> Option<(u32, Nanos)> {
        let work = self.work.filter(|work| now < work.until);
        self.work = work;
        let work = work?;
        let step = ClampStep::after(work.ramp, now.since(work.since));
        let next = step.lasts.map_or(work.until, |lasts| (now + lasts).min(work.until));
        Some((step.demand?, next))
    }
}

impl Watched {
    /// Whether nobody asks for it any more, and it has nothing of ours.
    pub(super) fn is_left(&self) -> bool {
        let returned = |loan: &Loan| loan.given && loan.wanted == loan.before;
        self.guest
            && self.asked.is_none()
            && self.now == self.own
            && self.loan.as_ref().is_none_or(returned)
    }
}

impl Threads {
    /// Whether a thread is here, and has not ended.
    pub fn has(&mut self, host: &dyn Host, pid: u32, tid: u32) -> bool {
        let found = self.all.iter().find(|thread| thread.is(pid, tid));
        let Some(thread) = found else { return false };
        if thread.task.is_alive(host) {
            return true;
        }
        // Its number is another thread's by now.
        thread.untag(self.means.inside());
        self.all.retain(|thread| !thread.is(pid, tid));
        false
    }

    /// Which thread it is, where it is here.
    pub fn identity(&self, pid: u32, tid: u32) -> Option<ThreadIdentity> {
        let found = self.all.iter().find(|thread| thread.is(pid, tid));
        found.map(|thread| thread.task.identity())
    }

    /// Drops a thread that was taken in, and was given nothing.
    pub fn drop_guest(&mut self, pid: u32, tid: u32) {
        self.all.retain(|thread| !(thread.guest && thread.is(pid, tid)));
    }

    /// Whether a thread of this process is here.
    pub fn has_any_of(&self, process: ProcessIdentity) -> bool {
        self.all.iter().any(|thread| thread.task.identity().pid == process.pid)
    }

    /// Threads that programs of a user have something for.
    pub fn asked_by(&self, user: u32) -> usize {
        let asked = self.all.iter().filter_map(|thread| thread.asked.as_ref());
        asked.filter(|asked| asked.user == user).count()
    }

    /// Whether a thread is here for what its program asks alone.
    pub fn is_guest(&self, thread: ThreadIdentity) -> bool {
        self.all.iter().any(|watched| watched.guest && watched.task.identity() == thread)
    }

    /// Gives a thread that is here what its program asks for, within the limits; whether the journal changed.
    ///
    /// # Errors
    /// A class that may not be asked for.
    pub fn ask(
        &mut self,
        host: &dyn Host,
        asker: Asker,
        tid: u32,
        wish: &Asking,
        limits: &Limits,
        journal: &mut Journal,
    ) -> Result<bool, Mismatch> {
        let now = host.now();
        let is = |thread: &Watched| thread.is(asker.process.pid, tid);
        let Some(at) = self.all.iter().position(is) else { return Ok(false) };
        let Some(thread) = self.all.get_mut(at) else { return Ok(false) };
        let Asker { client, user, .. } = asker;
        let mut asked = thread.asked.take().unwrap_or(Asked {
            client,
            user,
            class: None,
            deadline: None,
            work: None,
        });
        // Of several connections of a process, the last one that asks decides, and keeps it.
        asked.client = client;
        let mut outcome = Ok(());
        match wish {
            Asking::Begin => {
                let plain = || limits.plain(asked.treatment().or(thread.treatment));
                let ramp = asked.deadline.map_or_else(plain, |(_, ramp)| ramp);
                asked.work = Some(Work { since: now, ramp, until: now + limits.work });
            }
            Asking::End => asked.work = None,
            Asking::Deadline(within) => {
                asked.deadline = within.map(|within| (within, limits.deadline(within)));
                let plain = || limits.plain(asked.treatment().or(thread.treatment));
                let ramp = asked.deadline.map_or_else(plain, |(_, ramp)| ramp);
                asked.work = asked.work.map(|work| Work { ramp, ..work });
            }
            Asking::Class(None) => asked.class = None,
            Asking::Class(Some(name)) => match limits.class(name) {
                Ok(class) => asked.class = Some((name.clone(), class)),
                Err(slip) => outcome = Err(slip),
            },
        }
        thread.asked = Some(asked);
        outcome?;
        Ok(matches!(wish, Asking::Class(_)) && self.treat(host, at, journal))
    }

    /// Ends all work of a client.
    pub fn end_works(&mut self, client: u64) {
        for asked in self.all.iter_mut().filter_map(|thread| thread.asked.as_mut()) {
            asked.work = asked.work.filter(|_| asked.client != client);
        }
    }

    /// Takes back all that a client asked for; whether the journal changed.
    pub fn withdraw(&mut self, host: &dyn Host, client: u64, journal: &mut Journal) -> bool {
        let mut changed = false;
        for at in 0..self.all.len() {
            let Some(thread) = self.all.get_mut(at) else { break };
            if thread.asked.as_ref().is_some_and(|asked| asked.client == client) {
                thread.asked = None;
                changed |= self.treat(host, at, journal);
            }
        }
        changed
    }

    /// What threads have because this client asked.
    pub fn of_client(&self, client: u64) -> Vec<AskedThread> {
        let of = |thread: &Watched| {
            let asked = thread.asked.as_ref().filter(|asked| asked.client == client)?;
            Some(AskedThread {
                tid: thread.task.identity().tid,
                class: asked.class.as_ref().map(|(name, _)| name.clone()),
                deadline: asked.deadline.map(|(within, _)| within),
                works: asked.work.is_some(),
                least: thread.now.max(thread.floor),
            })
        };
        self.all.iter().filter_map(of).collect()
    }
}
