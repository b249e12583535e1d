//! A controller of its own for one thread of this process and the programs that the thread starts: what a
//! measurement switches on and off.

use crate::{By, QosError, Status, backend, qos_folder, status};
use flyball_host::{Child, Exit, Host, Output, ProcessIdentity, ProcessSpec};
use flyball_units::{Mismatch, Nanos};
use std::path::PathBuf;

/// Its start takes some 50 ms: a journal on the disk, a guardian, the thread's watch.
const PATIENCE: Nanos = Nanos::from_secs(10);
/// Between two looks at it.
const PAUSE: Nanos = Nanos::from_millis(2);

/// A controller that runs until this is ended or dropped.
#[derive(Debug)]
pub struct Attached<'a> {
    host: &'a dyn Host,
    controller: Option<Child>,
    folder: PathBuf,
}

impl<'a> Attached<'a> {
    /// Looks whether one can be had: beside settings of the machine that are held meanwhile, or alone.
    ///
    /// # Errors
    /// What this machine cannot do.
    pub fn preflight(host: &dyn Host, beside_hold: bool) -> Result<(), QosError> {
        let by = By::best(host);
        backend(host, by)?;
        match by == By::Limits && beside_hold {
            false => Ok(()),
            true => Err(Mismatch::value("a ramp without other settings of the machine", "both")
                .hint("without clamps a ramp holds the lower limits of frequencies itself")
                .into()),
        }
    }

    /// Starts one, and returns when the thread's demand follows the ramp.
    ///
    /// # Errors
    /// What this machine cannot do; a controller that does not come to it.
    pub fn to_this_thread(host: &'a dyn Host, multiplier: u32) -> Result<Attached<'a>, QosError> {
        Attached::preflight(host, false)?;
        let folder = qos_folder(host)?;
        if let Status::Running { owner, .. } = status(host, &folder)? {
            return Err(QosError::Busy(Some(owner)));
        }
        let starting = || QosError::host("starting a controller");
        let this = ProcessIdentity::this(host).map_err(starting())?;
        let thread = host.thread_id().to_string();
        let ramp = multiplier.to_string();
        let arguments =
            ["--quiet", "qos", "--children", "--ramp", ramp.as_str(), "--thread", thread.as_str()];
        let spec = ProcessSpec {
            stderr: Output::Capture,
            ..ProcessSpec::new("/proc/self/exe", arguments)
        };
        let controller = host.spawn(&spec).map_err(starting())?;
        let mut attached = Attached { host, controller: Some(controller), folder };
        let deadline = host.now() + PATIENCE;
        while host.now() < deadline && host.interrupted() == 0 {
            if let Some(exit) = attached.ended(host.now() + PAUSE)? {
                return Err(failed(&exit));
            }
            // It is in the journal behind the thread's watch.
            if let Status::Running { processes, .. } = status(host, &attached.folder)?
                && processes.contains(&this)
            {
                return Ok(attached);
            }
        }
        let expected = format!("a controller within {} s", PATIENCE.as_secs_f64());
        Err(QosError::BadInput(Mismatch::value(expected, "none")))
    }

    /// Ends it, and returns when no clamp of its is left.
    ///
    /// # Errors
    /// Clamps that it left.
    pub fn end(mut self) -> Result<(), QosError> {
        self.stop()
    }

    fn stop(&mut self) -> Result<(), QosError> {
        let Some(controller) = &mut self.controller else { return Ok(()) };
        controller.terminate().map_err(QosError::host("ending the controller"))?;
        let exit = self.ended(self.host.now() + PATIENCE)?;
        self.controller = None;
        match exit {
            Some(exit) if exit.is_success() => Ok(()),
            Some(exit) => Err(failed(&exit)),
            // Asked to end meanwhile: what it leaves when it is killed is its guardian's.
            None => Ok(()),
        }
    }

    /// How it ended, where it did by then.
    fn ended(&mut self, deadline: Nanos) -> Result<Option<Exit>, QosError> {
        let Some(controller) = &mut self.controller else { return Ok(None) };
        let ended = controller.wait(Some(deadline));
        let ended = ended.map_err(QosError::host("waiting for the controller"))?;
        if ended.is_some() {
            self.controller = None;
        }
        Ok(ended)
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        // Its clamps are removed by it, or by its guardian.
        let _ = self.stop();
    }
}

/// A controller that failed, in its own words.
fn failed(exit: &Exit) -> QosError {
    let said = String::from_utf8_lossy(&exit.stderr);
    let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing was said");
    let said = first.trim_start_matches("error: ").to_owned();
    QosError::Controller(said)
}
