//! A BTF written down by hand, as a kernel would describe it.

use super::*;
use crate::testing::{Maker, scheduler};
use proptest::prelude::*;

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
