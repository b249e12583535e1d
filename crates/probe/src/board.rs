//! On a virtual board speed is right over steps of some thousand instructions only. What is timed
//! there must last many of them: a workload is run several times within one window, and the
//! frequency probe's chain is longer.

use crate::{BOARD_TOLERANCE, Chain};
use flyball_host::{Host, arch};
use flyball_run::manifest::{BoardRecord, CheckOutcome, CheckRecord};
use std::path::Path;

/// The board that this program runs on; none on any other machine.
pub fn discover(host: &dyn Host) -> Option<BoardRecord> {
    let text = host.read(Path::new(BoardRecord::GUEST_PATH)).ok()?;
    toml::from_str(&text).ok()
}

/// What the report has to say of a board's figures.
pub fn check(board: &BoardRecord) -> CheckRecord {
    let steps = |mips: f64| board.least_instructions() as f64 / mips.max(1e-3) / 1e3;
    let slowest = board.policies.iter().map(|policy| policy.lowest_mips).fold(f64::MAX, f64::min);
    let fastest = board.policies.iter().map(|policy| policy.highest_mips).fold(0.0, f64::max);
    CheckRecord {
        name: "board".to_owned(),
        outcome: CheckOutcome::Unavailable,
        object: format!("virtual board {}", board.platform),
        found: format!(
            "speed is instructions per second of a P-state, the same for every instruction: no caches, \
             memory, power or cost of a switch, and nothing shorter than {} steps ({:.1} ms at the \
             highest frequency, {:.1} at the lowest)",
            BoardRecord::LEAST_STEPS,
            steps(fastest),
            steps(slowest),
        ),
        ..CheckRecord::default()
    }
}

/// Steps of one chain of the probe: five of them in a row are a sample, right to a step in forty.
const CHAIN_STEPS: u64 = 8;

/// The probe's chain on a board.
pub fn chain(board: &BoardRecord) -> Chain {
    // A multiplication is an instruction at least.
    let multiplies = board.step_instructions.saturating_mul(CHAIN_STEPS);
    Chain { multiplies, tolerance: BOARD_TOLERANCE }
}

/// Cycles per multiplication of the probe's chain on a CPU of the board: exact, because an emulator
/// counts instructions.
pub fn cycles_per_multiply(board: &BoardRecord, cpu: u32) -> Option<f64> {
    let instructions = arch::CHAIN_ROUND_INSTRUCTIONS as f64 / arch::CHAIN_ROUND as f64;
    Some(instructions / board.instructions_per_cycle(cpu)?)
}

/// How often `once` has to run in a window to last long enough, found by timing it beside a chain
/// of known length. At most 65,536.
pub fn batch(host: &dyn Host, board: &BoardRecord, mut once: impl FnMut()) -> u32 {
    const ROUNDS: usize = 3;
    let least = board.least_instructions();
    let multiplies = 4 * least;
    let instructions =
        multiplies as f64 * arch::CHAIN_ROUND_INSTRUCTIONS as f64 / arch::CHAIN_ROUND as f64;
    let timed = |work: &mut dyn FnMut()| {
        let start = host.counter();
        work();
        host.counter().wrapping_sub(start)
    };
    once(); // the emulator translates code when it is run first
    let mut fewest = f64::MAX;
    for _ in 0..ROUNDS {
        let chain = timed(&mut || {
            std::hint::black_box(host.multiply_chain(multiplies));
        });
        // As long as the chain, so that both are right to the same degree.
        let (mut runs, mut ticks) = (0_u32, 0_u64);
        while ticks < chain && runs < 65_536 {
            ticks += timed(&mut once);
            runs += 1;
        }
        let each = instructions * ticks as f64 / chain.max(1) as f64 / f64::from(runs.max(1));
        fewest = fewest.min(each);
    }
    (least as f64 / fewest.max(1.0)).ceil().clamp(1.0, 65_536.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::RealHost;
    use flyball_run::manifest::BoardPolicyRecord;

    fn board() -> BoardRecord {
        BoardRecord {
            platform: "board-x86".into(),
            step_instructions: 10_000,
            policies: vec![BoardPolicyRecord {
                cpus: vec![0, 1],
                instructions_per_cycle: 0.06,
                lowest_mips: 36.0,
                highest_mips: 192.0,
            }],
            ..BoardRecord::default()
        }
    }

    #[test]
    fn the_chain_of_a_board_gives_its_frequency() {
        // 192 million instructions per second are 3200 MHz at 0.06 per cycle.
        let cycles = cycles_per_multiply(&board(), 1).unwrap();
        let multiplies_per_second = 192e6 / (34.0 / 32.0);
        assert!((cycles * multiplies_per_second - 3.2e9).abs() < 1.0);
        assert_eq!(cycles_per_multiply(&board(), 2), None);
        let check = check(&board());
        assert!(
            check.found.contains("3.1 ms at the highest frequency, 16.7 at the lowest"),
            "{check:?}"
        );
    }

    #[test]
    fn short_work_is_run_many_times_and_long_work_once() {
        let host = RealHost::new();
        let run = |multiplies| {
            batch(&host, &board(), || {
                std::hint::black_box(host.multiply_chain(multiplies));
            })
        };
        // Who has the CPU taken away while the chain runs finds too many: the fewest of some tries.
        let fewest = |multiplies| (0..5).map(|_| run(multiplies)).min().unwrap();
        let short = fewest(2_000);
        assert!((20..=400).contains(&short), "{short}");
        assert_eq!(fewest(2_000_000), 1);
    }
}
