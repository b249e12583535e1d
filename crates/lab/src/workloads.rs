//! From an experiment's workloads and input to what the measured loop executes.

use crate::experiment::{Experiment, Input, Workload};
use crate::protocol::windows::trial::{CommandWork, SignalWork, Work};
use flyball_host::{Host, ProcessSpec};
use flyball_run::manifest::{InputRecord, WorkloadRecord};
use flyball_signal::input::{Given, InputError, Recording, Synthetic, WindowSource, open};
use flyball_signal::{ParamError, WorkloadSpec};
use flyball_units::Diagnostic;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A workload or its input that cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The recording.
    #[error("input: {0}")]
    Input(#[from] InputError),
    /// A parameter of a kernel.
    #[error("workload \"{workload}\": {source}")]
    Parameter {
        /// The workload.
        workload: String,
        /// What is wrong with it.
        source: ParamError,
    },
    /// A name that is none, or a signal that does not fit.
    #[error("workload \"{workload}\": {message}")]
    Unfit {
        /// The workload.
        workload: String,
        /// What is wrong with it.
        message: String,
    },
}

impl Diagnostic for WorkloadError {
    fn hint(&self) -> Option<String> {
        match self {
            WorkloadError::Input(error) => Some(error.hint().to_owned()),
            WorkloadError::Parameter { source, .. } => Some(source.hint().to_owned()),
            WorkloadError::Unfit { .. } => None,
        }
        .filter(|hint| !hint.is_empty())
    }
}

/// The recording that an experiment names, or the synthetic one. `folder` is the experiment's.
pub fn recording(
    input: &Input,
    seed: u64,
    folder: &Path,
) -> Result<(Recording, InputRecord), WorkloadError> {
    let recording = match &input.file {
        Some(file) => {
            open(&folder.join(file), Given { rate_hz: input.rate_hz, channels: input.channels })?
        }
        None => synthetic(input, seed).generate()?,
    };
    let name = input
        .file
        .as_deref()
        .map(|file| Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned());
    let kind = match &name {
        None => "synthetic".to_owned(),
        Some(name) => name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase(),
    };
    let record = InputRecord {
        kind,
        file: name,
        rate_hz: Some(recording.rate_hz),
        channels: u32::try_from(recording.channels).ok(),
        samples: Some(recording.frames() as u64),
        nan_handling: Some(
            "car leaves NaN out of the mean and outputs 0; the other kernels take it as 0; \
             counted per window in nan_replaced"
                .to_owned(),
        ),
        ..InputRecord::default()
    };
    Ok((recording, record))
}

fn synthetic(input: &Input, seed: u64) -> Synthetic {
    let base = Synthetic::default();
    Synthetic {
        seed,
        rate_hz: input.rate_hz.unwrap_or(base.rate_hz),
        channels: input.channels.unwrap_or(base.channels),
        seconds: input.length.0.as_secs_f64(),
        dropouts_per_minute: input.dropouts_per_minute,
        ..base
    }
}

/// Makes a workload executable; called anew for each trial, so that no state crosses trials. A
/// signal kernel is executed `batch` times in each window.
pub fn prepare(
    workload: &Workload,
    recording: &Arc<Recording>,
    host: &Arc<dyn Host>,
    batch: u32,
) -> Result<Box<dyn Work>, WorkloadError> {
    if let Some([program, arguments @ ..]) = workload.command.as_deref() {
        let folder = workload.folder.as_ref().map(PathBuf::from);
        let spec = |program: &String, arguments: &[String]| ProcessSpec {
            folder: folder.clone(),
            ..ProcessSpec::new(program, arguments)
        };
        let before = match workload.prepare.as_deref() {
            Some([program, arguments @ ..]) => Some(spec(program, arguments)),
            _ => None,
        };
        let work = CommandWork::new(Arc::clone(host), spec(program, arguments));
        return Ok(Box::new(work.after(before)));
    }
    let spec = spec(workload, recording)?;
    let kernel = spec
        .prepare()
        .map_err(|source| WorkloadError::Parameter { workload: workload.label(), source })?;
    let params = spec.params();
    let source = WindowSource::new(Arc::clone(recording), params.window, params.hop)?;
    let work = SignalWork::new(kernel, source).map_err(|error| WorkloadError::Unfit {
        workload: workload.label(),
        message: error.to_string(),
    })?;
    Ok(Box::new(work.in_batches(batch)))
}

/// The kernel's specification; rate and channels are the recording's.
fn spec(workload: &Workload, recording: &Recording) -> Result<WorkloadSpec, WorkloadError> {
    let unfit = |message| WorkloadError::Unfit { workload: workload.label(), message };
    let kernel = workload.kernel.as_deref().unwrap_or_default();
    let kernel = kernel.parse().map_err(|error| unfit(format!("{error}")))?;
    let mut spec = WorkloadSpec::new(kernel);
    if let Some(form) = &workload.form {
        spec.form = form.parse().map_err(|error| unfit(format!("{error}")))?;
    }
    if let Some(compatibility) = &workload.compatibility {
        spec.compatibility = compatibility.parse().map_err(|error| unfit(format!("{error}")))?;
    }
    spec.rate_hz = Some(recording.rate_hz);
    spec.channels = Some(recording.channels);
    spec.window = workload.window;
    spec.hop = workload.hop;
    spec.f0_hz = workload.f0_hz;
    spec.q = workload.q;
    spec.bands_hz = workload.bands_hz.clone();
    spec.taps = workload.taps;
    spec.n_fft = workload.n_fft;
    Ok(spec)
}

/// What the manifest says about a workload.
pub fn record(
    experiment: &Experiment,
    workload: &Workload,
    recording: &Recording,
    batch: u32,
) -> WorkloadRecord {
    let command = workload.command.as_ref().map(|command| command.join(" "));
    let periodic = experiment.runs.is_none();
    let spec = spec(workload, recording).ok();
    let params = spec.as_ref().map(WorkloadSpec::params);
    let mut table = toml::Table::new();
    if let Some(params) = &params {
        table.insert("rate_hz".into(), params.rate_hz.into());
        for (name, value) in
            [("window", params.window), ("hop", params.hop), ("channels", params.channels)]
        {
            table.insert(name.into(), i64::try_from(value).unwrap_or(i64::MAX).into());
        }
        if batch > 1 {
            table.insert("batch".into(), batch.into());
        }
    }
    WorkloadRecord {
        name: workload.label(),
        description: command
            .or_else(|| spec.as_ref().map(|spec| spec.kernel.about().to_owned()))
            .unwrap_or_default(),
        kernel: workload.kernel.clone().unwrap_or_else(|| "command".to_owned()),
        form: spec.map(|spec| spec.form.name().to_owned()),
        deadline_ns: periodic.then(|| experiment.deadline().nanos()),
        period_ns: periodic.then(|| experiment.period.nanos()),
        params: table,
    }
}
