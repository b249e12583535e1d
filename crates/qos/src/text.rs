//! What it says to people.

use crate::{
    AskedThread, Backend, Ended, Overview, Recovered, Rules, Served, ServedProgram, Status,
};
use flyball_host::ProcessIdentity;

/// How it is done here, and what of it does not work as it should.
pub fn how(backend: &Backend) -> String {
    let notes = backend.notes.iter().map(|note| format!("note: {note}\n"));
    format!("{}: {}\n{}", backend.name, backend.reason, notes.collect::<String>())
}

fn multiplier(of: Option<u32>) -> String {
    of.map_or_else(|| "by rules".to_owned(), |of| format!("multiplier {of}"))
}

/// At the begin.
pub fn begun(backend: &Backend, rules: &Rules) -> Vec<String> {
    let how = how(backend) + &multiplier(rules.multiplier());
    how.lines().map(str::to_owned).collect()
}

/// What a recovery did; nothing where there was nothing to do.
pub fn recovered(recovered: &Recovered) -> Option<String> {
    match recovered {
        Recovered::Nothing => None,
        Recovered::EarlierBoot { owner } => {
            Some(format!("what {owner} had set ended with an earlier boot"))
        }
        Recovered::Removed { owner, processes, threads, limits } => {
            let limits = match limits {
                0 => String::new(),
                some => format!(", {some} limits of frequencies"),
            };
            Some(format!(
                "removed what {owner} left when it was killed: {threads} clamps of {processes} \
                 processes{limits}"
            ))
        }
    }
}

/// At the end: what was done, and what it cost.
pub fn ended(ended: &Ended) -> Vec<String> {
    let seconds = ended.elapsed.as_secs_f64().max(1e-9);
    let counts = &ended.counts;
    let mut lines = vec![format!(
        "{} threads, {} {} set, {} removed; {:.0} wake-ups a second, {:.2} % of a CPU",
        counts.threads,
        if ended.limits { "limits" } else { "clamps" },
        counts.set,
        counts.removed,
        ended.wakes as f64 / seconds,
        100.0 * ended.cpu_time.as_secs_f64() / seconds
    )];
    if counts.foreign > 0 {
        let foreign = counts.foreign;
        lines.push(format!(
            "note: {foreign} threads were given a clamp by another program, and left alone"
        ));
    }
    if let Some(because) = &counts.left_out_because {
        lines.push(format!("note: {} threads were not taken in: {because}", counts.left_out));
    }
    if let Some(because) = &counts.not_lent_because {
        lines.push(format!(
            "note: {} threads keep their nice value, slice or upper clamp: {because}",
            counts.not_lent
        ));
    }
    if ended.guardians_lost > 0 {
        lines.push(format!("note: {} guardians ended and were replaced", ended.guardians_lost));
    }
    lines
}

/// How it is done here, whether it is being done, and who asks for it.
pub fn overview(found: &Overview) -> String {
    let hows = [&found.backend, &found.inside, &found.limits].into_iter().flatten().map(how);
    let served = found.programs.as_ref().map(served).unwrap_or_default();
    hows.collect::<String>() + &status(&found.controller) + &served
}

/// The programs at the socket, and what their threads have.
fn served(served: &Served) -> String {
    let Served { socket, programs, refused, sent_away } = served;
    let mut text = format!(
        "socket     {}: {} connected; {refused} messages and {sent_away} connections were refused so far\n",
        socket.display(),
        programs.len()
    );
    for ServedProgram { pid, user, messages, refused, because, threads } in programs {
        text += &format!("process {pid} of user {user}: {messages} messages");
        if *refused > 0 {
            let because = because.as_deref().unwrap_or_default();
            text += &format!(", {refused} refused: {because}");
        }
        text += "\n";
        for AskedThread { tid, class, deadline, works, least } in threads {
            text += &format!("  thread {tid}: ");
            if let Some(class) = class {
                text += &format!("class {class}, ");
            }
            if let Some(deadline) = deadline {
                text += &format!("deadline {:.1} ms, ", deadline.0 as f64 / 1e6);
            }
            let works = if *works { "works" } else { "no work" };
            text += &format!("{works}, counts for {least} of 1024 at least\n");
        }
    }
    text
}

/// Whether somebody controls clamps.
pub fn status(status: &Status) -> String {
    let numbers = |processes: &[ProcessIdentity]| {
        let numbers: Vec<String> = processes.iter().map(|it| it.pid.to_string()).collect();
        if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") }
    };
    match status {
        Status::Idle => "no controller runs, and none left anything\n".to_owned(),
        Status::Running { owner, elapsed, guarded, multiplier: of, processes, limits, .. } => {
            format!(
                "{owner} controls {} for {:.0} s, {}\n{}\nprocesses  {}\n",
                if *limits { "limits of frequencies" } else { "clamps" },
                elapsed.as_secs_f64(),
                if *guarded { "with a guardian" } else { "without a guardian" },
                multiplier(*of),
                numbers(processes)
            )
        }
        Status::Left { owner, processes, limits } => format!(
            "{owner} was killed, and so was its guardian: {}\nprocesses  {}\n",
            match limits {
                true => "the lowest frequencies may be raised still",
                false => "threads may have clamps still",
            },
            numbers(processes)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_units::Nanos;

    #[test]
    fn programs_are_told_with_what_they_have_and_why_they_have_not() {
        let thread = AskedThread {
            tid: 8,
            class: Some("ui".to_owned()),
            deadline: Some(Nanos::from_millis(8)),
            works: true,
            least: 284,
        };
        let program = ServedProgram {
            pid: 7,
            user: 1000,
            messages: 3,
            refused: 1,
            because: Some("expected a class (ui), found \"uj\"".to_owned()),
            threads: vec![thread],
        };
        let found = Served {
            socket: "/run/flyball-qos/socket".into(),
            programs: vec![program],
            refused: 5,
            sent_away: 2,
        };
        assert_eq!(
            served(&found),
            "socket     /run/flyball-qos/socket: 1 connected; 5 messages and 2 connections were refused so far\n\
             process 7 of user 1000: 3 messages, 1 refused: expected a class (ui), found \"uj\"\n  \
             thread 8: class ui, deadline 8.0 ms, works, counts for 284 of 1024 at least\n"
        );
    }
}
