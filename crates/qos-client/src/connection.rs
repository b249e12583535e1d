//! The connection of this program, and what each thread said over it.
#![expect(
    clippy::disallowed_methods,
    reason = "part of other programs: clock and environment are theirs"
)]

use crate::socket;
use std::cell::RefCell;
use std::io::{ErrorKind, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{OnceLock, RwLock};
use std::time::Instant;

/// Between two looks for a service.
const AGAIN_MS: u64 = 10_000;
/// Longest name of a class.
const LONGEST: usize = 32;

/// What a thread says.
pub(crate) enum Saying<'a> {
    Begin,
    End,
    Deadline(u32),
    Class(&'a str),
}

struct Connection {
    stream: UnixStream,
    place: PathBuf,
    /// Counted from 1.
    number: u64,
    /// The process that connected.
    process: u32,
}

static CONNECTION: RwLock<Option<Connection>> = RwLock::new(None);
/// Whether there is one: looked at without the lock.
static THERE: AtomicBool = AtomicBool::new(false);
/// No look before, in ms of [`now`].
static AGAIN: AtomicU64 = AtomicU64::new(0);
static NUMBER: AtomicU64 = AtomicU64::new(0);

#[derive(Default)]
struct Thread {
    /// The connection over which it said what it sent, and in which process.
    number: u64,
    process: u32,
    tid: i32,
    deadline: u32,
    sent_deadline: u32,
    class: String,
    sent_class: String,
}

thread_local! {
    static THREAD: RefCell<Thread> = RefCell::default();
}

pub(crate) fn is_there() -> bool {
    THERE.load(Ordering::Acquire)
}

/// Notes what a thread is to have, and says what is not known yet.
pub(crate) fn say(saying: Saying<'_>) {
    // A thread that is ending has nothing to say.
    let _ = THREAD.try_with(|thread| {
        let Ok(mut thread) = thread.try_borrow_mut() else { return };
        match saying {
            Saying::Deadline(us) => thread.deadline = us,
            Saying::Class(name) => {
                let fits = name.len() <= LONGEST && !name.contains([' ', '\n']);
                thread.class.clear();
                thread.class.push_str(if fits { name } else { "" });
            }
            Saying::Begin | Saying::End => {}
        }
        if !is_there() && !look() {
            return;
        }
        let verb = match saying {
            Saying::Begin => Some("begin"),
            Saying::End => Some("end"),
            Saying::Deadline(_) | Saying::Class(_) => None,
        };
        if thread.tell(verb) == Told::Elsewhere && look() {
            thread.tell(verb);
        }
    });
}

/// What became of something that was said.
#[derive(PartialEq, Eq)]
enum Told {
    Done,
    /// The connection is another process's: this one came from it.
    Elsewhere,
}

impl Thread {
    fn tell(&mut self, verb: Option<&str>) -> Told {
        // Somebody else is looking for a service: nobody waits for that.
        let Ok(connection) = CONNECTION.try_read() else { return Told::Done };
        let Some(connection) = connection.as_ref() else { return Told::Done };
        let process = std::process::id();
        if connection.process != process {
            THERE.store(false, Ordering::Release);
            AGAIN.store(0, Ordering::Relaxed);
            return Told::Elsewhere;
        }
        if (self.number, self.process) != (connection.number, process) {
            (self.number, self.process) = (connection.number, process);
            self.tid = socket::thread();
            self.sent_deadline = 0;
            self.sent_class.clear();
        }
        let tid = self.tid;
        if self.class != self.sent_class {
            let name = if self.class.is_empty() { "-" } else { &self.class };
            if connection.send(format_args!("class {tid} {name}\n")) {
                self.sent_class.clone_from(&self.class);
            }
        }
        if self.deadline != self.sent_deadline
            && connection.send(format_args!("deadline {tid} {}\n", self.deadline))
        {
            self.sent_deadline = self.deadline;
        }
        if let Some(verb) = verb {
            connection.send(format_args!("{verb} {tid}\n"));
        }
        Told::Done
    }
}

impl Connection {
    /// Sends a message, whole or not at all; whether it went.
    fn send(&self, message: std::fmt::Arguments<'_>) -> bool {
        let mut line = [0; 64];
        let room = line.len();
        let mut rest = line.as_mut_slice();
        if rest.write_fmt(message).is_err() {
            return false;
        }
        let length = room - rest.len();
        if self.is_ours() {
            match (&self.stream).write(line.get(..length).unwrap_or_default()) {
                Ok(sent) if sent == length => return true,
                // A service that is busy misses a message.
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
                {
                    return false;
                }
                _ => {}
            }
        }
        AGAIN.store(now() + AGAIN_MS, Ordering::Relaxed);
        THERE.store(false, Ordering::Release);
        false
    }

    /// Whether the descriptor still means the connection: a program may have closed all that it had, and have
    /// been given the number for another one.
    fn is_ours(&self) -> bool {
        let peer = self.stream.peer_addr();
        peer.is_ok_and(|peer| peer.as_pathname() == Some(self.place.as_path()))
    }
}

/// Looks for a service where it is time; one thread does.
fn look() -> bool {
    let now = now();
    if now < AGAIN.load(Ordering::Relaxed) {
        return false;
    }
    let Ok(mut connection) = CONNECTION.try_write() else { return false };
    AGAIN.store(now + AGAIN_MS, Ordering::Relaxed);
    let found = places().iter().find_map(|place| {
        let stream = socket::connect(place)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed) + 1;
        Some(Connection { stream, place: place.clone(), number, process: std::process::id() })
    });
    let there = found.is_some();
    if let Some(before) = std::mem::replace(&mut *connection, found)
        && !before.is_ours()
    {
        // Whatever has its number now is not this one's to close.
        let _ = before.stream.into_raw_fd();
    }
    THERE.store(there, Ordering::Release);
    there
}

/// Milliseconds since the first call; no system call.
fn now() -> u64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_millis() as u64
}

/// Where a service may listen.
fn places() -> &'static [PathBuf] {
    static PLACES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    PLACES.get_or_init(|| {
        let variable = |name: &str| {
            std::env::var_os(name).filter(|_| !socket::has_rights_of_others()).map(PathBuf::from)
        };
        if let Some(named) = variable("FLYBALL_QOS_SOCKET") {
            return Some(named).filter(|named| !named.as_os_str().is_empty()).into_iter().collect();
        }
        let own = variable("XDG_RUNTIME_DIR").filter(|folder| !folder.as_os_str().is_empty());
        let folders = own.into_iter().chain([PathBuf::from("/run")]);
        folders.map(|folder| folder.join("flyball-qos/socket")).collect()
    })
}
