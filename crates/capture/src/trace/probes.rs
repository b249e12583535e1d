//! Probe events on the scheduler's bare tracepoints, and on schedutil's decision. They are made
//! from the kernel's own description of its types, so that no offset is assumed.
//!
//! A bare tracepoint has no event of its own; kernels with fprobe events (since 6.5) let a probe sit
//! on it and print fields found by offset (`Documentation/trace/fprobetrace.rst`). Whether this one
//! does is read from tracefs's own `README`, not from its version. The names and fields are those
//! that [`flyball_events::ftrace`] reads.

use super::Group;
use flyball_bpf::{Btf, BtfError, Field};

/// Where the kernel describes its types.
pub(super) const BTF: &str = "/sys/kernel/btf/vmlinux";

/// Types and functions that the probes look up.
const WANTED: &[&str] = &[
    "task_struct",
    "sched_entity",
    "cfs_rq",
    "rq",
    "task_group",
    "sugov_policy",
    "get_next_freq",
    "btf_trace_pelt_se_tp",
    "btf_trace_sched_util_est_se_tp",
    "btf_trace_pelt_cfs_tp",
    "btf_trace_pelt_rt_tp",
    "btf_trace_pelt_dl_tp",
    "btf_trace_sched_cpu_capacity_tp",
];

/// A probe event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    /// The group of events that it belongs to.
    pub group: Group,
    /// `t` for a tracepoint, `f` for a function.
    pub kind: char,
    /// The event's name.
    pub event: &'static str,
    /// What it sits on.
    pub point: &'static str,
    /// What it prints.
    pub fields: String,
    /// Only events for which this holds are written.
    pub filter: Option<&'static str>,
}

impl Probe {
    /// The line for `dynamic_events`.
    pub fn definition(&self, group: &str) -> String {
        format!("{}:{group}/{} {} {}", self.kind, self.event, self.point, self.fields)
    }
}

/// Why a probe cannot be made: what is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lacking {
    pub group: Group,
    pub what: String,
}

/// Reads the kernel's types.
pub(super) fn parse(bytes: Vec<u8>) -> Result<Btf, BtfError> {
    Btf::parse(bytes, WANTED)
}

/// The probes of `group`, as far as this kernel has what they look at.
pub(super) fn of(group: Group, btf: &Btf) -> Vec<Result<Probe, Lacking>> {
    let probes = match group {
        Group::Util => vec![entity(btf), estimate(btf), queue(btf)],
        Group::Classes => {
            vec![class(btf, RT), class(btf, DEADLINE)]
        }
        Group::Capacity => vec![capacity(btf)],
        Group::Governor => match governor(btf) {
            Ok(pair) => pair.into_iter().map(Ok).collect(),
            Err(what) => vec![Err(what)],
        },
        _ => Vec::new(),
    };
    probes.into_iter().map(|probe| probe.map_err(|what| Lacking { group, what })).collect()
}

/// Fails where the kernel has no such tracepoint.
fn tracepoint(btf: &Btf, name: &str) -> Result<(), String> {
    match btf.has(&format!("btf_trace_{name}")) {
        true => Ok(()),
        false => Err(format!("tracepoint {name}")),
    }
}

fn field(btf: &Btf, of: &str, path: &str) -> Result<Field, String> {
    btf.field(of, path).ok_or_else(|| format!("field {path} of struct {of}"))
}

/// `u64`, `s32`: how a field reads.
fn kind(field: &Field) -> String {
    format!("{}{}", if field.signed { 's' } else { 'u' }, 8 * field.bytes)
}

/// `util=+208(se):u64`.
fn print(name: &str, field: &Field, base: &str) -> String {
    format!("{name}=+{}({base}):{}", field.offset, kind(field))
}

/// util_est of a `sched_avg`: a number since 6.8, before that the first of two in a structure.
fn util_est(btf: &Btf, of: &str) -> Result<Field, String> {
    let inner = btf.field(of, "avg.util_est.enqueued");
    inner.map_or_else(|| field(btf, of, "avg.util_est"), Ok)
}

/// `pid` of the task around a scheduling entity: the entity lies in its task. For a group's entity
/// it would be any number; those are filtered out, or show by `my_q`.
fn pid(btf: &Btf) -> Result<String, String> {
    let (pid, se) = (field(btf, "task_struct", "pid")?, field(btf, "task_struct", "se")?);
    let offset = i64::from(pid.offset) - i64::from(se.offset);
    Ok(format!("pid={offset:+}(se):{}", kind(&pid)))
}

