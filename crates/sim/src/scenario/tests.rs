use super::*;

const MINIMAL: &str = "platform = \"apple-m1\"\n[[task]]\nkind = \"rampup\"\n";

fn read_text(text: &str) -> Result<Scenario, ScenarioError> {
    let scenario = read(text, Source::text_only("x.toml", "x"))?;
    scenario.check("x.toml")?;
    Ok(scenario)
}

fn error_of(text: &str) -> ScenarioError {
    read_text(text).map(drop).expect_err(text)
}

#[test]
fn what_ships_reads_and_says_what_it_shows() {
    assert!(EXAMPLES.len() >= 20);
    for example in EXAMPLES {
        read_text(example.text).unwrap_or_else(|error| panic!("{}: {error}", example.name));
        assert!(example.summary().len() > 20, "{}", example.name);
    }
}

#[test]
fn what_ships_covers_every_governor_kind_and_platform() {
    let texts: Vec<&str> = EXAMPLES.iter().map(|example| example.text).collect();
    let scenarios: Vec<Scenario> = texts.iter().map(|text| read_text(text).unwrap()).collect();
    for name in governor_names() {
        let used = |s: &Scenario| s.governors.iter().any(|spec| spec.name == name);
        assert!(scenarios.iter().any(used), "no example with governor {name}");
    }
    for kind in kinds::KINDS {
        let line = format!("kind = \"{}\"", kind.name);
        assert!(texts.iter().any(|text| text.contains(&line)), "no example of kind {}", kind.name);
    }
    for platform in flyball_platform::catalogue().platforms {
        let used = |s: &Scenario| s.platform.name == platform.name;
        assert!(scenarios.iter().any(used), "no example on {}", platform.name);
    }
}

#[test]
fn the_template_states_the_defaults() {
    let template = read_text(template()).unwrap();
    let minimal = read_text(MINIMAL).unwrap();
    assert_eq!(template.kernel, minimal.kernel);
    assert_eq!(template.governors, minimal.governors);
    assert_eq!(
        (template.duration, template.seed, template.phases, template.record),
        (minimal.duration, minimal.seed, minimal.phases, minimal.record)
    );
    assert_eq!(template.utilization, minimal.utilization);
    assert_eq!((template.placement, template.load), (minimal.placement, minimal.load));
}

#[test]
fn unknown_keys_have_a_place_and_the_nearest_right_one() {
    for (text, place, hint) in [
        (format!("hzz = 3\n{MINIMAL}"), (1, 1), "did you mean `hz`?"),
        (format!("{MINIMAL}gapp = \"3ms\"\n"), (4, 1), "did you mean `gap`?"),
        (
            format!("{MINIMAL}[governor]\nrate_limit = 70\n"),
            (5, 1),
            "did you mean `rate_limit_us`?",
        ),
        (format!("{MINIMAL}[features]\nseris = true\n"), (5, 1), "did you mean `series`?"),
        (format!("{MINIMAL}[[interrupt]]\nmeen = \"3ms\"\n"), (5, 1), "did you mean `mean`?"),
    ] {
        let error = error_of(&text);
        let (line, column) = place;
        assert_eq!(error.place, Some(Place::At { line, column }), "{text}: {error}");
        assert_eq!(error.hint.as_deref(), Some(hint), "{text}: {error}");
    }
}

