//! From a trace's text to its rows, as the tests need it.

use flyball_events::ftrace::Reader;
use flyball_events::import::{Builder, Built};
use std::io::{self, Read};

/// The rows of a trace's text, and the reader that got to its end.
pub fn read<R: Read>(text: R) -> (Built, Reader<R>) {
    let mut builder = Builder::new();
    let mut reader = Reader::new(text);
    reader
        .for_each(|item| -> io::Result<()> {
            builder.item(item);
            Ok(())
        })
        .unwrap();
    (builder.finish(), reader)
}
