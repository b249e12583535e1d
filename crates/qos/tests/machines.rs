//! Whole sessions on a recorded machine, in virtual time: a thread that is found running runs for ever there,
//! so its clamp grows to the whole. Then the same with every call failing once, and from every call on.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]

use flyball_governors::ResponseRamp;
use flyball_host::manifest::Manifest;
use flyball_host::{FairShare, FaultyHost, Host, HostError, Input, RecordedHost};
use flyball_qos::{
    By, Ended, QosError, Recovered, Rules, Status, Target, Treatment, Whose, Wish, recover, run,
    status,
};
use flyball_units::{Diagnostic, ErrorKind};
use std::path::Path;
use std::sync::Arc;

const STATE: &str = "/state/qos";
/// A clamp that a thread had before.
const OWN: u32 = 300;

/// `/proc/PID/task/TID/stat`: state, parent, start.
fn thread(pid: u32, tid: u32, state: char, parent: u32, start: u32) -> String {
    let rest = ["0"; 17].join(" ");
    let stat = format!("{tid} (game) {state} {parent} {rest} {start}{}", " 0".repeat(20));
    let leader = match pid == tid {
        true => format!("/proc/{pid}/stat = {stat}\n/proc/{pid}/comm = game\n"),
        false => String::new(),
    };
    format!("{leader}/proc/{pid}/task/{tid}/stat = {stat}\n")
}

/// A kernel whose schedutil heeds clamps.
const CLAMPS: &str = "/proc/sys/kernel/osrelease = 7.3.4\n/proc/sys/kernel/sched_util_clamp_min = 1024\n\
     /sys/devices/system/cpu/cpufreq/policy0/scaling_governor = schedutil\n";

fn machine() -> Arc<RecordedHost> {
    machine_of(CLAMPS)
}

fn machine_of(kernel: &str) -> Arc<RecordedHost> {
    let this = thread(7, 7, 'S', 1, 100);
    let listing = [
        "/proc/sys/kernel/random/boot_id = one\n/proc/self/status = Uid: 0 0 0 0\n",
        kernel,
        &this.lines().next().unwrap().replace("/proc/7/stat", "/proc/self/stat"),
        "\n",
        &this.replace("game", "flyball"),
        // A process that runs, with a thread that sleeps and one that has a clamp of its own.
        &thread(50, 50, 'R', 1, 90),
        &thread(50, 51, 'S', 1, 91),
        &thread(50, 52, 'R', 1, 92),
        // A child that it made later, and one from before.
        &thread(60, 60, 'S', 50, 200).replace("game", "child"),
        &thread(61, 61, 'S', 50, 95).replace("game", "child"),
        &thread(70, 70, 'R', 1, 80).replace("game", "other"),
    ]
    .concat();
    let mut manifest = Manifest::default();
    manifest.calls.writable.insert("/state".into(), true);
    manifest.calls.writable.insert("/run".into(), true);
    manifest.calls.writable.insert("/sys/devices/system/cpu/cpufreq".into(), true);
    let host = RecordedHost::from_listing(&listing).unwrap().with_manifest(manifest);
    let host = host.with_env("FLYBALL_STATE", "/state");
    let task = host.open_task(50, 52).unwrap();
    host.least_utilization_set(&task, Some(OWN)).unwrap();
    Arc::new(host)
}

fn clamp(host: &dyn Host, pid: u32, tid: u32) -> u32 {
    host.least_utilization(&host.open_task(pid, tid).unwrap()).unwrap()
}

/// The clamps of the threads that have any business here.
fn clamps(host: &dyn Host) -> [u32; 6] {
    [(50, 50), (50, 51), (50, 52), (60, 60), (61, 61), (70, 70)]
        .map(|(pid, tid)| clamp(host, pid, tid))
}

fn ramped() -> Rules {
    Rules::all(Treatment::ramp(ResponseRamp::new(4)))
}

const BEFORE: [u32; 6] = [0, 0, OWN, 0, 0, 0];

/// Until all that is wished has ended.
fn control(host: &Arc<impl Host + 'static>, wish: &Wish) -> Result<Ended, QosError> {
    let host: Arc<dyn Host> = host.clone();
    run(&host, Path::new(STATE), wish, Input::Empty, &mut |_, _| ())
}

fn faulty(machine: &Arc<RecordedHost>, faults: &str) -> Arc<FaultyHost> {
    Arc::new(FaultyHost::parse(machine.clone(), faults).unwrap())
}

fn play(host: &Arc<impl Host + 'static>, names: &[&str]) -> Result<Ended, QosError> {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    let target = Target::Running { pids: Vec::new(), names, threads: Vec::new() };
    let wish = Wish { target, rules: ramped(), children: false, by: By::Clamps, socket: None };
    control(host, &wish)
}

