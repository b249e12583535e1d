//! The thread that empties the buffers into a file. It sleeps until a CPU's buffer is nearly half
//! full, so that it does not disturb what is being measured more than it must; what the buffers hold
//! of a short capture is read only at its end.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use flyball_host::{Host, HostError, Stream};
use flyball_units::Nanos;
use fs_err as fs;

use super::CaptureError;

/// Bytes collected before the file gets them.
const BLOCK_BYTES: usize = 256 * 1024;
/// Bytes read at a time; the kernel hands out at most two pages.
const READ_BYTES: usize = 16 * 1024;
/// How long the reader sleeps at most before it looks whether it is to end.
const SLEEP: Nanos = Nanos(200_000_000);

/// What the reader did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Bytes of text.
    pub bytes: u64,
    /// CPU time of the thread, with what the kernel does to make text of events.
    pub cpu: Nanos,
    /// How often the buffers were emptied while the capture went on.
    pub drains: u64,
}

/// The running thread.
#[derive(Debug)]
pub(super) struct Reader {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Tally, CaptureError>>>,
}

impl Reader {
    /// Makes the file `text` with `head` in it, and starts to read the instance.
    pub fn start(
        host: &Arc<dyn Host>,
        instance: &Path,
        text: &Path,
        head: &str,
    ) -> Result<Reader, CaptureError> {
        let failed = |source| CaptureError::Text { path: text.to_owned(), source };
        let mut file = fs::File::create_new(text).map_err(failed)?;
        file.write_all(head.as_bytes()).map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let mut work = Work {
            host: Arc::clone(host),
            pipe: instance.join("trace_pipe"),
            path: text.to_owned(),
            file: BufWriter::with_capacity(BLOCK_BYTES, file),
            stop: Arc::clone(&stop),
            tally: Tally { bytes: head.len() as u64, ..Tally::default() },
        };
        let buffers = buffers(host.as_ref(), instance);
        let thread = std::thread::Builder::new().name("flyball-capture".to_owned());
        let thread = thread.spawn(move || work.run(buffers)).map_err(failed)?;
        Ok(Reader { stop, thread: Some(thread) })
    }

    /// Reads what is left, and ends the thread. The instance must be switched off.
    pub fn stop(&mut self) -> Result<Tally, CaptureError> {
        self.stop.store(true, Ordering::Release);
        let Some(thread) = self.thread.take() else { return Ok(Tally::default()) };
        thread.join().unwrap_or_else(|_| {
            Err(CaptureError::Lacking {
                object: "the reader of the trace".to_owned(),
                expected: "an end".to_owned(),
                found: "a panic".to_owned(),
                hint: Some("please report this".to_owned()),
                permission: false,
            })
        })
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // The instance cannot be removed while somebody reads it.
        let _ = self.stop();
    }
}

/// The buffer of each CPU, to be waited for; none where the kernel has no such files.
fn buffers(host: &dyn Host, instance: &Path) -> Vec<Stream> {
    let folder = instance.join("per_cpu");
    let cpus = host.list(&folder).unwrap_or_default();
    let open = |cpu: &String| host.open_stream(&folder.join(cpu).join("trace_pipe_raw")).ok();
    cpus.iter().filter_map(open).collect()
}

struct Work {
    host: Arc<dyn Host>,
    pipe: PathBuf,
    path: PathBuf,
    file: BufWriter<fs::File>,
    stop: Arc<AtomicBool>,
    tally: Tally,
}

impl Work {
    fn run(&mut self, buffers: Vec<Stream>) -> Result<Tally, CaptureError> {
        let failed = |error: HostError| CaptureError::host("waiting for events")(error);
        while !self.stop.load(Ordering::Acquire) {
            let until = self.host.now() + SLEEP;
            if self.host.wait_streams(&buffers, until).map_err(failed)? {
                self.drain()?;
                self.tally.drains += 1;
            }
        }
        self.drain()?;
        self.file.flush().map_err(|source| self.lost(source))?;
        self.tally.cpu = self.host.thread_cpu_time().unwrap_or_default();
        Ok(self.tally)
    }

    /// Reads until nothing is there.
    fn drain(&mut self) -> Result<(), CaptureError> {
        let failed = CaptureError::host("reading events");
        let mut pipe = self.host.open_stream(&self.pipe).map_err(&failed)?;
        let mut buffer = vec![0; READ_BYTES];
        while let Some(length) = pipe.read(&mut buffer).map_err(&failed)? {
            let bytes = buffer.get(..length).unwrap_or_default();
            self.file.write_all(bytes).map_err(|source| self.lost(source))?;
            self.tally.bytes += length as u64;
        }
        Ok(())
    }

    fn lost(&self, source: std::io::Error) -> CaptureError {
        CaptureError::Text { path: self.path.clone(), source }
    }
}
