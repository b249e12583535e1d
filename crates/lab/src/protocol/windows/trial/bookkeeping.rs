//! What is read around each window, outside its timed part.
//!
//! Which calls, and what they cost on a KVM guest (EPYC, 2.6 GHz counter), minima: getrusage
//! 0.24 us, the thread's CPU clock 0.45 us, schedstat 0.61 us. All three are read in the gap before
//! the release. After the window getrusage alone says whether the thread was switched out or
//! faulted: a thread that was never switched out waited for no CPU inside the window, and one that
//! was dispatched within [`NOTABLE`] of its release hardly waited before it. The other two are read
//! only after windows that were switched out or late.

use super::record::WindowRecord;
use flyball_host::{CycleCounter, Cycles, Host, SchedStatReader, ThreadUsage};
use flyball_run::WAKE_DELAY_FROM_NS;
use flyball_units::Nanos;

/// Lateness from which on it is worth a reading to know how much of it was waiting for the CPU.
const NOTABLE: Nanos = Nanos(WAKE_DELAY_FROM_NS);

/// Reads the kernel's accounts of this thread before and after each window.
#[derive(Debug)]
pub struct Bookkeeper<'a> {
    host: &'a dyn Host,
    cycles: Option<CycleCounter>,
    schedstat: Option<SchedStatReader>,
    run_delay_before: Option<Nanos>,
    cpu_time_before: Option<Nanos>,
    usage_before: Option<ThreadUsage>,
    cycles_before: Option<Cycles>,
}

impl<'a> Bookkeeper<'a> {
    /// Opens what this machine offers, for the calling thread. Cycles only where asked for.
    pub fn open(host: &'a dyn Host, count_cycles: bool) -> Bookkeeper<'a> {
        let cycles = if count_cycles { host.open_cycles().ok() } else { None };
        let schedstat = host.schedstat_of(host.thread_id()).ok();
        Bookkeeper {
            host,
            cycles,
            schedstat,
            run_delay_before: None,
            cpu_time_before: None,
            usage_before: None,
            cycles_before: None,
        }
    }

    /// Whether the window's cycles are counted.
    pub fn counts_cycles(&self) -> bool {
        self.cycles.is_some()
    }

    /// Reads the accounts as they are in the gap before a release.
    pub fn before(&mut self) {
        self.run_delay_before = self.run_delay();
        self.cpu_time_before = self.host.thread_cpu_time().ok();
        self.usage_before = self.host.usage().ok();
        // Last: in user mode only these few instructions and the window itself follow.
        self.cycles_before = self.cycles.as_mut().and_then(|counter| counter.read().ok());
    }

    /// Reads them again after the window and writes the differences into `record`. `waited`:
    /// whether the thread slept until the release, which is one voluntary switch. `program`: what the
    /// kernel counted for the program that the thread waited for, with its threads and children; it
    /// is the program's window, not the waiting thread's.
    pub fn after(&mut self, record: &mut WindowRecord, waited: bool, program: Option<ThreadUsage>) {
        let cycles = self.cycles.as_mut().and_then(|counter| counter.read().ok());
        let cycles = cycles.zip(self.cycles_before).map(|(now, then)| now.since(then));
        // Of a program they would be the cycles of who waits for it.
        if let Some(delta) = cycles.filter(|delta| delta.is_whole() && program.is_none()) {
            record.cycles = Some(delta.cycles);
            record.ref_cycles = delta.ref_cycles;
            record.instructions = Some(delta.instructions);
        }
        let usage = self.host.usage().ok().zip(self.usage_before);
        if let Some(program) = program {
            record.preemptions = Some(saturate(program.involuntary));
            record.yields = Some(saturate(program.voluntary));
            record.minor_faults = Some(saturate(program.minor_faults));
            record.major_faults = Some(saturate(program.major_faults));
            let lateness = record.dispatch.since(record.release);
            if lateness >= NOTABLE {
                // Holds the way back from the program's end, too: a few microseconds.
                let waited = self.run_delay().zip(self.run_delay_before);
                record.wake_delay = waited.map(|(now, then)| now.since(then).min(lateness));
            }
            return;
        }
        if let Some(delta) = usage.map(|(now, then)| now.since(then)) {
            let yields = delta.voluntary.saturating_sub(u64::from(waited));
            record.preemptions = Some(saturate(delta.involuntary));
            record.yields = Some(saturate(yields));
            record.minor_faults = Some(saturate(delta.minor_faults));
            record.major_faults = Some(saturate(delta.major_faults));
            self.waiting(record, delta.involuntary > 0 || yields > 0);
        }
    }

    /// Splits what the thread waited for a CPU, ready to run, into the part inside the window and
    /// the part before its dispatch. Inside: nothing where it was never switched out, else at most
    /// the time that it had no CPU. Before: what is left, at most the lateness.
    fn waiting(&self, record: &mut WindowRecord, switched: bool) {
        let lateness = record.dispatch.since(record.release);
        if !switched {
            record.run_delay = self.run_delay_before.map(|_| Nanos::ZERO);
            if lateness < NOTABLE {
                return;
            }
        }
        let Some(waited) = self.run_delay().zip(self.run_delay_before) else { return };
        let waited = waited.0.since(waited.1);
        let execution = record.end.since(record.dispatch);
        let mut inside = Nanos::ZERO;
        if switched {
            let account = self.host.thread_cpu_time().ok().zip(self.cpu_time_before);
            // The account also holds the way to sleep and back: at most the window is the window's.
            let on_cpu = account.map(|(now, then)| now.since(then).min(execution));
            // The work's own account, of a program, is the better one.
            record.cpu_time = record.cpu_time.or(on_cpu);
            inside = waited.min(execution.since(on_cpu.unwrap_or(Nanos::ZERO)));
            record.run_delay = Some(inside);
        }
        record.wake_delay = Some(waited.since(inside).min(lateness));
    }

    fn run_delay(&self) -> Option<Nanos> {
        self.schedstat.as_ref()?.read().ok().map(|account| account.run_delay)
    }
}

fn saturate(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