fn entity(btf: &Btf) -> Result<Probe, String> {
    tracepoint(btf, "pelt_se_tp")?;
    let util = field(btf, "sched_entity", "avg.util_avg")?;
    let runnable = field(btf, "sched_entity", "avg.runnable_avg")?;
    // Without group scheduling there is no such field, and every entity is a task.
    let own = btf.field("sched_entity", "my_q");
    let own_queue =
        own.map(|own| format!(" my_q=+{}(se):x{}", own.offset, 8 * own.bytes)).unwrap_or_default();
    Ok(Probe {
        group: Group::Util,
        kind: 't',
        event: "pelt_se",
        point: "pelt_se_tp",
        fields: format!(
            "{}{own_queue} {} {}",
            pid(btf)?,
            print("util", &util, "se"),
            print("runnable", &runnable, "se")
        ),
        filter: own.map(|_| "my_q == 0"),
    })
}

fn estimate(btf: &Btf) -> Result<Probe, String> {
    tracepoint(btf, "sched_util_est_se_tp")?;
    let util = field(btf, "sched_entity", "avg.util_avg")?;
    let estimate = util_est(btf, "sched_entity")?;
    Ok(Probe {
        group: Group::Util,
        kind: 't',
        event: "uest_se",
        point: "sched_util_est_se_tp",
        // The highest bit is a flag: hexadecimal shows it.
        fields: format!(
            "{} {} ue=+{}(se):x{}",
            pid(btf)?,
            print("util", &util, "se"),
            estimate.offset,
            8 * estimate.bytes
        ),
        filter: None,
    })
}

fn queue(btf: &Btf) -> Result<Probe, String> {
    tracepoint(btf, "pelt_cfs_tp")?;
    let util = field(btf, "cfs_rq", "avg.util_avg")?;
    let runnable = field(btf, "cfs_rq", "avg.runnable_avg")?;
    let estimate = util_est(btf, "cfs_rq")?;
    let contrib = field(btf, "cfs_rq", "avg.period_contrib")?;
    let cpu = field(btf, "rq", "cpu")?;
    // With group scheduling a queue knows its CPU's queue, and its group: that of the root, alone
    // without a parent, is what the governor looks at. Without, it lies in its CPU's queue.
    let (cpu, root) = match (btf.field("cfs_rq", "rq"), btf.field("cfs_rq", "tg")) {
        (Some(rq), Some(tg)) => {
            let parent = field(btf, "task_group", "parent")?;
            let root = format!(" parent=+{}(+{}(cfs_rq)):x64", parent.offset, tg.offset);
            (format!("cpu=+{}(+{}(cfs_rq)):{}", cpu.offset, rq.offset, kind(&cpu)), root)
        }
        _ => {
            let inner = field(btf, "rq", "cfs")?;
            let offset = i64::from(cpu.offset) - i64::from(inner.offset);
            (format!("cpu={offset:+}(cfs_rq):{}", kind(&cpu)), String::new())
        }
    };
    let filter = (!root.is_empty()).then_some("parent == 0");
    Ok(Probe {
        group: Group::Util,
        kind: 't',
        event: "pelt_cfs",
        point: "pelt_cfs_tp",
        fields: format!(
            "{cpu} {} {} {} {}{root}",
            print("util", &util, "cfs_rq"),
            print("runnable", &runnable, "cfs_rq"),
            print("ue", &estimate, "cfs_rq"),
            print("contrib", &contrib, "cfs_rq")
        ),
        filter,
    })
}

