//! Programs for the kernel (BPF): the system call, and descriptors of what it makes.
#![expect(unsafe_code, reason = "bpf takes pointers and returns descriptors")]

use crate::{BpfMapSpec, BpfProgramSpec, Call, Errno, HostError};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

const MAP_CREATE: u32 = 0;
const MAP_LOOKUP: u32 = 1;
const MAP_UPDATE: u32 = 2;
const MAP_DELETE: u32 = 3;
const PROG_LOAD: u32 = 5;
const PROG_RUN: u32 = 10;
const TRACEPOINT_OPEN: u32 = 17;
const BTF_LOAD: u32 = 18;
const LINK_CREATE: u32 = 28;
/// BPF_STRUCT_OPS of `enum bpf_attach_type`.
const ATTACH_STRUCT_OPS: u32 = 44;
/// The verifier's account of a program, which it only gives where it refuses one.
const LOG_BYTES: usize = 1 << 20;
/// The longest `union bpf_attr` here.
const ATTRIBUTE_BYTES: usize = 128;

/// Arguments of the call, at the offsets of `union bpf_attr` in include/uapi/linux/bpf.h. Pointers in it
/// are kept alive by whoever makes the call.
struct Attributes([u64; ATTRIBUTE_BYTES / 8]);

impl Attributes {
    fn new() -> Attributes {
        Attributes([0; ATTRIBUTE_BYTES / 8])
    }

    fn word(mut self, offset: usize, value: u32) -> Attributes {
        let (at, high) = (offset / 8, !offset.is_multiple_of(8));
        let native = |whole: u64| whole.to_ne_bytes();
        let mut bytes = native(self.0[at]);
        bytes[if high { 4..8 } else { 0..4 }].copy_from_slice(&value.to_ne_bytes());
        self.0[at] = u64::from_ne_bytes(bytes);
        self
    }

    fn fd(self, offset: usize, fd: RawFd) -> Attributes {
        self.word(offset, fd as u32)
    }

    fn pointer(mut self, offset: usize, value: *const u8) -> Attributes {
        self.0[offset / 8] = value as u64;
        self
    }

    fn long(mut self, offset: usize, value: u64) -> Attributes {
        self.0[offset / 8] = value;
        self
    }

    /// At most 15 bytes, at `offset`, which is 4 beyond a multiple of 8 or one.
    fn name(mut self, offset: usize, name: &str) -> Attributes {
        let mut bytes = [0; 16];
        let plain = name.bytes().map(|byte| if byte.is_ascii_alphanumeric() { byte } else { b'_' });
        bytes.iter_mut().take(15).zip(plain).for_each(|(to, byte)| *to = byte);
        for (part, word) in bytes.chunks_exact(4).enumerate() {
            let word = word.try_into().map_or(0, u32::from_ne_bytes);
            self = self.word(offset + 4 * part, word);
        }
        self
    }

    /// What the pointers lead to must live, and be as long as the attributes say.
    fn call(&mut self, command: u32) -> Result<i64, Errno> {
        // SAFETY: `union bpf_attr` of this size; the callers here put only pointers into it whose
        // memory outlives the call, and lengths beside them that are theirs.
        let result =
            unsafe { libc::syscall(libc::SYS_bpf, command, self.0.as_mut_ptr(), ATTRIBUTE_BYTES) };
        if result < 0 { Err(Errno::last()) } else { Ok(result) }
    }

    fn open(&mut self, command: u32) -> Result<OwnedFd, Errno> {
        let fd = self.call(command)?;
        // SAFETY: the kernel just gave this descriptor to us alone; it is closed on exec by itself.
        Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
    }
}

fn failed(object: impl std::fmt::Display) -> impl FnOnce(Errno) -> HostError {
    move |errno| HostError::call(Call::Bpf, object, errno)
}

/// The kernel's programs of this process: with it, they go. Programs, maps and links end with their last
/// descriptor, so nothing is left by one that is killed.
#[derive(Debug)]
pub struct Bpf(());

/// Types of a program's own, which the kernel has read.
#[derive(Debug)]
pub struct BpfTypes(OwnedFd);

/// A map.
#[derive(Debug)]
pub struct BpfMap {
    fd: OwnedFd,
    spec: BpfMapSpec,
}

/// A program that the kernel has taken.
#[derive(Debug)]
pub struct BpfProgram {
    fd: OwnedFd,
    name: String,
}

