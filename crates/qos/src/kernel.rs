//! The ramp inside of the kernel: a program of ours (BPF) that follows it by frequency alone, without being
//! woken for it. With this process it goes, whatever ends it.

use crate::QosError;
use flyball_bpf::{BpfError, Loaded, Object, RAMP, load};
use flyball_governors::ResponseRamp;
use flyball_host::{BpfLink, Host, HostError, ThreadIdentity};
use flyball_units::{Diagnostic, ErrorKind, Mismatch, Nanos};

/// Entries of a row: a millisecond of running each.
const STEPS: u64 = 256;
/// The kernel's name of the scheduler that nobody is scheduled by.
const NAME: &str = "flyball_ramp";

/// The program, in force.
#[derive(Debug)]
pub(crate) struct KernelRamp {
    loaded: Loaded,
    #[expect(dead_code, reason = "the program is in force while they live")]
    links: [BpfLink; 2],
    /// Rows that were written.
    rows: Vec<ResponseRamp>,
}

impl KernelRamp {
    /// Loads it, with no thread in it.
    ///
    /// # Errors
    /// A kernel without sched_ext; no permission; another BPF scheduler.
    pub fn start(host: &dyn Host) -> Result<KernelRamp, QosError> {
        let started = || {
            let loaded = load(host, &Object::parse(RAMP)?)?;
            let scheduler = loaded.scheduler(NAME, true)?;
            let switches = loaded.program("switched")?.attach()?;
            Ok(KernelRamp { loaded, links: [scheduler, switches], rows: Vec::new() })
        };
        started().map_err(refused)
    }

    /// From now on the thread has this ramp.
    pub fn tag(&mut self, thread: ThreadIdentity, ramp: ResponseRamp) -> Result<(), HostError> {
        let threads = self.map("threads")?;
        let mut value = Vec::with_capacity(threads.value_bytes());
        value.extend(ramp.multiplier().to_ne_bytes());
        value.extend(0_u32.to_ne_bytes());
        value.extend(thread.start.to_ne_bytes());
        value.extend(0_u64.to_ne_bytes());
        if !self.rows.contains(&ramp) {
            self.map("ramps")?.update(&ramp.multiplier().to_ne_bytes(), &row(ramp))?;
            self.rows.push(ramp);
        }
        self.map("threads")?.update(&thread.tid.to_ne_bytes(), &value)
    }

    /// It has none.
    pub fn untag(&self, thread: ThreadIdentity) -> Result<(), HostError> {
        self.map("threads")?.remove(&thread.tid.to_ne_bytes())
    }

    fn map(&self, name: &str) -> Result<&flyball_host::BpfMap, HostError> {
        let none = |_| HostError::malformed("the kernel's program", format!("a map {name}"), "");
        self.loaded.map(name).map_err(none)
    }
}

/// What the ramp says after 0, 1, 2 ... ms of running: what the program looks up.
fn row(ramp: ResponseRamp) -> Vec<u8> {
    // Schedutil adds the quarter itself here.
    let ramp = ramp.with_headroom(false);
    let demand = |ms| ramp.demand(Nanos::from_millis(ms)) as u16;
    (0..STEPS).flat_map(|ms| demand(ms).to_ne_bytes()).collect()
}

fn refused(error: BpfError) -> QosError {
    match error {
        BpfError::Host(error) => {
            let busy = error.errno() == Some(flyball_host::Errno::EBUSY);
            let doing = match busy {
                true => "another BPF scheduler is there (/sys/kernel/sched_ext/root/ops)",
                false => "loading the kernel's part",
            };
            QosError::host(doing)(error)
        }
        other if other.kind() == ErrorKind::Unsupported => {
            QosError::Unsupported(Mismatch::text("sched_ext", &other.to_string()))
        }
        other => QosError::Unsupported(Mismatch::text("the kernel's part", &other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_rows_are_the_ramp() {
        let ramp = ResponseRamp::new(4);
        let row = row(ramp.with_headroom(true));
        let at = |ms: usize| u32::from(u16::from_ne_bytes([row[2 * ms], row[2 * ms + 1]]));
        assert_eq!(row.len(), 512);
        for ms in [0, 3, 11, 255] {
            assert_eq!(at(ms), ramp.demand(Nanos::from_millis(ms as u64)));
        }
        // Slow ramps end at the whole, too.
        assert_eq!(ResponseRamp::new(1).demand(Nanos::from_millis(STEPS - 1)), 1024);
    }
}