#[test]
fn wrong_values_say_what_was_expected_and_found() {
    for (line, words) in [
        ("duration = 3", "with the unit, such as \"3ms\", found 3"),
        ("duration = \"0s\"", "above 0"),
        ("duration = \"25h\"", "at most 24h"),
        ("phases = 0", "from 1 to 100000, found 0"),
        ("hz = 1", "from 10 to 10000"),
        ("record = \"all\"", "one of none, summary, full"),
        ("record_phase = 20", "from 0 to 19"),
        (
            "record_phase = 3\nphases = 1",
            "record_phase: expected 0, as there is one phase, found 3",
        ),
        ("seed = -1", "from 0 up"),
        ("kernel = \"linux-6.13\"", "kernel"),
        ("kernel = 6.12", "a name, such as linux-6.12"),
        ("load = \"hevy\"", "did you mean `heavy`?"),
        ("load = \"cpus=8,percent=90\"", "CPUs 0 to 7, found 8"),
        ("placement = \"best\"", "one of previous-or-idle"),
        ("utilization = [2000]", "from 1 to 1024"),
        ("name = 3", "expected a text, found 3"),
        ("governor = \"shedutil\"", "expected a governor, found \"shedutil\""),
        ("governor = \"schedutil:rate_limit=1\"", "rate_limit"),
        ("governor = \"schedutil:rate_limit_us\"", "whole number"),
    ] {
        let error = error_of(&format!("{line}\n{MINIMAL}"));
        let told = format!("{error}\n{}", error.hint.as_deref().unwrap_or_default());
        assert!(told.contains(words), "{line}: {told}");
        let at_line_1 = matches!(error.place, Some(Place::At { line: 1, .. }));
        assert!(at_line_1, "{line}: {error}");
    }
}

#[test]
fn wrong_tasks_say_so() {
    for (lines, words) in [
        ("kind = \"perodic\"", "expected a kind of task"),
        ("kind = \"periodic\"\nwork = \"1ms\"", "expected the key `task[0].period`"),
        ("kind = \"periodic\"\nperiod = \"5ms\"\nwork = \"2\"", "expected work such as"),
        (
            "kind = \"periodic\"\nperiod = \"5ms\"\nwork = \"1ms\"\njitter = \"5ms\"",
            "less than the period",
        ),
        ("kind = \"kernel\"\nkernel = \"fft\"", "expected a kernel, found \"fft\""),
        ("kind = \"bursty\"\nevery = \"1s\"", "expected the key `task[0].busy`"),
        ("kind = \"bursty\"\nevery = \"1s\"\nbusy = \"1ms\"\nwork = \"1ms\"", "found both"),
        ("kind = \"batch\"\nwork = \"0ms\"", "work above 0"),
        ("kind = \"periodic\"\nperiod = \"5ms\"\nwork = \"0ms\"", "work above 0"),
        (
            "kind = \"batch\"\nwork = \"1ms@0MHz\"",
            "a frequency from 1 kHz to 100 GHz, found \"0MHz\"",
        ),
        ("kind = \"batch\"\nwork = \"1ns@1kHz\"", "work above 0"),
        (
            "kind = \"spin\"\nname = \"x\"\ncount = 2\n[[task]]\nkind = \"spin\"\nname = \"x-2\"",
            "task[1]: expected names that differ, found \"x-2\" twice",
        ),
        (
            "kind = \"page-load\"\nname = \"p\"\n[[task]]\nkind = \"spin\"\nname = \"p.helper-1\"",
            "\"p.helper-1\" twice",
        ),
        ("kind = \"spin\"\nparent = \"x\"", "expected a task above this one, found \"x\""),
        (
            "kind = \"spin\"\nstart = \"5ms\"\n[[task]]\nkind = \"spin\"\nname = \"child\"\n\
             parent = \"spin\"\nstart = \"4ms\"",
            "a time at which its parent has started",
        ),
        ("kind = \"spin\"\nclass = \"fifo:100\"", "from 1 to 99"),
        ("kind = \"spin\"\nclass = \"deadline:30ms/20ms\"", "a runtime up to the deadline"),
        ("kind = \"spin\"\nclass = \"deadline:5ms/20ms\"\ncpus = \"0\"", "without this"),
        (
            "kind = \"spin\"\nclass = \"deadline:5ms/20ms\"\n[[task]]\nkind = \"rampup\"\nparent = \"spin\"",
            "a task that may fork, found one with deadlines",
        ),
        ("kind = \"spin\"\nclass = \"fife:1\"", "a scheduling class"),
        ("kind = \"spin\"\ncpus = \"0-9\"", "CPUs 0 to 7"),
        ("kind = \"spin\"\nuclamp_min = 1025", "from 0 to 1024"),
        ("kind = \"spin\"\nclamp_ramp = 0", "from 1 to 64"),
        ("kind = \"spin\"\n[[task]]\nkind = \"spin\"", "\"spin\" twice"),
        ("kind = \"rt-app\"\njson = \"{}\"", "expected the key `tasks`"),
        ("kind = \"rt-app\"\nfile = \"a.json\"", "expected no other file"),
        (
            "kind = \"rt-app\"\ncount = 2\njson = '{\"tasks\": {\"a\": {\"run\": 1}}}'",
            "in the rt-app file",
        ),
        ("kind = 3", "expected a text"),
        ("", "expected the key `task[0].kind`"),
    ] {
        let error = error_of(&format!("platform = \"apple-m1\"\n[[task]]\n{lines}\n"));
        assert!(error.to_string().contains(words), "{lines}: {error}");
        assert!(error.place.is_some(), "{lines}: {error}");
    }
}

