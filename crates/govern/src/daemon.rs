//! The daemon: settings held, the loop in a thread of its own, a watch over it, a socket.
//!
//! The loop's thread polls and writes, and nothing else. The main thread waits for signals, for
//! orders, and for the loop to come back in time; where it does not, the main thread restores the
//! settings and returns without it: the process ends, whatever the loop hangs in.

use crate::order::{Order, answer};
use crate::{
    Engine, Entry, GovernError, Note, Outline, Sink, Spot, Status, Trail, Wish, Writer, prepare,
    trail,
};
use flyball_control::{Hold, Recovered};
use flyball_host::{Bell, ControlSocket, Host, HostKind, Woken};
use flyball_units::{Mismatch, Nanos};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The loop may always be late by this much: a busy machine is no reason to give up.
const LEAST_PATIENCE: Nanos = Nanos::from_secs(1);
/// How often the log is written.
const WRITE_EVERY: Nanos = Nanos::from_millis(500);
/// How long a visitor may take to say what it wants, and the loop to answer.
const VISIT: Nanos = Nanos::from_millis(200);
const REPLY: Duration = Duration::from_secs(3);

/// How a daemon runs.
pub struct Options {
    /// The socket for orders; none where it takes none.
    pub socket: Option<PathBuf>,
    /// End by itself after this time.
    pub duration: Option<Nanos>,
    /// Polls that the loop may be late before it counts as stalled; a second at least.
    pub stall_polls: u32,
    /// Where every decision goes.
    pub sink: Option<Box<dyn Sink>>,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Options { socket, duration, stall_polls, sink } = self;
        let mut text = f.debug_struct("Options");
        text.field("socket", socket).field("duration", duration);
        text.field("stall_polls", stall_polls).field("log", &sink.is_some()).finish()
    }
}

/// A daemon that has ended: everything is as it was.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Where it stood.
    pub status: Status,
    /// What was restored; none in the shadow.
    pub restored: Option<flyball_control::Ended>,
    /// Records written to the log.
    pub logged: u64,
    /// Records that did not fit into the ring.
    pub dropped: u64,
    /// Why the log ended early, where it did.
    pub log_error: Option<String>,
    /// Whether it was asked to end by a signal.
    pub interrupted: bool,
    /// CPU time of the whole process, the start included.
    pub process_cpu_ns: Nanos,
}

/// What the threads share: no lock.
#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    /// When the loop wants to come back, and the time between its polls.
    due: AtomicU64,
    interval: AtomicU64,
}

