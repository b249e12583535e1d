//! What fair tasks get beside FIFO tasks that do not sleep: 50 ms in each second.
//!
//! Since 6.12 a server of the deadline class does that, put off until the last moment: where a fair
//! task has waited for 950 ms of a second in which the class did not get its 50 ms, it runs first for
//! the rest of them. Before, FIFO tasks were stopped for 50 ms of each second (real-time throttling),
//! which comes to the same for who waits; that they were stopped although nobody waits is not
//! modelled.

use super::Machine;
use super::cpu::FairServer;
use crate::observe::{Observer, SwitchOut};

/// The server's period, in ns.
pub(super) const PERIOD: u64 = 1_000_000_000;

/// What it gives in a period, in ns.
pub(super) const RUNTIME: u64 = 50_000_000;

impl Machine {
    /// Begins a period where a fair task waits for a FIFO task on CPU `c`.
    pub(super) fn watch_fair(&mut self, c: usize) {
        if !self.fair_server || self.cpus[c].fair.is_empty() || !self.current_is_fifo(c) {
            return;
        }
        let server = &mut self.cpus[c].server;
        if server.since == u64::MAX {
            let at = self.now + PERIOD - RUNTIME;
            *server = FairServer { since: self.now, at, ..FairServer::OFF };
            self.requeue(c);
        }
    }

    /// A fair task has CPU `c`, or has it no more: what it ran in a period counts.
    pub(super) fn account_fair(&mut self, c: usize, runs: bool) {
        let server = &mut self.cpus[c].server;
        if server.since == u64::MAX {
            return;
        }
        if runs {
            server.running_since = self.now;
        } else if server.running_since != u64::MAX {
            server.ran += self.now - server.running_since;
            server.running_since = u64::MAX;
        }
    }

    /// The 950 ms are over in which the fair class had to wait, or what it was given.
    pub(super) fn server_event<O: Observer>(&mut self, c: usize, observer: &mut O) {
        self.account_fair(c, false);
        let waits = !self.cpus[c].fair.is_empty() && self.current_is_fifo(c);
        let server = &mut self.cpus[c].server;
        if server.boosts || !waits || server.ran >= RUNTIME {
            if server.boosts {
                self.pending.push(c);
            }
            *server = FairServer::OFF;
        } else {
            server.boosts = true;
            server.at = self.now + RUNTIME - server.ran;
            self.put_current(c, SwitchOut::Preempted, observer);
            self.schedule(c, observer);
        }
        self.watch_fair(c);
        self.requeue(c);
    }
}
