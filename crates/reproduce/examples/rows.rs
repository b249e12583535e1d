//! Prints every row as one line: id, published, ours, verdict. Arguments: starts of ids; `-d DIR`
//! for the recordings.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::unwrap_used)]

use flyball_reproduce::{Options, Verdict, reproduce};

fn main() {
    let mut options = Options::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-d" => options.data = arguments.next().map(Into::into),
            id => options.ids.push(id.to_owned()),
        }
    }
    let all = reproduce(&options, &|_, _| {}).unwrap();
    for row in all.rows.iter().filter(|row| row.verdict != Verdict::Input) {
        let range =
            row.ours_range.map_or(String::new(), |r| format!("[{:.2}, {:.2}]", r.low, r.high));
        let ours = row.ours.map_or("-".to_owned(), |v| format!("{v:.3}"));
        println!(
            "{:46}{:>10} {ours:>12} {range:20} {:14}{}",
            row.id,
            row.published,
            row.verdict.word(),
            row.why
        );
    }
}
