//! The tables against the compilers of their formats, where those are installed, and against
//! themselves everywhere.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr)]

use flyball_board::tables::fdt::{Node, Tree, cells, text};
use flyball_board::tables::{device_tree, registers, ssdt};
use flyball_board::{Arch, Machine};
use flyball_host::{Host, ProcessSpec, RealHost};
use flyball_platform::{Platform, catalogue};
use proptest::prelude::*;
use std::path::Path;

fn machine(name: &str, arch: Arch) -> Machine {
    Machine::new(&Platform::named(name).unwrap(), arch, None).unwrap()
}

/// Runs a compiler; None, with the reason on stderr, where it is not installed.
fn tool(dir: &Path, program: &str, arguments: &[&str]) -> Option<String> {
    let mut spec = ProcessSpec::new(program, arguments).captured();
    spec.folder = Some(dir.to_path_buf());
    let Ok(mut child) = RealHost::new().spawn(&spec) else {
        eprintln!("skipped: no {program} (Debian: acpica-tools, device-tree-compiler)");
        return None;
    };
    let exit = child.wait(None).unwrap().unwrap();
    let said =
        String::from_utf8_lossy(&[exit.stdout.clone(), exit.stderr.clone()].concat()).into_owned();
    assert!(exit.is_success(), "{program}: {said}");
    Some(said)
}

#[test]
fn every_shipped_platform_is_a_board_or_says_why_not() {
    for entry in catalogue().platforms {
        let platform = Platform::named(entry.name).unwrap();
        for arch in Arch::ALL {
            match Machine::new(&platform, arch, None) {
                Ok(machine) => {
                    assert!(
                        machine.budget_mips() <= 801.0,
                        "{}: {}",
                        entry.name,
                        machine.budget_mips()
                    );
                    let cpus: usize = machine.policies.iter().map(|p| p.cpus.len()).sum();
                    assert_eq!(cpus, platform.cpus.len());
                }
                Err(error) => {
                    let demand = entry.name.ends_with("macos")
                        && error.to_string().contains("expected a frequency that the operating");
                    let fast = arch == Arch::Aarch64 && error.to_string().contains("4095 MHz");
                    assert!(demand || fast, "{error}");
                }
            }
        }
    }
}

#[test]
fn a_platform_shows_on_what_it_should() {
    let arch = |name| flyball_board::arch_for(&Platform::named(name).unwrap());
    assert_eq!(arch("board-x86"), Arch::X86_64);
    assert_eq!(arch("zen2"), Arch::X86_64);
    assert_eq!(arch("board-aarch64"), Arch::Aarch64);
    assert_eq!(arch("apple-m1"), Arch::Aarch64);
    let zen = machine("zen2", Arch::X86_64);
    assert!(
        zen.differences.iter().any(|text| text.contains("acts at once")),
        "{:?}",
        zen.differences
    );
    assert!(machine("board-x86", Arch::X86_64).differences.is_empty());
    assert!(machine("board-aarch64", Arch::Aarch64).differences.is_empty());
}

#[test]
fn bad_figures_are_refused() {
    let platform = Platform::named("board-x86").unwrap();
    for ipc in [0.0, -1.0, f64::NAN, 11.0] {
        assert!(Machine::new(&platform, Arch::X86_64, Some(ipc)).is_err(), "{ipc}");
    }
}

/// The terms that the table is made of, in the language that it is compiled from.
#[test]
fn an_acpi_compiler_reads_the_table_as_it_is_meant() {
    let dir = tempfile::tempdir().unwrap();
    fs_err::write(dir.path().join("t.aml"), ssdt::table(&machine("board-x86", Arch::X86_64)))
        .unwrap();
    let Some(_) = tool(dir.path(), "iasl", &["-d", "t.aml"]) else { return };
    let source = fs_err::read_to_string(dir.path().join("t.dsl")).unwrap();
    let words: String = source.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "Scope (\\_SB.CPUS.C003)",
        "Register (SystemIO, 0x20, // Bit Width 0x00, // Bit Offset 0x0000000000000F00, // Address 0x03, // Access Size )",
        "Package (0x06) { 0x0C80, 0x4E20, 0x0A, 0x0A, Zero, Zero }",
        "Package (0x06) { 0x0258, 0x0102, 0x0A, 0x0A, 0x07, 0x07 }",
        "Method (_PPC, 0, NotSerialized) // _PPC: Performance Present Capabilities { Return (Zero) }",
        "Package (0x05) { 0x05, Zero, Zero, 0xFD, 0x04 }",
    ] {
        assert!(words.contains(expected), "expected {expected}\n{source}");
    }
    assert!(!source.contains("Incorrect checksum"), "{source}");
    // What it compiles from its own reading has the same bytes, header apart.
    tool(dir.path(), "iasl", &["-oe", "-p", "again", "t.dsl"]).unwrap();
    let (ours, theirs) = (
        fs_err::read(dir.path().join("t.aml")).unwrap(),
        fs_err::read(dir.path().join("again.aml")).unwrap(),
    );
    assert!(theirs.ends_with(&ours[36..]), "{} and {} bytes", ours.len(), theirs.len());
}

/// A machine's tree like that of QEMU, with `cpus` CPUs.
fn virt(cpus: u32) -> Tree {
    let mut list = Node::new("cpus").with("#address-cells", cells(&[1]));
    for cpu in 0..cpus {
        let node = Node::new(format!("cpu@{cpu:x}")).with("device_type", text("cpu"));
        list.children.push(node.with("phandle", cells(&[0x8000 + cpu])));
    }
    let mut root =
        Node::new("").with("#address-cells", cells(&[2])).with("#size-cells", cells(&[2]));
    root.children.push(list);
    Tree { reserved: Vec::new(), boot_cpu: 0, root }
}

