//! No text makes the reader panic, and what it accepts holds what the model relies on.
#![allow(clippy::panic, reason = "a test fails by panicking")]

use flyball_platform::{Cost, Kernel, Platform, catalogue};
use flyball_units::Diagnostic;
use proptest::prelude::*;
use proptest::sample::Index;

fn texts() -> Vec<&'static str> {
    catalogue().platforms.iter().chain(catalogue().kernels).map(|entry| entry.text).collect()
}

/// What replaces a piece of a shipped file.
fn replacement() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[ -~\\n]{0,12}",
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| format!("{number:?}")),
        Just("\"0-1023\"".to_owned()),
        Just("0-4294967295".to_owned()),
        Just("[[0, 1], [1, 0]]".to_owned()),
        Just("{ up = 1, down = 1e9 }".to_owned()),
        Just("\u{1F600}\u{0}".to_owned()),
        Just("[[domains]]\n".to_owned()),
    ]
}

/// A shipped file after a few changes, each of a piece up to 40 bytes long.
fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<Index>(), 0_usize..40, replacement());
    (any::<Index>(), prop::collection::vec(change, 1..4)).prop_map(|(which, changes)| {
        let texts = texts();
        let mut text = texts[which.index(texts.len())].to_owned();
        for (at, length, with) in changes {
            let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([0]).collect();
            let start = starts[at.index(starts.len())];
            let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= start + length);
            text.replace_range(start..end.unwrap_or(text.len()), &with);
        }
        text
    })
}

/// A shipped file with the value of one key changed: reads as TOML more often than not.
fn one_value_changed() -> impl Strategy<Value = String> {
    (any::<Index>(), any::<Index>(), replacement()).prop_map(|(which, line, with)| {
        let texts = texts();
        let lines: Vec<&str> = texts[which.index(texts.len())].lines().collect();
        let chosen = line.index(lines.len());
        let changed = |(at, line): (usize, &&str)| match line.split_once('=') {
            Some((key, _)) if at == chosen => format!("{key}= {with}"),
            _ => (*line).to_owned(),
        };
        lines.iter().enumerate().map(changed).collect::<Vec<_>>().join("\n")
    })
}

fn read(text: &str) {
    if let Ok(platform) = Platform::parse(text, "fuzz.toml") {
        sound(&platform);
    }
    let errors = [Platform::parse(text, "a/b.toml").err(), Kernel::parse(text, "").err()];
    for error in errors.into_iter().flatten() {
        assert!(!error.to_string().is_empty() && error.hint().as_deref() != Some(""));
    }
}

fn sound(platform: &Platform) {
    assert_eq!(platform.cpus.iter().map(|cpu| cpu.capacity.0).max(), Some(1024));
    let mut owned = 0;
    for (number, cpu) in platform.cpus.iter().enumerate() {
        assert_eq!(cpu.id.0 as usize, number, "numbered without gaps");
        assert!(cpu.work_per_cycle.is_finite() && cpu.work_per_cycle > 0.0);
        assert!(platform.domain(cpu.id).is_some_and(|domain| domain.cpus.contains(&cpu.id)));
    }
    for domain in &platform.domains {
        owned += domain.cpus.len();
        assert!(!domain.cpus.is_empty() && !domain.idle.is_empty());
        assert_eq!(domain.points.len(), domain.opps.as_slice().len());
        for (point, opp) in domain.points.iter().zip(domain.opps.as_slice()) {
            assert_eq!(point.frequency, opp.frequency);
            assert!(0 < point.effective.0 && point.effective <= point.frequency);
            assert!(0.0 <= point.idle_power_mw && point.idle_power_mw <= point.busy_power_mw);
            assert!(point.busy_power_mw.is_finite());
        }
        let costs = [&domain.transition.write, &domain.transition.stall, &domain.transition.effect];
        for cost in costs {
            if let Cost::Matrix(rows) = cost {
                assert!(rows.iter().all(|row| row.len() == domain.points.len()));
            }
        }
        assert!(domain.idle.is_sorted_by_key(|state| state.exit_latency));
        let capacity = platform.cpus[domain.cpus[0].0 as usize].capacity;
        assert_eq!(domain.energy_model(capacity).len(), domain.points.len());
    }
    assert_eq!(owned, platform.cpus.len(), "each CPU is in one domain");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn mutated_files_do_not_panic(text in mutated()) {
        read(&text);
    }

    #[test]
    fn changed_values_do_not_panic(text in one_value_changed()) {
        read(&text);
    }

    #[test]
    fn arbitrary_text_does_not_panic(text in "\\PC{0,200}") {
        read(&text);
    }
}

#[test]
fn shipped_files_are_sound() {
    for entry in catalogue().platforms {
        match Platform::named(entry.name) {
            Ok(platform) => sound(&platform),
            Err(error) => panic!("{error}"),
        }
    }
}
