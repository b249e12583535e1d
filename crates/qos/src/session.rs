//! A controller from its start to its end.

mod asked;

use crate::journal::{Journal, Own, State};
use crate::means::Means;
use crate::programs::Programs;
use crate::recover::{Recovered, give_back, is_gone, leftovers, sweep, take_back};
use crate::threads::{Counts, Inherited, Threads};
use crate::{Backend, QosError, Rules, Target, Whose, Wish, backend};
use flyball_governors::ClampRamp;
use flyball_host::{
    Child, FairShare, Host, HostError, Input, Output, ProcessIdentity, ProcessSpec, Status, Task,
    ThreadIdentity, Watched,
};
use flyball_units::{Mismatch, Nanos};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// The kernel's name of a controller.
pub const CONTROLLER: &str = "flyball-qos";
/// Between two looks before the first one.
const PERIOD: Nanos = Nanos::from_millis(4);
/// Between two looks while clamps grow at the least.
const SOONEST: Nanos = Nanos::from_millis(1);
/// Where nothing can grow: the looks themselves take the CPU from the thread that they look at.
const LONGEST_PERIOD: Nanos = Nanos::from_millis(16);
/// A controller that is only asked does not look for anybody.
const IDLE: Nanos = Nanos::from_secs(3600);
/// Slice and nice value of the controller, where it may have them: it runs for less than this, and what it is
/// late the clamp is late.
const PROMPT: (Nanos, i32) = (Nanos(100_000), ClampRamp::NICE as i32);
/// With so many processes in the journal those that have ended are left out.
const MANY: usize = 64;
/// A guardian that ends is started again, but not for ever.
const GUARDIANS: u32 = 5;

/// A controller that has ended; no clamp of its is left.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ended {
    /// What was done.
    pub counts: Counts,
    /// How often it was woken.
    pub wakes: u64,
    /// How long it ran, once it was set up.
    #[serde(rename = "elapsed_ns")]
    pub elapsed: Nanos,
    /// CPU time that it took in that.
    #[serde(rename = "cpu_time_ns")]
    pub cpu_time: Nanos,
    /// Whether lower limits were set, and not clamps.
    #[serde(skip)]
    pub limits: bool,
    /// Guardians that ended and were replaced.
    pub guardians_lost: u32,
    /// How the program ended, where one was run.
    #[serde(skip)]
    pub program: Option<Status>,
}

/// Lets the clamps of the wished threads follow the ramp until the program or all processes have ended, or
/// this process is asked to end. `begun` is told how, and what a killed controller had left.
///
/// # Errors
/// What this machine cannot do; threads that may not be watched or changed; the journal. Unless its
/// kind is that of restoring, no clamp is left.
pub fn run(
    host: &Arc<dyn Host>,
    folder: &Path,
    wish: &Wish,
    stdin: Input,
    begun: &mut dyn FnMut(&Backend, &Recovered),
) -> Result<Ended, QosError> {
    if wish.rules.is_empty() && wish.socket.is_none() {
        return Err(Mismatch::value("a rule or more, or a socket", "neither").into());
    }
    let shared = host;
    let host = shared.as_ref();
    let backend = backend(host, wish.by)?;
    let state = State::lock_alone(host, folder)?;
    let recovered = leftovers(host, folder, &state)?;
    try_on_this_thread(host)?;
    let means = Means::start(shared, wish)?;
    // Else the first clamps wait for what this program lies on, 30 ms and more on a board's shared folder.
    let _ = host.load_program();
    begun(&backend, &recovered);
    let mut journal = Journal::new(host, wish.rules.multiplier())
        .map_err(QosError::host("preparing the journal"))?;
    let programs = wish.socket.as_ref().map(|socket| asked::listen(host, folder, socket, wish));
    let programs = programs.transpose()?;
    journal.limits = matches!(means, Means::Limits(_));
    journal.socket = programs.as_ref().map(|programs| programs.socket().path().to_owned());
    let mut session = Session {
        host,
        state,
        journal,
        threads: Threads::new(wish.rules.clone(), means),
        children: wish.children,
        refused: Vec::new(),
        programs,
        guardian: None,
        guardians: 0,
        wakes: 0,
        period: PERIOD,
        woken: true,
        began: host.now(),
        cpu_time: Nanos::ZERO,
    };
    let outcome = session.control(wish, stdin);
    let elapsed = host.now().since(session.began);
    let cpu_time = host.thread_cpu_time().unwrap_or_default().since(session.cpu_time);
    // Clamps that are left are worse than whatever ended it.
    session.end()?;
    let program = outcome?;
    Ok(Ended {
        counts: session.threads.counts,
        wakes: session.wakes,
        elapsed,
        cpu_time,
        limits: session.journal.limits,
        guardians_lost: session.guardians.saturating_sub(1),
        program,
    })
}

