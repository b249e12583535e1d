//! The records of one CPU, page by page.

use super::Broken;
use super::head::{Head, Region};
use super::unpack::Packing;
use crate::ring::page::{Layout, Page, Place};
use crate::source::Source;

/// Bytes read at a time, of all CPUs together.
const BLOCKS_BYTES: usize = 16 << 20;
/// The same of one CPU, at most.
const BLOCK_BYTES: usize = 256 << 10;
/// Largest packed part; trace-cmd makes them of 10 pages.
const CHUNK_BYTES: u32 = 64 << 20;

/// What is wrong with a CPU's pages: what should be there and what is.
pub(super) type Torn = (&'static str, String);

/// One CPU's pages.
#[derive(Debug)]
pub(super) struct Stream {
    pub cpu: u32,
    packing: Packing,
    /// Of the file: where the next block begins, and the end.
    at: u64,
    end: u64,
    /// Bytes that the file lacks.
    missing: u64,
    /// Packed parts still to come.
    chunks: u32,
    /// Whole pages, unpacked.
    block: Vec<u8>,
    block_bytes: usize,
    /// Of the block: where the page begins.
    page_at: usize,
    page: Page,
    /// Pages opened so far.
    pub pages: u64,
    /// The record that is looked at.
    pub place: Place,
}

/// What comes next.
pub(super) enum Step {
    /// The record at `place`; before it so many events were lost.
    Record(Option<Option<u64>>),
    /// A page, or what is left of it, is no use.
    Torn(Torn),
    End,
}

impl Stream {
    /// At the begin of a region.
    pub fn new<S: Source>(
        source: &S,
        head: &Head,
        layout: &Layout,
        region: Region,
    ) -> Result<Stream, Broken> {
        let length = source.length()?;
        // A packed region's size leaves out the sizes of its parts; their number says where it ends.
        let end = match head.packing {
            Packing::None => region.at.saturating_add(region.bytes),
            _ => length,
        };
        let share = (BLOCKS_BYTES / head.regions.len().max(1)).min(BLOCK_BYTES);
        let mut stream = Stream {
            cpu: region.cpu,
            packing: head.packing,
            at: region.at,
            end: end.min(length),
            missing: end.saturating_sub(length.max(region.at)),
            chunks: 0,
            block: Vec::new(),
            block_bytes: (share / layout.bytes).max(1) * layout.bytes,
            page_at: 0,
            page: Page::default(),
            pages: 0,
            place: Place { t: 0, from: 0, to: 0 },
        };
        if stream.packing != Packing::None && region.bytes > 0 {
            stream.chunks = stream.word(source)?.unwrap_or_default();
        }
        Ok(stream)
    }

    /// The record's bytes.
    pub fn record(&self) -> &[u8] {
        let page = self.block.get(self.page_at..).unwrap_or_default();
        page.get(self.place.from..self.place.to).unwrap_or_default()
    }

    /// Goes on to the next record.
    #[inline]
    pub fn step<S: Source>(&mut self, source: &S, layout: &Layout) -> Result<Step, Broken> {
        loop {
            let page = self.block.get(self.page_at..).unwrap_or_default();
            let page = page.get(..layout.bytes).unwrap_or(page);
            match self.page.next(page) {
                Ok(Some(place)) => {
                    self.place = place;
                    return Ok(Step::Record(self.page.lost.take()));
                }
                Ok(None) => match self.turn(source, layout)? {
                    Turn::Page => {}
                    Turn::Torn(torn) => return Ok(Step::Torn(torn)),
                    Turn::End => return Ok(Step::End),
                },
                Err(at) => {
                    self.page = Page::default();
                    return Ok(Step::Torn((
                        "events within their page",
                        format!("one at its byte {at} that goes beyond"),
                    )));
                }
            }
        }
    }

    fn turn<S: Source>(&mut self, source: &S, layout: &Layout) -> Result<Turn, Broken> {
        self.page_at += layout.bytes;
        self.page = Page::default();
        if self.page_at >= self.block.len() {
            self.page_at = 0;
            let bytes = self.block_bytes;
            let filled = match self.packing {
                Packing::None => self.fill(source, bytes)?,
                _ => self.unpack(source)?,
            };
            if let Some(torn) = filled {
                self.block.clear();
                return Ok(Turn::Torn(torn));
            }
            if self.block.is_empty() {
                return Ok(Turn::End);
            }
        }
        self.pages += 1;
        let page = self.block.get(self.page_at..self.page_at + layout.bytes);
        let Some(page) = page else {
            let found = format!("{} bytes", self.block.len() - self.page_at);
            return Ok(Turn::Torn(("a whole page", found)));
        };
        match layout.open(page) {
            Some(page) => {
                self.page = page;
                Ok(Turn::Page)
            }
            None => {
                Ok(Turn::Torn(("a page that is filled up to its end at most", "more".to_owned())))
            }
        }
    }

    /// Reads the next block of pages as they are.
    fn fill<S: Source>(&mut self, source: &S, bytes: usize) -> Result<Option<Torn>, Broken> {
        let bytes = self.end.saturating_sub(self.at).min(bytes as u64) as usize;
        if bytes == 0 && self.missing > 0 {
            let found = format!("the file's end, {} bytes before", self.missing);
            self.missing = 0;
            return Ok(Some(("the end of the pages", found)));
        }
        self.block.resize(bytes, 0);
        let read = source.read_at(&mut self.block, self.at)?;
        self.block.truncate(read);
        self.at += bytes as u64;
        Ok(None)
    }

    /// Unpacks the next part.
    fn unpack<S: Source>(&mut self, source: &S) -> Result<Option<Torn>, Broken> {
        self.block.clear();
        if self.chunks == 0 {
            return Ok(None);
        }
        self.chunks -= 1;
        let at = self.at;
        let sizes = (self.word(source)?, self.word(source)?);
        let (Some(packed), Some(bytes)) = sizes else { return Ok(Some(self.stop("its end"))) };
        if bytes > CHUNK_BYTES || u64::from(packed) > self.end.saturating_sub(self.at) {
            return Ok(Some(self.stop(&format!("{packed} of {bytes} bytes"))));
        }
        let mut part = vec![0; packed as usize];
        let read = source.read_at(&mut part, self.at)?;
        self.at += u64::from(packed);
        part.truncate(read);
        match self.packing.unpack(at, &part, bytes) {
            Ok(block) => {
                self.block = block;
                Ok(None)
            }
            Err(Broken::Io(error)) => Err(Broken::Io(error)),
            Err(Broken::Wrong { found, .. } | Broken::Unsupported { found, .. }) => {
                Ok(Some(("a packed part of the pages", found)))
            }
        }
    }

    /// No part behind this one can be found.
    fn stop(&mut self, found: &str) -> Torn {
        self.chunks = 0;
        ("a packed part of the pages", found.to_owned())
    }

    fn word<S: Source>(&mut self, source: &S) -> Result<Option<u32>, Broken> {
        let mut bytes = [0; 4];
        let whole = self.at.saturating_add(4) <= self.end
            && source.read_at(&mut bytes, self.at)? == bytes.len();
        self.at = self.at.saturating_add(4);
        Ok(whole.then(|| u32::from_le_bytes(bytes)))
    }
}

enum Turn {
    Page,
    Torn(Torn),
    End,
}
