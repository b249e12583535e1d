//! Boots of a real kernel, where the cache has what they need. Nothing is downloaded here.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use flyball_board::cache::Cache;
use flyball_board::guest::{self, Ending, Options, Outcome, Root};
use flyball_board::kernel::{Choice, Kernel};
use flyball_board::{Arch, Machine, Qemu, plugin, setup};
use flyball_host::{Host, RealHost};
use flyball_platform::Platform;
use flyball_units::{Diagnostic, Nanos};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// A board whose guest is busybox alone; None, with the reason on stderr, where the cache lacks
/// something.
struct Board {
    host: RealHost,
    qemu: Qemu,
    plugin: PathBuf,
    options: Options,
}

impl Board {
    fn new(arch: Arch) -> Option<Board> {
        let host = RealHost::new();
        let made = Cache::of(&host).and_then(|cache| {
            let choice: Choice = arch.usual_kernel().parse()?;
            let platform = Platform::named(arch.usual_platform()).unwrap();
            let options = Options {
                machine: Machine::new(&platform, arch, None)?,
                kernel: Kernel::find(&choice, arch, &cache, None, None)?,
                busybox: setup::busybox(&cache, arch)?,
                memory_mib: 512,
                root: Root::None,
                program: None,
                share: None,
                append: None,
                step: plugin::USUAL_STEP,
                rate: 1.0,
                full_speed: false,
                timeout: Nanos::from_secs(110),
                command: Vec::new(),
                folder: None,
            };
            Ok((Qemu::find(&host, &cache, arch)?, plugin::compiled(&host, &cache)?, options))
        });
        match made {
            Ok((qemu, plugin, options)) => Some(Board { host, qemu, plugin, options }),
            Err(error) => {
                eprintln!("skipped: {error}; hint: {}", error.hint().unwrap_or_default());
                None
            }
        }
    }

    fn run(&mut self, script: &str) -> (Outcome, String, String) {
        self.options.command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let outcome =
            guest::run(&self.host, &self.qemu, &self.plugin, &self.options, &mut out, &mut err);
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
        eprintln!("boot {:?}, clock {:?}, notes {:?}", outcome.boot, outcome.clock, outcome.notes);
        eprintln!("{}", outcome.writes);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (outcome, text(out), text(err))
    }
}

/// Holds each policy at its lowest frequency, then at its highest, and says what the kernel made of
/// the table.
const SCRIPT: &str = "
cd /sys/devices/system/cpu/cpufreq
for p in policy*; do
  echo $p $(cat $p/scaling_driver) $(cat $p/affected_cpus) : $(cat $p/scaling_available_frequencies)
  echo userspace >$p/scaling_governor
  cat $p/cpuinfo_min_freq >$p/scaling_setspeed
  cat $p/cpuinfo_max_freq >$p/scaling_setspeed
done
cat ../cpu*/cpu_capacity 2>/dev/null | tr '\\n' ' '
echo to stderr >&2
exit 7
";

fn check(arch: Arch, policies: &[&str], capacities: &str, top_of_first: &str) {
    let Some(mut board) = Board::new(arch) else { return };
    let (mut outcome, mut out, mut err) = board.run(SCRIPT);
    // Seldom, QEMU loses the timer of an idle CPU and the guest stands still; its kernel says so. That is not
    // what is tested here, so such a guest, and no other, gets a second boot.
    if outcome.ending == Ending::TimedOut
        && outcome.console.contains("kthread timer wakeup didn't happen")
    {
        eprintln!("the guest lost a timer and is booted again:\n{}", outcome.console);
        (outcome, out, err) = board.run(SCRIPT);
    }
    assert_eq!(outcome.ending, Ending::Status(7), "{out}\n{err}\n{}", outcome.console);
    for policy in policies {
        assert!(out.contains(policy), "expected {policy}\n{out}");
    }
    assert!(out.trim_end().ends_with(capacities), "{out}");
    assert_eq!(err, "to stderr\n");
    assert!(outcome.clock.is_some_and(|clock| clock.uncertainty() < 50_000_000), "{outcome:?}");
    assert!(outcome.notes.is_empty(), "{:?}", outcome.notes);
    // The last two writes of the first policy are the ones the script made.
    let writes: Vec<&str> =
        outcome.writes.lines().filter(|line| line.contains(" policy0 ")).collect();
    let [.., low, high] = writes.as_slice() else { panic!("{}", outcome.writes) };
    assert!(low.contains(" mhz=600 ") && high.contains(top_of_first), "{}", outcome.writes);
    assert!(outcome.account.writes >= 2 * policies.len() as u64);
}