/// Whether threads may be watched at all, before a program is started for it.
fn try_on_this_thread(host: &dyn Host) -> Result<(), QosError> {
    let tried = ProcessIdentity::this(host).and_then(|this| {
        let task = host.open_task(this.pid, this.pid)?;
        host.least_utilization(&task)?;
        host.watch_switches(&task, Watched::Switches { every: ClampRamp::SHORTEST }).map(drop)
    });
    tried.map_err(QosError::host("watching a thread, to try it"))
}

struct Session<'a> {
    host: &'a dyn Host,
    state: State,
    journal: Journal,
    threads: Threads,
    children: bool,
    /// Processes that rules name and that may not be treated.
    refused: Vec<ProcessIdentity>,
    /// The socket, where there is one.
    programs: Option<Programs>,
    guardian: Option<Task>,
    /// Started so far.
    guardians: u32,
    wakes: u64,
    /// Until the next look while somebody is busy.
    period: Nanos,
    /// Whether the last wait ended with something that came, and not with its time.
    woken: bool,
    /// When all was set up, and the CPU time by then.
    began: Nanos,
    cpu_time: Nanos,
}

impl Session<'_> {
    fn control(&mut self, wish: &Wish, stdin: Input) -> Result<Option<Status>, QosError> {
        let host = self.host;
        // The guardian reads it.
        self.state.save(host, &self.journal)?;
        self.start_guardian().map_err(QosError::host("starting the guardian"))?;
        match &wish.target {
            Target::Program(program) => self.with_program(program, stdin).map(Some),
            Target::Running { pids, names, threads } => {
                let mut processes = named(host, names)?;
                for pid in pids {
                    let process = ProcessIdentity::of(host, *pid).map_err(|_| {
                        Mismatch::value("a process that runs", format!("none with number {pid}"))
                    })?;
                    processes.push(process);
                }
                for process in processes {
                    self.adopt(process)?.map_err(not_watched(process))?;
                }
                for tid in threads {
                    self.adopt_thread(*tid)?;
                }
                self.set_up();
                while !self.threads.is_empty() && host.interrupted() == 0 {
                    self.step(None, 0)?;
                }
                Ok(None)
            }
            Target::Named(whose) => {
                self.set_up();
                // Where nobody is looked for, there is nothing to wake up for.
                let every = if wish.rules.is_empty() { IDLE } else { wish.rules.every };
                while host.interrupted() == 0 {
                    self.look_for(&wish.rules, whose)?;
                    let until = host.now() + every;
                    while host.interrupted() == 0 && host.now() < until {
                        self.step_until(None, 0, Some(until))?;
                    }
                }
                Ok(None)
            }
        }
    }

    /// Takes in the processes that rules name and that are not yet.
    fn look_for(&mut self, rules: &Rules, whose: &Whose) -> Result<(), QosError> {
        let host = self.host;
        if rules.is_empty() && whose.is_anybody() {
            return Ok(());
        }
        let own = [Some(self.journal.owner), self.journal.guardian].map(|it| it.map(|it| it.pid));
        let all = host.list(Path::new("/proc")).map_err(QosError::host("listing processes"))?;
        for pid in all.iter().filter_map(|pid| pid.parse::<u32>().ok()) {
            let comm = host.read(Path::new(&format!("/proc/{pid}/comm"))).unwrap_or_default();
            let comm = comm.trim_end_matches('\n');
            let meant = match whose.is_anybody() {
                true => rules.name_process(comm),
                false => rules.concern(comm) && whose.has(host, pid) && !own.contains(&Some(pid)),
            };
            // Threads of the kernel have no program, and no demand of a user's.
            if !meant || (!whose.is_anybody() && is_kernels(host, pid)) {
                continue;
            }
            let Ok(process) = ProcessIdentity::of(host, pid) else { continue };
            if self.refused.contains(&process) {
                continue;
            }
            if let Err(error) = self.adopt(process)? {
                self.threads.leave_out(&error);
                self.refused.push(process);
            }
        }
        self.refused.retain(|process| process.is_alive(host));
        Ok(())
    }

    fn with_program(&mut self, program: &[String], stdin: Input) -> Result<Status, QosError> {
        let host = self.host;
        let Some((name, arguments)) = program.split_first() else {
            return Err(Mismatch::value("a program", "none").into());
        };
        let spec = ProcessSpec {
            stdin,
            stdout: Output::Inherit,
            stderr: Output::Inherit,
            ..ProcessSpec::new(name, arguments)
        };
        let failed = || QosError::host(format!("running {name}"));
        let mut child: Child = host.spawn(&spec).map_err(failed())?;
        let pid = child.id();
        let task = host.open_task(pid, pid);
        match ProcessIdentity::of(host, pid) {
            Ok(process) => self.adopt(process)?.map_err(not_watched(process))?,
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(failed()(error)),
        }
        self.set_up();
        let mut passed = 0;
        loop {
            if let Some(exit) = child.wait(Some(host.now())).map_err(failed())? {
                return Ok(exit.status);
            }
            let asked = host.interrupted();
            if let Some(signal) = host.interrupt_signal().filter(|_| asked > passed) {
                passed = asked;
                child.send(signal).map_err(failed())?;
            }
            self.step(task.as_ref().ok(), passed)?;
        }
    }

    /// From here on it costs what it costs while it runs.
    fn set_up(&mut self) {
        // Started by another command it would be called "exe".
        let _ = self.host.write(Path::new("/proc/self/comm"), CONTROLLER);
        self.be_prompt();
        self.began = self.host.now();
        self.cpu_time = self.host.thread_cpu_time().unwrap_or_default();
    }

    /// Behind the start of the program, which is to have what this had.
    fn be_prompt(&self) {
        let this = ProcessIdentity::this(self.host);
        let Ok(task) = this.and_then(|this| self.host.open_task(this.pid, self.host.thread_id()))
        else {
            return;
        };
        let Ok(before) = self.host.fair_share(&task) else { return };
        let (slice, nice) = PROMPT;
        let slice = if before.slice > Nanos::ZERO { slice } else { before.slice };
        let wanted = FairShare { slice, nice: before.nice.min(nice), ..before };
        // Without the right to it, its slice alone.
        if self.host.fair_share_set(&task, wanted).is_err() {
            let _ = self.host.fair_share_set(&task, FairShare { slice, ..before });
        }
    }

    /// One wait and one look.
    fn step(&mut self, program: Option<&Task>, asked: u32) -> Result<(), QosError> {
        self.step_until(program, asked, None)
    }

    /// The same, at the latest at this time.
    fn step_until(
        &mut self,
        program: Option<&Task>,
        asked: u32,
        until: Option<Nanos>,
    ) -> Result<(), QosError> {
        let host = self.host;
        let noted = self.threads.counts.foreign;
        if self.hear() {
            // Before the first of it is given.
            self.state.save(host, &self.journal)?;
        }
        let look = self.threads.look(host, &mut self.journal);
        let look = look.map_err(QosError::host("setting a clamp"))?;
        let longer = Nanos(self.period.0 * 2).min(LONGEST_PERIOD);
        self.period = look.lasts.unwrap_or(longer);
        let mut changed = self.threads.rename(host, &mut self.journal);
        for (maker, pid, tid) in look.made {
            changed |= self.made(maker, pid, tid)?;
        }
        if look.guests_left {
            changed |= self.forget();
        }
        if changed || noted != self.threads.counts.foreign {
            self.state.save(host, &self.journal)?;
        }
        self.threads.lend(host);
        // What ends stays ready: it wakes this again, and then there are no records to have been woken by.
        let mut again = None;
        if self.woken && !look.heard {
            again = self.threads.drop_ended(host).then(|| host.now());
            self.keep_guarded()?;
        }
        let ends: Vec<&Task> = self.guardian.iter().chain(program).collect();
        let (watches, deadline) = match look.busy {
            // Deaf to records, which come far more often than anything is to be done.
            true => {
                let whole = look.lasts.is_none();
                (Vec::new(), whole.then(|| host.now() + self.period))
            }
            false => (self.threads.watches(), None),
        };
        let asked_again = self.programs.as_ref().and_then(Programs::next);
        let others = [until, look.next, asked_again, again].into_iter().flatten();
        let deadline = deadline.into_iter().chain(others).min();
        // Where looking takes long, it waits all the same.
        let soonest = look.lasts.map(|_| host.now() + SOONEST);
        let deadline = deadline.max(soonest);
        if self.threads.is_empty() && program.is_none() && until.is_none() {
            return Ok(());
        }
        let socket = self.programs.as_ref().map(Programs::socket);
        let woken = host.wait_tasks(&watches, &ends, socket, deadline, asked);
        self.woken = woken.map_err(QosError::host("waiting for the threads"))?;
        self.wakes += 1;
        Ok(())
    }

    /// Takes a process in, or says why none of its threads may be treated. Its threads' own clamps are in the
    /// journal with it, or it is not: a recovery in between would take them for ours.
    fn adopt(&mut self, process: ProcessIdentity) -> Result<Result<(), HostError>, QosError> {
        if self.journal.processes.contains(&process) {
            return Ok(Ok(()));
        }
        match self.threads.take_process(self.host, process.pid, &mut self.journal) {
            Ok(_) => {}
            Err(error) if is_gone(&error) => return Ok(Ok(())),
            Err(error) => return Ok(Err(error)),
        }
        self.journal.processes.push(process);
        self.state.save(self.host, &self.journal)?;
        self.threads.lend(self.host);
        Ok(Ok(()))
    }

    /// Takes one thread in, and leaves the others of its process as they are.
    fn adopt_thread(&mut self, tid: u32) -> Result<(), QosError> {
        let host = self.host;
        let none = |_| Mismatch::value("a thread that runs", format!("none with number {tid}"));
        let status = host.read(Path::new(&format!("/proc/{tid}/status"))).map_err(none)?;
        let pid = status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
        let process = ProcessIdentity::of(host, pid.unwrap_or(tid)).map_err(none)?;
        let doing = || QosError::host(format!("watching thread {tid}"));
        self.threads
            .take(host, process.pid, tid, None, false, &mut self.journal)
            .map_err(doing())?;
        // What they have is theirs: a recovery looks at all threads of the process.
        let names = host.list(Path::new(&format!("/proc/{}/task", process.pid)));
        for name in names.map_err(doing())? {
            let Ok(other) = name.parse::<u32>() else { continue };
            let Ok(task) = host.open_task(process.pid, other) else { continue };
            let least = host.least_utilization(&task).unwrap_or(0);
            if other != tid && least > 0 {
                self.journal.own.push(Own { thread: task.identity(), least: None });
            }
        }
        if !self.journal.processes.contains(&process) {
            self.journal.processes.push(process);
        }
        self.state.save(host, &self.journal)?;
        self.threads.lend(host);
        Ok(())
    }

    /// A thread or a process that a watched thread made, which has its maker's clamp. Whether the journal
    /// changed.
    fn made(&mut self, maker: ThreadIdentity, pid: u32, tid: u32) -> Result<bool, QosError> {
        let host = self.host;
        let before = self.threads.before(maker);
        if self.threads.is_guest(maker) {
            self.made_by_guest(pid, tid, before);
            return Ok(false);
        }
        if pid != maker.pid && !self.children {
            return match self.disinherit(pid, tid, before.least) {
                Ok(()) => Ok(false),
                Err(error) if is_gone(&error) => Ok(false),
                Err(error) => Err(QosError::host("removing an inherited clamp")(error)),
            };
        }
        if pid != maker.pid {
            match ProcessIdentity::of(host, pid) {
                Ok(process) => self.adopt_child(process, before)?,
                Err(_) => return Ok(false),
            }
            return Ok(true);
        }
        match self.threads.take(host, pid, tid, Some(before), false, &mut self.journal) {
            Ok(changed) => Ok(changed),
            Err(error) => {
                if !is_gone(&error) {
                    self.threads.leave_out(&error);
                    let _ = self.disinherit(pid, tid, before.least);
                }
                Ok(false)
            }
        }
    }

    /// A child of a process that is taken in with its children.
    fn adopt_child(&mut self, process: ProcessIdentity, before: Inherited) -> Result<(), QosError> {
        let names = self.host.list(Path::new(&format!("/proc/{}/task", process.pid)));
        for tid in names.unwrap_or_default().iter().filter_map(|name| name.parse().ok()) {
            let journal = &mut self.journal;
            match self.threads.take(self.host, process.pid, tid, Some(before), false, journal) {
                Ok(_) => {}
                Err(error) if is_gone(&error) => {}
                Err(error) => self.threads.leave_out(&error),
            }
        }
        if self.journal.processes.len() >= MANY {
            self.journal.processes.retain(|known| known.is_alive(self.host));
        }
        if !self.journal.processes.contains(&process) {
            self.journal.processes.push(process);
        }
        self.state.save(self.host, &self.journal)
    }

    /// Takes the clamp away that a child has from its parent, and from what that child made meanwhile.
    fn disinherit(&self, pid: u32, tid: u32, own: u32) -> Result<(), HostError> {
        let task = self.host.open_task(pid, tid)?;
        let taken = take_back(self.host, &self.journal, &task)?;
        let inherits = !self.journal.limits && self.host.least_utilization(&task)? != own;
        if !inherits && !taken {
            return Ok(());
        }
        if inherits {
            give_back(self.host, &task, own)?;
        }
        // It may have made others before: they are looked for among all descendants.
        let _ = sweep_children(self.host, &self.journal, pid);
        Ok(())
    }

    fn start_guardian(&mut self) -> Result<(), HostError> {
        let spec = ProcessSpec::new("/proc/self/exe", ["qos", "guard"]);
        let pid = self.host.spawn_detached(&spec)?;
        self.guardians += 1;
        self.guardian = self.host.open_task(pid, pid).ok();
        self.journal.guardian = ProcessIdentity::of(self.host, pid).ok();
        // For whoever looks; the guardian itself does not need it.
        let _ = self.state.save(self.host, &self.journal);
        Ok(())
    }

    /// Starts another guardian where this one has ended.
    fn keep_guarded(&mut self) -> Result<(), QosError> {
        if self.guardian.as_ref().is_some_and(|task| task.is_alive(self.host)) {
            return Ok(());
        }
        self.guardian = None;
        if self.guardians >= GUARDIANS {
            return Ok(());
        }
        self.start_guardian().map_err(QosError::host("starting the guardian"))
    }

    /// Gives all threads what they had; the journal goes where none is left.
    fn end(&mut self) -> Result<(), QosError> {
        let (sure, floors) = self.threads.release(self.host);
        self.journal.own.extend(sure);
        let restored = floors.map_or(Ok(()), |floors| floors.end());
        sweep(self.host, &self.journal)?;
        restored?;
        self.state.clear(self.host)
    }
}