#[test]
fn wrong_governors_say_so() {
    for (lines, words) in [
        ("rate_limit_us = -5", "outside"),
        ("rate_limit_us = \"70us\"", "a whole number, true or false"),
        ("max = \"100MHz\"", "limits with an operating point"),
        ("max = 100", "with the unit, such as \"100MHz\""),
        ("initial = \"601MHz\"", "an operating point of `e`"),
        ("cost_cpu = 8", "from 0 to 7"),
        ("[governor.domain.q]\nname = \"powersave\"", "expected a clock domain of apple-m1"),
        ("[governor.domain.e]\nname = \"powersafe\"", "expected a governor"),
        ("name = \"performance\"\nrate_limit_us = 70", "rate_limit_us"),
    ] {
        let error = error_of(&format!("{MINIMAL}[governor]\n{lines}\n"));
        assert!(error.to_string().contains(words), "{lines}: {error}");
        assert!(error.place.is_some(), "{lines}: {error}");
    }
}

#[test]
fn a_governor_is_written_as_everywhere() {
    let table = format!("{MINIMAL}[governor]\nname = \"ondemand\"\nup_threshold = 60\n");
    let table = read_text(&table).unwrap().governors;
    for line in
        ["governor = \"ondemand:up_threshold=60\"", "governor.name = \"ondemand:up_threshold=60\""]
    {
        assert_eq!(read_text(&format!("{line}\n{MINIMAL}")).unwrap().governors, table, "{line}");
    }
}

#[test]
fn domains_may_have_governors_of_their_own() {
    let text = format!(
        "{MINIMAL}[governor]\nrate_limit_us = 70\n[governor.domain.e]\nname = \"powersave\"\n\
         [governor.domain.p]\nrate_limit_us = 500\n"
    );
    let scenario = read_text(&text).unwrap();
    let spec = |n: usize| (&scenario.governors[n].name, &scenario.governors[n].tunables);
    assert_eq!(spec(0), (&"powersave".to_owned(), &vec![]));
    let twice = vec![("rate_limit_us".to_owned(), 70), ("rate_limit_us".to_owned(), 500)];
    assert_eq!(spec(1), (&"schedutil".to_owned(), &twice));
}

#[test]
fn tunables_that_bound_each_other_are_set_together() {
    let scenario = |tunables: &str| {
        format!(
            "platform = \"pentium-m\"\n[governor]\nname = \"conservative\"\n{tunables}\n\
             [[task]]\nkind = \"rampup\"\n"
        )
    };
    for order in
        ["up_threshold = 90\ndown_threshold = 85", "down_threshold = 85\nup_threshold = 90"]
    {
        read_text(&scenario(order)).unwrap();
    }
    let error = error_of(&scenario("up_threshold = 50\ndown_threshold = 60")).to_string();
    assert!(error.contains("threshold") && error.contains("outside"), "{error}");
}

