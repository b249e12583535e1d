//! The log of P-state writes as the user gets it: the plugin's lines, on the guest's clock.

use crate::clock::GuestClock;
use crate::plugin::Account;
use std::fmt::Write;

/// Turns the plugin's log (`SECONDS policyN mhz=M cpu=C`, board's clock) into the guest's time, with
/// the board's at the end of each line. Without a clock the times stay the board's, and the log says so.
pub(super) fn text(raw: &str, clock: Option<&GuestClock>, account: &Account) -> String {
    let mut text = "# P-state writes, seen from outside the guest\n".to_owned();
    // Writing to a String cannot fail.
    let _ = match clock {
        Some(clock) => writeln!(
            text,
            "# seconds of the guest's CLOCK_MONOTONIC; board= is the board's\n\
             # clock: board - guest {} s, uncertainty {:.6} s, drift {:.1} ppm",
            seconds(clock.offset()),
            clock.uncertainty() as f64 / 1e9,
            clock.drift() / 1e3,
        ),
        None => writeln!(text, "# seconds of the board's clock: the guest's is not known"),
    };
    for line in raw.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let (time, rest) = line.trim_end().split_once(' ').unwrap_or_default();
        let Some(board) = nanoseconds(time) else { continue };
        let _ = match clock {
            Some(clock) => {
                writeln!(text, "{} {rest} board={time}", seconds(clock.guest(board)))
            }
            None => writeln!(text, "{time} {rest}"),
        };
    }
    if account.clock.holds() {
        let (held, forced) = (account.clock.held.as_secs_f64(), account.clock.forced.as_secs_f64());
        let _ = writeln!(text, "# board's clock: held_s={held:.3} forced_s={forced:.3}");
    }
    for (cpu, of) in account.cpus.iter().enumerate() {
        let _ = writeln!(
            text,
            "# cpu={cpu} instructions={} paced_s={:.3} slept_s={:.3} late_s={:.3}",
            of.instructions,
            of.paced.as_secs_f64(),
            of.slept.as_secs_f64(),
            of.late.as_secs_f64()
        );
    }
    text
}

fn seconds(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// `12.000000034`.
fn nanoseconds(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.')?;
    if fraction.len() != 9 {
        return None;
    }
    whole.parse::<i64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Exchange;

    #[test]
    fn lines_go_to_the_guests_clock_and_a_torn_end_is_dropped() {
        let exchange =
            Exchange { before: 1_000_000_000, board: 6_000_000_000, after: 1_000_000_000 };
        let clock = GuestClock::new(&[exchange], &[]).unwrap();
        let raw = "7.250000001 policy2 mhz=3000 cpu=2\n7.3 pol";
        let log = text(raw, Some(&clock), &Account::default());
        let line = log.lines().find(|line| !line.starts_with('#')).unwrap();
        assert_eq!(line, "2.250000001 policy2 mhz=3000 cpu=2 board=7.250000001");
        assert_eq!(log.lines().filter(|line| !line.starts_with('#')).count(), 1);
        assert!(text(raw, None, &Account::default()).contains("\n7.250000001 policy2"));
    }
}
