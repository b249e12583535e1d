//! Busy time from the scheduler's own events: exact, and nobody has to wake up for a sample.
//!
//! The kernel notes each switch to or from the idle task and each change of frequency; once a second or
//! so its buffers are emptied, and intervals are made of what they say.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flyball_host::{Host, Topology};
use flyball_run::ActivitySample;
use flyball_run::manifest::CheckRecord;
use flyball_units::Nanos;

use super::recorder::{Findings, check, overhead};
use super::sampler::visit;
use super::source::{policies, runnable_of};
use crate::trace::{CaptureError, Pages, Wanted};
use flyball_events::ring::format::{Field, Format};

/// From a task to idle, or back: the others don't change whether a CPU is busy.
const SWITCH: Wanted = Wanted {
    folder: "sched",
    event: "sched_switch",
    filter: Some("prev_pid == 0 || next_pid == 0"),
};

const FREQUENCY: Wanted = Wanted { folder: "power", event: "cpu_frequency", filter: None };

/// Drivers whose hardware changes the frequency without an event (all, or with hardware P-states).
const SILENT: [&str; 4] = ["intel_pstate", "intel_cpufreq", "amd-pstate", "amd-pstate-epp"];

/// A recording by events.
pub(super) struct Traced {
    host: Arc<dyn Host>,
    pages: Pages,
    layouts: Layouts,
    cpus: Vec<Cpu>,
    interval: u64,
    /// End of the last interval whose rows are out.
    end: u64,
    began: Nanos,
    /// CPU time of each emptying of the buffers, in ns.
    drains: Vec<u64>,
    /// CPUs that could not be visited at the start.
    stale: u32,
}

impl Traced {
    /// Whether this process may record so here, and would know each change of frequency.
    pub(super) fn can(host: &dyn Host, topology: &Topology) -> bool {
        Pages::can(host, SWITCH) && silent(topology).is_none()
    }

    /// Starts to record.
    ///
    /// # Errors
    /// tracefs's; a driver that tells no change of frequency.
    pub(super) fn start(
        host: &Arc<dyn Host>,
        topology: &Topology,
        cpus: &[u32],
        interval: Nanos,
    ) -> Result<Traced, CaptureError> {
        if let Some((policy, driver)) = silent(topology) {
            return Err(CaptureError::Lacking {
                object: policy,
                expected: "a driver that tells the kernel of each change of frequency".to_owned(),
                found: driver,
                hint: Some("the sources cpuidle and schedstat read the frequency".to_owned()),
                permission: false,
            });
        }
        let clocks = clocks(host.as_ref(), topology);
        let wanted: &[Wanted] = if clocks.is_empty() { &[SWITCH] } else { &[SWITCH, FREQUENCY] };
        let (pages, formats) = Pages::start(host, cpus, wanted)?;
        let layouts = Layouts::of(&formats)?;
        // Whoever is idle has an event by the first visit; who has none is busy. After the second one
        // it is known whether all switches of an idle CPU are told.
        let stale = visit(host.as_ref(), cpus).max(visit(host.as_ref(), cpus));
        let began = host.now();
        let cpu = |&number: &u32| {
            let khz = clocks.iter().find(|(own, _)| own.contains(&number)).map(|(_, khz)| *khz);
            Cpu { number, khz, at: began.0, ..Cpu::default() }
        };
        let mut traced = Traced {
            host: Arc::clone(host),
            pages,
            layouts,
            cpus: cpus.iter().map(cpu).collect(),
            interval: interval.0.max(1),
            end: began.0,
            began,
            drains: Vec::new(),
            stale,
        };
        traced.read(began)?;
        match traced.untold() {
            None => Ok(traced),
            Some((object, expected, found)) => Err(CaptureError::Lacking {
                object,
                expected,
                found,
                hint: Some(
                    "this kernel's events cannot be used: take the source cpuidle or schedstat"
                        .into(),
                ),
                permission: false,
            }),
        }
    }

