//! Interrupts: entries and exits become stretches of time.

use flyball_run::Interrupt;

use super::builder::{Builder, text_of};
use crate::ftrace::InterruptRef;

/// Interrupts that may lie in one another on one CPU: a handler in a softirq in a vector. More are
/// exits that nobody saw.
const DEEPEST: usize = 16;

/// An interrupt that has not ended yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entered {
    kind: &'static str,
    number: Option<u32>,
    name: Option<String>,
    from_ns: u64,
}

impl Builder {
    pub(super) fn enter(&mut self, t_ns: u64, cpu: u32, interrupt: InterruptRef<'_>) {
        let open = &mut self.cpu(cpu).interrupts;
        if open.len() >= DEEPEST {
            open.clear();
        }
        let InterruptRef { kind, number, name } = interrupt;
        open.push(Entered { kind, number, name: name.map(text_of), from_ns: t_ns });
    }

    /// Ends the innermost interrupt of this kind and number; those inside it ended unseen, and are
    /// left out. An end without a begin is left out, too: since when it went on is not known.
    pub(super) fn leave(&mut self, t_ns: u64, cpu: u32, interrupt: InterruptRef<'_>) {
        let open = &mut self.cpu(cpu).interrupts;
        let same = |entered: &Entered| {
            (entered.kind, entered.number) == (interrupt.kind, interrupt.number)
        };
        let Some(at) = open.iter().rposition(same) else { return };
        open.truncate(at + 1);
        if let Some(entered) = open.pop() {
            self.write(cpu, entered, t_ns, None);
        }
    }

    /// Ends all interrupts of a CPU without their ends having been seen.
    pub(super) fn cut_interrupts(&mut self, cpu: u32, at_ns: u64) {
        for entered in std::mem::take(&mut self.cpu(cpu).interrupts) {
            self.write(cpu, entered, at_ns, Some("end"));
        }
    }

    fn write(&mut self, cpu: u32, entered: Entered, to_ns: u64, cut: Option<&str>) {
        let Entered { kind, number, name, from_ns } = entered;
        self.rows += 1;
        self.tables.interrupts.push(Interrupt {
            cpu,
            kind: kind.to_owned(),
            number,
            name,
            from_ns,
            to_ns: to_ns.max(from_ns),
            cut: cut.map(str::to_owned),
            trial: None,
        });
    }
}