fn has_journal(host: &dyn Host) -> bool {
    host.exists(Path::new("/state/qos/qos.json"))
}

#[test]
fn running_threads_are_clamped_and_all_is_as_before_at_the_end() {
    let host = machine();
    let begin = host.now();
    let ended = play(&host, &["game"]).unwrap();
    // Two threads ran: 50 from 0, and 52 from its own clamp on, which the ramp passes after 4 ms.
    assert_eq!((ended.counts.threads, ended.counts.foreign, ended.counts.left_out), (3, 0, 0));
    let time = host.now().since(begin);
    assert!(ended.counts.set > 10 && ended.counts.removed == 2, "{ended:?}");
    // To the whole in 7 half-lives of 8.2 ms, and then nothing wakes it any more.
    assert!((56..=64).contains(&(time.0 / 1_000_000)), "{time:?}");
    assert!(ended.wakes <= 18, "{ended:?}");
    assert_eq!(clamps(host.as_ref()), BEFORE);
    assert!(!has_journal(host.as_ref()));
    assert_eq!(status(host.as_ref(), Path::new(STATE)).unwrap(), Status::Idle);
}

#[test]
fn a_second_controller_is_refused_whatever_its_folder() {
    let host = machine();
    let first = host.lock_folder(Path::new("/run/flyball-qos")).unwrap();
    let error = play(&host, &["game"]).unwrap_err();
    assert!(matches!(error, QosError::Busy(None)), "{error}");
    assert_eq!(clamps(host.as_ref()), BEFORE);
    // What a killed one left is removed beside it.
    assert_eq!(recover(host.as_ref(), Path::new(STATE)).unwrap(), Recovered::Nothing);
    drop(first);
    play(&host, &["game"]).unwrap();
}

#[test]
fn a_single_thread_is_treated_and_its_process_left_alone() {
    let host = machine();
    host.put(Path::new("/proc/50/status"), "Tgid:\t50\n");
    let target = Target::Running { pids: Vec::new(), names: Vec::new(), threads: vec![50] };
    let wish = Wish { target, rules: ramped(), children: false, by: By::Clamps, socket: None };
    let ended = control(&host, &wish).unwrap();
    assert_eq!((ended.counts.threads, ended.counts.removed), (1, 1));
    assert_eq!(clamps(host.as_ref()), BEFORE);
    // Killed half-way: the other thread's own clamp is not taken for ours.
    let dying = faulty(&host, "wait_tasks#3+=EIO,remove_file=EIO");
    assert!(control(&dying, &wish).is_err());
    recover(host.as_ref(), Path::new(STATE)).unwrap();
    assert_eq!(clamps(host.as_ref()), BEFORE);
    let target = Target::Running { pids: Vec::new(), names: Vec::new(), threads: vec![99] };
    let error = control(&host, &Wish { target, ..wish }).unwrap_err();
    assert_eq!(error.to_string(), "expected a thread that runs, found none with number 99");
}

/// What a thread has of its CPU.
fn share(host: &dyn Host, pid: u32, tid: u32) -> FairShare {
    host.fair_share(&host.open_task(pid, tid).unwrap()).unwrap()
}

const FRESH: FairShare = FairShare { nice: 0, slice: flyball_units::Nanos(0), most: 1024 };

/// A machine whose root may give any nice value, with names of threads.
fn named() -> Arc<RecordedHost> {
    let host = machine();
    host.put(Path::new("/proc/self/status"), "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n");
    for (tid, name) in [(50, "game"), (51, "loader"), (52, "render")] {
        host.put(&Path::new("/proc/50/task").join(format!("{tid}/comm")), &format!("{name}\n"));
    }
    host
}

const RULES: &str = "[[rule]]\nprocess = \"game\"\nthread = \"render\"\nramp = 4\nnice = -5\n\
                     [[rule]]\nprocess = \"game\"\nthread = \"load*\"\nclass = \"background\"\n";

fn by_rules(host: &Arc<impl Host + 'static>, target: Target) -> Result<Ended, QosError> {
    let wish = Wish {
        target,
        rules: Rules::read(RULES).unwrap(),
        children: false,
        by: By::Clamps,
        socket: None,
    };
    control(host, &wish)
}

