//! Puts a compiled program into the kernel that runs: its own types for the fields, its functions by number.

use crate::object::{Code, LOAD_WIDE, Object, STEP, Target};
use crate::{BpfError, Btf};
use flyball_host::{
    Bpf, BpfLink, BpfMap, BpfMapSpec, BpfProgram, BpfProgramSpec, BpfTypes, Host, HostError,
};
use flyball_units::Mismatch;
use std::path::Path;

/// Where the kernel describes its types.
const KERNEL: &str = "/sys/kernel/btf/vmlinux";
/// There where it has schedulers by BPF: whether one is in force.
const STATE: &str = "/sys/kernel/sched_ext/state";
const SCHEDULER: &str = "sched_ext_ops";
const SCHEDULER_TABLE: &str = "bpf_struct_ops_sched_ext_ops";
/// BPF_MAP_TYPE_STRUCT_OPS.
const TABLE: u32 = 26;
/// BPF_F_LINK: the table is in force while a link lives.
const BY_LINK: u32 = 1 << 13;
/// SCX_OPS_SWITCH_PARTIAL: only threads that ask for the class are in it.
const PARTIAL: u64 = 1 << 3;

/// A program in the kernel. With it, all of it goes.
#[derive(Debug)]
pub struct Loaded {
    bpf: Bpf,
    kernel: Btf,
    types: BpfTypes,
    maps: Vec<(String, BpfMap)>,
    programs: Vec<(String, String, BpfProgram)>,
}

/// Whether the kernel has schedulers by BPF, and none is in force.
///
/// # Errors
/// What is missing, or there.
pub fn class_is_free(host: &dyn Host) -> Result<(), Mismatch> {
    let read = |path: &str| host.read(Path::new(path)).map(|text| text.trim().to_owned());
    match read(STATE).as_deref() {
        Ok("disabled") => Ok(()),
        Ok(state) => Err(Mismatch::value("no BPF scheduler", format!("one that is {state}"))
            .hint("end it first: there can be one at a time")),
        Err(_) => {
            let release = read("/proc/sys/kernel/osrelease").unwrap_or_default();
            let expected = "a kernel with BPF schedulers (CONFIG_SCHED_CLASS_EXT, from 6.12 on)";
            Err(Mismatch::value(expected, format!("Linux {release} without them")))
        }
    }
}

/// Whether a BPF scheduler is in force. The kernel itself ends one when a CPU comes or goes, or a thread waits for
/// half a minute.
pub fn is_in_force(host: &dyn Host) -> bool {
    host.read(Path::new(STATE)).is_ok_and(|state| state.trim() == "enabled")
}

/// Loads an object; nothing of it is attached yet.
///
/// # Errors
/// A kernel without what the object takes; no permission (root, or CAP_BPF and CAP_PERFMON); refused.
pub fn load(host: &dyn Host, object: &Object) -> Result<Loaded, BpfError> {
    let bpf = host.bpf()?;
    let kernel = kernel(host, object)?;
    let types = bpf.types(&object.types)?;
    let map = |map: &crate::object::Map| {
        let spec = BpfMapSpec {
            name: map.name.clone(),
            kind: map.kind,
            key_bytes: map.key[1],
            value_bytes: map.value[1],
            entries: map.entries,
            flags: map.flags,
            types: [map.key[0], map.value[0]],
            kernel_type: 0,
        };
        Ok((map.name.clone(), bpf.map(spec, Some(&types))?))
    };
    let maps: Vec<(String, BpfMap)> =
        object.maps.iter().map(map).collect::<Result<_, HostError>>()?;
    let numbers =
        |name: &str| maps.iter().find(|(known, _)| known == name).map(|(_, map)| map.number());
    let program = |code: &Code| {
        let spec = program(object, code, &kernel, &numbers)?;
        Ok((code.section.clone(), code.name.clone(), bpf.program(&spec, &types)?))
    };
    let programs = object.programs.iter().map(program).collect::<Result<_, BpfError>>()?;
    Ok(Loaded { bpf, kernel, types, maps, programs })
}

