//! Interrupts: entries and exits become stretches of time.

use super::builder::{Builder, text_of};
use crate::event::InterruptRef;

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
        let InterruptRef { kind, number, name } = interrupt;
        let open = &mut self.cpu(cpu).interrupts;
        // None interrupts itself: the one that is open ended unseen, with all inside it.
        let same = |entered: &Entered| (entered.kind, entered.number) == (kind, number);
        if let Some(at) = open.iter().position(same) {
            open.truncate(at);
        }
        if open.len() >= DEEPEST {
            open.clear();
        }
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

    /// A CPU switches between tasks: it is in no interrupt. When those that are open ended, nobody
    /// saw; they are left out.
    pub(super) fn outside_interrupts(&mut self, cpu: u32) {
        self.cpu(cpu).interrupts.clear();
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
        let interrupts = &mut self.tables.interrupts;
        interrupts.cpu.push(cpu);
        interrupts.kind.push(kind);
        interrupts.number.push(number);
        interrupts.name.push(name.as_deref());
        interrupts.from_ns.push(from_ns);
        interrupts.to_ns.push(to_ns.max(from_ns));
        interrupts.cut.push(cut);
        interrupts.trial.push(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMER: InterruptRef<'static> =
        InterruptRef { kind: "vector", number: Some(236), name: Some(b"local_timer") };
    const TASKLET: InterruptRef<'static> =
        InterruptRef { kind: "softirq", number: Some(6), name: None };

    fn stretches(builder: &mut Builder) -> Vec<(u64, u64)> {
        let rows = builder.take().interrupts;
        rows.from_ns.iter().zip(rows.to_ns.iter()).collect()
    }

    #[test]
    fn an_end_that_nobody_saw_does_not_make_an_interrupt_last() {
        let mut builder = Builder::new();
        builder.enter(10, 0, TIMER);
        builder.enter(500, 0, TIMER);
        builder.enter(510, 0, TASKLET);
        builder.leave(520, 0, TASKLET);
        builder.leave(530, 0, TIMER);
        assert_eq!(stretches(&mut builder), [(510, 520), (500, 530)]);
        builder.enter(600, 0, TIMER);
        builder.outside_interrupts(0);
        builder.leave(900, 0, TIMER);
        assert_eq!(stretches(&mut builder), []);
    }
}
