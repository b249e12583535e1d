//! A record's bytes as an event, by the layout that the file gives for its kind.

use super::bprint;
use super::symbols::Symbols;
use std::collections::HashMap;
use std::io::Write;

use crate::event::flag_letters;
use crate::event::{Event, InterruptRef, TaskRef};
use crate::ftrace::Malformed;
use crate::ftrace::{SOFTIRQS, is_probe_name, known_vector, parse_probe, state_letters};
use crate::ring::format::{Field, Format, Shape};

/// `cpu_idle`'s state for leaving idle.
const AWAKE: u32 = u32::MAX;

/// What a record of one kind means.
#[derive(Debug)]
pub(super) struct Decoder {
    pub name: String,
    tid: Field,
    flags: Field,
    kind: Kind,
}

#[derive(Debug)]
struct Task {
    name: Field,
    tid: Field,
    priority: Option<Field>,
}

#[derive(Debug)]
enum Kind {
    Switch {
        prev: Task,
        state: Field,
        letters: States,
        next: Task,
    },
    Waking(Task),
    Wakeup(Task, Field),
    Migrate {
        task: Task,
        from: Field,
        to: Field,
    },
    Fork(Task),
    Exit(Task),
    Frequency {
        khz: Field,
        cpu: Field,
    },
    Idle {
        state: Field,
        cpu: Field,
    },
    Interrupt {
        enters: bool,
        interrupt: Interrupt,
    },
    Mark(Field),
    /// `trace_printk`: the address of its format, and where its arguments begin.
    Printed {
        format: Field,
        arguments: Option<usize>,
    },
    Probe {
        function: Option<Field>,
        returns: bool,
        fields: Vec<Field>,
    },
    Other,
}

#[derive(Debug)]
enum Interrupt {
    Handler { number: Field, name: Option<Field> },
    Soft(Field),
    Vector(Field, &'static str),
    Ipi(Field),
}

/// The letters of a task's states, by the layout's own table: Linux 4.14 numbered them anew.
#[derive(Debug, Default)]
struct States(Vec<(u64, Vec<u8>)>);

impl States {
    /// From `{ 1, "S"} , { 2, "D" }` in the text that says how a switch is printed.
    fn of_format(format: &Format) -> States {
        let pairs = format.print.split('{').skip(1).filter_map(|text| {
            let (value, letter) = text.split_once('}')?.0.split_once(',')?;
            let value = match value.trim().strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).ok()?,
                None => value.trim().parse().ok()?,
            };
            Some((value, letter.trim().trim_matches('"').as_bytes().to_owned()))
        });
        States(pairs.collect())
    }

    /// Of several states at once the lowest counts.
    fn of(&self, state: u64) -> &[u8] {
        // The kernel marks a preempted task by the bit above those that have letters.
        let preempted = match self.0.iter().map(|(value, _)| *value).max() {
            Some(highest) => highest.wrapping_shl(1),
            None => return state_letters(state),
        };
        match self.0.iter().find(|(value, _)| state & value != 0) {
            Some((_, letter)) => letter,
            None if state == 0 => b"R",
            None if state == preempted => b"R+",
            None => b"?",
        }
    }
}

/// The kernel's names of addresses.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Functions.
    pub symbols: Symbols,
    /// Strings.
    pub strings: HashMap<u64, String>,
}

impl Decoder {
    /// None where even the head of a record is not described.
    pub fn of(format: &Format) -> Option<Decoder> {
        Some(Decoder {
            tid: format.field("common_pid")?.clone(),
            flags: format.field("common_flags")?.clone(),
            kind: Kind::of(format).unwrap_or(Kind::Other),
            name: format.name.clone(),
        })
    }

    /// The thread that the CPU ran, and ftrace's letters for where it was.
    pub fn head(&self, record: &[u8]) -> Option<(u32, &'static [u8])> {
        let flags = self.flags.number(record)? as u32;
        Some((self.tid.unsigned(record)?, flag_letters(flags)))
    }

