//! What is executed once per release.

use super::error::TrialError;
use flyball_host::{Host, HostError, Output, ProcessSpec, Status, ThreadUsage};
use flyball_signal::Workload;
use flyball_signal::input::{Recording, WindowSource};
use flyball_units::Nanos;
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

/// What one execution has to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkInfo {
    /// Samples of the input that were no finite number.
    pub nan_replaced: u32,
    /// Exit status of a command; the negative number of the signal that killed it.
    pub exit_status: Option<i32>,
    /// CPU time that the kernel accounted to a command.
    pub cpu_time: Option<Nanos>,
    /// What the kernel counted for a command and the children that it waited for.
    pub usage: Option<ThreadUsage>,
    /// Time that a command was ready to run and waited for a CPU, where that is known.
    pub waited: Option<Nanos>,
    /// Given up because the program was asked to end: not a window to be recorded.
    pub abandoned: bool,
}

/// Something the measured loop can execute. Built before the loop: [`Work::prepare`] and, except
/// where [`Work::allocates`] says so, [`Work::run`] neither allocate nor lock nor do I/O.
pub trait Work: Send {
    /// Makes the next input ready, outside the timed part.
    fn prepare(&mut self);

    /// The timed part.
    ///
    /// # Errors
    /// Only where going on makes no sense, such as a program that can't be started. Boxed, so
    /// that the path that is timed returns two words.
    fn run(&mut self) -> Result<WorkInfo, Box<TrialError>>;

    /// Whether [`Work::run`] may allocate and make system calls. Windows of such work are exempt
    /// from the promises of the loop, and the run says so.
    fn allocates(&self) -> bool {
        false
    }
}

/// A signal kernel that reads successive windows of a recording.
pub struct SignalWork {
    workload: Box<dyn Workload>,
    source: WindowSource<Arc<Recording>>,
    window: Vec<f32>,
    output: Vec<f32>,
    batch: u32,
}

impl SignalWork {
    /// `workload` reading from `source`; allocates and touches all buffers.
    ///
    /// # Errors
    /// Where the source's windows have another length than the workload expects.
    pub fn new(
        workload: Box<dyn Workload>,
        source: WindowSource<Arc<Recording>>,
    ) -> Result<SignalWork, TrialError> {
        let (expected, found) = (workload.input_len(), source.window_len());
        if expected != found {
            let kernel = workload.kernel().name();
            return Err(TrialError::WindowLength { kernel, expected, found });
        }
        // Filled, not only zeroed: zeroed pages are mapped at their first write.
        let window = vec![1.0; expected];
        let output = vec![1.0; workload.output_len()];
        Ok(SignalWork { workload, source, window, output, batch: 1 })
    }

    /// The same work, executed `batch` times on the same input within each window.
    pub fn in_batches(mut self, batch: u32) -> SignalWork {
        self.batch = batch.max(1);
        self
    }
}

impl fmt::Debug for SignalWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignalWork({}, {})", self.workload.kernel(), self.workload.form())
    }
}

impl Work for SignalWork {
    fn prepare(&mut self) {
        // It fails on a buffer of the wrong length only, and `new` has compared the lengths.
        let filled = self.source.fill(&mut self.window);
        debug_assert!(filled.is_ok());
    }

    fn run(&mut self) -> Result<WorkInfo, Box<TrialError>> {
        let mut nan_replaced = 0;
        for _ in 0..self.batch {
            nan_replaced =
                self.workload.run(black_box(&self.window), &mut self.output).nan_replaced;
            black_box(&self.output);
        }
        Ok(WorkInfo { nan_replaced, ..WorkInfo::default() })
    }
}

/// Any program: started at the release, its end waited for. The latency is the wall time from
/// before its start to its end, so it holds the cost of starting it.
///
/// Starting a program allocates and makes system calls: its windows are exempt from the loop's
/// promises.
#[derive(Debug)]
pub struct CommandWork {
    host: Arc<dyn Host>,
    spec: ProcessSpec,
    before: Option<ProcessSpec>,
    /// What became of the preparation, where it did not go well.
    unprepared: Option<HostError>,
}

impl CommandWork {
    /// `spec`, with its output thrown away unless it is shown: output that is kept would be
    /// read and allocated inside the timed part.
    pub fn new(host: Arc<dyn Host>, mut spec: ProcessSpec) -> CommandWork {
        for output in [&mut spec.stdout, &mut spec.stderr] {
            if *output == Output::Capture {
                *output = Output::Discard;
            }
        }
        CommandWork { host, spec, before: None, unprepared: None }
    }

    /// The same after another program, which is run before each window and not timed.
    pub fn after(mut self, before: Option<ProcessSpec>) -> CommandWork {
        self.before = before;
        self
    }
}

impl Work for CommandWork {
    fn prepare(&mut self) {
        let Some(before) = &self.before else { return };
        let ran = self.host.spawn(before).and_then(|mut child| child.wait(None));
        self.unprepared = ran.err();
    }

    fn run(&mut self) -> Result<WorkInfo, Box<TrialError>> {
        if let Some(error) = self.unprepared.take() {
            return Err(Box::new(TrialError::host("prepare the command", error)));
        }
        let exit = self
            .host
            .spawn(&self.spec)
            .and_then(|mut child| child.wait(None))
            .map_err(|source| TrialError::host("run the command", source))?;
        let Some(exit) = exit else {
            return Ok(WorkInfo { abandoned: true, ..WorkInfo::default() });
        };
        let exit_status = match exit.status {
            Status::Code(code) => code,
            Status::Signal(signal) => -signal,
        };
        Ok(WorkInfo {
            exit_status: Some(exit_status),
            cpu_time: Some(exit.usage.cpu_time),
            usage: Some(exit.usage),
            waited: exit.waited,
            ..WorkInfo::default()
        })
    }

    fn allocates(&self) -> bool {
        true
    }
}

/// Nothing: the loop measures itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWork;

impl Work for NoWork {
    fn prepare(&mut self) {}

    fn run(&mut self) -> Result<WorkInfo, Box<TrialError>> {
        Ok(WorkInfo::default())
    }
}
