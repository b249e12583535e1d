//! Progress of a bench on stderr: a bar with the time left on a terminal, else a line per tenth.

use crate::output;
use flyball_lab::session::Progress;
use flyball_report::text::harmless;
use flyball_units::Nanos;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// Shows a bench's progress.
pub struct Bar {
    bar: ProgressBar,
    quiet: bool,
    plain: bool,
    total: usize,
    what: &'static str,
    seconds: f64,
    last_tenth: usize,
}

impl Bar {
    pub fn new(quiet: bool) -> Bar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let plain = !std::io::stderr().is_terminal();
        Bar { bar, quiet, plain, total: 0, what: "trials", seconds: 0.0, last_tenth: 0 }
    }

    fn show(&mut self, trials: usize) {
        if self.quiet || self.plain {
            return;
        }
        self.bar = styled(trials, "{bar:30} {pos}/{len} {msg} ({eta} left)");
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| output::talk(text));
        }
    }
}

/// A bar of this length on a terminal.
pub fn styled(length: usize, template: &str) -> ProgressBar {
    let bar = ProgressBar::new(length as u64);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Progress for Bar {
    fn planned(&mut self, steps: usize, what: &'static str, total: Nanos, order: &str) {
        (self.total, self.seconds, self.last_tenth) = (steps, total.as_secs_f64(), 0);
        self.what = what;
        let order = if order.is_empty() { String::new() } else { format!("; order: {order}") };
        self.say(&format!("{steps} {what}, about {:.0} s{order}", self.seconds));
        self.show(steps);
    }

    fn planned_in_virtual_time(&mut self, steps: usize, what: &'static str, total: Nanos) {
        self.total = steps;
        self.say(&format!("{steps} {what}, {:.0} s of virtual time", total.as_secs_f64()));
        self.show(steps);
    }

    fn step(&mut self, done: usize, now: &str, condition: &str) {
        self.bar.set_position(done as u64);
        self.bar.set_message(harmless(&format!("{now}, {condition}"), false).into_owned());
        let tenth = 10 * done / self.total.max(1);
        if self.plain && self.seconds > 0.0 && tenth > self.last_tenth {
            self.last_tenth = tenth;
            let left = self.seconds * (1.0 - done as f64 / self.total.max(1) as f64);
            self.say(&format!("{done} of {} {}, about {left:.0} s left", self.total, self.what));
        }
    }

    fn note(&mut self, text: &str) {
        self.say(text);
    }

    fn closing(&mut self) {
        self.bar.finish_and_clear();
    }
}