    /// The event of a record; `scratch` holds the text of probes.
    pub fn event<'a>(
        &'a self,
        record: &'a [u8],
        names: &'a Names,
        scratch: &'a mut Vec<u8>,
    ) -> Result<Event<'a>, Malformed<'a>> {
        if let Kind::Probe { function, returns, fields } = &self.kind {
            scratch.clear();
            if let Some(function) = function.as_ref().and_then(|field| field.number(record))
                && let Some(function) = names.symbols.function(function as u64)
            {
                // What cannot be written to memory cannot be written anywhere.
                let _ = match returns {
                    true => write!(scratch, "(? <- {function})"),
                    false => write!(scratch, "({function}+0x0/0x0)"),
                };
            }
            for field in fields {
                let Some(number) = field.number(record) else { continue };
                let _ = match field.signed || field.bytes < 8 {
                    true => write!(scratch, " {}={number}", field.name),
                    false => write!(scratch, " {}={:#x}", field.name, number as u64),
                };
            }
            return parse_probe(self.name.as_bytes(), scratch);
        }
        if let Kind::Printed { format, arguments } = &self.kind {
            let Some(address) = format.number(record) else {
                return Err(Malformed { expected: "a whole record", found: record });
            };
            let Some(text) = names.strings.get(&(address as u64)) else {
                return Ok(Event::Other(self.name.as_bytes()));
            };
            scratch.clear();
            let printed = arguments
                .and_then(|at| bprint::write(scratch, text, record, at, format.bytes, names));
            if printed.is_none() {
                scratch.clear();
                scratch.extend_from_slice(text.as_bytes());
            }
            return Ok(Event::Mark(scratch.trim_ascii_end()));
        }
        self.plain(record, names).ok_or(Malformed { expected: "a whole record", found: record })
    }

    fn plain<'a>(&'a self, record: &'a [u8], names: &'a Names) -> Option<Event<'a>> {
        Some(match &self.kind {
            Kind::Switch { prev, state, letters, next } => Event::Switch {
                prev: prev.of(record)?,
                state: letters.of(state.number(record)? as u64),
                next: next.of(record)?,
            },
            Kind::Waking(task) => Event::Waking(task.of(record)?),
            Kind::Wakeup(task, cpu) => {
                Event::Wakeup { task: task.of(record)?, cpu: cpu.unsigned(record)? }
            }
            Kind::Migrate { task, from, to } => Event::Migrate {
                task: task.of(record)?,
                from: from.unsigned(record)?,
                to: to.unsigned(record)?,
            },
            Kind::Fork(task) => Event::Fork(task.of(record)?),
            Kind::Exit(task) => Event::Exit(task.of(record)?),
            Kind::Frequency { khz, cpu } => {
                Event::Frequency { cpu: cpu.unsigned(record)?, khz: khz.unsigned(record)? }
            }
            Kind::Idle { state, cpu } => Event::Idle {
                cpu: cpu.unsigned(record)?,
                state: Some(state.number(record)? as u32).filter(|state| *state != AWAKE),
            },
            Kind::Interrupt { enters, interrupt } => {
                let interrupt = interrupt.of(record, names)?;
                if *enters { Event::Enters(interrupt) } else { Event::Leaves(interrupt) }
            }
            Kind::Mark(text) => Event::Mark(text.text(record)?.trim_ascii_end()),
            Kind::Probe { .. } | Kind::Printed { .. } | Kind::Other => {
                Event::Other(self.name.as_bytes())
            }
        })
    }
}

impl Kind {
    /// None where a field is missing: then nobody here understands the event.
    fn of(format: &Format) -> Option<Kind> {
        let field = |name: &str| format.field(name).cloned();
        let task = |name: &str, tid: &str, priority: &str| {
            Some(Task { name: field(name)?, tid: field(tid)?, priority: field(priority) })
        };
        let plain = || task("comm", "pid", "prio");
        Some(match format.name.as_str() {
            "sched_switch" => Kind::Switch {
                prev: task("prev_comm", "prev_pid", "prev_prio")?,
                state: field("prev_state")?,
                letters: States::of_format(format),
                next: task("next_comm", "next_pid", "next_prio")?,
            },
            "sched_waking" => Kind::Waking(plain()?),
            "sched_wakeup" | "sched_wakeup_new" => Kind::Wakeup(plain()?, field("target_cpu")?),
            "sched_migrate_task" => {
                Kind::Migrate { task: plain()?, from: field("orig_cpu")?, to: field("dest_cpu")? }
            }
            "sched_process_fork" => Kind::Fork(task("child_comm", "child_pid", "")?),
            "sched_process_exit" => Kind::Exit(plain()?),
            "cpu_frequency" => Kind::Frequency { khz: field("state")?, cpu: field("cpu_id")? },
            "cpu_idle" => Kind::Idle { state: field("state")?, cpu: field("cpu_id")? },
            "print" => Kind::Mark(field("buf")?),
            "bprint" => Kind::Printed { format: field("fmt")?, arguments: Some(field("buf")?.at) },
            "bputs" => Kind::Printed { format: field("str")?, arguments: None },
            name => match Interrupt::of_format(name, format) {
                Some((enters, interrupt)) => Kind::Interrupt { enters, interrupt },
                None => Kind::probe(format)?,
            },
        })
    }

