//! The bundle: complete, the same bytes every time, and without the host's name.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test stops at the first surprise and lays out its own files"
)]

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use flyball_report::bundle::{Bundle, BundleError, Kind};

fn run(root: &std::path::Path, name: &str) -> PathBuf {
    let run = root.join(name);
    std::fs::create_dir_all(run.join("tables")).unwrap();
    std::fs::write(
        run.join("run.toml"),
        "format = 1\npath = \"/usr/secretbox-2/x\"\nn = \"secretboxes\"\n[machine]\nhostname = \"secretbox\"\n",
    )
    .unwrap();
    std::fs::write(run.join("tables/windows.parquet"), [0xff, 0xfe, b'P', b'A', b'R', b'1'])
        .unwrap();
    run
}

fn bundle(runs: Vec<PathBuf>) -> Bundle {
    let page = b"<p>secretbox</p>".to_vec();
    Bundle { runs, files: vec![("report.html".to_owned(), page)], keep: Vec::new() }
}

fn entries(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes));
    let read = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry: tar::Entry<'_, flate2::read::GzDecoder<&[u8]>> = entry.unwrap();
        assert_eq!(entry.header().mtime().unwrap(), 0);
        let name = entry.path().unwrap().display().to_string();
        let mut data = Vec::new();
        entry.read_to_end(&mut data).unwrap();
        (name, data)
    };
    archive.entries().unwrap().map(read).collect()
}

#[test]
fn everything_is_there_and_the_name_is_gone() {
    let root = tempfile::tempdir().unwrap();
    let bytes = bundle(vec![run(root.path(), "b-run"), run(root.path(), "a-run")]).bytes().unwrap();
    let entries = entries(&bytes);
    let names: Vec<_> = entries.keys().map(String::as_str).collect();
    let expected = [
        "a-run/run.toml",
        "a-run/tables/windows.parquet",
        "b-run/run.toml",
        "b-run/tables/windows.parquet",
        "report.html",
    ];
    assert_eq!(names, expected);
    let manifest = String::from_utf8(entries["a-run/run.toml"].clone()).unwrap();
    let without = "format = 1\npath = \"/usr/host-2/x\"\nn = \"secretboxes\"\n[machine]\nhostname = \"host\"\n";
    assert_eq!(manifest, without);
    assert_eq!(entries["report.html"], b"<p>host</p>");
    assert_eq!(entries["a-run/tables/windows.parquet"].len(), 6);
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let root = tempfile::tempdir().unwrap();
    let bundle = bundle(vec![run(root.path(), "a-run")]);
    assert_eq!(bundle.bytes().unwrap(), bundle.bytes().unwrap());
    let target = root.path().join("out.tar.gz");
    bundle.write(&target, &mut |_| ()).unwrap();
    assert_eq!(std::fs::read(&target).unwrap(), bundle.bytes().unwrap());
    assert!(!root.path().join("out.tar.gz.partial").exists());
}

#[test]
fn a_name_inside_binary_data_is_refused_unless_it_may_stay() {
    let root = tempfile::tempdir().unwrap();
    let run = run(root.path(), "a-run");
    std::fs::write(run.join("tables/windows.parquet"), b"\xff\xfe secretbox \xff").unwrap();
    let mut bundle = bundle(vec![run]);
    let error = bundle.bytes().unwrap_err();
    assert!(
        matches!(error, BundleError::NameInBinary { .. })
            && error.to_string().contains("windows.parquet")
    );
    assert!(!error.hint().is_empty());
    bundle.keep.push(Kind::Hostname);
    assert!(bundle.bytes().is_ok());
}

#[test]
fn missing_and_equal_names_are_errors_that_name_them() {
    let root = tempfile::tempdir().unwrap();
    let missing = bundle(vec![root.path().join("nowhere")]).bytes().unwrap_err();
    assert!(missing.to_string().contains("nowhere"), "{missing}");
    let (a, b) = (root.path().join("x"), root.path().join("y"));
    let twice = bundle(vec![run(&a, "same"), run(&b, "same")]).bytes().unwrap_err();
    assert!(matches!(twice, BundleError::SameName(ref n) if n == "same"));
    let target = root.path().join("no/such/folder/out.tar.gz");
    assert!(
        bundle(vec![])
            .write(&target, &mut |_| ())
            .unwrap_err()
            .to_string()
            .contains("no/such/folder")
    );
}

