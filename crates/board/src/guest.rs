//! One boot: starts the emulator, passes the guest's output on, talks with its `/init`, and says how
//! it ended.

mod command_line;
mod control;
mod prepare;
mod writes;

use crate::clock::GuestClock;
use crate::error::{BoardError, Result};
use crate::kernel::Kernel;
use crate::machine::Machine;
use crate::plugin::{self, Account};
use crate::qemu::Qemu;
use crate::unix::{UnixListener, UnixStream};
use control::Talk;
use flyball_host::{Child, Exit, Host, Status};
use flyball_units::Nanos;
use prepare::Prepared;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What a guest's root directory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    /// Busybox alone.
    None,
    /// A directory of the host, copy-on-write.
    Dir(PathBuf),
}

/// What to boot, and what to run there.
#[derive(Debug)]
pub struct Options {
    /// The machine.
    pub machine: Machine,
    /// The kernel.
    pub kernel: Kernel,
    /// A static busybox for the guest.
    pub busybox: PathBuf,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// The root directory.
    pub root: Root,
    /// A `flyball` for the guest, put on its PATH.
    pub program: Option<PathBuf>,
    /// A directory that the guest sees, and may write, as /run/share.
    pub share: Option<PathBuf>,
    /// More kernel arguments.
    pub append: Option<String>,
    /// Instructions per step of the pacing.
    pub step: u64,
    /// How many times as fast as the host's the board's clock may run.
    pub rate: f64,
    /// Whether the CPUs stay as fast as the host can, whatever their P-state.
    pub full_speed: bool,
    /// When to give up, from the start on.
    pub timeout: Nanos,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Directory to start in, where the guest has the host's files.
    pub folder: Option<String>,
}

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this status.
    Status(u8),
    /// It did not end in time.
    TimedOut,
    /// The user asked to end.
    Interrupted,
}

/// What came of a boot.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How the command ended.
    pub ending: Ending,
    /// Release of the kernel, once it was up.
    pub release: Option<String>,
    /// From the start until the command began.
    pub boot: Option<Nanos>,
    /// What the guest's `/init` found amiss.
    pub notes: Vec<String>,
    /// The guest's clock, where it reported one.
    pub clock: Option<GuestClock>,
    /// What the plugin counted.
    pub account: Account,
    /// The same, some times a second, at the guest's time in nanoseconds; empty where its clock is
    /// not known.
    pub accounts: Vec<(i64, Account)>,
    /// The log of P-state writes, on the guest's clock.
    pub writes: String,
    /// The guest's console.
    pub console: String,
}

/// The log of P-state writes in a run directory.
pub use flyball_run::name::P_STATES_LOG as WRITES;
/// How the CPUs kept their pace, in a run directory.
const PACE: &str = "pace.csv";

impl Outcome {
    /// Writes what only the outside knows into `dir`: the P-state writes, and how the CPUs kept their
    /// pace, both on the guest's clock.
    ///
    /// # Errors
    /// The disk's.
    pub fn save(&self, dir: &Path) -> Result<()> {
        let io = |error| BoardError::io(&error);
        fs_err::write(dir.join(WRITES), &self.writes).map_err(io)?;
        fs_err::write(dir.join(PACE), pace_csv(&self.accounts)).map_err(io)
    }
}

/// One line per look and CPU.
fn pace_csv(accounts: &[(i64, Account)]) -> String {
    let mut text = "t_ns,cpu,instructions,paced_ns,late_ns\n".to_owned();
    for (at, account) in accounts {
        for (cpu, of) in account.cpus.iter().enumerate() {
            let (paced, late) = (of.paced.0, of.late.0);
            text.push_str(&format!("{at},{cpu},{},{paced},{late}\n", of.instructions));
        }
    }
    text
}

/// How long the emulator may take to end once the command has.
const PATIENCE: Nanos = Nanos::from_secs(20);
/// How often it is looked at.
const GLANCE: Nanos = Nanos::from_millis(200);
/// Lines of the console that an error shows.
const CONSOLE_END: usize = 15;

/// How often an emulator that crashes before the command began is started.
const ATTEMPTS: usize = 3;
/// The part of the time limit after which a guest that has not come up is taken to hang, and the least.
const BOOT_PART: u64 = 5;
const BOOT_AT_LEAST: Nanos = Nanos::from_secs(20);

