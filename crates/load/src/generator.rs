//! Our own load threads: one per slot, each in a closed loop on its own CPU clock.
//!
//! The clock is the kernel's account of the thread (CLOCK_THREAD_CPUTIME_ID). It is exact to the
//! nanosecond even where the kernel charges user and system time by ticks, because the scheduler
//! keeps the sum itself; only /proc/stat is as coarse as a tick.
//!
//! Threads end at the next chunk (25 us) or the next slice of their sleep (20 ms) when the
//! generator is stopped or dropped, also while the owner panics.

use super::controller::{Controller, Step};
use super::error::LoadError;
use super::kinds::{CHUNK, Pace, Work};
use super::place::Slot;
use super::proof::ThreadReading;
use flyball_host::{Call, Errno, Host, HostError, SchedStatReader, Scheduling, Wake};
use flyball_units::load::DEFAULT_PERIOD;
use flyball_units::{CpuId, Nanos};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Where the figures of [`Generator`] come from, for the table `load`.
pub const SOURCE: &str = "flyball: thread CPU clock";

/// A sleeping thread looks this often whether it is to stop.
const NAP: Nanos = Nanos::from_millis(20);

/// From the moment that all threads are ready to their common start.
const HEAD_START: Nanos = Nanos::from_millis(2);

/// Running load threads. They end when this is dropped.
#[derive(Debug)]
pub struct Generator {
    host: Arc<dyn Host>,
    stop: Arc<AtomicBool>,
    threads: Vec<Thread>,
}

/// One load thread, seen from outside.
#[derive(Debug)]
struct Thread {
    slot: Slot,
    number: usize,
    tid: u32,
    schedstat: Option<SchedStatReader>,
    board: Arc<Board>,
    handle: Option<JoinHandle<Result<(), HostError>>>,
}

/// What a thread publishes. It alone writes, so plain stores do.
#[derive(Debug)]
struct Board {
    /// CPU time by CPU, nanoseconds, indexed by the CPU's number.
    by_cpu: Vec<AtomicU64>,
    /// CPU time owed and given up.
    lost: AtomicU64,
}

impl Generator {
    /// Starts one thread for each of `slots` (number in the profile, slot); they begin together
    /// at the time returned. `buffer` is the size for kind memory where a slot gives none. On an
    /// error all threads have ended again.
    pub fn start(
        host: &Arc<dyn Host>,
        slots: &[(usize, Slot)],
        buffer: u64,
        seed: u64,
    ) -> Result<(Generator, Nanos), LoadError> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut generator =
            Generator { host: Arc::clone(host), stop: Arc::clone(&stop), threads: Vec::new() };
        let mut gates = Vec::new();
        let (ready, answers) = channel();
        for (number, slot) in slots {
            let (gate, opened) = channel();
            gates.push(gate);
            let worker = Worker {
                host: Arc::clone(host),
                slot: slot.clone(),
                buffer: slot.buffer.unwrap_or(buffer),
                seed: seed ^ (*number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
                stop: Arc::clone(&stop),
                board: Arc::new(Board::new(slot)),
            };
            generator.launch(*number, worker, ready.clone(), opened)?;
        }
        drop(ready);
        generator.await_ready(&answers)?;
        let start = host.now() + HEAD_START;
        for gate in gates {
            // A thread that has ended meanwhile is found by the first reading.
            let _ = gate.send(start);
        }
        Ok((generator, start))
    }

    fn launch(
        &mut self,
        number: usize,
        worker: Worker,
        ready: Sender<Ready>,
        opened: Receiver<Nanos>,
    ) -> Result<(), LoadError> {
        let (slot, board) = (worker.slot.clone(), Arc::clone(&worker.board));
        let handle = std::thread::Builder::new()
            .name(format!("flyball-load{number}"))
            .spawn(move || worker.run(number, ready, &opened))
            .map_err(|error| {
                let errno = Errno(error.raw_os_error().unwrap_or(Errno::EAGAIN.0));
                thread_error(number, &slot, HostError::call(Call::Spawn, "load thread", errno))
            })?;
        self.threads.push(Thread {
            slot,
            number,
            tid: 0,
            schedstat: None,
            board,
            handle: Some(handle),
        });
        Ok(())
    }