    /// Whether switches are missing among the events: where, what there should be, what there is.
    fn untold(&self) -> Option<(String, String, String)> {
        let worst = self.cpus.iter().max_by_key(|cpu| cpu.untold)?;
        let expected = "a switch from idle after each switch to idle".to_owned();
        let found = format!("{} without", worst.untold);
        (worst.untold > 0).then(|| (format!("events of CPU {}", worst.number), expected, found))
    }

    /// Gives the rows of the intervals that are over to `sink`.
    ///
    /// # Errors
    /// The buffers could not be read.
    pub(super) fn drain(
        &mut self,
        sink: &mut dyn FnMut(ActivitySample),
    ) -> Result<(), CaptureError> {
        let until = self.host.now();
        let before = self.host.thread_cpu_time().unwrap_or_default();
        self.read(until)?;
        self.drains.push(self.host.thread_cpu_time().unwrap_or_default().since(before).0);
        let intervals = until.0.saturating_sub(self.end) / self.interval;
        let runnable = runnable(self.host.as_ref());
        for left in (0..intervals).rev() {
            self.close(self.end + self.interval, runnable.filter(|_| left == 0), sink);
        }
        Ok(())
    }

    /// Reads the events up to `until`.
    fn read(&mut self, until: Nanos) -> Result<(), CaptureError> {
        let Traced { pages, layouts, cpus, .. } = self;
        let mut changes = Vec::new();
        pages.read(until, &mut |at, t, record| match layouts.event(record) {
            Some(Event::Switch { from_idle }) => {
                if let Some(cpu) = cpus.get_mut(at) {
                    cpu.switched(t, from_idle);
                }
            }
            Some(Event::Frequency { cpu, khz }) => changes.push((t, cpu, khz)),
            None => {}
        })?;
        // Any CPU may have changed the frequency of another.
        changes.sort_unstable();
        for (t, number, khz) in changes {
            if let Some(cpu) = cpus.iter_mut().find(|cpu| cpu.number == number) {
                cpu.clock.push_back((t, khz));
            }
        }
        Ok(())
    }

    /// The rows of the interval that ends at `end`.
    fn close(&mut self, end: u64, runnable: Option<u32>, sink: &mut dyn FnMut(ActivitySample)) {
        let length = end - self.end;
        for cpu in &mut self.cpus {
            let busy = cpu.busy_until(end).min(length);
            sink(ActivitySample {
                t_ns: end,
                interval_ns: length,
                cpu: cpu.number,
                busy_ns: busy,
                idle_ns: length - busy,
                claimed_khz: cpu.khz_at(end),
                waiting_ns: None,
                runnable,
                trial: None,
            });
        }
        self.end = end;
    }

    /// Ends the recording and restores tracefs; `sink` gets the last rows.
    ///
    /// # Errors
    /// The buffers could not be read; tracefs is restored then, too.
    pub(super) fn stop(
        &mut self,
        sink: &mut dyn FnMut(ActivitySample),
    ) -> Result<Findings, CaptureError> {
        let ended = self.host.now();
        let read = self.pages.stop().and_then(|()| self.drain(sink));
        let left = self.pages.remove();
        read?;
        if ended.0 > self.end {
            self.close(ended.0, None, sink);
        }
        let Pages { records, lost, .. } = self.pages;
        let elapsed = ended.since(self.began);
        let mut notes = vec![format!(
            "{records} switches and changes of frequency, {:.0} a second",
            records as f64 / elapsed.as_secs_f64().max(1e-9)
        )];
        if self.stale > 0 {
            notes.push(format!(
                "{} CPUs could not be visited at the start: if idle all the time, they count as busy",
                self.stale
            ));
        }
        Ok(Findings {
            elapsed,
            counting_cpu: Nanos(self.drains.iter().sum()),
            param: ("events", records),
            overhead: overhead("load recorder, CPU time of emptying the buffers", &mut self.drains),
            checks: vec![whole(lost, records), told(self.untold()), restored(&left)],
            notes,
        })
    }
}

