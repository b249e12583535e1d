//! A BTF written down by hand, as a kernel would describe it.

use super::*;
use proptest::prelude::*;

/// Puts types together; returns numbers as the format does.
#[derive(Default)]
pub(crate) struct Maker {
    types: Vec<u8>,
    strings: Vec<u8>,
    count: u32,
}

impl Maker {
    pub fn new() -> Maker {
        Maker { strings: vec![0], ..Maker::default() }
    }

    fn string(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        let at = self.strings.len() as u32;
        self.strings.extend(text.as_bytes());
        self.strings.push(0);
        at
    }

    fn words(&mut self, words: &[u32]) {
        self.types.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    fn head(&mut self, name: &str, kind: u32, length: u32, last: u32) -> u32 {
        let name = self.string(name);
        self.words(&[name, kind << 24 | length, last]);
        self.count += 1;
        self.count
    }

    pub fn int(&mut self, name: &str, bytes: u32, signed: bool) -> u32 {
        let id = self.head(name, INT, 0, bytes);
        self.words(&[(u32::from(signed) << 24) | (8 * bytes)]);
        id
    }

    pub fn alias(&mut self, name: &str, kind: u32, to: u32) -> u32 {
        self.head(name, kind, 0, to)
    }

    pub fn pointer(&mut self, to: u32) -> u32 {
        self.head("", PTR, 0, to)
    }

    /// Members: name, type, offset in bytes.
    pub fn structure(&mut self, name: &str, bytes: u32, members: &[(&str, u32, u32)]) -> u32 {
        let id = self.head(name, STRUCT, members.len() as u32, bytes);
        for (name, kind, offset) in members {
            let name = self.string(name);
            self.words(&[name, *kind, 8 * offset]);
        }
        id
    }

    pub fn function(&mut self, name: &str, parameters: &[(&str, u32)]) -> u32 {
        let proto = self.head("", FUNC_PROTO, parameters.len() as u32, 0);
        for (name, kind) in parameters {
            let name = self.string(name);
            self.words(&[name, *kind]);
        }
        self.head(name, FUNC, 1, proto)
    }

    pub fn bytes(self) -> Vec<u8> {
        let (types, strings) = (self.types.len() as u32, self.strings.len() as u32);
        let mut bytes = vec![0x9f, 0xeb, 1, 0];
        for word in [24, 0, types, types, strings] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(self.types);
        bytes.extend(self.strings);
        bytes
    }
}

/// The structures of the scheduler that probes look into, with offsets that no kernel has.
pub(crate) fn scheduler() -> Vec<u8> {
    let mut make = Maker::new();
    let int = make.int("int", 4, true);
    let u32 = make.int("unsigned int", 4, false);
    let long = make.int("unsigned long", 8, false);
    let average = make.structure(
        "sched_avg",
        64,
        &[("runnable_avg", long, 24), ("util_avg", long, 32), ("util_est", u32, 40)],
    );
    let group = make.structure("task_group", 512, &[("parent", long, 400)]);
    let group = make.pointer(group);
    let queue = make.count + 3;
    let to_queue = make.pointer(queue);
    let to_rq = make.pointer(queue + 1);
    make.structure("cfs_rq", 384, &[("avg", average, 128), ("rq", to_rq, 256), ("tg", group, 264)]);
    make.structure("rq", 4096, &[("cpu", int, 2600), ("cpu_capacity", long, 2500 + 4)]);
    let entity =
        make.structure("sched_entity", 320, &[("my_q", to_queue, 168), ("avg", average, 192)]);
    make.structure("task_struct", 9000, &[("se", entity, 192), ("pid", int, 2496)]);
    let policy = make.structure("cpufreq_policy", 900, &[("cpu", u32, 32)]);
    let policy = make.pointer(policy);
    let sugov = make.structure("sugov_policy", 200, &[("policy", policy, 0)]);
    let sugov = make.pointer(sugov);
    make.function("get_next_freq", &[("sg_policy", sugov), ("util", long), ("max", long)]);
    for name in ["pelt_se_tp", "sched_util_est_se_tp", "pelt_cfs_tp", "sched_cpu_capacity_tp"] {
        make.alias(&format!("btf_trace_{name}"), TYPEDEF, to_queue);
    }
    make.bytes()
}

const WANTED: &[&str] = &["task_struct", "sched_entity", "cfs_rq", "sugov_policy", "get_next_freq"];

#[test]
fn fields_are_found_through_structures_and_pointers() {
    let btf = Btf::parse(scheduler(), WANTED).unwrap();
    let offset = |name: &str, path: &str| btf.field(name, path).map(|field| field.offset);
    assert_eq!(offset("task_struct", "pid"), Some(2496));
    assert_eq!(offset("task_struct", "se.avg.util_avg"), Some(192 + 192 + 32));
    assert_eq!(offset("task_struct", "none"), None);
    assert_eq!(offset("rq", "cpu"), None, "nobody asked for it");
    assert_eq!(btf.behind("cfs_rq", "rq", "cpu").map(|field| field.offset), Some(2600));
    assert_eq!(btf.behind("sugov_policy", "policy", "cpu").map(|field| field.offset), Some(32));
    let pid = btf.field("task_struct", "pid").unwrap();
    assert_eq!((pid.bytes, pid.signed), (4, true));
    assert_eq!(btf.parameters("get_next_freq").unwrap(), ["sg_policy", "util", "max"]);
}

#[test]
fn unnamed_structures_and_qualifiers_are_looked_through() {
    let mut make = Maker::new();
    let int = make.int("int", 4, false);
    let fast = make.alias("fast_t", TYPEDEF, int);
    let fixed = make.alias("", CONST, fast);
    let inner = make.structure("", 8, &[("a", int, 0), ("b", fixed, 4)]);
    make.structure("outer", 16, &[("", inner, 8)]);
    let btf = Btf::parse(make.bytes(), &["outer"]).unwrap();
    let field = btf.field("outer", "b").unwrap();
    assert_eq!((field.offset, field.bytes, field.signed), (12, 4, false));
}

#[test]
fn what_is_no_btf_is_refused() {
    for bytes in [vec![], vec![0x7f, b'E', b'L', b'F'], vec![0x9f, 0xeb, 1, 0, 24]] {
        assert!(Btf::parse(bytes, WANTED).is_err());
    }
    let mut make = Maker::new();
    make.alias("later", 31, 0);
    let error = Btf::parse(make.bytes(), WANTED).unwrap_err();
    assert_eq!(error.to_string(), "byte 24: expected a kind of type from 1 to 19, found 31");
}

#[test]
fn the_running_kernels_own() {
    use flyball_host::{Host, RealHost};
    let path = std::path::Path::new("/sys/kernel/btf/vmlinux");
    let Ok(bytes) = RealHost::new().read_bytes(path) else {
        println!("skipped: no {}", path.display());
        return;
    };
    let btf = Btf::parse(bytes, WANTED).unwrap();
    let pid = btf.field("task_struct", "pid").unwrap();
    assert_eq!((pid.bytes, pid.signed), (4, true));
    assert!(btf.field("sched_entity", "avg.util_avg").is_some());
}

proptest! {
    #[test]
    fn damaged_bytes_never_panic(at in 0usize..2000, value in any::<u8>(), cut in 0usize..2000) {
        let mut bytes = scheduler();
        if let Some(byte) = bytes.get_mut(at) {
            *byte = value;
        }
        bytes.truncate(bytes.len().saturating_sub(cut % 64));
        if let Ok(btf) = Btf::parse(bytes, WANTED) {
            let _ = btf.field("task_struct", "se.avg.util_avg");
            let _ = btf.behind("cfs_rq", "rq", "cpu");
            let _ = btf.parameters("get_next_freq");
        }
    }
}