    /// An event of the user's own, on a function or a bare tracepoint.
    fn probe(format: &Format) -> Option<Kind> {
        let entry = format.field("__probe_ip").cloned();
        let exit = format.field("__probe_func").cloned();
        let returns = exit.is_some();
        let function = exit.or(entry);
        if function.is_none() && !is_probe_name(format.name.as_bytes()) {
            return None;
        }
        let own = format.fields.iter().filter(|field| {
            let name = field.name.as_str();
            field.shape == Shape::Number && !name.starts_with("common_") && !name.starts_with("__")
        });
        Some(Kind::Probe { function, returns, fields: own.cloned().collect() })
    }
}

impl Task {
    #[inline]
    fn of<'a>(&self, record: &'a [u8]) -> Option<TaskRef<'a>> {
        let priority = match &self.priority {
            Some(field) => Some(i32::try_from(field.number(record)?).ok()?),
            None => None,
        };
        Some(TaskRef { name: self.name.text(record)?, tid: self.tid.unsigned(record)?, priority })
    }
}

impl Interrupt {
    fn of_format(name: &str, format: &Format) -> Option<(bool, Interrupt)> {
        let (stem, enters) = match (name.strip_suffix("_entry"), name.strip_suffix("_exit")) {
            (Some(stem), _) => (stem, true),
            (None, Some(stem)) => (stem, false),
            (None, None) => return None,
        };
        let field = |name: &str| format.field(name).cloned();
        let interrupt = match stem {
            "irq_handler" => Interrupt::Handler { number: field("irq")?, name: field("name") },
            "softirq" => Interrupt::Soft(field("vec")?),
            "ipi" => Interrupt::Ipi(field("reason")?),
            stem => Interrupt::Vector(field("vector")?, known_vector(stem.as_bytes())?),
        };
        Some((enters, interrupt))
    }

