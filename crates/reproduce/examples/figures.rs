//! Prints the figures as text.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

fn main() {
    for figure in flyball_reproduce::figures::all().unwrap() {
        println!("{}", figure.terminal(100));
    }
}
