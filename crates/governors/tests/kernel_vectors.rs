//! A sample of the numbers of `scripts/kernel-diff`: events, and what the kernels' own code made of
//! each, replayed without any kernel.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

#[path = "kernel/players.rs"]
mod players;

use players::{Event, Player, player};
use std::collections::BTreeMap;

/// Plays a sample: events, and below each `= releases answer`. How many answers were compared.
fn replay(file: &str, sample: &str) -> usize {
    let mut players: BTreeMap<&str, Box<dyn Player>> = BTreeMap::new();
    let (mut event, mut compared) = (Event::default(), 0);
    for (number, line) in sample.lines().enumerate() {
        if let Some(answer) = line.strip_prefix("= ") {
            let (releases, answer) = answer.split_once(' ').unwrap();
            for release in releases.split(',') {
                let player = players.entry(release);
                let player = player.or_insert_with(|| self::player(file, release).unwrap());
                let mut values = Vec::new();
                player.play(&event, &mut values);
                let values: Vec<String> = values.iter().map(u64::to_string).collect();
                assert_eq!(values.join(" "), answer, "{file}, {release}, line {}", number + 1);
                compared += 1;
            }
        } else if !line.starts_with('#') {
            let numbers: Vec<u64> =
                line.split_whitespace().map(|number| number.parse().unwrap()).collect();
            event = numbers.try_into().unwrap();
        }
    }
    compared
}

#[test]
fn load_tracking_is_the_kernels() {
    assert_eq!(replay("pelt", include_str!("kernel/pelt.txt")), 800);
}

#[test]
fn schedutil_is_the_kernels() {
    assert_eq!(replay("schedutil", include_str!("kernel/schedutil.txt")), 800);
}

#[test]
fn ondemand_is_the_kernels() {
    assert_eq!(replay("ondemand", include_str!("kernel/ondemand.txt")), 800);
}

#[test]
fn conservative_is_the_kernels() {
    assert_eq!(replay("conservative", include_str!("kernel/conservative.txt")), 800);
}

#[test]
fn menu_is_the_kernels() {
    assert_eq!(replay("menu", include_str!("kernel/menu.txt")), 800);
}

#[test]
fn teo_is_the_kernels() {
    assert_eq!(replay("teo", include_str!("kernel/teo.txt")), 800);
}

#[test]
fn haltpoll_is_the_kernels() {
    assert_eq!(replay("haltpoll", include_str!("kernel/haltpoll.txt")), 800);
}
