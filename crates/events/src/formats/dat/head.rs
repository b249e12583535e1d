//! What stands before the pages: layouts of events, names, clock, and where each CPU's pages are.

use std::collections::HashMap;

use super::Broken;
use super::cursor::{Cursor, PART_BYTES};
use super::symbols::Symbols;
use super::unpack::Packing;
use crate::ftrace::Header;
use crate::ring::format::Format;
use crate::ring::page::Layout;
use crate::source::Source;

/// Options that are looked at, by their numbers in trace-cmd.dat.v7(5).
mod option {
    pub const DONE: u16 = 0;
    pub const DATE: u16 = 1;
    pub const BUFFER: u16 = 3;
    pub const TRACECLOCK: u16 = 4;
    pub const OFFSET: u16 = 7;
    pub const CPUCOUNT: u16 = 8;
    pub const TSC2NSEC: u16 = 14;
    pub const HEADER_INFO: u16 = 16;
    pub const FTRACE_EVENTS: u16 = 17;
    pub const EVENT_FORMATS: u16 = 18;
    pub const KALLSYMS: u16 = 19;
    pub const PRINTK: u16 = 20;
    pub const CMDLINES: u16 = 21;
}

/// Sections of options that are followed; a file has one or two.
const SECTIONS_MAX: usize = 64;
/// CPUs of a buffer; the kernel's own limit lies below.
const CPUS_MAX: u32 = 1 << 16;

/// All that a file says before its pages.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub header: Header,
    pub layout: Option<Layout>,
    pub formats: Vec<Format>,
    /// Names of tasks.
    pub names: HashMap<u32, Vec<u8>>,
    /// Names of the kernel's functions.
    pub symbols: Symbols,
    /// The kernel's strings by their address.
    pub strings: HashMap<u64, String>,
    pub scale: Scale,
    pub packing: Packing,
    /// The pages of each CPU of each buffer.
    pub regions: Vec<Region>,
}

/// From the trace's clock to nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scale {
    /// Multiplier and shift of a counter's ticks.
    counter: Option<(u32, u32)>,
    offset_ns: i64,
}

impl Scale {
    pub fn ns(self, t: u64) -> u64 {
        let t = match self.counter {
            Some((by, shift)) => ((u128::from(t) * u128::from(by)) >> shift) as u64,
            None => t,
        };
        t.wrapping_add_signed(self.offset_ns)
    }
}

/// Where the pages of a CPU are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub cpu: u32,
    pub at: u64,
    pub bytes: u64,
}

impl Head {
    pub fn read<S: Source>(source: &S) -> Result<Head, Broken> {
        let mut cursor = Cursor::new(source.clone(), 0)?;
        if cursor.take(super::MAGIC.len() as u64, "trace-cmd's first bytes")? != super::MAGIC {
            return Err(Broken::wrong(0, "trace-cmd's first bytes", "others"));
        }
        let version = cursor.string("the version")?;
        if cursor.u8("the order of bytes")? != 0 {
            return Err(Broken::unsupported("a little-endian file", "a big-endian one"));
        }
        cursor.u8("the size of a long")?;
        let page_bytes = cursor.u32("the size of a page")?;
        let mut head = Head::default();
        match version.as_slice() {
            b"6" => head.version_6(&mut cursor, page_bytes)?,
            b"7" => head.version_7(source, &mut cursor, page_bytes)?,
            other => {
                let version = String::from_utf8_lossy(other).chars().take(16).collect::<String>();
                return Err(Broken::unsupported("version 6 or 7", format!("version {version:?}")));
            }
        }
        Ok(head)
    }

    /// Everything one behind the other.
    fn version_6<S: Source>(
        &mut self,
        cursor: &mut Cursor<S>,
        page_bytes: u32,
    ) -> Result<(), Broken> {
        self.header_info(cursor, page_bytes)?;
        self.ftrace_events(cursor)?;
        self.event_formats(cursor)?;
        self.kallsyms(cursor)?;
        self.printk(cursor)?;
        self.names(cursor)?;
        let cpus = cursor.u32("the number of CPUs")?;
        self.header.cpus = Some(cpus);
        let mut buffers = Vec::new();
        loop {
            let at = cursor.at();
            match cursor.string("options, latency or flyrecord")?.as_slice() {
                b"options  " => {
                    while let Some((id, data)) = one_option(cursor)? {
                        match id {
                            option::BUFFER => buffers.push(data),
                            id => self.option(id, &data)?,
                        }
                    }
                }
                b"flyrecord" => break,
                b"latency  " => return Err(text_inside()),
                _ => return Err(Broken::wrong(at, "options or flyrecord", "something else")),
            }
        }
        self.regions_6(cursor, cpus)?;
        for data in buffers {
            let at = Cursor::new(data.as_slice(), 0)?.u64("a buffer's place")?;
            let mut inside = cursor.other(at);
            inside.word("flyrecord")?;
            self.regions_6(&mut inside, cpus)?;
        }
        Ok(())
    }

