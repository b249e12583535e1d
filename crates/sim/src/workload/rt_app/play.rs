//! A thread of an rt-app workload as a behaviour.

use super::{Event, PhaseSpec};
use crate::behavior::{Behavior, Step, Work};
use crate::setup::TaskId;
use crate::workload::FullSpeed;
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

/// One thread. From timer to timer is one item of work: it was released when the timer expired,
/// and is done when the thread waits for the timer again.
#[derive(Clone, Debug)]
pub struct Thread {
    phases: Vec<PhaseSpec>,
    loops: Option<u64>,
    /// Whether it is forked, and the loops that each fork begins with.
    forked: Option<Option<u64>>,
    waits: bool,
    full_speed: FullSpeed,
    /// Task of thread 0 of the workload; the others follow it.
    first: TaskId,
    end: Option<Nanos>,
    /// When the thread began.
    start: Option<Nanos>,
    /// Position: phase, turn of its loop, event in it.
    at: (usize, u64, usize),
    timers: Vec<Option<Nanos>>,
    item: Option<u64>,
    items: u64,
    /// Steps that an event still has to take.
    pending: VecDeque<Step>,
}

impl Thread {
    /// A thread of a workload whose first task is `first`, until `end`.
    pub fn new(
        spec: &super::ThreadSpec,
        full_speed: FullSpeed,
        first: TaskId,
        end: Option<Nanos>,
    ) -> Thread {
        Thread {
            phases: spec.phases.clone(),
            loops: spec.loops,
            forked: spec.forked.then_some(spec.loops),
            waits: spec.forked,
            full_speed,
            first,
            end,
            start: None,
            at: (0, 0, 0),
            timers: Vec::new(),
            item: None,
            items: 0,
            pending: VecDeque::new(),
        }
    }

    /// The next event, and the position behind it; None at the end of all loops.
    fn advance(&mut self) -> Option<Event> {
        loop {
            let (phase, turn, event) = self.at;
            let Some(spec) = self.phases.get(phase) else {
                match &mut self.loops {
                    None => {}
                    Some(0 | 1) => return None,
                    Some(left) => *left -= 1,
                }
                self.at = (0, 0, 0);
                continue;
            };
            let over = spec.loops.is_some_and(|loops| turn >= loops);
            match spec.events.get(event) {
                _ if over => self.at = (phase + 1, 0, 0),
                Some(found) => {
                    self.at = (phase, turn, event + 1);
                    return Some(*found);
                }
                None => self.at = (phase, turn + 1, 0),
            }
        }
    }

    /// The timer's next expiry. Its first period starts with the thread.
    fn expiry(&mut self, timer: usize, period: Nanos, absolute: bool, now: Nanos) -> Nanos {
        if self.timers.len() <= timer {
            self.timers.resize(timer + 1, None);
        }
        let due = match self.timers.get(timer).copied().flatten() {
            Some(last) => last + period,
            None => self.start.unwrap_or(now) + period,
        };
        let next = if due < now && !absolute { now } else { due };
        if let Some(slot) = self.timers.get_mut(timer) {
            *slot = Some(next);
        }
        next
    }

    fn end_item(&mut self) {
        if let Some(item) = self.item.take() {
            self.pending.push_back(Step::End { item });
        }
    }

    fn steps(&mut self, event: Event, now: Nanos) {
        let step = match event {
            Event::Run(time) => {
                Step::Run(Work { cycles: self.full_speed.cycles(time), memory: Nanos::ZERO })
            }
            Event::Runtime(time) => Step::Run(Work { cycles: 0, memory: time }),
            Event::Sleep(time) => Step::Sleep(time),
            Event::Io(time) => Step::WaitForIo(time),
            Event::Suspend => Step::Wait,
            Event::Resume(thread) => Step::Wake(TaskId(self.first.0 + thread as u32)),
            Event::Timer { timer, period, absolute } => {
                self.end_item();
                let due = self.expiry(timer, period, absolute, now);
                self.pending.push_back(Step::SleepUntil(due));
                self.item = Some(self.items);
                self.items += 1;
                Step::Begin { item: self.items - 1, released: due }
            }
        };
        self.pending.push_back(step);
    }
}