#[test]
fn rules_give_each_thread_its_own_and_all_of_it_is_taken_back() {
    let machine = named();
    // Killed in the middle: nothing is given back by itself.
    let faults = "wait_tasks#20+=EIO,fair_share_set#3+=EIO,remove_file=EIO";
    let host = faulty(&machine, faults);
    let error = by_rules(&host, Target::Named(Whose::default())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Restore, "{error}");
    assert_eq!(share(machine.as_ref(), 50, 50), FRESH, "no rule fits it");
    assert_eq!(share(machine.as_ref(), 50, 51), FairShare { nice: 10, most: 512, ..FRESH });
    assert_eq!(share(machine.as_ref(), 50, 52), FairShare { nice: -5, ..FRESH });
    // What a child inherited goes, too; what another program gave meanwhile stays.
    let set = |pid, tid, share| {
        machine.fair_share_set(&machine.open_task(pid, tid).unwrap(), share).unwrap();
    };
    set(60, 60, FairShare { nice: 10, most: 512, ..FRESH });
    set(50, 52, FairShare { nice: 3, ..FRESH });
    recover(machine.as_ref(), Path::new(STATE)).unwrap();
    assert_eq!(share(machine.as_ref(), 50, 51), FRESH);
    assert_eq!(share(machine.as_ref(), 60, 60), FRESH);
    assert_eq!(share(machine.as_ref(), 50, 52).nice, 3);
    assert_eq!(clamps(machine.as_ref()), BEFORE);
}

#[test]
fn a_nice_value_that_could_not_be_given_back_is_not_changed() {
    let machine = named();
    machine.put(Path::new("/proc/self/status"), "Uid:\t0\t0\t0\t0\nCapEff:\t0000000000000000\n");
    machine
        .put(Path::new("/proc/self/limits"), "Max nice priority         0                    0\n");
    let host = faulty(&machine, "wait_tasks#20+=EIO,fair_share_set#2+=EIO");
    assert!(by_rules(&host, Target::Named(Whose::default())).is_err());
    assert_eq!(share(machine.as_ref(), 50, 51), FairShare { most: 512, ..FRESH });
    assert_eq!(share(machine.as_ref(), 50, 52), FRESH);
    recover(machine.as_ref(), Path::new(STATE)).unwrap();
    assert_eq!(share(machine.as_ref(), 50, 51), FRESH);
}

#[test]
fn any_call_may_fail_by_rules_too_and_nothing_is_left() {
    let before = |machine: &RecordedHost| {
        clamps(machine) == BEFORE && [50, 51, 52].map(|tid| share(machine, 50, tid)) == [FRESH; 3]
    };
    for call in 1.. {
        let machine = named();
        // One failure at this call, and the end behind it.
        let faults = format!("any#{call}=EIO,wait_tasks#12+=EIO");
        let host = faulty(&machine, &faults);
        let result = by_rules(&host, Target::Named(Whose::default()));
        if has_journal(machine.as_ref()) {
            assert!(result.is_err(), "call {call}");
            recover(machine.as_ref(), Path::new(STATE)).unwrap();
        }
        let shares = [50, 51, 52].map(|tid| share(machine.as_ref(), 50, tid));
        assert!(
            before(machine.as_ref()),
            "call {call}: {result:?} {shares:?} {:?}",
            clamps(machine.as_ref())
        );
        if host.calls() < call {
            assert!(call > 100, "{call}");
            break;
        }
    }
    // Dead from a call on.
    for call in 1.. {
        let machine = named();
        let host = faulty(&machine, &format!("any#{call}+=EIO"));
        let _ = by_rules(&host, Target::Named(Whose::default()));
        assert!(before(machine.as_ref()) || has_journal(machine.as_ref()), "call {call}");
        recover(machine.as_ref(), Path::new(STATE)).unwrap();
        assert!(before(machine.as_ref()), "call {call}");
        if call > 220 {
            break;
        }
    }
}

#[test]
fn who_is_not_there_is_said() {
    let error = play(&machine(), &["gane"]).unwrap_err();
    assert_eq!(error.to_string(), "expected a process that runs, found none with name \"gane\"");
    assert_eq!(error.kind(), ErrorKind::Usage);
}

#[test]
fn any_call_may_fail_and_no_clamp_is_left() {
    for call in 1.. {
        let machine = machine();
        let host = faulty(&machine, &format!("any#{call}=EIO"));
        let result = play(&host, &["game"]);
        if let Err(QosError::Left(_)) = &result {
            recover(machine.as_ref(), Path::new(STATE)).unwrap();
        }
        if has_journal(machine.as_ref()) {
            // Said by an error, and by the next start.
            assert!(result.is_err(), "call {call}");
            recover(machine.as_ref(), Path::new(STATE)).unwrap();
        }
        assert_eq!(clamps(machine.as_ref()), BEFORE, "call {call}: {result:?}");
        if host.calls() < call {
            assert!(call > 100, "{call}");
            return;
        }
    }
}