#[test]
fn what_would_be_without_effect_is_refused() {
    let hardware = "platform = \"apple-m1-macos\"\n[governor]\nname = \"schedutil\"\n\
                    [[task]]\nkind = \"rampup\"\n";
    assert!(error_of(hardware).to_string().contains("its hardware chooses"));
    let hint = "platform = \"apple-m1\"\nkernel = \"linux-6.12\"\n\
                [[task]]\nkind = \"rampup\"\nrampup_multiplier = 2\n";
    assert!(error_of(hint).to_string().contains("rampup_multiplier"));
    let clamps = "platform = \"apple-m1\"\n\
                  [[task]]\nkind = \"rampup\"\nuclamp_min = 800\nuclamp_max = 100\n";
    assert!(error_of(clamps).to_string().contains("uclamp_min"));
    let ramp = "platform = \"board-x86\"\nkernel = \"debian-6.12\"\n\
                [[task]]\nkind = \"rampup\"\nclamp_ramp = 4\n";
    let text = error_of(ramp).to_string();
    assert!(text.contains("utilisation clamps") && text.contains("debian-6.12"), "{text}");
}

#[test]
fn a_platform_brings_its_kernel_and_the_kernel_its_governor() {
    for (platform, kernel, governor) in [
        ("pentium-m", "freebsd-8.1", "powerd"),
        ("board-x86", "debian-6.12", "schedutil"),
        ("rk3399", "linux-6.12", "schedutil"),
    ] {
        let text = format!("platform = \"{platform}\"\n[[task]]\nkind = \"rampup\"\n");
        let scenario = read_text(&text).unwrap();
        assert_eq!(scenario.kernel.name, kernel);
        assert_eq!(scenario.governors[0].name, governor);
    }
    let kernel =
        "platform = \"apple-m1\"\nkernel = \"linux-6.8-70us\"\n[[task]]\nkind = \"rampup\"\n";
    let tunables = |text: &str| read_text(text).unwrap().governors[0].tunables.clone();
    assert_eq!(tunables(kernel), [("rate_limit_us".to_owned(), 70)]);
    let own = format!("{kernel}[governor]\nrate_limit_us = 500\n");
    assert_eq!(tunables(&own), [("rate_limit_us".to_owned(), 500)]);
}

#[test]
fn names_that_nothing_has_are_said_once() {
    let error = error_of("platform = \"apple-m2\"\n[[task]]\nkind = \"spin\"\n");
    let text = error.to_string();
    assert!(text.starts_with("x.toml:1:12: platform: expected a shipped platform ("), "{text}");
    let error = error_of(&format!("kernel = \"linux-6.13\"\n{MINIMAL}"));
    let text = error.to_string();
    assert!(text.starts_with("x.toml:1:10: kernel: expected a shipped kernel ("), "{text}");
}

#[test]
fn an_empty_file_says_how_to_begin() {
    let error = error_of("");
    assert!(error.to_string().contains("expected the key `platform`"), "{error}");
    assert!(error.hint.unwrap().contains("begin with a commented one"));
}

const SERIES: &str = "platform = \"apple-m1\"\nfeatures.series = true\n";

#[test]
fn hints_are_calls_about_tasks() {
    let text = format!(
        "{SERIES}[[task]]\nkind = \"spin\"\nname = \"a\"\ncount = 2\nrampup_multiplier = 2\n\
         class = \"nice:5\"\ncpus = \"4-5\"\n\
         [[task]]\nkind = \"spin\"\nname = \"child\"\nparent = \"a\"\nstart = \"10ms\"\n\
         [[hint]]\nat = \"3ms\"\ntask = \"a\"\nvalue = 4\n\
         [[hint]]\nat = \"2ms\"\ntask = \"a-2\"\nvalue = 0\n"
    );
    let setup = read_text(&text).unwrap().setup(0).setup;
    let calls: Vec<_> = setup.hints.iter().map(|call| (call.at.0, call.task.0)).collect();
    assert_eq!(calls, [(3_000_000, 0), (3_000_000, 1), (2_000_000, 1)]);
    let child = &setup.tasks[2];
    assert_eq!((child.class, child.allowed.len()), (setup.tasks[0].class, 2), "forked as it is");
    assert_eq!((setup.tasks[0].rampup_multiplier, child.rampup_multiplier), (Some(2), None));
    for (lines, words) in [
        ("at = \"1ms\"\ntask = \"b\"\nvalue = 1", "expected a task, found \"b\""),
        ("at = \"1ms\"\ntask = \"spin\"\nvalue = 17", "from 0 to 16"),
        ("at = \"1ms\"\ntask = \"spin\"", "`hint[0].value`"),
        ("at = \"1ms\"\ntask = \"spin\"\ntype = \"nice\"\nvalue = 1", "rampup_multiplier"),
        ("at = \"1ms\"\ntask = \"late\"\nvalue = 1", "from the start of `late` on, 5ms"),
    ] {
        let tasks = "[[task]]\nkind = \"spin\"\n[[task]]\nkind = \"spin\"\nname = \"late\"\n\
                     start = \"5ms\"\n";
        let error = error_of(&format!("{SERIES}{tasks}[[hint]]\n{lines}\n"));
        assert!(error.to_string().contains(words), "{lines}: {error}");
    }
    let stock =
        error_of(&format!("{MINIMAL}[[hint]]\nat = \"1ms\"\ntask = \"rampup\"\nvalue = 2\n"));
    assert!(stock.to_string().contains("without features.util_est_ramp_up"), "{stock}");
}

