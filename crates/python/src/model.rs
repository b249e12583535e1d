//! The model: scenarios, sweeps, replays.

use crate::error::{json, missing, raise, wrong};
use crate::work::work;
use flyball_host::{Host, RealHost};
use flyball_platform::{Kernel, Platform};
use flyball_replay::shadow::create;
use flyball_replay::{Opened, Placing, Played, keep, play};
use flyball_run::RunWriter;
use flyball_run::disk::{DESCRIPTION_BYTES, read_text};
use flyball_sim::scenario::{EXAMPLES, Node, Scenario, Source, from_tree, parse_text, set};
use flyball_sim::sweep::{
    Axis, Header, Journal, Places, Sweep, SweepEnd, begun, points, simulate_point,
};
use flyball_units::{GovernorSpec, KiloHertz, Nanos, nearest};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Changes of a scenario: a key and its value each.
type Changes = Vec<(String, String)>;

/// The parameters of one point.
type Parameters = Vec<(String, String)>;

/// Points by number.
type Points = Vec<(usize, Parameters)>;

/// What a process that has nothing else needs to simulate points: text, origin, name, the files that the
/// scenario names, and changes.
type Job = (String, String, String, HashMap<String, String>, Changes);

/// A scenario's text, and where it is from.
struct Input {
    text: String,
    origin: String,
    name: String,
    folder: PathBuf,
    /// What was read from other files, or came along.
    files: Mutex<HashMap<String, String>>,
}

impl Input {
    /// One that ships, or a file.
    fn open(name: &str) -> PyResult<Input> {
        let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let input = |text: String, folder: &Path| Input {
            text,
            origin: name.to_owned(),
            name: stem.unwrap_or_else(|| name.to_owned()),
            folder: folder.to_owned(),
            files: Mutex::default(),
        };
        if let Some(own) = EXAMPLES.iter().find(|own| own.name == name) {
            return Ok(input(own.text.to_owned(), Path::new("")));
        }
        match read_text(Path::new(name), DESCRIPTION_BYTES) {
            Ok(text) => Ok(input(text, Path::new(name).parent().unwrap_or(Path::new("")))),
            Err(error) => {
                let near = nearest(name, EXAMPLES.iter().map(|own| own.name));
                let near = near.filter(|_| !name.contains('/') && !name.ends_with(".toml"));
                let hint = near.map_or_else(
                    || "flyball.scenarios() lists those that ship".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                Err(missing(
                    format!("{name}: expected a scenario or its file, found {error}"),
                    Some(hint),
                ))
            }
        }
    }

    /// As a tree, changed.
    fn tree(&self, changes: &Changes) -> PyResult<Node> {
        let mut root = parse_text(&self.text, &self.origin).map_err(raise)?;
        for (path, value) in changes {
            set(&mut root, path, value).map_err(raise)?;
        }
        Ok(root)
    }

    /// What of it is read from other files.
    fn open_beside(&self, path: &str) -> Result<String, String> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = files.get(path) {
            return Ok(text.clone());
        }
        let text =
            read_text(&self.folder.join(path), DESCRIPTION_BYTES).map_err(|e| e.to_string())?;
        files.insert(path.to_owned(), text.clone());
        Ok(text)
    }