#[test]
fn a_controller_that_dies_at_any_call_is_recovered() {
    let (mut found, mut nothing) = (0, 0);
    for call in 1.. {
        let machine = machine();
        let host = faulty(&machine, &format!("any#{call}+=EIO"));
        let result = play(&host, &["game"]);
        if host.calls() < call {
            assert!(result.is_ok());
            break;
        }
        let changed = clamps(machine.as_ref()) != BEFORE;
        assert!(!changed || has_journal(machine.as_ref()), "call {call}");
        match recover(machine.as_ref(), Path::new(STATE)).unwrap() {
            Recovered::Removed { .. } => found += 1,
            _ => nothing += 1,
        }
        assert_eq!(clamps(machine.as_ref()), BEFORE, "call {call}");
        assert!(!has_journal(machine.as_ref()), "call {call}");
    }
    assert!(found > 50 && nothing > 5, "{found} {nothing}");
}

#[test]
fn children_that_inherited_a_clamp_lose_it_and_older_ones_keep_theirs() {
    let machine = machine();
    let host = faulty(&machine, "wait_tasks#5+=EIO,remove_file=EIO");
    let set = |pid, least| {
        let task = machine.open_task(pid, pid).unwrap();
        machine.least_utilization_set(&task, Some(least)).unwrap();
    };
    set(61, 40);
    let error = play(&host, &["game"]).unwrap_err();
    assert!(error.to_string().contains("the journal is still there"), "{error}");
    set(60, 500);
    let found = recover(machine.as_ref(), Path::new(STATE)).unwrap();
    let Recovered::Removed { threads, .. } = found else { panic!("{found:?}") };
    assert_eq!((threads, clamps(machine.as_ref())), (1, [0, 0, OWN, 0, 40, 0]));
}

#[test]
fn the_journal_of_an_earlier_boot_and_a_foreign_one() {
    let machine = machine();
    let host = faulty(&machine, "remove_file=EIO");
    assert!(play(&host, &["game"]).is_err());
    let path = Path::new("/state/qos/qos.json");
    let journal = machine.read(path).unwrap();
    machine.put(path, &journal.replace("\"one\"", "\"zero\""));
    assert_eq!(status(machine.as_ref(), Path::new(STATE)).unwrap(), Status::Idle);
    let found = recover(machine.as_ref(), Path::new(STATE)).unwrap();
    assert!(matches!(found, Recovered::EarlierBoot { .. }), "{found:?}");
    for text in ["", "{}", &journal.replace("\"format\": 1", "\"format\": 2"), &journal[..50]] {
        machine.put(path, text);
        let error = recover(machine.as_ref(), Path::new(STATE)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadInput, "{error}");
        assert!(
            error.to_string().starts_with("/state/qos/qos.json: expected a journal"),
            "{error}"
        );
    }
}

#[test]
fn one_controller_at_a_time() {
    let machine = machine();
    let host = faulty(&machine, "remove_file=EIO");
    assert!(play(&host, &["game"]).is_err());
    let path = Path::new("/state/qos/qos.json");
    let journal = machine.read(path).unwrap();
    // Of another process, which runs.
    let other = journal
        .replace("\"pid\": 7", "\"pid\": 70")
        .replace("\"start_ticks\": 100", "\"start_ticks\": 80");
    machine.put(path, &other);
    let error = recover(machine.as_ref(), Path::new(STATE)).unwrap_err();
    assert_eq!(error.to_string(), "expected no other controller, found process 70");
    let found = status(machine.as_ref(), Path::new(STATE)).unwrap();
    assert!(
        matches!(&found, Status::Running { owner, guarded: true, .. } if owner.pid == 70),
        "{found:?}"
    );
    // The same number, another process.
    machine.put(path, &other.replace("\"start_ticks\": 80", "\"start_ticks\": 79"));
    assert!(matches!(status(machine.as_ref(), Path::new(STATE)).unwrap(), Status::Left { .. }));
    recover(machine.as_ref(), Path::new(STATE)).unwrap();
    let gone: Result<u32, HostError> = machine.open_task(99, 99).map(|_| 0);
    assert!(gone.is_err());
}

/// One without clamps: two CPUs of a clock each, the second of half the capacity. Threads run on the first.
const LIMITS: &str = "/proc/sys/kernel/osrelease = 6.12.1\n/sys/devices/system/cpu/online = 0-1\n\
     /sys/devices/system/cpu/possible = 0-1\n/sys/devices/system/cpu/present = 0-1\n\
     /sys/devices/system/cpu/cpu0/cpu_capacity = 1024\n/sys/devices/system/cpu/cpu1/cpu_capacity = 512\n";

