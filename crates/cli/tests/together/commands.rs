//! The commands as a user meets them.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{folder, run, shared_data};

#[test]
fn init_bench_report() {
    let dir = folder();
    let (code, _, stderr) = run(dir.path(), &["bench", "quick", "--init", "mine.toml"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(dir.path().join("experiment.schema.json").exists());
    let (code, stdout, stderr) = run(
        dir.path(),
        &["bench", "mine.toml", "--repeats", "2", "--duration", "60ms", "--out", "r"],
    );
    assert_eq!(code, 0, "{stderr}");
    for words in ["Verdicts", "heavy against idle", "median us", "GHz", "Run", "Page"] {
        assert!(stdout.contains(words), "expected {words}\n{stdout}");
    }
    assert!(stdout.lines().count() < 25, "{stdout}");
    assert!(dir.path().join("r/report.html").exists());
    for table in ["windows", "load"] {
        assert!(dir.path().join(format!("r/{table}.parquet")).exists(), "{table}");
    }

    let (code, json, stderr) = run(dir.path(), &["report", "r", "--format", "json"]);
    assert_eq!(code, 0, "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["schema"], "flyball-report/1");
    assert_eq!(report["cells"].as_array().unwrap().len(), 8);
    for format in ["csv", "md"] {
        let (code, text, stderr) = run(dir.path(), &["report", "r", "--format", format]);
        assert!(code == 0 && text.contains("car"), "{format}: {stderr}");
    }

    let (code, _, stderr) = run(dir.path(), &["report", "r", "--fail-if", "median > 1s"]);
    assert_eq!(code, 0, "{stderr}");
    let (code, _, stderr) = run(dir.path(), &["report", "r", "--fail-if", "median > 1ns"]);
    assert_eq!(code, 1, "{stderr}");

    let figures = ["report", "r", "--quiet", "--figures", "f", "--bundle", "b.tar.gz"];
    let (code, _, stderr) = run(dir.path(), &figures);
    assert_eq!(code, 0, "{stderr}");
    assert!(dir.path().join("f/governor_comparison.svg").exists());
    assert!(dir.path().join("f/per_kernel_comparison.png").exists());
    assert!(fs_err::metadata(dir.path().join("b.tar.gz")).unwrap().len() > 1000);
}

#[test]
fn a_program_of_the_users_own() {
    let dir = folder();
    let (code, stdout, stderr) = run(
        dir.path(),
        &["bench", "--repeats", "2", "--duration", "100ms", "--no-page", "--", "true"],
    );
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("true"), "{stdout}");
    // The same as a file to change.
    let (code, _, stderr) = run(dir.path(), &["bench", "--init", "true.toml", "--", "true"]);
    assert_eq!(code, 0, "{stderr}");
    let plan =
        |what: &[&str]| run(dir.path(), &[&["bench", "--dry-run", "--seed", "7"], what].concat()).1;
    let (direct, kept) =
        (plan(&["--period", "50ms", "--", "true"]), plan(&["--period", "50ms", "true.toml"]));
    let order = |text: &str| {
        text.lines().filter(|line| line.contains("idle")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(!order(&direct).is_empty(), "{direct}");
    assert_eq!(order(&direct), order(&kept));
    let (code, _, stderr) = run(dir.path(), &["bench", "--", "false"]);
    assert_eq!(code, 3, "{stderr}");
    let (code, _, stderr) = run(dir.path(), &["bench", "--", "./no-such-program"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("no-such-program"), "{stderr}");
}

#[test]
fn a_load_proves_itself() {
    let dir = folder();
    let (code, stdout, stderr) =
        run(dir.path(), &["hold", "--load", "1x20%", "-d", "1s", "--format", "json"]);
    // On a machine that is busy with other things the load may honestly fail to run.
    assert!(code == 0 || code == 5, "{stderr}");
    let proof: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(proof["proven"], code == 0);
    assert!(proof["threads"][0]["achieved_percent"].as_f64().unwrap() > 1.0, "{stdout}");
}

#[test]
fn check_lists_and_records() {
    let dir = folder();
    // What is bad here depends on the machine; the listing does not.
    let (code, here, stderr) = run(dir.path(), &["check", "--verbose", "--fail-on", "never"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(here.contains("CPUs online") && here.contains("real-time scheduling"), "{here}");
    let (code, _, stderr) = run(dir.path(), &["check", "--snapshot", "machine"]);
    assert_eq!(code, 0, "{stderr}");
    let recorded = ["check", "--machine", "record:machine", "--verbose", "--fail-on", "never"];
    let (code, recorded, stderr) = run(dir.path(), &recorded);
    assert_eq!(code, 0, "{stderr}");
    let online = |text: &str| text.lines().find(|line| line.starts_with("CPUs")).map(str::to_owned);
    assert_eq!(online(&here), online(&recorded));
    let json = ["check", "--format", "json", "--fail-on", "never"];
    let (code, json, _) = run(dir.path(), &json);
    assert_eq!(code, 0);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["format"], 1);
    assert!(document["machine"]["online"].is_string() && document["permissions"].is_array());
    assert!(document["audit"]["findings"].as_array().is_some_and(|all| all.len() > 5));
    assert!(document["probe"]["cpus"].is_array());
    let (code, _, stderr) = run(dir.path(), &["check", "--snapshot", "machine"]);
    assert_eq!(code, 3, "{stderr}");
}

/// A folder with nothing in it is no snapshot, and not called one.
#[test]
fn a_snapshot_of_nothing_is_refused() {
    let dir = folder();
    fs_err::create_dir_all(dir.path().join("nothing/root")).unwrap();
    fs_err::write(dir.path().join("nothing/manifest.json"), "{\"format\": 1}").unwrap();
    let arguments = ["check", "--machine", "record:nothing", "--snapshot", "taken"];
    let (code, stdout, stderr) = run(dir.path(), &arguments);
    assert!(code != 0 && stdout.is_empty(), "{code}: {stdout}{stderr}");
    assert!(stderr.contains("/proc and /sys"), "{stderr}");
    assert!(!dir.path().join("taken/manifest.json").exists());
}

/// A recorded guest of KVM: nothing bad, some warnings; then one with two kinds of core.
#[test]
fn check_fails_on_what_it_is_told_to() {
    let dir = folder();
    let machine = dir.path().join("machine");
    let root = machine.join("root/sys/devices/system/cpu");
    fs_err::create_dir_all(&root).unwrap();
    fs_err::write(machine.join("manifest.json"), "{\"format\": 1}").unwrap();
    fs_err::write(root.join("online"), "0-1\n").unwrap();
    let check = |more: &[&str]| {
        let arguments = [&["check", "--machine", "record:machine"], more].concat();
        run(dir.path(), &arguments)
    };
    let (code, text, stderr) = check(&[]);
    assert_eq!(code, 0, "{stderr}");
    assert!(text.starts_with("Fit to measure with care: 1 warning"), "no cpufreq: {text}");
    assert!(text.contains("Not known") && text.lines().count() <= 25, "{text}");
    assert_eq!(check(&["--fail-on", "warn"]).0, 1);
    for (cpu, capacity) in [(0, "400\n"), (1, "1024\n")] {
        let folder = root.join(format!("cpu{cpu}"));
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join("cpu_capacity"), capacity).unwrap();
    }
    let (code, text, _) = check(&[]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.starts_with("Not fit to measure") && text.contains("fix: taskset -c 1 CMD"),
        "{text}"
    );
    assert_eq!(check(&["--fail-on", "never"]).0, 0);
    let (code, json, _) = check(&["--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &document["audit"]["counts"]["bad"]), (1, &1.into()));
    assert_eq!(document["audit"]["findings"][0]["id"], "core-types");
    fs_err::write(root.join("online"), "all\n").unwrap();
    let (code, _, stderr) = check(&[]);
    assert!(code == 3 && stderr.contains("cpu/online") && stderr.contains("hint:"), "{stderr}");
}

#[test]
fn kept_data_are_reported_as_they_were_read() {
    let Some(data) = shared_data("cortex-linux-2025-12-05") else { return };
    let dir = folder();
    let data = data.to_str().unwrap();
    let (code, stdout, stderr) =
        run(dir.path(), &["report", data, "--out", "imported", "--no-page"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("Run   imported") || stdout.contains("imported"), "{stdout}");
    let cells = |path: &str| {
        let (code, json, stderr) = run(dir.path(), &["report", path, "--format", "json"]);
        assert_eq!(code, 0, "{stderr}");
        let mut report: serde_json::Value = serde_json::from_str(&json).unwrap();
        for cell in report["cells"].as_array_mut().unwrap() {
            cell["run"] = "".into();
        }
        report["cells"].clone()
    };
    assert!(cells("imported") == cells(data));
}

#[test]
fn shells_and_manuals() {
    let dir = folder();
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, _) = run(dir.path(), &["install", "--completions", shell]);
        assert!(code == 0 && script.contains("flyball"), "{shell}");
    }
    assert_eq!(run(dir.path(), &["install", "--man", "man"]).0, 0);
    let page = fs_err::read_to_string(dir.path().join("man/flyball-bench.1")).unwrap();
    assert!(page.contains("EXIT STATUS") && page.contains("could not be restored"), "{page}");
    let (_, bash, _) = run(dir.path(), &["install", "--completions", "bash"]);
    assert!(bash.contains("conservative") && bash.contains("model:apple-m1"), "names are offered");
    let (code, files, _) = run(dir.path(), &["install", "--dry-run", "--prefix", "p"]);
    assert!(code == 0 && files.contains("p/share/man/man1/flyball-replay-tune.1"), "{files}");
    for unit in ["system/flyball-govern.service", "user/flyball-qos.service"] {
        assert!(files.contains(&format!("p/lib/systemd/{unit}")), "{files}");
    }
    assert!(!dir.path().join("p").exists());
    assert_eq!(run(dir.path(), &["install", "--prefix", "p"]).0, 0);
    assert!(files.lines().all(|file| dir.path().join(file).is_file()), "{files}");
    let (code, text, _) = run(dir.path(), &["help", "exit-codes"]);
    assert!(code == 0 && text.contains("125") && text.contains("130"), "{text}");
    let (code, text, _) = run(dir.path(), &["help", "rules"]);
    let grammar = include_str!("../../help/rules.txt");
    assert!(code == 0 && text.starts_with(grammar), "{text}");
    assert!(include_str!("../../../../docs/reading-a-report.md").contains(grammar));
    let (code, text, _) = run(dir.path(), &["help", "bench"]);
    assert!(code == 0 && text.contains("--dry-run"), "{text}");
}

/// Ctrl-C ends a run cleanly with what was measured.
#[test]
fn an_interrupted_run_is_kept() {
    #![allow(clippy::disallowed_methods)] // starts and signals the program from outside
    let dir = folder();
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_flyball"))
        .current_dir(dir.path())
        .args(["bench", "--no-page", "--out", "r"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_secs(4));
    let pid = child.id().to_string();
    std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Verdicts"));
    let run = flyball_run::Run::open(dir.path().join("r")).unwrap();
    assert_eq!(run.manifest.state, flyball_run::RunState::Interrupted);
    assert!(run.tables.windows.len() > 20);
}

/// A command that was there once is an error that names the new one.
#[test]
fn old_words_name_the_new_ones() {
    let dir = folder();
    for (arguments, new) in [
        (&["tune", "RUN"][..], "`flyball tune` is now `flyball replay tune`"),
        (&["shadow", "t.txt"], "flyball replay shadow"),
        (&["play", "bursts"], "flyball sim SCENARIO --machine host"),
        (&["import", "d.csv"], "flyball report PATH --out DIR"),
        (&["init"], "flyball bench --init"),
        (&["loadgen", "heavy"], "flyball hold --load PROFILE"),
        (&["completions", "bash"], "flyball install --completions SHELL"),
        (&["man", "dir"], "flyball install --man DIR"),
        (&["board", "run", "--platform", "rk3399"], "--machine board:NAME"),
        (&["board", "ab", "--kernel", "debian:7"], "--machine board:NAME,kernel=K"),
        (&["replay", "x", "--platform", "zen2"], "--machine model:NAME"),
        (&["replay", "x", "-k", "linux-6.12"], "--machine model:NAME,kernel=K"),
        (&["replay", "tune", "x", "--platform=zen2"], "--machine model:NAME"),
        (&["rampup", "--set", "rate_limit_us=70"], "--governor NAME:TUNABLE=VALUE"),
        (&["--quiet", "hold", "--tunable", "a=1", "--", "true"], "--governor NAME:TUNABLE=VALUE"),
        (&["govern", "powerd", "--set", "poll_ival=1"], "powerd:poll_ival=100"),
        (&["check", "--recorded", "DIR"], "--machine record:DIR"),
        (&["transition", "--again", "r"], "flyball report RUN"),
        (&["bench", "source-a"], "`source-a` is now `cortex-governors`"),
    ] {
        let (code, stdout, stderr) = run(dir.path(), arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.contains("is now `") && stderr.contains(new), "{arguments:?}: {stderr}");
    }
}

#[test]
fn the_first_screens_fit() {
    let dir = folder();
    for (arguments, words) in [
        (&[][..], "flyball bench -- ./my-program"),
        (&["help"], "flyball help NAME"),
        (&["help", "platforms"], "apple-m1"),
        (&["help", "kernels"], "linux-6.12"),
        (&["help", "governors"], "conservative"),
        (&["help", "scenarios"], "audio-phone"),
        (&["sim"], "audio-phone"),
        (&["help", "experiments"], "load-fixes-frequency"),
        (&["help", "powerd"], "poll_ival"),
    ] {
        let (code, stdout, stderr) = run(dir.path(), arguments);
        assert_eq!(code, 0, "{arguments:?}: {stderr}");
        assert!(stdout.contains(words), "{arguments:?}: {stdout}");
        assert!(stdout.lines().count() <= 45, "{arguments:?}: {stdout}");
    }
    let (code, text, _) = run(dir.path(), &["help", "apple-m1"]);
    assert!(code == 0 && text.contains("source") && text.contains("a platform"), "{text}");
}

#[test]
fn a_load_is_held_beside_a_program() {
    let dir = folder();
    let held = ["hold", "--load", "1x20%", "--", "sh", "-c", "sleep 1; exit 7"];
    let (code, stdout, stderr) = run(dir.path(), &held);
    assert_eq!((code, stdout.as_str()), (7, ""), "{stderr}");
    assert!(stderr.contains("load 1x20%"), "{stderr}");
    let (code, _, stderr) = run(dir.path(), &["hold", "--load", "idle", "--dry-run"]);
    assert!(code == 2 && stderr.contains("expected a setting"), "{stderr}");
    let (code, _, stderr) = run(dir.path(), &["hold", "--", "true"]);
    assert!(code == 2 && stderr.contains("a setting or a load"), "{stderr}");
}