/// While it lives, a program is attached.
#[derive(Debug)]
pub struct BpfLink(#[expect(dead_code, reason = "it is closed with this")] OwnedFd);

impl Bpf {
    pub(crate) fn new() -> Bpf {
        Bpf(())
    }

    /// Gives the kernel the types of a program.
    ///
    /// # Errors
    /// Refused.
    pub fn types(&self, bytes: &[u8]) -> Result<BpfTypes, HostError> {
        let mut log = vec![0; LOG_BYTES];
        let load = |log: &mut [u8]| {
            let level = u32::from(!log.is_empty());
            Attributes::new()
                .pointer(0, bytes.as_ptr())
                .pointer(8, if level > 0 { log.as_mut_ptr() } else { std::ptr::null() })
                .word(16, bytes.len() as u32)
                .word(20, log.len() as u32)
                .word(24, level)
                .open(BTF_LOAD)
        };
        match load(&mut []) {
            Ok(fd) => Ok(BpfTypes(fd)),
            Err(errno) => {
                let _ = load(&mut log);
                Err(failed(format!("types: {}", last_words(&log)))(errno))
            }
        }
    }

    /// Makes a map.
    ///
    /// # Errors
    /// Refused.
    pub fn map(&self, spec: BpfMapSpec, types: Option<&BpfTypes>) -> Result<BpfMap, HostError> {
        let mut attributes = Attributes::new()
            .word(0, spec.kind)
            .word(4, spec.key_bytes)
            .word(8, spec.value_bytes)
            .word(12, spec.entries)
            .word(16, spec.flags)
            .name(28, &spec.name)
            .word(60, spec.kernel_type);
        if let Some(types) = types {
            let [key, value] = spec.types;
            attributes = attributes.fd(48, types.0.as_raw_fd()).word(52, key).word(56, value);
        }
        let fd = attributes.open(MAP_CREATE).map_err(failed(format!("map {}", spec.name)))?;
        Ok(BpfMap { fd, spec })
    }

    /// Has the kernel verify a program and take it.
    ///
    /// # Errors
    /// Refused, with the verifier's last words.
    pub fn program(
        &self,
        spec: &BpfProgramSpec,
        types: &BpfTypes,
    ) -> Result<BpfProgram, HostError> {
        const SLEEPABLE: u32 = 1 << 4;
        let load = |log: &mut [u8]| {
            let (length, level) = (log.len() as u32, u32::from(!log.is_empty()));
            Attributes::new()
                .word(0, spec.kind)
                .word(4, (spec.code.len() / 8) as u32)
                .pointer(8, spec.code.as_ptr())
                .pointer(16, spec.licence.as_ptr())
                .word(24, level)
                .word(28, length)
                .pointer(32, if level > 0 { log.as_mut_ptr() } else { std::ptr::null() })
                .word(44, if spec.sleepable { SLEEPABLE } else { 0 })
                .name(48, &spec.name)
                .word(68, spec.attach)
                .fd(72, types.0.as_raw_fd())
                .word(76, size_of::<[u32; 2]>() as u32)
                .pointer(80, spec.functions.as_ptr().cast())
                .word(88, spec.functions.len() as u32)
                .word(108, spec.attach_type)
                .open(PROG_LOAD)
        };
        if spec.licence.last() != Some(&0) {
            return Err(HostError::malformed(&spec.name, "a licence that ends with 0", ""));
        }
        match load(&mut []) {
            Ok(fd) => Ok(BpfProgram { fd, name: spec.name.clone() }),
            Err(errno) => {
                let mut log = vec![0; LOG_BYTES];
                let _ = load(&mut log);
                Err(failed(format!("program {}: {}", spec.name, last_words(&log)))(errno))
            }
        }
    }
}

impl BpfMap {
    /// The number by which programs of this process name it.
    pub fn number(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    /// Bytes of a value.
    pub fn value_bytes(&self) -> usize {
        self.spec.value_bytes as usize
    }

    /// The value of a key; none where there is none.
    ///
    /// # Errors
    /// Refused.
    pub fn look_up(&self, key: &[u8]) -> Result<Option<Vec<u8>>, HostError> {
        let mut value = vec![0; self.value_bytes()];
        let key = self.key(key)?;
        match self.entry(key).pointer(16, value.as_mut_ptr()).call(MAP_LOOKUP) {
            Ok(_) => Ok(Some(value)),
            Err(Errno::ENOENT) => Ok(None),
            Err(errno) => Err(failed(format!("map {}", self.spec.name))(errno)),
        }
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// Refused; a value of another length than the map's.
    pub fn update(&self, key: &[u8], value: &[u8]) -> Result<(), HostError> {
        let key = self.key(key)?;
        if value.len() != self.value_bytes() {
            let found = format!("{} bytes", value.len());
            let expected = format!("a value of {} bytes", self.value_bytes());
            return Err(HostError::malformed(&self.spec.name, expected, &found));
        }
        let done = self.entry(key).pointer(16, value.as_ptr()).call(MAP_UPDATE);
        done.map(drop).map_err(failed(format!("map {}", self.spec.name)))
    }

    /// Removes a key; one that is not there is none.
    ///
    /// # Errors
    /// Refused.
    pub fn remove(&self, key: &[u8]) -> Result<(), HostError> {
        let key = self.key(key)?;
        match self.entry(key).call(MAP_DELETE) {
            Ok(_) | Err(Errno::ENOENT) => Ok(()),
            Err(errno) => Err(failed(format!("map {}", self.spec.name))(errno)),
        }
    }

    /// Registers a table of functions (made with BPF_F_LINK, and filled) with the kernel.
    ///
    /// # Errors
    /// Refused: for sched_ext `EBUSY` where another scheduler is there.
    pub fn register(&self) -> Result<BpfLink, HostError> {
        let link = Attributes::new().fd(0, self.number()).word(8, ATTACH_STRUCT_OPS);
        let mut link = link;
        link.open(LINK_CREATE).map(BpfLink).map_err(failed(format!("table {}", self.spec.name)))
    }

    fn entry(&self, key: &[u8]) -> Attributes {
        Attributes::new().fd(0, self.number()).pointer(8, key.as_ptr()).long(24, 0)
    }

    fn key<'a>(&self, key: &'a [u8]) -> Result<&'a [u8], HostError> {
        if key.len() == self.spec.key_bytes as usize {
            return Ok(key);
        }
        let expected = format!("a key of {} bytes", self.spec.key_bytes);
        Err(HostError::malformed(&self.spec.name, expected, &format!("{} bytes", key.len())))
    }
}

impl BpfProgram {
    /// The number by which tables of functions name it.
    pub fn number(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    /// Attaches it to the tracepoint that it was made for.
    ///
    /// # Errors
    /// Refused.
    pub fn attach(&self) -> Result<BpfLink, HostError> {
        let mut attributes = Attributes::new().fd(8, self.number());
        let link = attributes.open(TRACEPOINT_OPEN).map(BpfLink);
        link.map_err(failed(format!("program {}", self.name)))
    }

    /// Runs it once, on the CPU of this thread; what it returns.
    ///
    /// # Errors
    /// Refused.
    pub fn run(&self) -> Result<u32, HostError> {
        let mut attributes = Attributes::new().fd(0, self.number());
        attributes.call(PROG_RUN).map_err(failed(format!("program {}", self.name)))?;
        let bytes = attributes.0[0].to_ne_bytes();
        Ok(bytes[4..].try_into().map_or(0, u32::from_ne_bytes))
    }
}

/// The end of a log that says why: the last line that is no statistics.
fn last_words(log: &[u8]) -> String {
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    let text = String::from_utf8_lossy(log.get(..end).unwrap_or_default()).into_owned();
    let lines = text.lines().rev().map(str::trim);
    let mut lines = lines.filter(|line| {
        !line.is_empty()
            && !line.starts_with("processed ")
            && !line.starts_with("verification time")
    });
    lines.next().unwrap_or("no reason given").chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_lie_where_the_kernel_reads_them() {
        let attributes = Attributes::new().word(0, 1).word(4, 2).long(8, 3).name(28, "a b");
        let bytes: Vec<u8> = attributes.0.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((word(0), word(4), word(8), word(12)), (1, 2, 3, 0));
        assert_eq!(&bytes[28..32], b"a_b\0");
    }

    #[test]
    fn a_map_keeps_what_it_is_given() {
        let spec = BpfMapSpec {
            name: "test".to_owned(),
            kind: 1,
            key_bytes: 4,
            value_bytes: 8,
            entries: 4,
            ..BpfMapSpec::default()
        };
        let map = match Bpf::new().map(spec, None) {
            Ok(map) => map,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let (key, value) = (7_u32.to_ne_bytes(), 9_u64.to_ne_bytes());
        assert_eq!(map.look_up(&key).unwrap(), None);
        map.update(&key, &value).unwrap();
        assert_eq!(map.look_up(&key).unwrap(), Some(value.to_vec()));
        map.remove(&key).unwrap();
        map.remove(&key).unwrap();
        assert_eq!(map.look_up(&key).unwrap(), None);
        assert!(map.update(&key, &value[..4]).is_err() && map.look_up(&value).is_err());
    }

    #[test]
    fn the_last_line_that_says_something_is_kept() {
        let log = b"0: r1 = 0\nR1 invalid mem access 'scalar'\nprocessed 3 insns\n\0\0";
        assert_eq!(last_words(log), "R1 invalid mem access 'scalar'");
        assert_eq!(last_words(&[0; 8]), "no reason given");
    }
}