/// Boots, runs the command, and copies what it prints to `out` and `err`. An emulator that crashes
/// before the command began is started again, with a note: QEMU 10.0.2 does so once in some 30 boots.
/// So is, once, one in which the guest does not come up: in one boot of some hundred all CPUs wait for
/// ever (QEMU 10.0.2). The second may take all the time there is, as a host may be slow.
///
/// # Errors
/// Files that cannot be made, an emulator that does not start, a guest that ends without the
/// command's status; the last with the end of its console.
pub fn run(
    host: &dyn Host,
    qemu: &Qemu,
    plugin: &Path,
    options: &Options,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> Result<Outcome> {
    let mut failed = Vec::new();
    let mut patience = Some(Nanos(options.timeout.0 / BOOT_PART).max(BOOT_AT_LEAST));
    loop {
        match boot(host, qemu, plugin, options, patience, out, err)? {
            Boot::Ended(mut outcome) => {
                outcome.notes.splice(0..0, failed);
                return Ok(*outcome);
            }
            Boot::Crashed { signal, .. } if failed.len() + 1 < ATTEMPTS => failed.push(format!(
                "the emulator crashed in the boot (signal {signal}) and was started again"
            )),
            Boot::Crashed { error, .. } => return Err(error),
            Boot::Hung => failed.extend(patience.take().map(|waited| {
                format!("the guest had not come up after {waited}, and was started again")
            })),
        }
    }
}

/// What came of starting the emulator.
enum Boot {
    /// The guest ended as it should, or was stopped.
    Ended(Box<Outcome>),
    /// The emulator itself ended by a signal before the command began: nothing was run.
    Crashed { signal: i32, error: BoardError },
    /// The guest did not come up: nothing was run.
    Hung,
}

fn boot(
    host: &dyn Host,
    qemu: &Qemu,
    plugin: &Path,
    options: &Options,
    patience: Option<Nanos>,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> Result<Boot> {
    let prepared = Prepared::new(host, qemu, options)?;
    prepared.link_plugin(plugin)?;
    let listen = |name: &str| {
        let path = prepared.dir().join(name);
        UnixListener::bind(&path).map_err(|error| BoardError::io_at(&path, &error))
    };
    let (out_socket, err_socket, control) = (listen("out")?, listen("err")?, listen("control")?);
    let started = host.now();
    let talk = Talk::new(prepared.counters());
    let mut spec = qemu.command(command_line::arguments(options, &prepared));
    spec.folder = Some(prepared.dir().to_path_buf());
    let others = host.env("LD_PRELOAD").filter(|others| !others.is_empty());
    let first = ["./plugin.so"].into_iter().chain(others.as_deref());
    spec.environment.push(("LD_PRELOAD".into(), first.collect::<Vec<_>>().join(":").into()));

    let mut seen: Vec<(Nanos, Account)> = Vec::new();
    let ended = std::thread::scope(|scope| {
        let threads = [
            scope.spawn(|| forward(&out_socket, out)),
            scope.spawn(|| forward(&err_socket, err)),
            scope.spawn(|| talk.serve(host, &control)),
        ];
        let ended = host.spawn(&spec).map_err(BoardError::from).and_then(|mut child| {
            let mut look = || {
                let account = plugin::account(prepared.counters(), options.machine.cpus);
                seen.extend(account.map(|account| (account.clock.at(host.now()), account)));
            };
            let limits = Limits {
                up: patience.map(|patience| started + patience),
                end: started + options.timeout,
            };
            wait(host, &mut child, limits, &talk, &mut look)
        });
        // An emulator that never came leaves a thread waiting for it.
        for name in ["out", "err", "control"] {
            drop(UnixStream::connect(prepared.dir().join(name)));
        }
        for thread in threads {
            // A thread that panicked is a defect, and its message is on stderr already.
            let _ = thread.join();
        }
        ended
    })?;
    outcome(options, &prepared, &talk, ended, started, &seen)
}

/// Why waiting ended.
enum Ended {
    Exit(Box<Exit>),
    NotUp,
    TimedOut,
    Interrupted,
}

/// When waiting ends at the latest.
#[derive(Clone, Copy)]
struct Limits {
    /// The guest has to be up by then.
    up: Option<Nanos>,
    /// The emulator has to have ended by then.
    end: Nanos,
}

fn wait(
    host: &dyn Host,
    child: &mut Child,
    limits: Limits,
    talk: &Talk,
    look: &mut dyn FnMut(),
) -> Result<Ended> {
    loop {
        look();
        let next = (host.now() + GLANCE).min(limits.end);
        if let Some(exit) = child.wait(Some(next))? {
            return Ok(Ended::Exit(Box::new(exit)));
        }
        let now = host.now();
        let done = talk.ended_at().is_some_and(|at| now >= at + PATIENCE);
        let why = match () {
            () if host.interrupted() > 0 => Ended::Interrupted,
            () if done || now >= limits.end => Ended::TimedOut,
            () if limits.up.is_some_and(|up| now >= up) && !talk.is_up() => Ended::NotUp,
            () => continue,
        };
        child.kill()?;
        return Ok(why);
    }
}

fn outcome(
    options: &Options,
    prepared: &Prepared,
    talk: &Talk,
    ended: Ended,
    started: Nanos,
    seen: &[(Nanos, Account)],
) -> Result<Boot> {
    let told = talk.told();
    let console = read_lossy(&prepared.dir().join("console"));
    let ending = match (told.status, ended) {
        (Some(status), _) => Ending::Status(status),
        (None, Ended::NotUp) => return Ok(Boot::Hung),
        (None, Ended::TimedOut) => Ending::TimedOut,
        (None, Ended::Interrupted) => Ending::Interrupted,
        (None, Ended::Exit(exit)) => {
            let error = no_status(&console, &String::from_utf8_lossy(&exit.stderr), &told);
            return match (exit.status, &told.release) {
                (Status::Signal(signal), None) => Ok(Boot::Crashed { signal, error }),
                _ => Err(error),
            };
        }
    };
    let account = plugin::account(prepared.counters(), options.machine.cpus).unwrap_or_default();
    let clock = GuestClock::new(&told.before, &told.after);
    let raw = read_lossy(&prepared.dir().join("log"));
    let writes = writes::text(&raw, clock.as_ref(), &account);
    let on_guest_clock =
        |(at, account): &(Nanos, Account)| Some((clock?.guest(at.0 as i64), account.clone()));
    let accounts = seen.iter().filter_map(on_guest_clock).collect();
    let boot = told.up_at.map(|at| at.since(started));
    Ok(Boot::Ended(Box::new(Outcome {
        ending,
        release: told.release,
        boot,
        notes: told.notes,
        clock,
        account,
        accounts,
        writes,
        console,
    })))
}

fn no_status(console: &str, stderr: &str, told: &control::GuestReport) -> BoardError {
    let mut message = "expected the command's status, found none: ".to_owned();
    message.push_str(match (&told.release, console.contains("Kernel panic")) {
        (_, true) => "the kernel panicked",
        (Some(_), _) => "the guest ended while the command ran",
        (None, _) if console.trim().is_empty() => "the kernel said nothing",
        (None, _) => "the guest ended before the command began",
    });
    for (what, text) in [("the emulator", stderr), ("the console", console)] {
        if !text.trim().is_empty() {
            message.push_str(&format!("\nend of what {what} said:\n{}", end_of(text)));
        }
    }
    for note in &told.notes {
        message.push_str(&format!("\nnote: {note}"));
    }
    BoardError::failed("the guest", message).with_hint(
        "the kernel argument loglevel=7 shows more of the boot; a kernel of your own may lack a \
         driver: give its configuration as well, then the options are checked before the boot",
    )
}

/// The last lines of a text.
pub fn end_of(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(CONSOLE_END);
    lines[from..].iter().map(|line| format!("  {}", line.trim_end())).collect::<Vec<_>>().join("\n")
}

/// Copies what comes from the emulator until it ends. A reader that has gone must not block the
/// guest, so the rest is then thrown away.
fn forward(socket: &UnixListener, to: &mut (dyn Write + Send)) {
    let Ok((mut stream, _)) = socket.accept() else { return };
    let mut buffer = vec![0; 64 * 1024];
    let mut listening = true;
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        if listening {
            listening = to.write_all(&buffer[..length]).and_then(|()| to.flush()).is_ok();
        }
    }
}

fn read_lossy(path: &Path) -> String {
    fs_err::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::{ProcessSpec, RealHost};
    use std::ffi::OsString;

    #[test]
    fn a_guest_that_does_not_come_up_is_given_up_and_one_that_did_is_not() {
        let host = RealHost::new();
        let talk = Talk::new(Path::new("/no/such/file"));
        let end_of_wait = |talk: &Talk| {
            let mut child =
                host.spawn(&ProcessSpec::new("sleep", ["60"].map(OsString::from))).unwrap();
            let now = host.now();
            let limits =
                Limits { up: Some(now + Nanos::from_millis(20)), end: now + Nanos::from_secs(1) };
            wait(&host, &mut child, limits, talk, &mut || ()).unwrap()
        };
        assert!(matches!(end_of_wait(&talk), Ended::NotUp));
        talk.hear("up 6.12.95", Nanos(1), Nanos(1));
        assert!(matches!(end_of_wait(&talk), Ended::TimedOut));
    }
}