    fn of<'a>(&self, record: &'a [u8], names: &'a Names) -> Option<InterruptRef<'a>> {
        Some(match self {
            Interrupt::Handler { number, name } => InterruptRef {
                kind: "irq",
                number: Some(number.unsigned(record)?),
                name: name.as_ref().and_then(|name| name.text(record)),
            },
            Interrupt::Soft(number) => {
                let number: u32 = number.unsigned(record)?;
                let name = SOFTIRQS.get(number as usize).map(|name| name.as_bytes());
                InterruptRef { kind: "softirq", number: Some(number), name }
            }
            Interrupt::Vector(number, name) => InterruptRef {
                kind: "vector",
                number: Some(number.unsigned(record)?),
                name: Some(name.as_bytes()),
            },
            Interrupt::Ipi(reason) => {
                let reason = names.strings.get(&(reason.number(record)? as u64));
                InterruptRef { kind: "vector", number: None, name: reason.map(String::as_bytes) }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str, fields: &[(&str, usize, usize)]) -> Format {
        let field = |(name, at, bytes): &(&str, usize, usize)| Field {
            name: (*name).to_owned(),
            at: *at,
            bytes: *bytes,
            ..Field::default()
        };
        let common = [("common_flags", 2, 1), ("common_pid", 4, 4)];
        let fields = common.iter().chain(fields).map(field).collect();
        Format { name: name.to_owned(), id: 1, fields, print: String::new() }
    }

    #[test]
    fn states_have_the_letters_of_their_kernel() {
        let of = |print: &str, states: &[u64]| {
            let format = Format { print: print.to_owned(), ..Format::default() };
            let letters = States::of_format(&format);
            let letters: Vec<&[u8]> = states.iter().map(|state| letters.of(*state)).collect();
            String::from_utf8(letters.join(&b' ')).unwrap()
        };
        let before_4_14 = r#"REC->prev_state & (2048-1) ? __print_flags(REC->prev_state & (2048-1),
            "|", { 1, "S"} , { 2, "D" }, { 4, "T" }, { 8, "t" }, { 16, "Z" }, { 32, "X" },
            { 64, "x" }, { 128, "K" }, { 256, "W" }, { 512, "P" }, { 1024, "N" }) : "R""#;
        assert_eq!(of(before_4_14, &[0, 2048, 1, 130, 16, 64, 4096]), "R R+ S D Z x ?");
        let since = r#"__print_flags(x, "|", { 0x00000001, "S" }, { 0x00000002, "D" },
            { 0x00000010, "X" }, { 0x00000020, "Z" }, { 0x00000080, "I" })"#;
        assert_eq!(of(since, &[0, 256, 2, 16, 128]), "R R+ D X I");
        assert_eq!(of("", &[0, 256, 64]), "R R+ P", "no table: as since 4.14");
    }

    #[test]
    fn a_probe_is_known_by_its_function_else_by_its_name() {
        let fields = [("__probe_ip", 8, 8), ("pid", 16, 4), ("my_q", 24, 8), ("util", 32, 4)];
        let mut record = vec![0; 36];
        record[8..16].copy_from_slice(&0x1010_u64.to_le_bytes());
        record[16..20].copy_from_slice(&7_u32.to_le_bytes());
        record[32..36].copy_from_slice(&500_u32.to_le_bytes());
        let symbols = Symbols::of("1000 t __probestub_pelt_se_tp");
        let known = Names { symbols, ..Names::default() };
        let expected = Event::EntityAverages { tid: Some(7), util: 500, runnable: None };
        let mut scratch = Vec::new();
        let mine = Decoder::of(&format("mine", &fields)).unwrap();
        assert_eq!(mine.event(&record, &known, &mut scratch), Ok(expected));
        assert_eq!(mine.event(&record, &Names::default(), &mut scratch), Ok(Event::Other(b"mine")));
        let named = Decoder::of(&format("pelt_se", &fields)).unwrap();
        assert_eq!(named.event(&record, &Names::default(), &mut scratch), Ok(expected));
    }

    #[test]
    fn a_return_probe_tells_the_governors_answer() {
        let fields = [("__probe_func", 8, 8), ("__probe_ret_ip", 16, 8), ("khz", 24, 4)];
        let mut record = vec![0; 28];
        record[8..16].copy_from_slice(&0x1000_u64.to_le_bytes());
        record[24..28].copy_from_slice(&1_400_000_u32.to_le_bytes());
        let symbols = Symbols::of("1000 T get_next_freq");
        let names = Names { symbols, ..Names::default() };
        let decoder = Decoder::of(&format("r", &fields)).unwrap();
        let event = Event::GovernorAnswered { khz: 1_400_000 };
        assert_eq!(decoder.event(&record, &names, &mut Vec::new()), Ok(event));
    }

    /// As text such a name would break its line in two, and the trace with it.
    #[test]
    fn a_name_with_a_line_end_is_a_name() {
        let fields = [("comm", 8, 16), ("pid", 24, 4), ("prio", 28, 4)];
        let mut format = format("sched_waking", &fields);
        format.fields.iter_mut().filter(|field| field.name == "comm").for_each(|field| {
            field.shape = Shape::Array;
        });
        let mut record = vec![0; 32];
        record[8..11].copy_from_slice(b"a\nb");
        record[24..28].copy_from_slice(&7_u32.to_le_bytes());
        record[28..32].copy_from_slice(&120_u32.to_le_bytes());
        let decoder = Decoder::of(&format).unwrap();
        let task = TaskRef { name: b"a\nb", tid: 7, priority: Some(120) };
        let mut scratch = Vec::new();
        let names = Names::default();
        let found = decoder.event(&record, &names, &mut scratch);
        assert_eq!(found, Ok(Event::Waking(task)));
    }

    #[test]
    fn a_short_record_is_torn_and_an_unknown_layout_other() {
        let decoder =
            Decoder::of(&format("cpu_frequency", &[("state", 8, 4), ("cpu_id", 12, 4)])).unwrap();
        let names = Names::default();
        assert!(decoder.event(&[0; 14], &names, &mut Vec::new()).is_err());
        let other = Decoder::of(&format("cpu_frequency", &[("state", 8, 4)])).unwrap();
        let mut scratch = Vec::new();
        assert_eq!(other.event(&[0; 16], &names, &mut scratch), Ok(Event::Other(b"cpu_frequency")));
    }
}