/// The kernel's types that it takes.
fn kernel(host: &dyn Host, object: &Object) -> Result<Btf, BpfError> {
    let mut wanted = object.wanted();
    wanted.extend([SCHEDULER, SCHEDULER_TABLE].map(str::to_owned));
    wanted.extend(object.programs.iter().filter_map(|code| tracepoint(&code.section)));
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let bytes = match host.read_bytes(Path::new(KERNEL)) {
        Ok(bytes) => bytes,
        Err(error) if error.is_absent() => {
            return Err(BpfError::Lacking(
                "a description of its own types (CONFIG_DEBUG_INFO_BTF)".to_owned(),
            ));
        }
        Err(error) => return Err(error.into()),
    };
    Btf::parse(bytes, &wanted).map_err(|error| BpfError::Object(format!("{KERNEL}: {error}")))
}

/// The name of the type of a tracepoint's arguments.
fn tracepoint(section: &str) -> Option<String> {
    section.strip_prefix("tp_btf/").map(|name| format!("btf_trace_{name}"))
}

/// What the kernel is given for a section.
fn program(
    object: &Object,
    code: &Code,
    kernel: &Btf,
    maps: &dyn Fn(&str) -> Option<i32>,
) -> Result<BpfProgramSpec, BpfError> {
    const TRACING: u32 = 26;
    const STRUCT_OPS: u32 = 27;
    const SYSCALL: u32 = 31;
    const RAW_TRACEPOINT: u32 = 23;
    let lacking = |what: String| move || BpfError::Lacking(what);
    let mut spec = BpfProgramSpec {
        name: code.name.clone(),
        licence: object.licence.clone(),
        ..BpfProgramSpec::default()
    };
    if let Some(name) = tracepoint(&code.section) {
        (spec.kind, spec.attach) = (TRACING, RAW_TRACEPOINT);
        spec.attach_type =
            kernel.alias(&name).ok_or_else(lacking(format!("the tracepoint {}", &name[10..])))?;
    } else if let Some(member) = code.section.strip_prefix("struct_ops.s/") {
        let scheduler = "schedulers by BPF (CONFIG_SCHED_CLASS_EXT, from Linux 6.12 on)";
        spec.kind = STRUCT_OPS;
        spec.sleepable = true;
        spec.attach_type = kernel.structure(SCHEDULER).ok_or_else(lacking(scheduler.to_owned()))?;
        spec.attach =
            kernel.place(SCHEDULER, member).ok_or_else(lacking(format!("{SCHEDULER}.{member}")))?;
    } else if code.section == "syscall" {
        (spec.kind, spec.sleepable) = (SYSCALL, true);
    } else {
        return Err(BpfError::Object(format!("a kind of program, found section {}", code.section)));
    }
    let mut bytes = patched(code, code.bytes.len() / STEP, kernel, maps)?;
    spec.functions.clone_from(&code.functions);
    if code.references.iter().any(|it| matches!(it.to, Target::Shared(_))) {
        let base = (bytes.len() / STEP) as u32;
        bytes.extend(patched(&object.shared, 0, kernel, maps)?);
        spec.functions.extend(object.shared.functions.iter().map(|[at, id]| [at + base, *id]));
    }
    spec.code = bytes;
    Ok(spec)
}

