//! Plays events of `scripts/kernel-diff` to our code, as its programs play them to the kernel's files:
//! `kernel_replay FILE RELEASE [-t]`, events on standard input, results on standard output. In binary
//! an event is six words of 64 bits and its result one, a checksum; with `-t` both are text.
#![allow(clippy::print_stdout)]

#[path = "../tests/kernel/players.rs"]
mod players;

use players::{Player, WORDS, player};
use std::io::{BufRead, Read, Write, stdin, stdout};

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, release, rest @ ..] = arguments.as_slice() else {
        return Err(std::io::Error::other("expected a file and a kernel's release"));
    };
    let Some(mut player) = player(file, release) else {
        return Err(std::io::Error::other(format!(
            "expected a file and a release, found {file} and {release}"
        )));
    };
    if rest.first().is_some_and(|option| option == "-t") {
        text(player.as_mut())
    } else {
        binary(player.as_mut())
    }
}

fn text(player: &mut dyn Player) -> std::io::Result<()> {
    let mut values = Vec::new();
    for line in stdin().lock().lines() {
        let line = line?;
        let mut event = [0; WORDS];
        for (word, number) in event.iter_mut().zip(line.split_whitespace()) {
            *word = number.parse().map_err(std::io::Error::other)?;
        }
        values.clear();
        player.play(&event, &mut values);
        let numbers: Vec<String> = values.iter().map(u64::to_string).collect();
        println!("{}", numbers.join(" "));
    }
    Ok(())
}

/// Events at once.
const BLOCK: usize = 4096;

fn binary(player: &mut dyn Player) -> std::io::Result<()> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let (mut bytes, mut sums) = (Vec::new(), Vec::new());
    let mut values = Vec::new();
    loop {
        bytes.clear();
        let block = (BLOCK * WORDS * 8) as u64;
        if input.by_ref().take(block).read_to_end(&mut bytes)? == 0 {
            return Ok(());
        }
        sums.clear();
        for event in bytes.chunks_exact(WORDS * 8) {
            let word = |at: usize| {
                let bytes = event[8 * at..8 * at + 8].try_into().unwrap_or_default();
                u64::from_le_bytes(bytes)
            };
            values.clear();
            player.play(&std::array::from_fn(word), &mut values);
            sums.extend(checksum(&values).to_le_bytes());
        }
        output.write_all(&sums)?;
    }
}

fn checksum(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum: u64, &value| {
        let mixed = (sum ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    })
}
