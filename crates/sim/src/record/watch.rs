//! An observer that keeps results, not events: its memory does not grow with simulated time.

use super::quantiles::Quantiles;
use crate::observe::{Observer, SwitchOut};
use crate::scenario::Group;
use crate::setup::TaskId;
use flyball_platform::Platform;
use flyball_units::{CpuId, Nanos};

/// What is known of one group of tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupWatch {
    /// From release to done, in nanoseconds.
    pub response: Quantiles,
    /// From release to begun, in nanoseconds.
    pub lateness: Quantiles,
    /// Items begun.
    pub begun: u64,
    /// Items that ended after their deadline.
    pub missed: u64,
    /// From a task's mark (its start, where it leaves none) until its util_avg first reached each
    /// threshold; the first of the group to get there.
    pub reached: Vec<Option<Nanos>>,
    /// From its mark until it first ran on the largest kind of CPU.
    pub on_largest: Option<Nanos>,
    /// When its first task left its first mark.
    pub marked: Option<Nanos>,
}

/// One task in flight.
#[derive(Clone, Debug)]
struct TaskWatch {
    group: Option<usize>,
    origin: Nanos,
    marked: bool,
    /// The thresholds below this position were reached.
    reached: usize,
    item: Option<(u64, Nanos)>,
}

/// Watches the scenario's tasks.
#[derive(Clone, Debug)]
pub struct Watch {
    tasks: Vec<TaskWatch>,
    groups: Vec<GroupWatch>,
    deadlines: Vec<Option<Nanos>>,
    /// Ascending.
    thresholds: Vec<u32>,
    largest: Vec<bool>,
}

impl Watch {
    /// A watch over `groups`; `starts` are the times at which each task is created.
    pub fn new(
        platform: &Platform,
        groups: &[Group],
        starts: &[Nanos],
        thresholds: &[u32],
    ) -> Watch {
        let mut thresholds = thresholds.to_vec();
        thresholds.sort_unstable();
        thresholds.dedup();
        let group_of = |task: u32| groups.iter().position(|group| group.tasks.contains(&task));
        let tasks = starts.iter().enumerate().map(|(task, start)| TaskWatch {
            group: group_of(task as u32),
            origin: *start,
            marked: false,
            reached: 0,
            item: None,
        });
        let group = GroupWatch { reached: vec![None; thresholds.len()], ..GroupWatch::default() };
        let most = platform.cpus.iter().map(|cpu| cpu.capacity).max();
        Watch {
            tasks: tasks.collect(),
            groups: vec![group; groups.len()],
            deadlines: groups.iter().map(|group| group.deadline).collect(),
            thresholds,
            largest: platform.cpus.iter().map(|cpu| Some(cpu.capacity) == most).collect(),
        }
    }

    /// The thresholds, ascending: the order of [`GroupWatch::reached`].
    pub fn thresholds(&self) -> &[u32] {
        &self.thresholds
    }

    /// The groups, in the order of the scenario.
    pub fn into_groups(self) -> Vec<GroupWatch> {
        self.groups
    }

    /// The task and its group; None for what the scenario does not name.
    fn of(&mut self, task: TaskId) -> Option<(&mut TaskWatch, usize)> {
        let task = self.tasks.get_mut(task.0 as usize)?;
        let group = task.group?;
        Some((task, group))
    }
}

impl Observer for Watch {
    fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        if !self.largest.get(cpu.0 as usize).copied().unwrap_or(false) {
            return;
        }
        let Some((task, group)) = self.of(task) else { return };
        let since = at.since(task.origin);
        if let Some(group) = self.groups.get_mut(group) {
            group.on_largest.get_or_insert(since);
        }
    }

    fn switched_out(&mut self, _: Nanos, _: TaskId, _: CpuId, _: SwitchOut) {}

    fn task_util(&mut self, at: Nanos, task: TaskId, _: CpuId, util: u32, _: u32) {
        let Some(watched) = self.tasks.get_mut(task.0 as usize) else { return };
        while self.thresholds.get(watched.reached).is_some_and(|threshold| util >= *threshold) {
            let since = at.since(watched.origin);
            let group = watched.group.and_then(|group| self.groups.get_mut(group));
            if let Some(reached) = group.and_then(|group| group.reached.get_mut(watched.reached)) {
                reached.get_or_insert(since);
            }
            watched.reached += 1;
        }
    }

    fn item_begun(&mut self, at: Nanos, task: TaskId, item: u64, released: Nanos, _: CpuId) {
        let Some((task, group)) = self.of(task) else { return };
        task.item = Some((item, released));
        if let Some(group) = self.groups.get_mut(group) {
            group.begun += 1;
            group.lateness.add(at.since(released).0);
        }
    }

    fn item_ended(&mut self, at: Nanos, task: TaskId, item: u64, _: CpuId) {
        let Some((task, index)) = self.of(task) else { return };
        let Some((_, released)) = task.item.take().filter(|(begun, _)| *begun == item) else {
            return;
        };
        let response = at.since(released);
        let deadline = self.deadlines.get(index).copied().flatten();
        if let Some(group) = self.groups.get_mut(index) {
            group.response.add(response.0);
            group.missed += u64::from(deadline.is_some_and(|deadline| response > deadline));
        }
    }

    /// What a task did before its first mark was preparation: times count from the mark.
    fn mark(&mut self, at: Nanos, task: TaskId, _: &'static str) {
        let Some((task, group)) = self.of(task) else { return };
        if task.marked {
            return;
        }
        (task.marked, task.origin, task.reached) = (true, at, 0);
        if let Some(group) = self.groups.get_mut(group).filter(|group| group.marked.is_none()) {
            group.marked = Some(at);
            group.on_largest = None;
            group.reached.fill(None);
        }
    }
}
