//! Some of the kernel's events, read as the pages in which the kernel keeps them: nothing is made text
//! of, so that thousands a second cost next to nothing.

use std::path::Path;
use std::sync::Arc;

use flyball_host::{Host, Stream};
use flyball_units::Nanos;

use super::CaptureError;
use super::setup::{self, Setup};
use super::{recover, tracefs};
use flyball_events::ring::format::Format;
use flyball_events::ring::page::Layout;

/// An event to be recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Its folder below `events`.
    pub folder: &'static str,
    pub event: &'static str,
    /// Which of its records the kernel keeps; all where none.
    pub filter: Option<&'static str>,
}

/// Events of some CPUs in an instance of our own. Dropping it restores tracefs.
pub(crate) struct Pages {
    // The buffers go first: an instance that is read cannot be removed.
    buffers: Vec<Stream>,
    setup: Setup,
    layout: Layout,
    page: Vec<u8>,
    /// Records read.
    pub records: u64,
    /// Records that the kernel overwrote before they were read; at least so many.
    pub lost: u64,
}

impl Pages {
    /// Whether this process may record `wanted` here.
    pub fn can(host: &dyn Host, wanted: Wanted) -> bool {
        let folder = tracefs::path("events").join(wanted.folder).join(wanted.event);
        tracefs::check(host).is_ok() && host.exists(&folder)
    }

    /// Makes the instance and switches `wanted` on; also the layouts of its events, in that order.
    ///
    /// # Errors
    /// tracefs is not there or not ours to use; the kernel has no such event. tracefs is restored then.
    pub fn start(
        host: &Arc<dyn Host>,
        cpus: &[u32],
        wanted: &[Wanted],
    ) -> Result<(Pages, Vec<Format>), CaptureError> {
        tracefs::check(host.as_ref())?;
        recover::leftovers(host.as_ref())?;
        let bytes = setup::buffer_bytes(setup::possible_cpus(host.as_ref()));
        let setup = Setup::new(host, bytes)?;
        let formats =
            wanted.iter().map(|event| switch_on(&setup, event)).collect::<Result<_, _>>()?;
        let layout = layout(&setup.read("events/header_page")?)?;
        let failed = CaptureError::host("opening the buffers of tracefs");
        let open = |cpu: &u32| {
            let path = format!("per_cpu/cpu{cpu}/trace_pipe_raw");
            host.open_stream(&setup.instance().join(path)).map_err(&failed)
        };
        let buffers = cpus.iter().map(open).collect::<Result<_, _>>()?;
        setup.write("tracing_on", "1")?;
        let page = vec![0; layout.bytes];
        Ok((Pages { buffers, setup, layout, page, records: 0, lost: 0 }, formats))
    }

    /// Gives each CPU's records up to `until` to `sink`, in order of time, with the CPU's place in the
    /// list: all that there are at that time, and perhaps some later ones.
    ///
    /// # Errors
    /// The system's; a page that is none.
    pub fn read(
        &mut self,
        until: Nanos,
        sink: &mut dyn FnMut(usize, u64, &[u8]),
    ) -> Result<(), CaptureError> {
        let failed = CaptureError::host("reading the buffers of tracefs");
        for (at, buffer) in self.buffers.iter_mut().enumerate() {
            let mut last = 0;
            while last <= until.0 {
                let Some(length) = buffer.read(&mut self.page).map_err(&failed)? else { break };
                let bytes = self.page.get(..length).unwrap_or_default();
                let mut page = self.layout.open(bytes).ok_or_else(|| torn(at))?;
                self.lost += page.lost.map_or(0, |count| count.unwrap_or(1));
                while let Some(place) = page.next(bytes).map_err(|_| torn(at))? {
                    last = place.t;
                    self.records += 1;
                    sink(at, place.t, bytes.get(place.from..place.to).unwrap_or_default());
                }
            }
        }
        Ok(())
    }

    /// Records nothing more; what there is can still be read.
    ///
    /// # Errors
    /// The system's.
    pub fn stop(&mut self) -> Result<(), CaptureError> {
        self.setup.write("tracing_on", "0")
    }

    /// Restores tracefs; what could not be.
    pub fn remove(&mut self) -> Vec<String> {
        self.buffers.clear();
        self.setup.remove()
    }
}

fn switch_on(setup: &Setup, wanted: &Wanted) -> Result<Format, CaptureError> {
    let folder = format!("events/{}/{}", wanted.folder, wanted.event);
    let text = setup.read(&format!("{folder}/format"))?;
    let format = Format::parse(&text).ok_or_else(|| {
        lacking(&folder, "a layout that can be read", text.lines().next().unwrap_or_default())
    })?;
    if let Some(filter) = wanted.filter {
        setup.write(&format!("{folder}/filter"), filter)?;
    }
    setup.write(&format!("{folder}/enable"), "1")?;
    Ok(format)
}

/// Of a page as long as the kernel's own layout says.
fn layout(text: &str) -> Result<Layout, CaptureError> {
    let data = text
        .lines()
        .filter_map(flyball_events::ring::format::field)
        .find(|field| field.name == "data");
    let bytes = data.and_then(|data| u32::try_from(data.at + data.bytes).ok()).unwrap_or_default();
    let object = tracefs::path("events/header_page");
    Layout::parse(text, bytes).map_err(|_| {
        lacking(object, "the layout of a page", text.lines().next().unwrap_or_default())
    })
}

fn torn(at: usize) -> CaptureError {
    lacking(format!("buffer {at} of tracefs"), "pages of events", "something else")
}

fn lacking(object: impl AsRef<Path>, expected: &str, found: &str) -> CaptureError {
    CaptureError::Lacking {
        object: object.as_ref().display().to_string(),
        expected: expected.to_owned(),
        found: found.to_owned(),
        hint: Some("the sources cpuidle and schedstat need none of this".to_owned()),
        permission: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_as_long_as_the_kernel_says() {
        let text = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
                    \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
                    \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
                    \tfield: char data;\toffset:16;\tsize:16368;\tsigned:0;\n";
        assert_eq!(layout(text).unwrap().bytes, 16384);
        let error = layout("a page").unwrap_err().to_string();
        assert!(
            error.contains("header_page: expected the layout of a page, found a page"),
            "{error}"
        );
    }
}