    fn regions_6<S: Source>(&mut self, cursor: &mut Cursor<S>, cpus: u32) -> Result<(), Broken> {
        for cpu in 0..counted(cursor.at(), cpus)? {
            let at = cursor.u64("the place of a CPU's pages")?;
            let bytes = cursor.u64("the size of a CPU's pages")?;
            self.regions.push(Region { cpu, at, bytes });
        }
        Ok(())
    }

    /// Sections that are found through options.
    fn version_7<S: Source>(
        &mut self,
        source: &S,
        cursor: &mut Cursor<S>,
        page_bytes: u32,
    ) -> Result<(), Broken> {
        self.packing = Packing::of(&cursor.string("the name of a packing")?)?;
        cursor.string("the version of a packing")?;
        let mut next = cursor.u64("the place of the options")?;
        let mut sections = Vec::new();
        for _ in 0..SECTIONS_MAX {
            if next == 0 {
                break;
            }
            let part = self.section(source, next)?;
            let mut part = Cursor::new(part.as_slice(), 0)?;
            next = loop {
                let id = part.u16("an option")?;
                let bytes = part.u32("the size of an option")?;
                let data = part.take(bytes.into(), "an option")?;
                match id {
                    option::DONE => break place(&data)?,
                    option::BUFFER => self.regions_7(&data)?,
                    option::HEADER_INFO..=option::CMDLINES => sections.push((id, place(&data)?)),
                    id => self.option(id, &data)?,
                }
            };
        }
        for (id, at) in sections {
            let part = self.section(source, at)?;
            let mut part = Cursor::new(part.as_slice(), 0)?;
            match id {
                option::HEADER_INFO => self.header_info(&mut part, page_bytes)?,
                option::FTRACE_EVENTS => self.ftrace_events(&mut part)?,
                option::EVENT_FORMATS => self.event_formats(&mut part)?,
                option::KALLSYMS => self.kallsyms(&mut part)?,
                option::PRINTK => self.printk(&mut part)?,
                _ => self.names(&mut part)?,
            }
        }
        Ok(())
    }

    /// A section, unpacked.
    fn section<S: Source>(&self, source: &S, at: u64) -> Result<Vec<u8>, Broken> {
        let mut cursor = Cursor::new(source.clone(), at)?;
        cursor.u16("a section's number")?;
        let packed = cursor.u16("a section's flags")? & 1 != 0;
        cursor.u32("a section's name")?;
        let bytes = cursor.u64("a section's size")?;
        if !packed {
            return cursor.take(bytes, "a section");
        }
        let packed = cursor.u32("a packed section's size")?;
        let bytes = cursor.u32("a section's unpacked size")?;
        if u64::from(bytes) > PART_BYTES {
            return Err(Broken::wrong(at, "a section of at most 256 MiB", bytes.to_string()));
        }
        let packed = cursor.take(packed.into(), "a packed section")?;
        self.packing.unpack(at, &packed, bytes)
    }

    fn regions_7(&mut self, data: &[u8]) -> Result<(), Broken> {
        let mut part = Cursor::new(data, 0)?;
        part.u64("a buffer's place")?;
        part.string("a buffer's name")?;
        let clock = part.string("a buffer's clock")?;
        self.clock(&clock);
        part.u32("the size of a page")?;
        let cpus = part.u32("the number of CPUs")?;
        for _ in 0..counted(0, cpus)? {
            let cpu = part.u32("a CPU's number")?;
            let at = part.u64("the place of a CPU's pages")?;
            let bytes = part.u64("the size of a CPU's pages")?;
            self.regions.push(Region { cpu, at, bytes });
        }
        Ok(())
    }