fn whole(lost: u64, records: u64) -> CheckRecord {
    check(
        "events lost",
        lost == 0,
        "none".to_owned(),
        format!("{lost} of {}", records + lost),
        "too many switches for the buffers: record from the source schedstat or cpuidle",
    )
}

fn told(untold: Option<(String, String, String)>) -> CheckRecord {
    let good = untold.is_none();
    let (object, expected, found) = untold.unwrap_or_else(|| {
        ("load recorder".to_owned(), "every switch".to_owned(), "every switch".to_owned())
    });
    let hint = "busy times of that CPU are wrong: record from the source cpuidle or schedstat";
    CheckRecord { object, ..check("events complete", good, expected, found, hint) }
}

fn restored(left: &[String]) -> CheckRecord {
    let found = if left.is_empty() { "nothing".to_owned() } else { left.join("; ") };
    check(
        "capture restored",
        left.is_empty(),
        "nothing of this recording left in tracefs".to_owned(),
        found,
        "recover what is left in tracefs, as root",
    )
}

/// The clock domains and what they claim now, in kHz.
fn clocks(host: &dyn Host, topology: &Topology) -> Vec<(Vec<u32>, u64)> {
    let claimed = |(_, path, cpus): (String, PathBuf, Vec<u32>)| {
        let text = host.read(&path.join("scaling_cur_freq")).ok()?;
        Some((cpus, text.trim().parse().ok()?))
    };
    policies(topology).into_iter().filter_map(claimed).collect()
}

/// A clock domain whose driver tells nobody when the frequency changes, and the driver.
fn silent(topology: &Topology) -> Option<(String, String)> {
    topology.policies.iter().find_map(|policy| {
        let driver = policy.driver.as_deref().filter(|driver| SILENT.contains(driver))?;
        Some((format!("policy{}", policy.id), driver.to_owned()))
    })
}

fn runnable(host: &dyn Host) -> Option<u32> {
    let text = host.read(Path::new("/proc/loadavg")).ok()?;
    runnable_of(text.as_bytes()).and_then(|count| u32::try_from(count).ok())
}

/// One CPU.
#[derive(Debug, Default)]
struct Cpu {
    number: u32,
    /// Switches to come: time, and whether the CPU was idle before.
    switches: VecDeque<(u64, bool)>,
    /// Changes of frequency to come.
    clock: VecDeque<(u64, u64)>,
    /// Accounted up to here.
    at: u64,
    idle: bool,
    khz: Option<u64>,
    /// Whether it was idle after the last switch that was read.
    after: Option<bool>,
    /// Switches that do not go on from where the one before ended.
    untold: u64,
}

impl Cpu {
    fn switched(&mut self, t: u64, from_idle: bool) {
        self.untold += u64::from(self.after.replace(!from_idle) == Some(!from_idle));
        self.switches.push_back((t, from_idle));
    }

    /// Busy time since the last one's end, in ns.
    fn busy_until(&mut self, end: u64) -> u64 {
        let mut busy = 0;
        while let Some((t, from_idle)) = self.switches.pop_front_if(|(t, _)| *t < end) {
            let t = t.max(self.at);
            busy += if from_idle { 0 } else { t - self.at };
            (self.at, self.idle) = (t, !from_idle);
        }
        // What comes next says best what is now.
        let idle = self.switches.front().map_or(self.idle, |(_, from_idle)| *from_idle);
        busy += if idle { 0 } else { end.saturating_sub(self.at) };
        self.at = end;
        busy
    }

    /// Frequency at `end`, in kHz.
    fn khz_at(&mut self, end: u64) -> Option<u64> {
        while let Some((_, khz)) = self.clock.pop_front_if(|(t, _)| *t <= end) {
            self.khz = Some(khz);
        }
        self.khz
    }
}

enum Event {
    Switch { from_idle: bool },
    Frequency { cpu: u32, khz: u64 },
}