    /// Collects one answer from each thread.
    fn await_ready(&mut self, answers: &Receiver<Ready>) -> Result<(), LoadError> {
        for _ in 0..self.threads.len() {
            // The channel breaks where a thread panicked before it answered.
            let Ok(Ready { number, result }) = answers.recv() else { break };
            let Some(thread) = self.threads.iter_mut().find(|thread| thread.number == number)
            else {
                continue;
            };
            let tid = result.map_err(|error| thread_error(number, &thread.slot, error))?;
            thread.tid = tid;
            thread.schedstat = self.host.schedstat_of(tid).ok();
        }
        match self.threads.iter_mut().find(|thread| thread.tid == 0) {
            Some(thread) => Err(thread.ended()),
            None => Ok(()),
        }
    }

    /// The clocks of every thread now, in the order of the slots. None when threads have ended
    /// because the user interrupted.
    pub fn read(&mut self) -> Result<Option<Vec<ThreadReading>>, LoadError> {
        let host = Arc::clone(&self.host);
        self.threads.iter_mut().map(|thread| thread.read(host.as_ref())).collect()
    }

    /// CPU time that was owed and given up (see [`super::controller`]), all threads together.
    pub fn lost(&self) -> Nanos {
        Nanos(self.threads.iter().map(|thread| thread.board.lost.load(Ordering::Relaxed)).sum())
    }

    /// The kernel's numbers of the load threads.
    pub fn thread_ids(&self) -> Vec<u32> {
        self.threads.iter().map(|thread| thread.tid).collect()
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for handle in self.threads.iter_mut().filter_map(|thread| thread.handle.take()) {
            // What it ended with was told by `read`, or nobody asked.
            let _ = handle.join();
        }
    }
}

impl Thread {
    fn read(&mut self, host: &dyn Host) -> Result<Option<ThreadReading>, LoadError> {
        if self.handle.as_ref().is_none_or(JoinHandle::is_finished) {
            return if host.interrupted() > 0 { Ok(None) } else { Err(self.ended()) };
        }
        let fail = |error| thread_error(self.number, &self.slot, error);
        let cpu_time = host.cpu_time_of(self.tid).map_err(fail)?;
        let stat = self.schedstat.as_ref().and_then(|reader| reader.read().ok());
        let by_cpu = self.slot.cpus.iter().filter_map(|cpu| {
            let time = self.board.by_cpu.get(cpu.0 as usize)?.load(Ordering::Relaxed);
            Some((cpu, Nanos(time)))
        });
        let waited = stat.map(|stat| stat.run_delay);
        Ok(Some(ThreadReading { cpu_time, waited, by_cpu: by_cpu.collect() }))
    }

    /// The error of a thread that is gone.
    fn ended(&mut self) -> LoadError {
        let reason = match self.handle.take().map(JoinHandle::join) {
            Some(Ok(Ok(()))) | None => "without an error".to_owned(),
            Some(Ok(Err(error))) => error.to_string(),
            Some(Err(_)) => "it panicked".to_owned(),
        };
        LoadError::Ended { thread: self.number, cpus: self.slot.cpus.clone(), reason }
    }
}

fn thread_error(thread: usize, slot: &Slot, source: HostError) -> LoadError {
    LoadError::Thread { thread, cpus: slot.cpus.clone(), source }
}

impl Board {
    fn new(slot: &Slot) -> Board {
        let length = slot.cpus.iter().last().map_or(0, |cpu| cpu.0 as usize + 1);
        Board { by_cpu: (0..length).map(|_| AtomicU64::new(0)).collect(), lost: AtomicU64::new(0) }
    }

