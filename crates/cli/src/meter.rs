//! Progress of a count on stderr, from many threads: a bar with the time left on a terminal, else
//! a line per tenth.

use crate::output;
use crate::progress::styled;
use flyball_host::Host;
use flyball_units::Nanos;
use indicatif::ProgressBar;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Work shorter than this needs no progress.
const QUIET_FOR: Nanos = Nanos::from_secs(2);

/// Shows how far a number of equal pieces of work has come.
pub struct Meter {
    host: Arc<dyn Host>,
    bar: ProgressBar,
    plain: bool,
    total: usize,
    what: &'static str,
    start: Nanos,
    /// What was done when it began: an earlier run's work took no time in this one.
    before: OnceLock<usize>,
    tenth: AtomicUsize,
}

impl Meter {
    pub fn new(host: &Arc<dyn Host>, quiet: bool, total: usize, what: &'static str) -> Meter {
        let terminal = std::io::stderr().is_terminal();
        let bar = match terminal && !quiet {
            true => styled(total, "{bar:30} {pos}/{len} {msg} ({eta} left)"),
            false => ProgressBar::hidden(),
        };
        bar.set_message(what);
        Meter {
            host: Arc::clone(host),
            bar,
            plain: !terminal && !quiet,
            total,
            what,
            start: host.now(),
            before: OnceLock::new(),
            tenth: AtomicUsize::new(0),
        }
    }

    /// `done` pieces are done.
    pub fn at(&self, done: usize) {
        let before = *self.before.get_or_init(|| done);
        self.bar.set_position(done as u64);
        let tenth = 10 * done / self.total.max(1);
        let elapsed = self.host.now().since(self.start);
        if !self.plain || elapsed < QUIET_FOR || done <= before {
            return;
        }
        if self.tenth.fetch_max(tenth, Ordering::Relaxed) < tenth {
            let each = elapsed.as_secs_f64() / (done - before) as f64;
            let left = each * self.total.saturating_sub(done) as f64;
            output::talk(&format!(
                "{done} of {} {}, about {left:.0} s left",
                self.total, self.what
            ));
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
