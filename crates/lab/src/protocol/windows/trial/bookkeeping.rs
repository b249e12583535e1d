//! What is read around each window, outside its timed part.
//!
//! Which calls, and what they cost on a KVM guest (EPYC, 2.6 GHz counter), minima: getrusage
//! 0.24 us, the thread's CPU clock 0.45 us, schedstat 0.61 us. getrusage alone says whether the
//! thread was switched out or faulted, so it is read twice per window. A thread that was never
//! switched out waited for no CPU: schedstat is read only after windows that were, and in one gap
//! of [`REFRESH`]. That keeps recording under 1 us per window.

use super::record::WindowRecord;
use flyball_host::{CycleCounter, Cycles, Host, SchedStatReader, ThreadUsage};
use flyball_units::Nanos;

/// The account of waiting is read anew in one gap of so many.
const REFRESH: u64 = 16;

/// Reads the kernel's accounts of this thread before and after each window.
#[derive(Debug)]
pub struct Bookkeeper<'a> {
    host: &'a dyn Host,
    cycles: Option<CycleCounter>,
    schedstat: Option<SchedStatReader>,
    run_delay_base: Option<Nanos>,
    usage_before: Option<ThreadUsage>,
    cycles_before: Option<Cycles>,
}

impl<'a> Bookkeeper<'a> {
    /// Opens what this machine offers, for the calling thread. Cycles only where asked for.
    pub fn open(host: &'a dyn Host, count_cycles: bool) -> Bookkeeper<'a> {
        let cycles = if count_cycles { host.open_cycles().ok() } else { None };
        let schedstat = host.schedstat_of(host.thread_id()).ok();
        let mut this = Bookkeeper {
            host,
            cycles,
            schedstat,
            run_delay_base: None,
            usage_before: None,
            cycles_before: None,
        };
        this.run_delay_base = this.run_delay();
        this
    }

    /// Whether the window's cycles are counted.
    pub fn counts_cycles(&self) -> bool {
        self.cycles.is_some()
    }

    /// Reads the accounts as they are before window `index`, in the gap before its release.
    pub fn before(&mut self, index: u64) {
        if index.is_multiple_of(REFRESH) {
            self.run_delay_base = self.run_delay();
        }
        self.usage_before = self.host.usage().ok();
        // Last: in user mode only these few instructions and the window itself follow.
        self.cycles_before = self.cycles.as_mut().and_then(|counter| counter.read().ok());
    }

    /// Reads them again after the window and writes the differences into `record`. `waited`:
    /// whether the thread slept until the release, which is one voluntary switch.
    pub fn after(&mut self, record: &mut WindowRecord, waited: bool) {
        let cycles = self.cycles.as_mut().and_then(|counter| counter.read().ok());
        let cycles = cycles.zip(self.cycles_before).map(|(now, then)| now.since(then));
        if let Some(delta) = cycles.filter(|delta| delta.is_whole()) {
            record.cycles = Some(delta.cycles);
            record.ref_cycles = delta.ref_cycles;
            record.instructions = Some(delta.instructions);
        }
        let usage = self.host.usage().ok().zip(self.usage_before);
        if let Some(delta) = usage.map(|(now, then)| now.since(then)) {
            let yields = delta.voluntary.saturating_sub(u64::from(waited));
            record.preemptions = Some(saturate(delta.involuntary));
            record.yields = Some(saturate(yields));
            record.minor_faults = Some(saturate(delta.minor_faults));
            record.major_faults = Some(saturate(delta.major_faults));
            let switched = delta.involuntary > 0 || yields > 0;
            record.run_delay = self.run_delay_of_window(switched, record);
        }
    }

    /// Time that the thread was ready and had no CPU. Zero for a window that was never switched
    /// out. For others an upper bound: all that was added since the account was last read, and at
    /// most the window itself.
    fn run_delay_of_window(&mut self, switched: bool, record: &WindowRecord) -> Option<Nanos> {
        let base = self.run_delay_base?;
        if !switched {
            return Some(Nanos::ZERO);
        }
        let now = self.run_delay()?;
        self.run_delay_base = Some(now);
        Some(now.since(base).min(record.end.since(record.dispatch)))
    }

    fn run_delay(&self) -> Option<Nanos> {
        self.schedstat.as_ref()?.read().ok().map(|account| account.run_delay)
    }
}

fn saturate(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