/// Instructions with everything filled in; shared functions follow `ahead` instructions behind their start.
fn patched(
    code: &Code,
    ahead: usize,
    kernel: &Btf,
    maps: &dyn Fn(&str) -> Option<i32>,
) -> Result<Vec<u8>, BpfError> {
    /// What the second register's place says of the number beside it.
    const MAP: u8 = 1;
    const OWN_CALL: u8 = 1;
    const KERNEL_CALL: u8 = 2;
    const FUNCTION: u8 = 4;
    let mut bytes = code.bytes.clone();
    let outside = || BpfError::Object("instructions inside the code".to_owned());
    let mut set = |at: usize, source: Option<u8>, offset: Option<u16>, immediate: Option<u32>| {
        let step = bytes.get_mut(at * STEP..(at + 1) * STEP).ok_or_else(outside)?;
        if let Some(source) = source {
            step[1] = step[1] & 0xf | source << 4;
        }
        if let Some(offset) = offset {
            step[2..4].copy_from_slice(&offset.to_le_bytes());
        }
        if let Some(immediate) = immediate {
            step[4..].copy_from_slice(&immediate.to_le_bytes());
        }
        Ok::<(), BpfError>(())
    };
    for reference in &code.references {
        let at = reference.at;
        match &reference.to {
            Target::Map(name) => {
                let number = maps(name).ok_or_else(|| BpfError::Object(format!("a map {name}")))?;
                set(at, Some(MAP), None, Some(number as u32))?;
            }
            Target::Kernel(name) => {
                let lacking = || BpfError::Lacking(format!("the function {name}"));
                set(
                    at,
                    Some(KERNEL_CALL),
                    Some(0),
                    Some(kernel.function(name).ok_or_else(lacking)?),
                )?;
            }
            Target::Shared(to) => {
                let distance = (ahead + to).wrapping_sub(at + 1) as u32;
                let wide = code.bytes.get(at * STEP) == Some(&LOAD_WIDE);
                set(at, Some(if wide { FUNCTION } else { OWN_CALL }), None, Some(distance))?;
            }
        }
    }
    for field in &code.fields {
        let lacking = || BpfError::Lacking(format!("{}.{}", field.structure, field.path));
        let offset = kernel.field(&field.structure, &field.path).ok_or_else(lacking)?.offset;
        let operation = *code.bytes.get(field.at * STEP).ok_or_else(outside)?;
        match operation & 7 {
            // Loads and stores.
            1..=3 => {
                set(field.at, None, Some(u16::try_from(offset).map_err(|_| outside())?), None)?
            }
            _ => set(field.at, None, None, Some(offset))?,
        }
    }
    Ok(bytes)
}