/// The places of 50,000 tables are found at once, not by counting lines from the start for each.
#[test]
fn a_long_list_is_refused_soon() {
    let task = "[[task]]\nkind = \"periodic\"\nname = \"t\"\nperiod = \"1ms\"\nwork = \"1us\"\n";
    let text = "platform = \"laptop-x86\"\n".to_owned() + &task.repeat(50_000);
    let error = error_of(&text);
    assert!(error.to_string().contains("found \"t\" twice"), "{error}");
}

#[test]
fn control_groups_are_read_and_what_is_wrong_with_one_is_named() {
    let text = |group: &str| {
        format!("platform = \"apple-m1\"\n{group}\n[[task]]\nkind = \"spin\"\ncgroup = \"web\"\n")
    };
    let group = "[[cgroup]]\nname = \"web\"\n";
    let limit = "cpu_max = \"5ms\"\ncpu_max_burst = \"2ms\"\ncpu_weight = 50\nuclamp_min = 100\n";
    let scenario = read_text(&text(&format!("{group}{limit}"))).unwrap();
    let [web] = scenario.cgroups.as_slice() else { panic!("one group") };
    let times = web.bandwidth.map(|limit| [limit.quota, limit.period, limit.burst]);
    assert_eq!(times, Some([5, 100, 2].map(flyball_units::Nanos::from_millis)));
    assert_eq!((web.weight, web.uclamp_min, web.uclamp_max), (50, 100, 1024));
    assert_eq!(scenario.setup(0).setup.tasks[0].cgroup, Some(0));
    for (group, expected) in [
        (String::new(), "task[0].cgroup: expected a control group, found \"web\""),
        (format!("{group}{group}"), "cgroup[1]: expected names that differ, found \"web\" twice"),
        ("[cgroup]\nname = \"web\"".to_owned(), "is written [[cgroup]]"),
        ("[[cgroup]]\nname = \"a/b\"".to_owned(), "expected a name of letters"),
        (format!("{group}cpu_max = \"50000 100000\""), "such as 50ms/100ms"),
        (format!("{group}cpu_max = \"5ms/2s\""), "expected a period of 1ms to 1s, found 2s"),
        (format!("{group}cpu_max = \"5ms\"\ncpu_max_burst = \"6ms\""), "a burst up to the quota"),
        (format!("{group}cpu_max_burst = \"6ms\""), "expected cpu_max beside it"),
        (format!("{group}uclamp_min = 9\nuclamp_max = 8"), "uclamp_min at most uclamp_max"),
        (format!("{group}cpu_weight = 0"), "from 1 to 10000, found 0"),
    ] {
        let error = error_of(&text(&group));
        let told = format!("{error}\n{}", error.hint.as_deref().unwrap_or_default());
        assert!(told.contains(expected), "{group}: {told}");
    }
    let mac = error_of(&text(group).replace("[[cgroup]]", "kernel = \"macos\"\n[[cgroup]]"));
    assert!(mac.to_string().contains("on a Linux kernel only, found macos"), "{mac}");
}