fn not_watched(process: ProcessIdentity) -> impl FnOnce(HostError) -> QosError {
    QosError::host(format!("watching process {}", process.pid))
}

/// Whether a process is a thread of the kernel: it has no memory of its own.
fn is_kernels(host: &dyn Host, pid: u32) -> bool {
    let status = host.read(Path::new(&format!("/proc/{pid}/status"))).unwrap_or_default();
    !status.lines().any(|line| line.starts_with("VmSize:"))
}

/// As [`sweep`], from one process on.
fn sweep_children(host: &dyn Host, journal: &Journal, pid: u32) -> Result<(), QosError> {
    let Ok(process) = ProcessIdentity::of(host, pid) else { return Ok(()) };
    let part = Journal { processes: vec![process], asked: Vec::new(), ..journal.clone() };
    sweep(host, &part).map(drop)
}

/// Processes by the kernel's name of them.
fn named(host: &dyn Host, names: &[String]) -> Result<Vec<ProcessIdentity>, QosError> {
    let all = host.list(Path::new("/proc")).map_err(QosError::host("listing processes"))?;
    let this = ProcessIdentity::this(host).map_err(QosError::host("listing processes"))?;
    let mut found = Vec::new();
    for name in names {
        let before = found.len();
        for pid in all.iter().filter_map(|pid| pid.parse::<u32>().ok()) {
            let comm = host.read(Path::new(&format!("/proc/{pid}/comm"))).unwrap_or_default();
            if comm.trim_end_matches('\n') == name && pid != this.pid {
                // One that ended meanwhile is none.
                found.extend(ProcessIdentity::of(host, pid));
            }
        }
        if found.len() == before {
            let slip = Mismatch::value("a process that runs", format!("none with name \"{name}\""));
            return Err(slip
                .hint("names are the kernel's, of at most 15 bytes: ps -eo pid,comm")
                .into());
        }
    }
    Ok(found)
}