impl Behavior for Thread {
    fn next(&mut self, now: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        if std::mem::take(&mut self.waits) {
            return Step::Wait;
        }
        self.start.get_or_insert(now);
        if self.pending.is_empty() {
            let over = self.end.is_some_and(|end| now >= end);
            match if over { None } else { self.advance() } {
                Some(event) => self.steps(event, now),
                None => {
                    self.end_item();
                    match self.forked.filter(|_| !over) {
                        Some(loops) => {
                            (self.loops, self.start, self.at) = (loops, None, (0, 0, 0));
                            self.timers.clear();
                            self.pending.push_back(Step::Wait);
                        }
                        None => self.pending.push_back(Step::Exit),
                    }
                }
            }
        }
        self.pending.pop_front().unwrap_or(Step::Exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::rt_app::parse;
    use crate::workload::testing::play;

    fn steps(events: &str, end_ms: u64) -> Vec<(u64, Step)> {
        let text = format!("{{\"tasks\": {{\"a\": {{{events}}}}}}}");
        let program = parse(&text, "x.json").unwrap();
        let end = Some(Nanos::from_millis(end_ms));
        let mut thread = Thread::new(&program.threads[0], FullSpeed(1_000_000), TaskId(7), end);
        let steps = play(&mut thread, Nanos::from_millis(end_ms + 1), 1_000_000);
        steps.into_iter().map(|(at, step)| (at.0 / 1000, step)).collect()
    }

    fn releases(steps: &[(u64, Step)]) -> Vec<u64> {
        let released = |step: &Step| match step {
            Step::Begin { released, .. } => Some(released.0 / 1000),
            _ => None,
        };
        steps.iter().filter_map(|(_, step)| released(step)).collect()
    }

    #[test]
    fn a_timer_releases_items() {
        let steps = steps("\"run\": 2000, \"timer\": {\"ref\": \"t\", \"period\": 10000}", 45);
        assert_eq!(releases(&steps), [10_000, 20_000, 30_000, 40_000]);
        let ended = steps.iter().filter(|(_, step)| matches!(step, Step::End { .. })).count();
        assert_eq!(ended, 4, "{steps:?}");
    }

    #[test]
    fn a_missed_timer_starts_anew_or_catches_up() {
        let timer = |mode: &str| {
            let events = format!(
                "\"phases\": {{ \"once\": {{ \"timer\": {{\"ref\": \"t\", \"period\": 10000}}, \"run\": 35000 }}, \
                 \"then\": {{ \"loop\": 3, \"timer\": {{\"ref\": \"t\", \"period\": 10000, \"mode\": \"{mode}\"}} }} }}, \
                 \"loop\": 1"
            );
            releases(&steps(&events, 200))
        };
        assert_eq!(timer("relative"), [10_000, 45_000, 55_000, 65_000]);
        assert_eq!(timer("absolute"), [10_000, 20_000, 30_000, 40_000]);
    }

    #[test]
    fn loops_end() {
        let steps = steps(
            "\"loop\": 2, \"phases\": {\"p\": {\"loop\": 3, \"run\": 1000}, \"q\": {\"loop\": 0, \"run\": 9}}",
            100,
        );
        assert_eq!(steps.len(), 7);
        assert_eq!(steps[6], (6_000, Step::Exit));
    }

    #[test]
    fn a_forked_thread_runs_once_for_each_fork() {
        let text = r#"{"tasks": {
            "child": {"instance": 0, "loop": 1, "run": 10},
            "parent": {"loop": 2, "fork": "child", "run": 5, "fork": "child"}
        }}"#;
        let program = parse(text, "x.json").unwrap();
        let names: Vec<&str> = program.threads.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["child-0", "child-1", "parent"], "one for each fork in the file");
        assert_eq!(program.threads[2].phases[0].events[2], Event::Resume(1));
        let first = TaskId(0);
        let mut child = Thread::new(&program.threads[0], FullSpeed(1_000_000), first, None);
        let steps: Vec<Step> =
            play(&mut child, Nanos::from_millis(1), 1_000_000).into_iter().map(|at| at.1).collect();
        assert!(steps.starts_with(&[Step::Wait]) && steps[2] == Step::Wait, "{steps:?}");
    }

    #[test]
    fn resume_wakes_by_number() {
        let steps = steps("\"loop\": 1, \"resume\": \"a\", \"run\": 1", 10);
        assert_eq!(steps[0].1, Step::Wake(TaskId(7)));
    }
}
