//! Logs of a real kernel through fresh governors: the decisions of the daemon are those of the model.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use flyball_govern::replay;
use proptest::prelude::*;

/// `flyball govern powerd` on a virtual board with Linux 6.12 (`scripts/try-govern --board`): a load, a
/// tunable set, another governor, limits, a governor and a CPU that others took and gave back.
const BOARD: &str = include_str!("fixtures/board-powerd.ndjson");

#[test]
fn decisions_on_a_real_kernel_are_the_models_to_the_byte() {
    for kind in ["start", "set", "note", "step"] {
        assert!(BOARD.contains(&format!(r#"{{"kind":"{kind}""#)), "{kind}");
    }
    for event in ["poll", "applied", "limits", "cpus"] {
        assert!(BOARD.contains(&format!(r#""event":"{event}""#)), "{event}");
    }
    let replayed = replay(BOARD).unwrap();
    assert_eq!(replayed.different, []);
    assert!(replayed.decisions > 70 && replayed.requests > 5, "{replayed:?}");
}

#[test]
fn another_decision_is_found() {
    let changed = BOARD.replacen("hadp: load above", "hadp: load far above", 1);
    let changed = match changed == BOARD {
        true => BOARD.replacen("hadp: load below", "hadp: load far below", 1),
        false => changed,
    };
    let replayed = replay(&changed).unwrap();
    assert_eq!(replayed.different.len(), 1, "{replayed:?}");
    // Times that a poll was told decide.
    let first = BOARD.find(r#""event":"poll""#).unwrap();
    let (head, rest) = BOARD.split_at(first);
    let later = rest.split_once('\n').unwrap();
    let busier = later.1.replacen(r#""idle_ns":"#, r#""idle_ns":9"#, 1);
    let replayed = replay(&format!("{head}{}\n{busier}", later.0)).unwrap();
    assert!(replayed.decisions > 70);
}

#[test]
fn a_torn_last_line_is_left_out_and_nonsense_refused() {
    let torn = &BOARD[..BOARD.len() - 20];
    assert_eq!(replay(torn).unwrap().different, []);
    let error = replay("{}\n").unwrap_err();
    assert!(error.to_string().starts_with("line 1: expected a line of a log"), "{error}");
    let (_, headless) = BOARD.split_once('\n').unwrap();
    assert!(replay(headless).unwrap_err().to_string().contains("has not started"));
}

/// A log says itself that it ended: whatever is cut off it is told, or refused.
#[test]
fn a_cut_log_is_never_taken_for_a_whole_one() {
    let whole = format!("{BOARD}{}\n", r#"{"kind":"note","t_ns":9,"domain":null,"note":"ended"}"#);
    assert!(replay(&whole).unwrap().ended);
    for text in ["", "\n", "[[[["] {
        assert!(replay(text).is_err(), "{text:?}");
    }
    // A cut inside the last note leaves the decisions, and a log without its end.
    for at in (0..whole.len() - 1).rev().step_by(211) {
        if let Ok(replayed) = replay(&whole[..at]) {
            assert!(!replayed.ended, "cut at {at}");
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in ".{0,200}", at in 0..BOARD.len()) {
        let _ = replay(&text);
        if BOARD.is_char_boundary(at) {
            let _ = replay(&BOARD[at..]);
        }
    }
}