#[test]
fn an_x86_kernel_sees_its_p_states_and_they_are_seen_outside() {
    let policy = "policy0 acpi-cpufreq 0 1 2 3 : 3200000 2800000 2400000 2000000 1600000 1200000 800000 600000";
    check(Arch::X86_64, &[policy], "", " mhz=3200 ");
}

#[test]
fn an_aarch64_kernel_sees_two_clusters_and_their_writes_are_seen_outside() {
    let little = "policy0 mtk-cpufreq-hw 0 1 :";
    check(
        Arch::Aarch64,
        &[little, "policy2 mtk-cpufreq-hw 2 3 :"],
        "409 409 1024 1024",
        " mhz=1800 ",
    );
}

/// Says when the guest said something.
struct Heard<'a>(&'a AtomicBool);

impl Write for Heard<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.store(true, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Says that something has ended, however.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Keeps all CPUs of the board busy for a second, while those of this computer are, too.
fn beside_others(arch: Arch) -> Option<Outcome> {
    const SPIN: &str = "
for p in /sys/devices/system/cpu/cpufreq/policy*; do echo performance >$p/scaling_governor; done
for cpu in 0 1 2 3; do taskset $((1 << cpu)) sh -c 'while :; do :; done' & done
echo go; sleep 1; kill $(jobs -p)";
    let mut board = Board::new(arch)?;
    board.options.command = ["sh", "-c", SPIN].map(str::to_owned).to_vec();
    let (begun, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    let outcome = std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    match begun.load(Ordering::Relaxed) {
                        true => std::hint::spin_loop(),
                        false => {
                            let soon = board.host.now() + Nanos::from_millis(1);
                            let _ = board.host.sleep_until(soon);
                        }
                    }
                }
            });
        }
        let _ends = Ends(&ended);
        let Board { host, qemu, plugin, options } = &board;
        guest::run(host, qemu, plugin, options, &mut Heard(&begun), &mut std::io::sink())
    });
    Some(outcome.unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn on_a_busy_host_a_board_takes_longer_and_loses_nothing() {
    for arch in [Arch::X86_64, Arch::Aarch64] {
        let Some(outcome) = beside_others(arch) else { continue };
        assert_eq!(outcome.ending, Ending::Status(0), "{}", outcome.console);
        let clock = outcome.account.clock;
        assert!(clock.held > Nanos::from_millis(100), "{clock:?}");
        for cpu in &outcome.account.cpus {
            assert!(cpu.paced > Nanos::from_millis(800), "{arch}: {cpu:?}, {clock:?}");
            assert!(cpu.late_share() < 0.01, "{arch}: {cpu:?}, {clock:?}");
        }
    }
}

/// An emulator that the plugin's library is not loaded into first: the board's clock is this computer's.
#[test]
fn without_a_clock_of_its_own_a_board_takes_this_computers_and_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let Some(mut board) = Board::new(Arch::X86_64) else { return };
    let dir = tempfile::tempdir().unwrap();
    let wrapper = dir.path().join("qemu");
    let program = board.qemu.program.display();
    fs_err::write(&wrapper, format!("#!/bin/sh\nunset LD_PRELOAD\nexec {program} \"$@\"\n"))
        .unwrap();
    fs_err::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    board.qemu.program = wrapper;
    let (outcome, ..) = board.run(SCRIPT);
    assert_eq!(outcome.ending, Ending::Status(7), "{}", outcome.console);
    assert!(!outcome.account.clock.holds(), "{:?}", outcome.account.clock);
    // A CPU that wakes up owes nothing of the time in which it was idle: what waking up takes is told apart.
    let waking = outcome.account.cpus.iter().filter(|cpu| cpu.waking > Nanos::ZERO);
    assert!(waking.count() > 0, "{:?}", outcome.account.cpus);
    let notes = flyball_board::text::remarks(&outcome, false);
    assert!(notes[0].contains("clock is this computer's"), "{notes:?}");
}

#[test]
fn a_guest_that_does_not_end_is_stopped() {
    let Some(mut board) = Board::new(Arch::X86_64) else { return };
    board.options.timeout = Nanos::from_secs(2);
    let (outcome, ..) = board.run("sleep 1000");
    assert_eq!(outcome.ending, Ending::TimedOut);
    assert!(board.host.now() > Nanos::ZERO);
}