    /// Adds `time` to `cpu`; the calling thread is the only writer.
    fn add(&self, cpu: CpuId, time: Nanos) {
        if let Some(cell) = self.by_cpu.get(cpu.0 as usize) {
            cell.store(cell.load(Ordering::Relaxed) + time.0, Ordering::Relaxed);
        }
    }
}

/// A thread's answer: its number in the profile, and its number with the kernel.
struct Ready {
    number: usize,
    result: Result<u32, HostError>,
}

/// One load thread, seen from inside.
struct Worker {
    host: Arc<dyn Host>,
    slot: Slot,
    buffer: u64,
    seed: u64,
    stop: Arc<AtomicBool>,
    board: Arc<Board>,
}

impl Worker {
    fn run(
        self,
        number: usize,
        ready: Sender<Ready>,
        opened: &Receiver<Nanos>,
    ) -> Result<(), HostError> {
        let (mut work, mut pace) = match self.prepare() {
            Ok(prepared) => prepared,
            Err(error) => {
                let _ = ready.send(Ready { number, result: Err(error.clone()) });
                return Err(error);
            }
        };
        let _ = ready.send(Ready { number, result: Ok(self.host.thread_id()) });
        // Whoever waits for the others' answers must see the channel break if one of them panics.
        drop(ready);
        match opened.recv() {
            Ok(start) => self.generate(start, &mut work, &mut pace),
            Err(_) => Ok(()), // another thread could not get ready
        }
    }

    /// Class, affinity and timer of this thread, its memory, and how fast it works.
    fn prepare(&self) -> Result<(Work, Pace), HostError> {
        // Always set: a thread inherits the class of its maker, which may be a real-time one.
        self.host.scheduling_set(Scheduling::Other { nice: i32::from(self.slot.nice) })?;
        self.host.affinity_set(&self.slot.cpus)?;
        // Without it bursts start up to 50 us late; their length does not suffer.
        let _ = self.host.timer_slack_set(Nanos(1));
        let mut work = Work::new(self.slot.kind, self.buffer)
            .ok_or_else(|| HostError::call(Call::Spawn, "load thread's buffer", Errno::ENOMEM))?;
        let mut pace = Pace::new();
        for _ in 0..32 {
            let (units, before) = (pace.units(CHUNK), self.host.thread_cpu_time()?);
            work.run(units);
            pace.learn(units, self.host.thread_cpu_time()?.since(before));
        }
        Ok((work, pace))
    }

    /// The closed loop, until asked to stop.
    fn generate(&self, start: Nanos, work: &mut Work, pace: &mut Pace) -> Result<(), HostError> {
        let host = self.host.as_ref();
        let period = self.slot.period.unwrap_or(DEFAULT_PERIOD);
        let mut used = host.thread_cpu_time()?;
        let mut controller = Controller::new(self.slot.percent, period, self.seed, start, used);
        while !self.stop.load(Ordering::Relaxed) {
            match controller.step(host.now(), used) {
                Step::Sleep(until) => {
                    let until = until.min(host.now() + NAP);
                    if host.sleep_until(until)? == Wake::Interrupted {
                        return Ok(());
                    }
                    used = self.account(used)?;
                }
                Step::Work(most) => {
                    let units = pace.units(most.min(CHUNK));
                    work.run(units);
                    let before = used;
                    used = self.account(used)?;
                    pace.learn(units, used.since(before));
                    self.board.lost.store(controller.lost().0, Ordering::Relaxed);
                }
            }
        }
        Ok(())
    }

    /// Books the CPU time since `before` on the present CPU; returns the clock.
    fn account(&self, before: Nanos) -> Result<Nanos, HostError> {
        let used = self.host.thread_cpu_time()?;
        self.board.add(self.host.current_cpu()?, used.since(before));
        Ok(used)
    }
}