impl Loaded {
    /// A map.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn map(&self, name: &str) -> Result<&BpfMap, BpfError> {
        let found = self.maps.iter().find(|(known, _)| known == name);
        found.map(|(_, map)| map).ok_or_else(|| BpfError::Object(format!("a map {name}")))
    }

    /// A program, by its function's name.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn program(&self, name: &str) -> Result<&BpfProgram, BpfError> {
        let found = self.programs.iter().find(|(_, known, _)| known == name);
        found.map(|(_, _, it)| it).ok_or_else(|| BpfError::Object(format!("a program {name}")))
    }

    /// Makes the object's `struct_ops` functions the kernel's BPF scheduler, as long as the link lives. In
    /// part: no thread is scheduled by it that does not ask for it. Else all fair threads are.
    ///
    /// # Errors
    /// Refused: `EBUSY` where another one is there.
    pub fn scheduler(&self, name: &str, partial: bool) -> Result<BpfLink, BpfError> {
        let lacking = || {
            BpfError::Lacking(
                "schedulers by BPF (CONFIG_SCHED_CLASS_EXT, from Linux 6.12 on)".to_owned(),
            )
        };
        let kernel = &self.kernel;
        let bytes = kernel.bytes(SCHEDULER_TABLE).ok_or_else(lacking)?;
        let data = kernel.field(SCHEDULER_TABLE, "data").ok_or_else(lacking)?.offset;
        let place = |member: &str| {
            kernel
                .field(SCHEDULER, member)
                .map(|field| (data + field.offset) as usize)
                .ok_or_else(lacking)
        };
        let mut value = vec![0; bytes as usize];
        let mut put = |at: usize, part: &[u8]| {
            value
                .get_mut(at..at + part.len())
                .map(|to| to.copy_from_slice(part))
                .ok_or_else(lacking)
        };
        put(place("name")?, name.as_bytes())?;
        put(place("flags")?, &(if partial { PARTIAL } else { 0 }).to_ne_bytes())?;
        for (section, _, program) in &self.programs {
            if let Some(member) = section.strip_prefix("struct_ops.s/") {
                put(place(member)?, &(program.number() as u64).to_ne_bytes())?;
            }
        }
        let spec = BpfMapSpec {
            name: name.to_owned(),
            kind: TABLE,
            key_bytes: 4,
            value_bytes: bytes,
            entries: 1,
            flags: BY_LINK,
            types: [0, 0],
            kernel_type: kernel.structure(SCHEDULER_TABLE).ok_or_else(lacking)?,
        };
        // The kernel wants types of a program's own, even where it takes none of them.
        let table = self.bpf.map(spec, Some(&self.types))?;
        table.update(&0_u32.to_ne_bytes(), &value)?;
        Ok(table.register()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Maker, scheduler_classes};
    use flyball_units::{Diagnostic, ErrorKind};

    fn kernel() -> Btf {
        let object = Object::parse(crate::RAMP).unwrap();
        let mut wanted = object.wanted();
        wanted.extend(["btf_trace_sched_switch", SCHEDULER].map(str::to_owned));
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        Btf::parse(scheduler_classes(), &wanted).unwrap()
    }

    #[test]
    fn fields_functions_and_maps_are_filled_in() {
        let (object, kernel) = (Object::parse(crate::RAMP).unwrap(), kernel());
        let code = &object.programs[0];
        let maps = |_: &str| Some(77);
        let spec = program(&object, code, &kernel, &maps).unwrap();
        assert_eq!((spec.kind, spec.attach, spec.sleepable), (26, 23, false));
        assert_eq!(spec.attach_type, kernel.alias("btf_trace_sched_switch").unwrap());
        let own = code.bytes.len() / STEP;
        assert_eq!(spec.code.len(), code.bytes.len() + object.shared.bytes.len());
        assert_eq!(spec.functions.len(), 2);
        assert_eq!(spec.functions[1][0] as usize, own);
        let at = |step: usize| &spec.code[step * STEP..(step + 1) * STEP];
        let immediate = |step: usize| i32::from_le_bytes(at(step)[4..].try_into().unwrap());
        for reference in &code.references {
            match &reference.to {
                Target::Map(_) => {
                    assert_eq!((at(reference.at)[1] >> 4, immediate(reference.at)), (1, 77));
                }
                Target::Shared(to) => {
                    assert_eq!(at(reference.at)[1] >> 4, 4);
                    let target = reference.at as i32 + 1 + immediate(reference.at);
                    assert_eq!(target as usize, own + to);
                }
                Target::Kernel(_) => {}
            }
        }
        let field = object.shared.fields.iter().find(|it| it.path == "se.avg.util_avg").unwrap();
        let offset = u16::from_le_bytes(at(own + field.at)[2..4].try_into().unwrap());
        assert_eq!(
            u32::from(offset),
            kernel.field("task_struct", "se.avg.util_avg").unwrap().offset
        );
        let call = object.shared.references.iter().find(|it| matches!(it.to, Target::Kernel(_)));
        let call = own + call.unwrap().at;
        assert_eq!(at(call)[1] >> 4, 2);
        assert_eq!(immediate(call) as u32, kernel.function("scx_bpf_cpuperf_set").unwrap());
    }

    #[test]
    fn a_kernel_without_the_class_is_told_what_it_lacks() {
        let object = Object::parse(crate::RAMP).unwrap();
        let none = Btf::parse(Maker::new().bytes(), &[]).unwrap();
        let error = |code| program(&object, code, &none, &|_| Some(3)).unwrap_err().to_string();
        assert!(error(&object.programs[0]).contains("the tracepoint sched_switch"));
        assert!(error(&object.programs[1]).contains("CONFIG_SCHED_CLASS_EXT"));
    }

    #[test]
    fn this_kernel_takes_all_where_it_has_the_class() {
        let host = flyball_host::RealHost::new();
        if let Err(slip) = class_is_free(&host) {
            return eprintln!("skipped: {slip}");
        }
        for bytes in [crate::RAMP, crate::THRESHOLD, crate::TICK] {
            match load(&host, &Object::parse(bytes).unwrap()) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Permission => {
                    return eprintln!("skipped: {error}");
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}