/// A class's averages in its CPU's queue: the event's name, the tracepoint, the field of `rq`.
type Class = (&'static str, &'static str, &'static str);
const RT: Class = ("pelt_rt", "pelt_rt_tp", "avg_rt");
const DEADLINE: Class = ("pelt_dl", "pelt_dl_tp", "avg_dl");

fn class(btf: &Btf, (event, point, averages): Class) -> Result<Probe, String> {
    tracepoint(btf, point)?;
    let of = |name: &str| field(btf, "rq", &format!("{averages}.{name}"));
    let (cpu, util, contrib) = (field(btf, "rq", "cpu")?, of("util_avg")?, of("period_contrib")?);
    Ok(Probe {
        group: Group::Classes,
        kind: 't',
        event,
        point,
        fields: format!(
            "{} {} {}",
            print("cpu", &cpu, "rq"),
            print("util", &util, "rq"),
            print("contrib", &contrib, "rq")
        ),
        filter: None,
    })
}

fn capacity(btf: &Btf) -> Result<Probe, String> {
    tracepoint(btf, "sched_cpu_capacity_tp")?;
    let (cpu, capacity) = (field(btf, "rq", "cpu")?, field(btf, "rq", "cpu_capacity")?);
    Ok(Probe {
        group: Group::Capacity,
        kind: 't',
        event: "cap",
        point: "sched_cpu_capacity_tp",
        fields: format!("{} {}", print("cpu", &cpu, "rq"), print("cap", &capacity, "rq")),
        filter: None,
    })
}

/// Schedutil's question and answer: two probes or none.
fn governor(btf: &Btf) -> Result<[Probe; 2], String> {
    let lacking = || "function get_next_freq".to_owned();
    let parameters = btf.parameters("get_next_freq").ok_or_else(lacking)?;
    if parameters != ["sg_policy", "util", "max"] {
        let found = parameters.join(", ");
        return Err(format!("parameters sg_policy, util, max of get_next_freq (found {found})"));
    }
    let policy = field(btf, "sugov_policy", "policy")?;
    let cpu = btf
        .behind("sugov_policy", "policy", "cpu")
        .ok_or_else(|| "field cpu of struct cpufreq_policy".to_owned())?;
    let asked = format!(
        "cpu=+{}(+{}(sg_policy)):{} util=util max=max",
        cpu.offset,
        policy.offset,
        kind(&cpu)
    );
    let probe = |event, point, fields| Probe {
        group: Group::Governor,
        kind: 'f',
        event,
        point,
        fields,
        filter: None,
    };
    Ok([
        probe("get_next_freq", "get_next_freq", asked),
        probe("get_next_freq_ret", "get_next_freq%return", "khz=$retval:u32".to_owned()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_bpf::testing::{Maker, scheduler};

    #[test]
    fn lines_for_dynamic_events() {
        let btf = parse(scheduler()).unwrap();
        let lines: Vec<String> = Group::ALL
            .iter()
            .flat_map(|group| of(*group, &btf))
            .map(|probe| probe.unwrap().definition("g"))
            .collect();
        assert_eq!(
            lines,
            [
                "t:g/pelt_se pelt_se_tp pid=+2304(se):s32 my_q=+168(se):x64 util=+224(se):u64 runnable=+216(se):u64",
                "t:g/uest_se sched_util_est_se_tp pid=+2304(se):s32 util=+224(se):u64 ue=+232(se):x32",
                "t:g/pelt_cfs pelt_cfs_tp cpu=+2600(+256(cfs_rq)):s32 util=+160(cfs_rq):u64 runnable=+152(cfs_rq):u64 ue=+168(cfs_rq):u32 contrib=+148(cfs_rq):u32 parent=+400(+264(cfs_rq)):x64",
                "t:g/pelt_rt pelt_rt_tp cpu=+2600(rq):s32 util=+1056(rq):u64 contrib=+1044(rq):u32",
                "t:g/pelt_dl pelt_dl_tp cpu=+2600(rq):s32 util=+1120(rq):u64 contrib=+1108(rq):u32",
                "t:g/cap sched_cpu_capacity_tp cpu=+2600(rq):s32 cap=+2504(rq):u64",
                "f:g/get_next_freq get_next_freq cpu=+32(+0(sg_policy)):u32 util=util max=max",
                "f:g/get_next_freq_ret get_next_freq%return khz=$retval:u32",
            ]
        );
    }

    #[test]
    fn what_is_lacking_is_named() {
        let btf = parse(Maker::new().bytes()).unwrap();
        let lacking: Vec<String> = [Group::Util, Group::Classes, Group::Capacity, Group::Governor]
            .iter()
            .flat_map(|group| of(*group, &btf))
            .map(|probe| probe.unwrap_err().what)
            .collect();
        assert_eq!(
            lacking,
            [
                "tracepoint pelt_se_tp",
                "tracepoint sched_util_est_se_tp",
                "tracepoint pelt_cfs_tp",
                "tracepoint pelt_rt_tp",
                "tracepoint pelt_dl_tp",
                "tracepoint sched_cpu_capacity_tp",
                "function get_next_freq",
            ]
        );
    }
}
