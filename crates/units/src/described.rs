//! What a reader of described things (TOML by serde) says of a file, in a person's terms: the line, and the key
//! that was probably meant.

use crate::{Mismatch, nearest};

/// Line and column, from 1, of a byte of a text.
#[must_use]
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (line, column)
}

/// The key or word that was found, and the right one that is nearest to it.
///
/// serde says ``unknown field `perod`, expected one of `name`, `seed` ``: the words in backticks are the found one
/// and the right ones.
#[must_use]
pub fn nearest_key(message: &str) -> Option<(&str, &str)> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let found = quoted.next()?;
    Some((found, nearest(found, quoted)?))
}

/// What serde says, with words for Rust's names of types.
#[must_use]
pub fn in_words(message: &str) -> String {
    const WORDS: [(&str, &str); 5] = [
        ("expected u8", "expected a whole number from 0 to 255"),
        ("expected u32", "expected a whole number from 0 to 4294967295"),
        ("expected u64", "expected a whole number of 0 or more"),
        ("expected f64", "expected a number"),
        ("expected a sequence", "expected a list, such as [\"a\", \"b\"]"),
    ];
    match WORDS.iter().find(|(rust, _)| message.contains(rust)) {
        Some((rust, words)) => message.replacen(rust, words, 1),
        None => message.to_owned(),
    }
}

/// The key of the value at this byte of a TOML text, where both stand on one line.
#[must_use]
pub fn key_at(text: &str, offset: usize) -> Option<&str> {
    let before = text.get(..offset)?;
    let (key, _) = before.rsplit('\n').next()?.split_once('=')?;
    let key = key.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!key.is_empty() && key.chars().all(plain)).then_some(key)
}

/// A file that is no `what`, by the reader's message and the byte where it stopped.
#[must_use]
pub fn slip(what: &str, text: &str, message: &str, offset: Option<usize>) -> Mismatch {
    let message = &in_words(message.trim());
    let slip = match message.split_once(", expected ") {
        Some((found, expected)) => Mismatch::value(expected, found),
        None => Mismatch::value(what, message),
    };
    let slip = match nearest_key(message) {
        Some((_, right)) => slip.hint(format!("did you mean `{right}`?")),
        None => slip,
    };
    match offset.map(|offset| line_and_column(text, offset)) {
        Some((line, column)) => slip.at(format!("line {line}, column {column}")),
        None => slip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_one() {
        assert_eq!(line_and_column("ä = 1\nöb = 2", 9), (2, 2));
        assert_eq!(line_and_column("a", 0), (1, 1));
        assert_eq!(line_and_column("a\nb", 99), (2, 2), "behind the end");
    }

    #[test]
    fn the_reader_s_words_in_a_person_s_order() {
        let text = "[[rule]]\nclas = \"x\"\n";
        let said = "unknown field `clas`, expected one of `class`, `ramp`";
        let found = slip("a file of rules", text, said, Some(9));
        let sentence =
            "line 2, column 1: expected one of `class`, `ramp`, found unknown field `clas`";
        assert_eq!(found.to_string(), sentence);
        assert_eq!(found.hint.as_deref(), Some("did you mean `class`?"));
        let other = slip("a file of rules", text, "missing field `a`\n", None);
        assert_eq!(other.to_string(), "expected a file of rules, found missing field `a`");
    }

    #[test]
    fn types_have_words_and_values_their_key() {
        let said = "invalid type: string \"x\", expected u32";
        let words = "invalid type: string \"x\", expected a whole number from 0 to 4294967295";
        assert_eq!(in_words(said), words);
        assert_eq!(in_words("expected a duration"), "expected a duration");
        let text = "[input]\nrepeats = \"x\"\na = [\n  1]\n\"q r\" = 3\nb = { c = 1 }";
        assert_eq!(key_at(text, 18), Some("repeats"));
        assert_eq!(key_at(text, 1), None, "no value");
        assert_eq!(key_at(text, text.find("1]").unwrap()), None, "on another line");
        assert_eq!(key_at(text, text.find('3').unwrap()), None);
        assert_eq!(key_at(text, 9999), None, "behind the end");
    }
}