    /// Checks every point of a sweep, and does `task` with it and its places.
    fn sweep<T>(
        &self,
        axes: Vec<(String, Vec<String>)>,
        changes: &Changes,
        out: &Path,
        task: impl FnOnce(&Sweep<'_>, &Places, Header) -> PyResult<T>,
    ) -> PyResult<T> {
        let root = self.tree(changes)?;
        let open = |path: &str| self.open_beside(path);
        let source = Source { origin: &self.origin, name: &self.name, open: &open };
        let axis = |(path, values): (String, Vec<String>)| {
            let text = format!("{path}={}", values.join(","));
            Axis { path, values, text }
        };
        let axes: Vec<Axis> = axes.into_iter().map(axis).collect();
        let all = points(&axes).map_err(|error| wrong(error, None))?;
        let sweep = Sweep::new(&root, source, axes, all).map_err(raise)?;
        let header = sweep.header(None, Vec::new());
        let places = Places::of(Some(out), Path::new(""), "", &header).map_err(raise)?;
        task(&sweep, &places, header)
    }

    fn scenario(&self, changes: &Changes) -> PyResult<Scenario> {
        let root = self.tree(changes)?;
        let open = |path: &str| self.open_beside(path);
        let source = Source { origin: &self.origin, name: &self.name, open: &open };
        let scenario = from_tree(&root, source).map_err(raise)?;
        scenario.check(&self.origin).map_err(raise)?;
        Ok(scenario)
    }
}

/// Runs a scenario into the new directory `out`; what a terminal would be given, JSON and text.
#[pyfunction]
pub fn sim(
    py: Python<'_>,
    scenario: &str,
    changes: Changes,
    out: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let scenario = Input::open(scenario)?.scenario(&changes)?;
    let writer = RunWriter::create(&out, &begun(&scenario)).map_err(raise)?;
    let ended = work(py, progress.as_ref(), |watched| {
        let stop = || watched.stopped();
        flyball_sim::sweep::run(&scenario, Some(writer), &stop, &|done| watched.at(done))
    })?
    .map_err(raise)?;
    let dir = ended.dir.as_deref();
    let result = flyball_sim::text::json(&scenario, &ended.outcomes, dir);
    Ok((json(&result)?, flyball_sim::text::text(&scenario, &ended.outcomes, None)))
}

/// Runs every combination of the axes' values into the new directory `out`; goes on with what is there of
/// an earlier call that was interrupted. Whether all are done.
#[pyfunction]
pub fn sweep(
    py: Python<'_>,
    scenario: &str,
    axes: Vec<(String, Vec<String>)>,
    changes: Changes,
    out: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let input = Input::open(scenario)?;
    work(py, progress.as_ref(), |watched| {
        input.sweep(axes, &changes, &out, |sweep, places, header| {
            let stop = || watched.stopped();
            let end = sweep.run(&places.journal, header, &stop, &|done| watched.at(done));
            let end = end.map_err(raise)?;
            if !end.complete {
                return Ok((String::new(), String::new()));
            }
            keep_all(&end, &places.dir, &places.journal)
        })
    })?
}

/// Writes the run directory of a sweep that is done, and removes its journal; what a terminal would be given,
/// JSON and text.
fn keep_all(end: &SweepEnd, dir: &Path, journal: &Path) -> PyResult<(String, String)> {
    let dir = end.to_run().write(dir).map_err(raise)?;
    std::fs::remove_file(journal).map_err(raise)?;
    let result = flyball_sim::sweep::text::json(end, &dir);
    Ok((json(&result)?, flyball_sim::sweep::text::text(end, &dir)))
}

/// Checks every point of a sweep that other processes simulate. What they need; the points that an earlier
/// call did not finish, by number; how many it did; the journal, a line of [`batch`] per finished point.
#[pyfunction]
pub fn begin(
    py: Python<'_>,
    scenario: &str,
    axes: Vec<(String, Vec<String>)>,
    changes: Changes,
    out: PathBuf,
) -> PyResult<(Job, Points, usize, PathBuf)> {
    let input = Input::open(scenario)?;
    let (open, done, journal) = work(py, None, |_| {
        input.sweep(axes, &changes, &out, |sweep, places, header| {
            let journal = Journal::open(&places.journal, &header).map_err(raise)?;
            let all = sweep.points().iter().cloned().enumerate();
            let open = all.filter(|(number, _)| !journal.finished.contains_key(number));
            Ok((open.collect(), journal.finished.len(), places.journal.clone()))
        })
    })??;
    let Input { text, origin, name, files, .. } = input;
    let files = files.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(((text, origin, name, files, changes), open, done, journal))
}

/// Ends a sweep whose points other processes simulated: its run directory `out`, from the journal alone.
#[pyfunction]
pub fn end(py: Python<'_>, journal: PathBuf, out: PathBuf) -> PyResult<(String, String)> {
    py.detach(|| {
        let end = flyball_sim::sweep::merge(std::slice::from_ref(&journal)).map_err(raise)?;
        keep_all(&end, &out, &journal)
    })
}

/// Simulates points of a sweep on this thread; a line of its journal each.
#[pyfunction]
pub fn batch(py: Python<'_>, job: Job, points: Points) -> PyResult<Vec<String>> {
    py.detach(|| {
        let (text, origin, name, files, changes) = job;
        let input = Input { text, origin, name, folder: PathBuf::new(), files: Mutex::new(files) };
        let root = input.tree(&changes)?;
        let open = |path: &str| input.open_beside(path);
        let source = Source { origin: &input.origin, name: &input.name, open: &open };
        let lines = points.iter().map(|(number, point)| {
            let finished = simulate_point(&root, source, *number, point, &|| false);
            Ok(finished.map_err(raise)?.map(|finished| finished.line()))
        });
        lines.filter_map(Result::transpose).collect()
    })
}

/// Replays a recording under each of `governors`; the result, JSON and text.
#[pyfunction]
#[pyo3(signature = (recording, governors, platform, kernel, scale, assume_khz, closed_loop, free, out, progress))]
#[allow(clippy::too_many_arguments, reason = "each is an argument of the Python function")]
pub fn replay(
    py: Python<'_>,
    recording: PathBuf,
    governors: Option<&str>,
    platform: &str,
    kernel: Option<&str>,
    scale: f64,
    assume_khz: Option<u64>,
    closed_loop: bool,
    free: bool,
    out: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let platform = Platform::named(platform).map_err(raise)?;
    let kernel = Kernel::named(kernel.unwrap_or(&platform.default_kernel)).map_err(raise)?;
    if !(scale.is_finite() && scale > 0.0) {
        return Err(wrong(format!("scale: expected a number above 0, found {scale}"), None));
    }
    let pace = match closed_loop {
        true => flyball_sim::workload::Pace::Closed,
        false => flyball_sim::workload::Pace::Open,
    };
    let placing = Placing { pace, free, assumed: assume_khz.map(KiloHertz), scale };
    work(py, progress.as_ref(), |watched| {
        let opened = Opened::open(&recording, &platform.name).map_err(raise)?;
        let subject = opened.subject(&(platform, kernel), &placing).map_err(raise)?;
        let governors = governors.unwrap_or(&subject.kernel().default_governor);
        let choices = GovernorSpec::list(governors).map_err(|slip| raise(slip.at("governors")))?;
        choices.iter().try_for_each(|spec| create(spec).map(drop)).map_err(raise)?;
        let host = RealHost::new();
        let stop = || watched.stopped();
        let mut played = Vec::with_capacity(choices.len());
        for choice in &choices {
            let began = host.now();
            let outcome = play(&subject, choice, None, &stop).map_err(raise)?;
            let took = Nanos(host.now().since(began).0);
            let dir = match &out {
                Some(out) => Some(keep(&subject, choice, out, &stop).map_err(raise)?),
                None => None,
            };
            played.push(Played { outcome, took, dir });
            watched.at(played.len());
        }
        let text = flyball_replay::text::text(&subject, &played, false);
        Ok((json(&flyball_replay::text::json(&subject, &played))?, text))
    })?
}