/// Where the fields of the events are.
struct Layouts {
    kind: Field,
    switch: u16,
    previous: Field,
    frequency: Option<(u16, Field, Field)>,
}

impl Layouts {
    fn of(formats: &[Format]) -> Result<Layouts, CaptureError> {
        let find = |format: &Format, name: &str| {
            format.field(name).cloned().ok_or_else(|| CaptureError::Lacking {
                object: format!("event {}", format.name),
                expected: format!("a field {name}"),
                found: "none".to_owned(),
                hint: None,
                permission: false,
            })
        };
        let switch = formats.first().cloned().unwrap_or_default();
        let of_frequency = |format: &Format| -> Result<_, CaptureError> {
            Ok((format.id, find(format, "cpu_id")?, find(format, "state")?))
        };
        Ok(Layouts {
            kind: find(&switch, "common_type")?,
            switch: switch.id,
            previous: find(&switch, "prev_pid")?,
            frequency: formats.get(1).map(of_frequency).transpose()?,
        })
    }

    fn event(&self, record: &[u8]) -> Option<Event> {
        let kind: u16 = self.kind.unsigned(record)?;
        if kind == self.switch {
            return Some(Event::Switch { from_idle: self.previous.number(record)? == 0 });
        }
        let (id, cpu, khz) = self.frequency.as_ref()?;
        (kind == *id).then_some(())?;
        Some(Event::Frequency { cpu: cpu.unsigned(record)?, khz: khz.unsigned(record)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cpu(switches: &[(u64, bool)]) -> Cpu {
        let mut cpu = Cpu::default();
        switches.iter().for_each(|(t, from_idle)| cpu.switched(*t, *from_idle));
        cpu
    }

    #[test]
    fn a_switch_that_is_not_told_is_found() {
        assert_eq!(cpu(&[(1, false), (2, true), (3, false)]).untold, 0);
        assert_eq!(cpu(&[(1, false), (2, false), (3, true), (4, true)]).untold, 2);
    }

    #[test]
    fn who_has_no_switch_stays_as_it_is() {
        assert_eq!(cpu(&[]).busy_until(10), 10, "idle CPUs have one at the start");
        let mut one = cpu(&[(3, false)]);
        assert_eq!((one.busy_until(10), one.busy_until(20)), (3, 0));
        // Woken up at 34.
        one.switched(34, true);
        assert_eq!((one.busy_until(30), one.busy_until(40), one.busy_until(50)), (0, 6, 10));
    }

    #[test]
    fn the_next_switch_says_what_was_before() {
        let mut one = cpu(&[(25, true)]);
        assert_eq!((one.busy_until(10), one.busy_until(20), one.busy_until(30)), (0, 0, 5));
    }

    #[test]
    fn a_frequency_counts_from_its_change() {
        let mut one = Cpu { khz: Some(600), ..Cpu::default() };
        one.clock.extend([(10, 800), (11, 900)]);
        assert_eq!(
            [one.khz_at(9), one.khz_at(10), one.khz_at(20)],
            [Some(600), Some(800), Some(900)]
        );
    }

    proptest! {
        /// Whatever the intervals are, they add up to the busy time, each to its own.
        #[test]
        fn intervals_add_up(stays in proptest::collection::vec((1_u64..50, 1_u64..50), 1..40), interval in 1_u64..60) {
            let (mut now, mut switches, mut truth) = (0, Vec::new(), Vec::new());
            for (busy, idle) in stays {
                truth.extend(std::iter::repeat_n(1_u64, busy as usize));
                truth.extend(std::iter::repeat_n(0_u64, idle as usize));
                switches.push((now + busy, false));
                now += busy + idle;
                switches.push((now, true));
            }
            let mut one = cpu(&switches);
            for (at, part) in truth.chunks(interval as usize).enumerate() {
                let end = at as u64 * interval + part.len() as u64;
                prop_assert_eq!(one.busy_until(end), part.iter().sum::<u64>());
            }
        }
    }
}