#[cfg(unix)]
#[test]
fn links_are_left_out() {
    let root = tempfile::tempdir().unwrap();
    let run = run(root.path(), "a-run");
    std::os::unix::fs::symlink("/etc/hostname", run.join("link")).unwrap();
    assert!(!entries(&bundle(vec![run]).bytes().unwrap()).contains_key("a-run/link"));
}

/// Command lines, people's folders and names go from whatever is text, unless they are kept.
#[test]
fn what_is_private_goes_unless_it_is_kept() {
    let root = tempfile::tempdir().unwrap();
    let run = run(root.path(), "a-run");
    let manifest = "format = 1\nkind = \"bench\"\ncommand = [\"flyball\", \"bench\", \"--repeats\", \"5\", \"--out\", \
        \"/home/alice-secret/x\", \"--\", \"./prog\", \"--password=HUNTER2\", \"correct\"]\n\
        experiment = '''\n[[workload]]\nkernel = \"command\"\nprogram = [\"./prog\", \"--password=HUNTER2\", \"correct\"]\n'''\n\
        [[workloads]]\nname = \"prog\"\nkernel = \"command\"\ndescription = \"./prog --password=HUNTER2 correct\"\n";
    std::fs::write(run.join("run.toml"), manifest).unwrap();
    let page = b"<td>./prog --password=HUNTER2 correct</td><p title=\"/home/alice-secret/x\">5 repeats of \
        prog, /sys/devices, alice-secret</p>";
    let files = vec![("report.html".to_owned(), page.to_vec())];
    let bundle = Bundle { runs: vec![run.clone()], files, keep: Vec::new() };
    let mut said = Vec::new();
    let target = root.path().join("out.tar.gz");
    bundle.write(&target, &mut |line| said.push(line)).unwrap();
    let found = entries(&std::fs::read(&target).unwrap());
    for (name, data) in &found {
        let text = String::from_utf8_lossy(data);
        for secret in ["HUNTER2", "alice", "/home", "correct"] {
            assert!(!text.contains(secret), "{name}: {text}");
        }
    }
    let page = String::from_utf8_lossy(&found["report.html"]);
    assert_eq!(
        page,
        "<td>ARGUMENT</td><p title=\"PATH\">5 repeats of prog, /sys/devices, person</p>"
    );
    let kept = String::from_utf8_lossy(&found["a-run/run.toml"]);
    assert!(kept.contains("--repeats") && kept.contains("name = \"prog\""), "{kept}");
    let said = said.join("\n");
    assert!(
        said.contains("a-run/run.toml") && said.contains("left out: the host's name"),
        "{said}"
    );
    let all = Bundle { keep: Kind::ALL.to_vec(), ..bundle };
    let found = entries(&all.bytes().unwrap());
    assert_eq!(found["a-run/run.toml"], manifest.as_bytes());
    assert!("password".parse::<Kind>().unwrap_err().contains("hostname, commands or paths"));
}

/// Programs that nobody named have their command lines as names, in tables as well.
#[test]
fn programs_without_names_get_some_in_tables() {
    let root = tempfile::tempdir().unwrap();
    let programs = ["./solve --token=HUNTER2", "./solve --token=HUNTER3"];
    let mut run = flyball_run::Run::default();
    run.manifest.kind = "bench".into();
    for (at, name) in programs.iter().enumerate() {
        run.manifest.workloads.push(flyball_run::manifest::WorkloadRecord {
            name: (*name).into(),
            kernel: "command".into(),
            description: (*name).into(),
            ..Default::default()
        });
        run.tables.windows.push(flyball_run::Window {
            index: at as u64,
            workload: (*name).into(),
            condition: "as found".into(),
            ..Default::default()
        });
    }
    let dir = run.write(root.path().join("ab")).unwrap();
    let found = entries(&bundle(vec![dir]).bytes().unwrap());
    let sent = root.path().join("sent");
    std::fs::create_dir(&sent).unwrap();
    for (name, data) in found.iter().filter(|(name, _)| name.starts_with("ab/")) {
        std::fs::write(sent.join(&name[3..]), data).unwrap();
    }
    let sent = flyball_run::Run::open(&sent).unwrap();
    assert!(sent.warnings.is_empty(), "{:?}", sent.warnings);
    let named: Vec<&str> = sent.tables.windows.workload.iter().collect();
    assert_eq!(named, ["program 1", "program 2"]);
    let listed: Vec<&str> = sent.manifest.workloads.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(listed, named);
}
