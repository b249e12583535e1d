//! The emulator's plugin: compiled here by the system's C compiler, given the machine's description, asked
//! what it saw.

use crate::arch::Arch;
use crate::cache::Cache;
use crate::error::{BoardError, Result};
use crate::machine::{Machine, Policy};
use crate::tables::{registers, ssdt};
use flyball_host::{Host, ProcessSpec};
use flyball_units::Nanos;
use sha2::{Digest, Sha256};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Its files, in the order in which they are hashed.
const SOURCES: [(&str, &str); 4] = [
    ("pstate.c", include_str!("../plugin/pstate.c")),
    ("clock.c", include_str!("../plugin/clock.c")),
    ("clock.h", include_str!("../plugin/clock.h")),
    ("qemu.h", include_str!("../plugin/qemu.h")),
];

/// Guest instructions after which a CPU's speed is set right: 52 us at 192 MIPS, 278 us at 36.
pub const USUAL_STEP: u64 = 10_000;

// Layout of `struct control` in pstate.c.
const MAGIC: &[u8] = b"flyball1";
const FULL_SPEED: u64 = 8;
const WRITES: usize = 16;
const CLOCK: usize = 24;
const CLOCK_END: usize = 56;
const CPUS: usize = 128;
const CPU: usize = 64;

/// The compiled plugin; compiled now where it is not there.
///
/// # Errors
/// No C compiler, or one that refuses.
pub fn compiled(host: &dyn Host, cache: &Cache) -> Result<PathBuf> {
    let dir = cache.plugins();
    let name = format!("pstate-{}.so", hash());
    let library = dir.join(&name);
    if library.is_file() {
        return Ok(library);
    }
    let io = |error: std::io::Error| BoardError::io(&error);
    fs_err::create_dir_all(&dir).map_err(io)?;
    let work = tempfile::tempdir_in(&dir).map_err(|error| BoardError::io_at(&dir, &error))?;
    for (name, text) in SOURCES {
        fs_err::write(work.path().join(name), text).map_err(io)?;
    }
    // Loaded before the program and its libraries, and into programs that have no plugins.
    let linked = ["-Wl,-z,lazy", "-Wl,-z,initfirst"];
    let options = ["-O2", "-Wall", "-shared", "-fPIC", "-fvisibility=hidden"];
    let arguments =
        options.into_iter().chain(linked).chain(["pstate.c", "clock.c", "-o", "out.so"]);
    let mut spec = ProcessSpec::new("cc", arguments).captured();
    spec.folder = Some(work.path().to_path_buf());
    let no_compiler = |found: String| {
        BoardError::missing(
            "the board's plugin",
            format!("expected a C compiler cc, found {found}"),
        )
        .with_hint("install gcc and the C library's headers: sudo apt-get install gcc libc6-dev")
    };
    let exit = host
        .spawn(&spec)
        .and_then(|mut child| child.wait(None))
        .map_err(|error| no_compiler(error.to_string()))?
        .ok_or_else(|| BoardError::interrupted("cc"))?;
    if !exit.is_success() {
        return Err(no_compiler(format!("\n{}", String::from_utf8_lossy(&exit.stderr).trim_end())));
    }
    fs_err::rename(work.path().join("out.so"), &library).map_err(io)?;
    Ok(library)
}

/// A name for this source: another source is another file.
fn hash() -> String {
    let all = SOURCES.iter().fold(Sha256::new(), |all, (_, text)| all.chain_update(text));
    let digest = all.finalize();
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The plugin's arguments that describe `machine`, with `memory` bytes of RAM; its clock may run `rate` times as
/// fast as the host's.
pub fn arguments(machine: &Machine, memory: u64, step: u64, rate: f64) -> String {
    let mut text = match machine.arch {
        Arch::X86_64 => format!("port={:#x}", ssdt::PORT),
        Arch::Aarch64 => format!("regs={:#x}", registers::address(memory)),
    };
    text.push_str(&format!(",step={step},rate={rate}"));
    for policy in &machine.policies {
        text.push_str(&format!(",policy={}", policy_argument(policy)));
    }
    text
}

fn policy_argument(policy: &Policy) -> String {
    let cpus: Vec<String> = policy.cpus.iter().map(u32::to_string).collect();
    let state =
        |state: &crate::State| format!("{}:{}", u64::from(state.mhz) * 1000, state.speed_khz);
    let states: Vec<String> = policy.states.iter().map(state).collect();
    format!("{}/{}/{}", cpus.join("+"), policy.ipc, states.join("+"))
}

/// Lifts the slowing, from outside.
pub(crate) fn full_speed(control: &Path) -> Result<()> {
    let mut file = fs_err::OpenOptions::new()
        .write(true)
        .open(control)
        .map_err(|error| BoardError::io(&error))?;
    file.seek(SeekFrom::Start(FULL_SPEED))
        .and_then(|_| file.write_all(&1_u32.to_le_bytes()))
        .map_err(|error| BoardError::io(&error))
}

/// What the plugin counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The board's clock.
    pub clock: ClockAccount,
    /// P-state writes seen.
    pub writes: u64,
    /// Per CPU, in order.
    pub cpus: Vec<CpuAccount>,
}

/// The clock that QEMU makes the guest's of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockAccount {
    /// What it said; zero where it is the host's CLOCK_MONOTONIC.
    pub now: Nanos,
    /// Time of the host by which it stayed behind what it may run.
    pub held: Nanos,
    /// Time for which it went on though somebody had work to do.
    pub forced: Nanos,
}

impl ClockAccount {
    /// Whether it waits for the CPUs.
    pub fn holds(&self) -> bool {
        self.now > Nanos::ZERO
    }