impl Shared {
    fn put(&self, spot: Spot) {
        self.interval.store(spot.interval.0, Ordering::Relaxed);
        self.due.store(spot.next.0, Ordering::Release);
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

/// An order on its way to the loop.
type Letter = (Order, Sender<Result<Option<Status>, String>>);

/// Rules the machine's clock domains until somebody asks it to end. `begun` is told what is done, once
/// all of it is set up.
///
/// # Errors
/// What cannot be done, as [`prepare()`] and [`Hold::start`] say it; a loop that stalled or failed.
/// Unless it is [`flyball_units::ErrorKind::Restore`], everything is as it was.
pub fn run(
    host: &Arc<dyn Host>,
    state: &Path,
    wish: &Wish,
    options: Options,
    begun: &mut dyn FnMut(&Outline, &Recovered),
) -> Result<Ended, GovernError> {
    let mut prepared = prepare(host.as_ref(), wish)?;
    let hold = match &prepared.request {
        Some(request) => Some(Hold::start(host, state, request)?),
        None => None,
    };
    if hold.is_some() {
        // The domains as they are now: a killed hold may have been restored first.
        prepared = prepare(host.as_ref(), wish)?;
    }
    let nothing = Recovered::Nothing;
    begun(&prepared.outline, hold.as_ref().map_or(&nothing, Hold::recovered));
    let (trail, log) = match options.sink {
        Some(sink) => {
            let (trail, writer) = trail(prepared.names());
            (trail, Some((writer, sink)))
        }
        None => (Trail::none(), None),
    };
    let socket = match &options.socket {
        Some(path) => {
            Some(host.listen(path).map_err(GovernError::host("opening the control socket"))?)
        }
        None => None,
    };
    let mut engine = prepared.open(host, trail)?;
    let began = host.now();
    engine.start(began)?;
    let end = options.duration.map(|time| began + time);
    let log = match log {
        Some(log) => Some(Log::start(host, log)?),
        None => None,
    };
    let ran = match host.kind() {
        HostKind::Real => threads(host, engine, socket.as_ref(), (end, options.stall_polls.max(1))),
        // Virtual time belongs to one thread.
        HostKind::Recorded => alone(host, engine, end),
    };
    let _ = host.notify("STOPPING=1");
    drop(socket);
    // First the machine, then the log.
    let restored = hold.map(Hold::end).transpose();
    let (logged, dropped, log_error) = match log {
        Some(log) => log.end(),
        None => (0, 0, None),
    };
    // A setting that stays changed is worse news than why the loop ended.
    let restored = restored?;
    let (status, interrupted) = ran?;
    let process_cpu_ns = host.process_cpu_time().unwrap_or_default();
    Ok(Ended { status, restored, logged, dropped, log_error, interrupted, process_cpu_ns })
}

/// The loop in this thread.
fn alone(
    host: &Arc<dyn Host>,
    mut engine: Engine,
    end: Option<Nanos>,
) -> Result<(Status, bool), GovernError> {
    let bell = host.bell().map_err(GovernError::host("preparing the loop"))?;
    loop {
        let now = host.now();
        let spot = engine.step(now)?;
        if host.interrupted() > 0 || end.is_none_or(|end| now >= end) {
            return Ok((engine.status(now), host.interrupted() > 0));
        }
        let wait = host.wait_bell(&bell, None, spot.next);
        wait.map_err(GovernError::host("waiting for the next poll"))?;
    }
}

/// The loop in a thread of its own, watched from here.
fn threads(
    host: &Arc<dyn Host>,
    engine: Engine,
    socket: Option<&ControlSocket>,
    (end, stall_polls): (Option<Nanos>, u32),
) -> Result<(Status, bool), GovernError> {
    let bell = || host.bell().map(Arc::new).map_err(GovernError::host("preparing the loop"));
    let (for_loop, for_main) = (bell()?, bell()?);
    let shared = Arc::new(Shared::default());
    shared.put(Spot { next: host.now(), interval: Nanos::ZERO });
    let (letters, received) = channel();
    let looper = Looper {
        host: Arc::clone(host),
        engine,
        shared: Arc::clone(&shared),
        bell: Arc::clone(&for_loop),
        done: Arc::clone(&for_main),
        letters: received,
    };
    let thread = spawn("govern", move || looper.run())?;
    let _ = host.notify("READY=1");
    let desk = Desk { host, shared: &shared, for_loop: &for_loop, for_main: &for_main, letters };
    let watched = desk.watch(&thread, socket, end, stall_polls);
    shared.stop();
    for_loop.ring();
    match watched {
        // It may hang in the kernel: it is not waited for.
        Err(stalled @ GovernError::Stalled { .. }) => Err(stalled),
        watched => match thread.join() {
            Ok(Ok(status)) => watched.map(|interrupted| (status, interrupted)),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(GovernError::Panicked),
        },
    }
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, GovernError> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(|error| {
        GovernError::Unsupported(Mismatch::value("to be started", error).at("a thread"))
    })
}

/// The loop's thread.
struct Looper {
    host: Arc<dyn Host>,
    engine: Engine,
    shared: Arc<Shared>,
    bell: Arc<Bell>,
    done: Arc<Bell>,
    letters: Receiver<Letter>,
}

/// Rings the main thread awake, also when the loop panics.
struct Ring(Arc<Bell>);

impl Drop for Ring {
    fn drop(&mut self) {
        self.0.ring();
    }
}

impl Looper {
    fn run(mut self) -> Result<Status, GovernError> {
        let _ring = Ring(Arc::clone(&self.done));
        loop {
            let spot = self.engine.step(self.host.now())?;
            self.shared.put(spot);
            if self.shared.is_stopped() {
                return Ok(self.engine.status(self.host.now()));
            }
            let woken = self.host.wait_bell(&self.bell, None, spot.next);
            if woken.map_err(GovernError::host("waiting for the next poll"))?.bell {
                while let Ok((order, reply)) = self.letters.try_recv() {
                    // Whoever asked may have gone.
                    let _ = reply.send(self.obey(&order).map_err(|error| error.to_string()));
                }
            }
        }
    }

    fn obey(&mut self, order: &Order) -> Result<Option<Status>, GovernError> {
        let now = self.host.now();
        match order {
            Order::Status => Ok(Some(self.engine.status(now))),
            Order::Set { name, value } => self.engine.set(name, *value, now).map(|()| None),
            Order::Switch { governor } => {
                let governors = self.engine.make(governor)?;
                self.engine.switch(governors, now).map(|()| None)
            }
            // The main thread's affair.
            Order::Stop => Ok(None),
        }
    }
}

/// The main thread's part.
struct Desk<'a> {
    host: &'a Arc<dyn Host>,
    shared: &'a Shared,
    for_loop: &'a Bell,
    for_main: &'a Bell,
    letters: Sender<Letter>,
}

impl Desk<'_> {
    /// Watches until the end; whether a signal asked for it.
    fn watch(
        &self,
        thread: &JoinHandle<Result<Status, GovernError>>,
        socket: Option<&ControlSocket>,
        end: Option<Nanos>,
        stall_polls: u32,
    ) -> Result<bool, GovernError> {
        let host = self.host.as_ref();
        // Half of what the service manager allows, if it watches.
        let manager = host.env("WATCHDOG_USEC").and_then(|text| text.parse().ok());
        let manager = manager.map(|us: u64| Nanos::from_micros(us / 2));
        loop {
            let now = host.now();
            if host.interrupted() > 0 {
                return Ok(true);
            }
            if thread.is_finished() || end.is_some_and(|end| now >= end) {
                return Ok(false);
            }
            let interval = self.shared.interval.load(Ordering::Relaxed);
            let polls = Nanos(interval.saturating_mul(u64::from(stall_polls)));
            let patience = polls.max(LEAST_PATIENCE);
            let late = now.since(Nanos(self.shared.due.load(Ordering::Acquire)));
            if late > patience {
                return Err(GovernError::Stalled { patience, late });
            }
            if manager.is_some() {
                let _ = host.notify("WATCHDOG=1");
            }
            let pause = manager.unwrap_or(patience).min(Nanos(patience.0 / 2));
            let next = (now + pause).min(end.unwrap_or(now + pause));
            let woken = host.wait_bell(self.for_main, socket, next);
            let woken = woken.map_err(GovernError::host("waiting for orders"))?;
            if let Some(socket) = socket.filter(|_| woken.visitor)
                && self.visit(socket)
            {
                return Ok(false);
            }
        }
    }

