//! A BTF put together by hand, as a kernel would describe itself: for tests.

#[allow(clippy::wildcard_imports, reason = "the numbers of all kinds")]
use crate::btf::*;

/// Puts types together; returns numbers as the format does.
#[derive(Default)]
pub struct Maker {
    types: Vec<u8>,
    strings: Vec<u8>,
    count: u32,
}

impl Maker {
    /// With no type but void.
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

    /// An integer.
    pub fn int(&mut self, name: &str, bytes: u32, signed: bool) -> u32 {
        let id = self.head(name, INT, 0, bytes);
        self.words(&[(u32::from(signed) << 24) | (8 * bytes)]);
        id
    }

    /// A name or a qualifier of a type.
    pub fn alias(&mut self, name: &str, kind: u32, to: u32) -> u32 {
        self.head(name, kind, 0, to)
    }

    /// A pointer.
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

    /// A function; parameters: name, type.
    pub fn function(&mut self, name: &str, parameters: &[(&str, u32)]) -> u32 {
        let proto = self.head("", FUNC_PROTO, parameters.len() as u32, 0);
        for (name, kind) in parameters {
            let name = self.string(name);
            self.words(&[name, *kind]);
        }
        self.head(name, FUNC, 1, proto)
    }

    /// The whole, as it lies in a file.
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
pub fn scheduler() -> Vec<u8> {
    let mut make = Maker::new();
    let int = make.int("int", 4, true);
    let u32 = make.int("unsigned int", 4, false);
    let long = make.int("unsigned long", 8, false);
    let average = make.structure(
        "sched_avg",
        64,
        &[
            ("period_contrib", u32, 20),
            ("runnable_avg", long, 24),
            ("util_avg", long, 32),
            ("util_est", u32, 40),
        ],
    );
    let group = make.structure("task_group", 512, &[("parent", long, 400)]);
    let group = make.pointer(group);
    let queue = make.count + 3;
    let to_queue = make.pointer(queue);
    let to_rq = make.pointer(queue + 1);
    make.structure("cfs_rq", 384, &[("avg", average, 128), ("rq", to_rq, 256), ("tg", group, 264)]);
    make.structure(
        "rq",
        4096,
        &[
            ("avg_rt", average, 1024),
            ("avg_dl", average, 1088),
            ("cpu_capacity", long, 2500 + 4),
            ("cpu", int, 2600),
        ],
    );
    let entity =
        make.structure("sched_entity", 320, &[("my_q", to_queue, 168), ("avg", average, 192)]);
    make.structure("task_struct", 9000, &[("se", entity, 192), ("pid", int, 2496)]);
    let policy = make.structure("cpufreq_policy", 900, &[("cpu", u32, 32)]);
    let policy = make.pointer(policy);
    let sugov = make.structure("sugov_policy", 200, &[("policy", policy, 0)]);
    let sugov = make.pointer(sugov);
    make.function("get_next_freq", &[("sg_policy", sugov), ("util", long), ("max", long)]);
    for name in [
        "pelt_se_tp",
        "sched_util_est_se_tp",
        "pelt_cfs_tp",
        "pelt_rt_tp",
        "pelt_dl_tp",
        "sched_cpu_capacity_tp",
    ] {
        make.alias(&format!("btf_trace_{name}"), TYPEDEF, to_queue);
    }
    make.bytes()
}

/// What programs for sched_ext take of a kernel, with offsets and numbers that none has.
pub fn scheduler_classes() -> Vec<u8> {
    let mut make = Maker::new();
    let int = make.int("int", 4, true);
    let u32 = make.int("unsigned int", 4, false);
    let long = make.int("unsigned long", 8, false);
    let average = make.structure("sched_avg", 64, &[("util_avg", long, 32), ("util_est", u32, 40)]);
    let entity = make.structure("sched_entity", 320, &[("avg", average, 192)]);
    let fields = [("se", entity, 192), ("pid", int, 2496), ("start_boottime", long, 2600)];
    make.structure("task_struct", 9000, &fields);
    let pointer = make.pointer(0);
    make.structure("sched_ext_ops", 512, &[("select_cpu", pointer, 0), ("init", pointer, 8)]);
    make.alias("btf_trace_sched_switch", TYPEDEF, pointer);
    make.function("scx_bpf_cpuperf_set", &[("cpu", int), ("perf", u32)]);
    make.function("scx_bpf_nr_cpu_ids", &[]);
    make.bytes()
}