    /// What it said when it was looked at, at `host` on the host's.
    pub fn at(&self, host: Nanos) -> Nanos {
        if self.holds() { self.now } else { host }
    }
}

/// What the plugin counted for one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuAccount {
    /// Instructions executed.
    pub instructions: u64,
    /// Time that those of them executed at a P-state's speed should take.
    pub paced: Nanos,
    /// Time slept for that.
    pub slept: Nanos,
    /// Time lost, because the host could not keep up.
    pub late: Nanos,
    /// Time that waking up from idle took beyond its instructions': work that follows is not
    /// concerned.
    pub waking: Nanos,
}

impl CpuAccount {
    /// Time that the slowed instructions took: what they should have, and what was lost.
    pub fn took(&self) -> Nanos {
        self.paced + self.late
    }

    /// Share of that time that was lost.
    pub fn late_share(&self) -> f64 {
        self.late.as_secs_f64() / self.took().as_secs_f64().max(1e-9)
    }

    /// Whether the CPU's speed cannot be trusted: more than 2 % and more than 300 ms were lost. Some
    /// time always is, while the emulator translates new code.
    pub fn fell_behind(&self) -> bool {
        self.late.0 > 300_000_000 && self.late_share() > 0.02
    }
}

impl Account {
    /// What was counted since `earlier`.
    pub fn since(&self, earlier: &Account) -> Account {
        let zero = CpuAccount::default();
        let cpus = self.cpus.iter().enumerate().map(|(cpu, now)| {
            let then = earlier.cpus.get(cpu).unwrap_or(&zero);
            CpuAccount {
                instructions: now.instructions.saturating_sub(then.instructions),
                paced: Nanos(now.paced.0.saturating_sub(then.paced.0)),
                slept: Nanos(now.slept.0.saturating_sub(then.slept.0)),
                late: Nanos(now.late.0.saturating_sub(then.late.0)),
                waking: Nanos(now.waking.0.saturating_sub(then.waking.0)),
            }
        });
        let clock = ClockAccount {
            held: Nanos(self.clock.held.0.saturating_sub(earlier.clock.held.0)),
            forced: Nanos(self.clock.forced.0.saturating_sub(earlier.clock.forced.0)),
            ..self.clock
        };
        Account { clock, writes: self.writes.saturating_sub(earlier.writes), cpus: cpus.collect() }
    }
}

/// Reads what the plugin counted for the first `cpus` CPUs; None where it has not started.
pub(crate) fn account(control: &Path, cpus: usize) -> Option<Account> {
    // The clock is written without a pause while CPUs are busy: of a few readings one is whole, unless its writer was stopped
    // in between. Then one of its numbers may be of a moment before.
    let mut bytes = fs_err::read(control).ok()?;
    for _ in 1..READINGS {
        if word(&bytes, CLOCK) == word(&bytes, CLOCK_END) {
            break;
        }
        bytes = fs_err::read(control).ok()?;
    }
    if bytes.get(..MAGIC.len())? != MAGIC {
        return None;
    }
    let time = |at: usize| Some(Nanos(u64::try_from(word(&bytes, at)? as i64).unwrap_or(0)));
    let one = |cpu: usize| {
        let at = CPUS + cpu * CPU;
        Some(CpuAccount {
            instructions: word(&bytes, at)?,
            paced: time(at + 8)?,
            slept: time(at + 16)?,
            late: time(at + 24)?,
            waking: time(at + 32)?,
        })
    };
    Some(Account {
        clock: ClockAccount {
            now: time(CLOCK + 8)?,
            held: time(CLOCK + 16)?,
            forced: time(CLOCK + 24)?,
        },
        writes: word(&bytes, WRITES)?,
        cpus: (0..cpus).map(one).collect::<Option<_>>()?,
    })
}

const READINGS: usize = 20;

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_platform::Platform;

    #[test]
    fn arguments_describe_the_machine() {
        let platform = Platform::named("board-aarch64").unwrap();
        let machine = Machine::new(&platform, Arch::Aarch64, None).unwrap();
        let text = arguments(&machine, 1 << 30, 10_000, 1.0);
        assert_eq!(
            text,
            "regs=0x7ff00000,step=10000,rate=1,policy=0+1/0.04/1800000:1800000+\
             1400000:1400000+1000000:1000000+600000:600000,policy=2+3/0.06/3000000:3000000+\
             2400000:2400000+1800000:1800000+1200000:1200000+600000:600000"
        );
    }

    #[test]
    fn an_account_is_read_at_its_offsets() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("control");
        let mut bytes = vec![0; CPUS + 2 * CPU];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[16..24].copy_from_slice(&7_u64.to_le_bytes());
        for (at, value) in [
            (24, 9_u64),
            (32, 77),
            (40, 5),
            (48, 6),
            (56, 9),
            (192, 1000),
            (200, 2_000_000_000),
            (208, 5),
            (216, 500_000_000),
        ] {
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        fs_err::write(&path, &bytes).unwrap();
        let found = account(&path, 2).unwrap();
        let clock = ClockAccount { now: Nanos(77), held: Nanos(5), forced: Nanos(6) };
        assert_eq!(found.clock, clock);
        assert_eq!((found.writes, found.cpus[0]), (7, CpuAccount::default()));
        assert!(found.cpus[1].fell_behind() && !found.cpus[0].fell_behind());
        full_speed(&path).unwrap();
        assert_eq!(fs_err::read(&path).unwrap()[8..12], [1, 0, 0, 0]);
        assert_eq!(account(&path, 3), None);
    }
}