    /// Answers whoever is at the socket; whether it ordered the end.
    fn visit(&self, socket: &ControlSocket) -> bool {
        // Who may not command is sent away there.
        let Ok(Some(mut visitor)) = socket.accept() else { return false };
        let Ok(text) = visitor.request(VISIT) else { return false };
        let order: Result<Order, String> = text.parse();
        let said = match &order {
            Err(error) => Err(error.clone()),
            Ok(Order::Stop) => Ok(None),
            Ok(order) => {
                let (reply, replied) = channel();
                let sent = self.letters.send((order.clone(), reply));
                self.for_loop.ring();
                match sent.map(|()| replied.recv_timeout(REPLY)) {
                    Ok(Ok(said)) => said,
                    _ => Err("expected an answer from the loop, found none".to_owned()),
                }
            }
        };
        let _ = visitor.answer(&answer(said));
        order == Ok(Order::Stop)
    }
}

/// The writer's thread.
struct Log {
    thread: JoinHandle<(Writer, Option<String>)>,
    stop: Arc<AtomicBool>,
    bell: Arc<Bell>,
}

impl Log {
    fn start(
        host: &Arc<dyn Host>,
        (mut writer, mut sink): (Writer, Box<dyn Sink>),
    ) -> Result<Log, GovernError> {
        let bell = host.bell().map(Arc::new).map_err(GovernError::host("preparing the log"))?;
        let stop = Arc::new(AtomicBool::new(false));
        let (waits, stopped, host) = (Arc::clone(&bell), Arc::clone(&stop), Arc::clone(host));
        let thread = spawn("govern-log", move || {
            let mut failed = None;
            loop {
                let last = stopped.load(Ordering::Acquire);
                if failed.is_none() {
                    failed = writer.drain(host.now(), sink.as_mut()).err();
                }
                if last {
                    if failed.is_none() {
                        let (t_ns, note) = (host.now(), Note::Ended);
                        let entry = Entry::Note { t_ns, domain: None, note };
                        failed = sink.entry(&entry).and_then(|()| sink.flush()).err();
                    }
                    return (writer, failed);
                }
                // Virtual time is not this thread's to move.
                let waited = match host.kind() {
                    HostKind::Real => host.wait_bell(&waits, None, host.now() + WRITE_EVERY),
                    HostKind::Recorded => Ok(Woken::default()),
                };
                if let Err(error) = waited {
                    return (writer, Some(error.to_string()));
                }
                std::thread::yield_now();
            }
        })?;
        Ok(Log { thread, stop, bell })
    }

    /// Writes the rest: records, dropped ones, and why it ended early.
    fn end(self) -> (u64, u64, Option<String>) {
        self.stop.store(true, Ordering::Release);
        self.bell.ring();
        match self.thread.join() {
            Ok((writer, failed)) => (writer.entries, writer.dropped(), failed),
            Err(_) => (0, 0, Some("the writer failed itself".to_owned())),
        }
    }
}
