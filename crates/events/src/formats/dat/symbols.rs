//! The kernel's functions by address: the text of `/proc/kallsyms`, which a file carries whole (millions of bytes) and of
//! which most recordings ask nothing.

use std::cell::OnceCell;
use std::ops::Range;

/// Farther behind a function's begin nobody is in it.
const FUNCTION_BYTES: u64 = 64 << 10;

/// Names of functions; the text is read when the first address is asked for.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    text: Vec<u8>,
    /// Where each function begins, and its name in the text; ascending.
    functions: OnceCell<Vec<(u64, Range<usize>)>>,
}

impl Symbols {
    #[cfg(test)]
    pub(super) fn of(lines: &str) -> Symbols {
        Symbols { text: lines.into(), ..Symbols::default() }
    }

    /// Adds lines such as `ffffffff81000000 T _text`.
    pub(super) fn extend(&mut self, lines: &[u8]) {
        self.text.extend_from_slice(lines);
        self.functions = OnceCell::new();
    }

    /// The function that an address lies in.
    pub(super) fn function(&self, address: u64) -> Option<&str> {
        let functions = self.functions.get_or_init(|| self.read());
        let after = functions.partition_point(|(begin, _)| *begin <= address);
        let (begin, name) = functions.get(after.checked_sub(1)?)?;
        let name = str::from_utf8(self.text.get(name.clone())?).ok()?;
        (address - begin < FUNCTION_BYTES).then_some(name)
    }

    fn read(&self) -> Vec<(u64, Range<usize>)> {
        let mut functions = Vec::new();
        let mut line_begin = 0;
        for line in self.text.split_inclusive(|byte| *byte == b'\n') {
            let mut begin = line_begin;
            let words = line.split(u8::is_ascii_whitespace).map(|word| {
                let place = begin..begin + word.len();
                begin = place.end + 1;
                place
            });
            let mut words = words.filter(|place| !place.is_empty());
            let address = words.next().and_then(|place| str::from_utf8(self.text.get(place)?).ok());
            let address = address.and_then(|word| u64::from_str_radix(word, 16).ok());
            // Addresses are 0 where the recorder was not allowed to see them.
            if let (Some(address @ 1..), Some(name)) = (address, words.nth(1)) {
                functions.push((address, name));
            }
            line_begin += line.len();
        }
        functions.sort_unstable_by_key(|(address, name)| (*address, self.text.get(name.clone())));
        functions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_lies_in_the_function_before_it() {
        let mut symbols = Symbols::default();
        symbols.extend(b"0000000000002000 t later\n0000000000001000 T  first\t[module]\n");
        assert_eq!(symbols.function(0x1004), Some("first"));
        symbols.extend(b"0000000000000000 T hidden\nnothing\n0000000000003000 T last");
        assert_eq!(symbols.function(0xfff), None);
        assert_eq!(symbols.function(0x2000), Some("later"));
        assert_eq!(symbols.function(0x3000 + FUNCTION_BYTES - 1), Some("last"));
        assert_eq!(symbols.function(0x3000 + FUNCTION_BYTES), None);
    }
}