#[test]
fn the_kernel_calculates_the_platforms_capacities() {
    for name in ["board-aarch64", "apple-m1", "rk3399", "phone-160-512-1024", "imx8qm"] {
        let machine = machine(name, Arch::Aarch64);
        let mut tree = virt(machine.cpus as u32);
        device_tree::add(&mut tree, &machine, 1 << 30).unwrap();
        let cpus = tree.root.child("cpus").unwrap();
        // drivers/base/arch_topology.c: property x highest frequency, scaled to 1024, rounded down.
        let raw = |cpu: u32| {
            let policy = machine.policy(cpu).unwrap().1;
            let node = cpus.child(&format!("cpu@{cpu:x}")).unwrap();
            u64::from(node.cell("capacity-dmips-mhz").unwrap())
                * u64::from(policy.states[0].mhz)
                * 1000
        };
        let top = (0..machine.cpus as u32).map(raw).max().unwrap();
        for cpu in 0..machine.cpus as u32 {
            let wanted = machine.policy(cpu).unwrap().1.capacity;
            assert_eq!(raw(cpu) * 1024 / top, u64::from(wanted), "{name}, cpu{cpu}");
        }
    }
}

#[test]
fn a_device_tree_compiler_reads_the_tree_as_it_is_meant() {
    let machine = machine("board-aarch64", Arch::Aarch64);
    let mut tree = virt(4);
    device_tree::add(&mut tree, &machine, 1 << 30).unwrap();
    let dir = tempfile::tempdir().unwrap();
    fs_err::write(dir.path().join("t.dtb"), tree.to_bytes()).unwrap();
    let Some(source) = tool(dir.path(), "dtc", &["-q", "-I", "dtb", "-O", "dts", "t.dtb"]) else {
        return;
    };
    let words: String = source.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "performance-controller@7ff00000 { compatible = \"mediatek,cpufreq-hw\"; reg = <0x00 0x7ff00000 0x00 0x1000 0x00 0x7ff01000 0x00 0x1000>; #performance-domain-cells = <0x01>; phandle = <0x8004>; }",
        "pstates@7ff00000 { reg = <0x00 0x7ff00000 0x00 0x100000>; no-map; }",
        "performance-domains = <0x8004 0x01>",
        "cluster1 { core0 { cpu = <0x8002>; }; core1 { cpu = <0x8003>; }; }",
    ] {
        assert!(words.contains(expected), "expected {expected}\n{source}");
    }
}

#[test]
fn registers_hold_the_table_and_repeat_its_last_row() {
    let machine = machine("board-aarch64", Arch::Aarch64);
    let pages = registers::pages(&machine);
    assert_eq!(pages.len(), 2 * registers::PAGE);
    let word = |page: usize, at: usize| {
        let at = page * registers::PAGE + at;
        u32::from_le_bytes(pages[at..at + 4].try_into().unwrap())
    };
    let rows: Vec<u32> = (0..32).map(|row| word(0, 4 * row)).collect();
    assert_eq!(rows[..5], [1800, 1400, 1000, 600, 600]);
    assert_eq!(rows[31], 600);
    assert_eq!((word(1, 0x90), word(1, 0x8C), word(1, 0x110)), (2_000_000, 3, 100));
}

#[test]
fn a_tree_without_the_cpus_is_refused() {
    let error = device_tree::add(&mut virt(2), &machine("board-aarch64", Arch::Aarch64), 1 << 30);
    assert!(error.unwrap_err().to_string().contains("a node cpu@2"));
    assert!(Tree::parse(b"not a tree").is_err());
}

fn any_node(depth: u32) -> impl Strategy<Value = Node> {
    let name = "[a-z][a-z0-9@,-]{0,12}";
    let value = prop::collection::vec(any::<u8>(), 0..20);
    let leaf = (name, prop::collection::btree_map("[a-z#][a-z-]{0,10}", value, 0..5));
    let make = |(name, properties): (String, std::collections::BTreeMap<String, Vec<u8>>)| Node {
        name,
        properties: properties.into_iter().collect(),
        children: Vec::new(),
    };
    leaf.prop_map(make).prop_recursive(depth, 40, 5, move |inner| {
        (name, prop::collection::vec(inner, 0..5)).prop_map(|(name, children)| Node {
            name,
            properties: vec![("phandle".to_owned(), cells(&[1]))],
            children,
        })
    })
}

proptest! {
    #[test]
    fn a_tree_is_read_as_it_was_written(
        mut root in any_node(4),
        boot_cpu in any::<u32>(),
        reserved in prop::collection::vec((1_u64.., any::<u64>()), 0..3),
    ) {
        root.name.clear();
        let tree = Tree { reserved, boot_cpu, root };
        prop_assert_eq!(&Tree::parse(&tree.to_bytes()).unwrap(), &tree);
    }

    #[test]
    fn no_bytes_make_the_reader_fail_other_than_by_an_error(
        at in 0_usize..400, value in any::<u8>(), cut in 0_usize..400,
    ) {
        let machine = machine("board-aarch64", Arch::Aarch64);
        let mut tree = virt(4);
        device_tree::add(&mut tree, &machine, 1 << 30).unwrap();
        let mut bytes = tree.to_bytes();
        let at = at % bytes.len();
        bytes[at] = value;
        let _ = Tree::parse(&bytes);
        bytes.truncate(cut);
        let _ = Tree::parse(&bytes);
    }
}