    fn option(&mut self, id: u16, data: &[u8]) -> Result<(), Broken> {
        match id {
            option::TRACECLOCK => self.clock(data),
            option::CPUCOUNT => self.header.cpus = Cursor::new(data, 0)?.u32("a number").ok(),
            option::DATE | option::OFFSET => {
                let text = String::from_utf8_lossy(data);
                let text = text.trim_end_matches('\0').trim();
                let number = match text.strip_prefix("0x") {
                    Some(hex) => u64::from_str_radix(hex, 16).ok().map(u64::cast_signed),
                    None => text.parse().ok(),
                };
                let Some(number) = number else {
                    return Err(Broken::Wrong {
                        at: None,
                        expected: "an offset of the times in ns".to_owned(),
                        found: format!("{text:?}"),
                    });
                };
                self.scale.offset_ns = self.scale.offset_ns.wrapping_add(number);
            }
            option::TSC2NSEC => {
                let mut part = Cursor::new(data, 0)?;
                let counter = (part.u32("a multiplier")?, part.u32("a shift")?);
                if counter.1 < 64 {
                    self.scale.counter = Some(counter);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A clock's name, or the list of tracefs with the one in brackets.
    fn clock(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let text = text.trim_end_matches('\0').trim();
        let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let name = chosen.map_or(text, |(name, _)| name);
        if !name.is_empty() && !name.contains(' ') {
            self.header.clock = Some(name.to_owned());
        }
    }

    fn header_info<S: Source>(
        &mut self,
        cursor: &mut Cursor<S>,
        page_bytes: u32,
    ) -> Result<(), Broken> {
        cursor.word("header_page")?;
        let bytes = cursor.u64("the size of header_page")?;
        let text = cursor.take(bytes, "header_page")?;
        self.layout = Some(Layout::parse(&String::from_utf8_lossy(&text), page_bytes)?);
        cursor.word("header_event")?;
        let bytes = cursor.u64("the size of header_event")?;
        cursor.take(bytes, "header_event")?;
        Ok(())
    }

    fn ftrace_events<S: Source>(&mut self, cursor: &mut Cursor<S>) -> Result<(), Broken> {
        for _ in 0..cursor.u32("the number of ftrace's events")? {
            self.format(cursor)?;
        }
        Ok(())
    }

    fn event_formats<S: Source>(&mut self, cursor: &mut Cursor<S>) -> Result<(), Broken> {
        for _ in 0..cursor.u32("the number of systems")? {
            cursor.string("a system's name")?;
            for _ in 0..cursor.u32("the number of a system's events")? {
                self.format(cursor)?;
            }
        }
        Ok(())
    }

    fn format<S: Source>(&mut self, cursor: &mut Cursor<S>) -> Result<(), Broken> {
        let bytes = cursor.u64("the size of a layout")?;
        let text = cursor.take(bytes, "a layout")?;
        self.formats.extend(Format::parse(&String::from_utf8_lossy(&text)));
        Ok(())
    }

    fn kallsyms<S: Source>(&mut self, cursor: &mut Cursor<S>) -> Result<(), Broken> {
        let bytes = cursor.u32("the size of kallsyms")?;
        let text = cursor.take(bytes.into(), "kallsyms")?;
        self.symbols.extend(&text);
        Ok(())
    }

    /// `0xffffffff8250c95c : "Function call interrupts"`
    fn printk<S: Source>(&mut self, cursor: &mut Cursor<S>) -> Result<(), Broken> {
        let bytes = cursor.u32("the size of printk_formats")?;
        let text = cursor.take(bytes.into(), "printk_formats")?;
        for line in String::from_utf8_lossy(&text).lines() {
            let Some((address, text)) = line.split_once(':') else { continue };
            let hex = address.trim().trim_start_matches("0x");
            if let Ok(address) = u64::from_str_radix(hex, 16) {
                let text = text.trim();
                let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
                let text = text.unwrap_or_default().replace("\\n", "\n").replace("\\t", "\t");
                self.strings.insert(address, text.replace("\\\"", "\""));
            }
        }
        Ok(())
    }

    fn names<S: Source>(&mut self, cursor: &mut Cursor<S>) -> Result<(), Broken> {
        let bytes = cursor.u64("the size of the tasks' names")?;
        let text = cursor.take(bytes, "the tasks' names")?;
        for line in text.split(|byte| *byte == b'\n') {
            let Some(blank) = memchr::memchr(b' ', line) else { continue };
            let (tid, name) = (line.get(..blank), line.get(blank + 1..));
            let tid = tid.and_then(|tid| std::str::from_utf8(tid).ok()?.parse().ok());
            if let (Some(tid), Some(name)) = (tid, name) {
                self.names.insert(tid, name.to_owned());
            }
        }
        Ok(())
    }
}

/// The next option of version 6; none at the end.
fn one_option<S: Source>(cursor: &mut Cursor<S>) -> Result<Option<(u16, Vec<u8>)>, Broken> {
    let id = cursor.u16("an option")?;
    if id == option::DONE {
        return Ok(None);
    }
    let bytes = cursor.u32("the size of an option")?;
    Ok(Some((id, cursor.take(bytes.into(), "an option")?)))
}

fn place(data: &[u8]) -> Result<u64, Broken> {
    Cursor::new(data, 0)?.u64("a section's place")
}

fn counted(at: u64, cpus: u32) -> Result<u32, Broken> {
    if cpus > CPUS_MAX {
        return Err(Broken::wrong(at, format!("at most {CPUS_MAX} CPUs"), cpus.to_string()));
    }
    Ok(cpus)
}

fn text_inside() -> Broken {
    Broken::unsupported("pages of the ring buffer", "the text of a latency tracer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_scaled_and_shifted() {
        let mut head = Head::default();
        assert_eq!(head.scale.ns(7), 7);
        let tsc = [2_u32.to_le_bytes(), 1_u32.to_le_bytes(), [0; 4], [0; 4]].concat();
        head.option(option::TSC2NSEC, &tsc).unwrap();
        head.option(option::OFFSET, b"-10\0").unwrap();
        head.option(option::DATE, b"0x10\0").unwrap();
        assert_eq!(head.scale.ns(1000), 1006);
        assert!(head.option(option::OFFSET, b"soon").is_err());
    }

    #[test]
    fn the_clock_of_a_list_or_alone() {
        let mut head = Head::default();
        head.clock(b"local global [mono] boot\n\0");
        assert_eq!(head.header.clock.as_deref(), Some("mono"));
        head.clock(b"x86-tsc");
        assert_eq!(head.header.clock.as_deref(), Some("x86-tsc"));
        head.clock(b"");
        assert_eq!(head.header.clock.as_deref(), Some("x86-tsc"));
    }
}
