//! Every number of the sources' texts is in the catalogue, or left out with a reason; and the
//! catalogue holds no number that the texts do not print. Skipped where the texts are absent.
#![allow(clippy::expect_used, clippy::print_stderr, missing_docs)]

use flyball_reproduce::{Catalogue, Entry, Source};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A number in a text.
#[derive(Debug, Clone, PartialEq)]
struct Token {
    line: usize,
    text: String,
}

/// The numbers of a line: digits with decimals. Digits that follow a letter or an underscore are
/// part of a name (`policy0`, `M1`, `CPU4`, `run-001`), not a number; nor is what counts headings
/// and the items of a list.
fn numbers(line: usize, text: &str) -> Vec<Token> {
    let text = without_counter(text).replace("run-0", "run-_0");
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !digit(at) {
            at += 1;
            continue;
        }
        let start = at;
        while digit(at) || (bytes.get(at) == Some(&b'.') && digit(at + 1)) {
            at += 1;
        }
        let before = start.checked_sub(1).and_then(|i| bytes.get(i));
        if !before.is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_') {
            tokens.push(Token { line, text: text[start..at].to_owned() });
        }
    }
    tokens
}

/// A line without the number of its heading (`### 3.1 Results`) or of its list item (`2. text`).
fn without_counter(text: &str) -> &str {
    let start = text.trim_start();
    let title = start.trim_start_matches('#');
    let rest = title.trim_start().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let counted = title.trim_start().len() - rest.len();
    let heading = title.len() < start.len();
    let item = counted > 1 && title.trim_start()[..counted].ends_with('.');
    if counted > 0 && rest.starts_with(' ') && (heading || item) { rest } else { text }
}

fn text_of(source: &Source) -> Option<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/sources")
        .join(&source.text);
    match fs_err::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

fn unsigned(entry: &Entry) -> &str {
    entry.published.text.trim_start_matches(['+', '-'])
}

#[test]
fn every_number_of_the_texts_is_accounted_for() {
    let catalogue = Catalogue::load().expect("the catalogue");
    let mut missing = Vec::new();
    let mut stale = Vec::new();
    for source in &catalogue.sources {
        let Some(text) = text_of(source) else { continue };
        let mut printed: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for entry in catalogue.entries.iter().filter(|entry| entry.source == source.letter) {
            for line in &entry.lines {
                printed.entry(*line).or_default().push(unsigned(entry));
            }
        }
        let mut used = vec![false; source.excluded.len()];
        for (line, content) in (1..).zip(text.lines()) {
            for token in numbers(line, content) {
                let entered =
                    printed.get(&line).is_some_and(|known| known.contains(&token.text.as_str()));
                let excluded = source.excluded.iter().position(|part| {
                    (part.lines[0]..=part.lines[1]).contains(&line)
                        && (part.only.is_empty() || part.only.contains(&token.text))
                });
                match (entered, excluded) {
                    (true, _) => {}
                    (false, Some(part)) => used[part] = true,
                    (false, None) => {
                        missing.push(format!("{} line {line}: {}", source.letter, token.text));
                    }
                }
            }
        }
        for (part, used) in source.excluded.iter().zip(used) {
            if !used {
                stale.push(format!("{} lines {:?}: {}", source.letter, part.lines, part.reason));
            }
        }
    }
    assert!(missing.is_empty(), "{} numbers in no entry:\n{}", missing.len(), missing.join("\n"));
    assert!(stale.is_empty(), "exclusions of nothing:\n{}", stale.join("\n"));
}

#[test]
fn every_entry_is_printed_where_it_says() {
    let catalogue = Catalogue::load().expect("the catalogue");
    let mut wrong = Vec::new();
    for source in &catalogue.sources {
        let Some(text) = text_of(source) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        for entry in catalogue.entries.iter().filter(|entry| entry.source == source.letter) {
            let is_check = entry.kind == flyball_reproduce::Kind::Check;
            if entry.lines.is_empty() != is_check {
                wrong.push(format!("{}: only checks are printed nowhere", entry.id));
            }
            for &line in &entry.lines {
                let content = line.checked_sub(1).and_then(|i| lines.get(i)).unwrap_or(&"");
                let found = numbers(line, content);
                if !found.iter().any(|token| token.text == unsigned(entry)) {
                    wrong.push(format!("{} line {line}: no {}", entry.id, unsigned(entry)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_tokenizer_knows_names_from_numbers() {
    let texts = |text: &str| -> Vec<String> {
        numbers(1, text).into_iter().map(|token| token.text).collect()
    };
    assert_eq!(texts("policy0 of the M1: 1.42x, ~99% of 500ms"), ["1.42", "99", "500"]);
    assert_eq!(texts("-48.6 %, 1200+, run-001, fc42"), ["48.6", "1200"]);
    assert_eq!(texts("### 3.1 Results of 2 runs"), ["2"]);
    assert_eq!(texts("2. **H1**: 3.21 times"), ["3.21"]);
    assert_eq!(texts("600 MHz and 75"), ["600", "75"]);
    assert_eq!(texts("0.0    1.4000000000000001."), ["0.0", "1.4000000000000001"]);
}