fn limited() -> Arc<RecordedHost> {
    let policy = |cpu: u32, least: u32, most: u32| {
        let folder = format!("/sys/devices/system/cpu/cpufreq/policy{cpu}");
        format!(
            "{folder}/affected_cpus = {cpu}\n{folder}/related_cpus = {cpu}\n\
             {folder}/cpuinfo_min_freq = 600000\n{folder}/cpuinfo_max_freq = 2400000\n\
             {folder}/scaling_min_freq = {least}\n{folder}/scaling_max_freq = {most}\n\
             {folder}/scaling_driver = acpi-cpufreq\n{folder}/scaling_governor = ondemand\n\
             {folder}/scaling_available_governors = ondemand\n"
        )
    };
    machine_of(&[LIMITS, &policy(0, 600_000, 2_000_000), &policy(1, 800_000, 2_400_000)].concat())
}

/// The lower limits.
fn floors(host: &dyn Host) -> [String; 2] {
    [0, 1].map(|policy| {
        let path = format!("/sys/devices/system/cpu/cpufreq/policy{policy}/scaling_min_freq");
        host.read(Path::new(&path)).unwrap().trim().to_owned()
    })
}

const FLOORS: [&str; 2] = ["600000", "800000"];

fn by_limits(host: &Arc<impl Host + 'static>) -> Result<Ended, QosError> {
    let names = vec!["game".to_owned()];
    let target = Target::Running { pids: Vec::new(), names, threads: Vec::new() };
    let by = By::best(host.as_ref());
    control(host, &Wish { target, rules: ramped(), children: false, by, socket: None })
}

#[test]
fn without_clamps_the_lower_limit_of_its_cpu_follows_a_thread() {
    let machine = limited();
    assert_eq!(By::best(machine.as_ref()), By::Limits);
    // Killed in the middle: it stands where it was last.
    let host = faulty(&machine, "wait_tasks#10+=EIO,write#7+=EIO");
    let error = by_limits(&host).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Restore, "{error}");
    // Up to the upper one, which is somebody's; the other CPU has nobody.
    assert_eq!(floors(machine.as_ref()), ["2000000", "800000"]);
    assert_eq!(clamps(machine.as_ref()), BEFORE);
    let found = recover(machine.as_ref(), Path::new(STATE)).unwrap();
    assert!(matches!(found, Recovered::Removed { limits: 1.., .. }), "{found:?}");
    assert_eq!(floors(machine.as_ref()), FLOORS);
    let ended = by_limits(&machine).unwrap();
    // From 600 MHz in steps of the ramp to the upper limit.
    assert!((4..=12).contains(&ended.counts.set), "{ended:?}");
    assert_eq!(floors(machine.as_ref()), FLOORS);
    assert!(!has_journal(machine.as_ref()) && !machine.exists(Path::new("/state/hold.json")));
}

#[test]
fn any_call_may_fail_and_no_limit_is_left() {
    for kind in ["", "+"] {
        for call in 1.. {
            let machine = limited();
            let host = faulty(&machine, &format!("any#{call}{kind}=EIO"));
            let result = by_limits(&host);
            let left = floors(machine.as_ref()) != FLOORS;
            assert!(!left || result.is_err(), "call {call}{kind}: {result:?}");
            recover(machine.as_ref(), Path::new(STATE)).unwrap();
            // A hold that was killed before the controller's own journal.
            flyball_control::recover(machine.as_ref(), Path::new("/state")).unwrap();
            assert_eq!(floors(machine.as_ref()), FLOORS, "call {call}{kind}: {result:?}");
            if host.calls() < call {
                assert!(result.is_ok() && call > 100, "{call}: {result:?}");
                break;
            }
        }
    }
}

/// A pipe, a link or another user's file in the place of the journal is refused, and nobody waits for it.
#[test]
fn a_journal_that_is_no_plain_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let host = flyball_host::RealHost::new();
    let state = dir.path().join("qos");
    drop(host.lock_folder(&state).unwrap());
    let journal = state.join("qos.json");
    let made = std::process::Command::new("mkfifo").arg(&journal).status().unwrap();
    assert!(made.success());
    let refused = |error: QosError| assert!(error.to_string().contains("no plain file"), "{error}");
    refused(recover(&host, &state).unwrap_err());
    refused(status(&host, &state).unwrap_err());
    refused(flyball_qos::guard(&host, &state).unwrap_err());
    fs_err::remove_file(&journal).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &journal).unwrap();
    assert!(recover(&host, &state).is_err());
}
