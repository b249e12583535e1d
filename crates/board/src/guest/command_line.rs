//! The emulator's command line. It runs in the scratch folder, where every file has a plain name:
//! QEMU takes a file's name apart at commas.

use super::{Options, Prepared};
use crate::arch::Arch;
use crate::plugin;
use crate::tables::registers;
use std::ffi::OsString;

/// Arguments that make the machine itself, needed to ask for its device tree, too.
pub(super) fn machine(options: &Options) -> Vec<String> {
    let mut list: Vec<String> = match options.machine.arch {
        // An Intel model whose TSC every kernel takes as constant. With QEMU's own model the kernel
        // would drop the TSC as its clock, and would not let schedutil switch from the scheduler.
        Arch::X86_64 => {
            vec![
                "-machine".into(),
                "pc".into(),
                "-cpu".into(),
                "max,vendor=GenuineIntel,family=6,model=58".into(),
            ]
        }
        Arch::Aarch64 => {
            vec!["-machine".into(), "virt,gic-version=3".into(), "-cpu".into(), "cortex-a72".into()]
        }
    };
    let cpus = options.machine.cpus;
    let more = [
        ("-m", format!("{}M", options.memory_mib)),
        ("-smp", format!("{cpus},sockets=1,cores={cpus},threads=1")),
        ("-display", "none".into()),
        ("-nic", "none".into()),
        ("-rtc", "clock=vm".into()),
    ];
    list.push("-nodefaults".into());
    list.extend(more.into_iter().flat_map(|(option, value)| [option.to_owned(), value]));
    list
}

/// All arguments of a run.
pub(super) fn arguments(options: &Options, prepared: &Prepared) -> Vec<OsString> {
    let memory = options.memory_mib << 20;
    let mut list = machine(options);
    let mut add = |option: &str, value: String| list.extend([option.to_owned(), value]);
    add("-accel", "tcg,thread=multi".into());
    match options.machine.arch {
        Arch::X86_64 => add("-acpitable", "file=ssdt".into()),
        Arch::Aarch64 => {
            add("-dtb", "board.dtb".into());
            let address = registers::address(memory);
            add("-device", format!("loader,file=registers,addr={address:#x},force-raw=on"));
        }
    }
    add("-kernel", "kernel".into());
    add("-initrd", "initrd".into());
    add("-append", kernel_arguments(options));
    add("-serial", "file:console".into());
    add("-device", "virtio-serial-pci".into());
    for port in ["out", "err", "control"] {
        add("-chardev", format!("socket,id={port},path={port}"));
        add("-device", format!("virtserialport,chardev={port},name={port}"));
    }
    for share in prepared.shares() {
        let readonly = if *share == "share" { "" } else { ",readonly=on" };
        add(
            "-virtfs",
            format!(
                "local,path={share},mount_tag={share},security_model=none,multidevs=remap{readonly}"
            ),
        );
    }
    let described = plugin::arguments(&options.machine, memory, options.step, options.rate);
    add("-plugin", format!("./plugin.so,log=log,control=counters,{described}"));
    list.push("-no-reboot".into());
    list.into_iter().map(OsString::from).collect()
}

fn kernel_arguments(options: &Options) -> String {
    let console = options.machine.arch.console();
    // Quicker: no random places, no tests of ciphers.
    let mut text =
        format!("console={console} panic=1 quiet mitigations=off nokaslr cryptomgr.notests");
    if options.machine.arch == Arch::X86_64 {
        // On a busy host an emulated timer looks broken: the kernel would panic over its test of the
        // timer, or drop the TSC, which its watchdog compares with a slower clock.
        text.push_str(" no_timer_check tsc=reliable");
    }
    if let Some(append) = &options.append {
        text.push(' ');
        text.push_str(append);
    }
    text
}
