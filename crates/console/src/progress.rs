//! Progress of long work on stderr: a bar with the time left on a terminal, else a line per tenth.

use crate::pulse::said;
use crate::talk;
use flyball_host::Host;
use flyball_lab::session::Progress;
use flyball_report::text::harmless;
use flyball_units::Nanos;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A bar with what is being done, and the time left.
const TIMED: &str = "{bar:30} {pos}/{len} {msg} ({eta} left)";
/// Work shorter than this needs no lines.
const QUIET_FOR: Nanos = Nanos::from_secs(2);

/// Steps that are shown as they end.
#[derive(Debug)]
struct Steps {
    bar: ProgressBar,
    quiet: bool,
    plain: bool,
    total: usize,
    what: &'static str,
    tenth: AtomicUsize,
}

impl Steps {
    fn new(quiet: bool, total: usize, what: &'static str) -> Steps {
        let plain = !std::io::stderr().is_terminal();
        let tenth = AtomicUsize::new(0);
        Steps { bar: ProgressBar::hidden(), quiet, plain, total, what, tenth }
    }

    fn show(&mut self, template: &str) {
        if self.quiet || self.plain {
            return;
        }
        let bar = ProgressBar::new(self.total as u64);
        self.bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
    }

    /// A line for each tenth, where there is no bar; `left` tells the seconds that remain.
    fn line(&self, done: usize, left: impl FnOnce() -> f64) {
        let tenth = 10 * done / self.total.max(1);
        let due = self.plain && !self.quiet && tenth > 0;
        if due && self.tenth.fetch_max(tenth, Ordering::Relaxed) < tenth {
            let (total, what, left) = (self.total, self.what, left());
            talk(&format!("{done} of {total} {what}, about {left:.0} s left"));
        }
    }
}

/// Progress of what a laboratory does step by step, whose length is known beforehand.
#[derive(Debug)]
pub struct Bar {
    steps: Steps,
    seconds: f64,
}

impl Bar {
    /// Shows nothing before something is planned.
    #[must_use]
    pub fn new(quiet: bool) -> Bar {
        Bar { steps: Steps::new(quiet, 0, "trials"), seconds: 0.0 }
    }

    fn begin(&mut self, total: usize, what: &'static str, seconds: f64, told: &str) {
        (self.steps.total, self.steps.what, self.seconds) = (total, what, seconds);
        self.steps.tenth = AtomicUsize::new(0);
        self.note(told);
        self.steps.show(TIMED);
    }
}

impl Progress for Bar {
    fn planned(&mut self, steps: usize, what: &'static str, total: Nanos, order: &str) {
        let order = if order.is_empty() { String::new() } else { format!("; order: {order}") };
        let seconds = total.as_secs_f64();
        self.begin(steps, what, seconds, &format!("{steps} {what}, about {seconds:.0} s{order}"));
    }

    fn planned_in_virtual_time(&mut self, steps: usize, what: &'static str, total: Nanos) {
        let told = format!("{steps} {what}, {:.0} s of virtual time", total.as_secs_f64());
        // How long that takes is not known.
        self.begin(steps, what, 0.0, &told);
    }

    fn step(&mut self, done: usize, now: &str, condition: &str) {
        self.steps.bar.set_position(done as u64);
        if !self.steps.bar.is_hidden() {
            said();
        }
        self.steps.bar.set_message(harmless(&format!("{now}, {condition}"), false).into_owned());
        if self.seconds > 0.0 {
            let share = done as f64 / self.steps.total.max(1) as f64;
            self.steps.line(done, || self.seconds * (1.0 - share));
        }
    }

    fn note(&mut self, text: &str) {
        if !self.steps.quiet {
            self.steps.bar.suspend(|| talk(text));
        }
    }

    fn closing(&mut self) {
        self.steps.bar.finish_and_clear();
    }
}

/// Progress of a number of equal pieces of work, from many threads.
pub struct Meter {
    host: Arc<dyn Host>,
    steps: Steps,
    start: Nanos,
    /// What was done when it began: an earlier run's work took no time in this one.
    before: OnceLock<usize>,
}

impl Meter {
    /// Of `total` pieces.
    #[must_use]
    pub fn new(host: &Arc<dyn Host>, quiet: bool, total: usize, what: &'static str) -> Meter {
        let mut steps = Steps::new(quiet, total, what);
        steps.show(TIMED);
        steps.bar.set_message(what);
        Meter { host: Arc::clone(host), steps, start: host.now(), before: OnceLock::new() }
    }

    /// `done` pieces are done.
    pub fn at(&self, done: usize) {
        let before = *self.before.get_or_init(|| done);
        self.steps.bar.set_position(done as u64);
        if !self.steps.bar.is_hidden() {
            said();
        }
        let elapsed = self.host.now().since(self.start);
        if elapsed >= QUIET_FOR && done > before {
            let each = elapsed.as_secs_f64() / (done - before) as f64;
            self.steps.line(done, || each * self.steps.total.saturating_sub(done) as f64);
        }
    }

    /// All is done, or as much as will be.
    pub fn finish(&self) {
        self.steps.bar.finish_and_clear();
    }
}
