//! `trace_printk` as the kernel stores it: the address of a format, and its arguments in binary
//! (`vbin_printf` in the kernel's lib/vsprintf.c).

use super::decode::Names;
use std::io::Write;

/// A text that is wider than this is a broken one.
const WIDEST: usize = 1024;

/// A conversion: `%-08lx` is flags `-0`, width 8, a long, `x`.
#[derive(Debug, Default)]
struct Conversion {
    left: bool,
    zero: bool,
    plus: bool,
    prefix: bool,
    width: usize,
    precision: Option<usize>,
    bytes: usize,
    letter: u8,
}

/// Writes the text of `format` with the arguments in `record` from byte `at` on; `long` is the size
/// of a long there. None where a conversion is not known or an argument is missing.
pub(super) fn write(
    out: &mut Vec<u8>,
    format: &str,
    record: &[u8],
    at: usize,
    long: usize,
    names: &Names,
) -> Option<()> {
    let mut arguments = Arguments { record, at };
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        out.extend_from_slice(before.as_bytes());
        let (conversion, after) = conversion(after, long, &mut arguments)?;
        rest = argument(out, &conversion, after, long, &mut arguments, names)?;
    }
    out.extend_from_slice(rest.as_bytes());
    Some(())
}

/// What stands behind a `%`, up to its letter; a width or a precision may be an argument.
fn conversion<'a>(
    text: &'a str,
    long: usize,
    arguments: &mut Arguments<'_>,
) -> Option<(Conversion, &'a str)> {
    let mut found = Conversion { bytes: 4, ..Conversion::default() };
    let mut at = 0;
    let bytes = text.as_bytes();
    loop {
        match bytes.get(at)? {
            b'-' => found.left = true,
            b'0' => found.zero = true,
            b'+' => found.plus = true,
            b'#' => found.prefix = true,
            b' ' => {}
            _ => break,
        }
        at += 1;
    }
    let mut number = |at: &mut usize| -> Option<usize> {
        if bytes.get(*at) == Some(&b'*') {
            *at += 1;
            return usize::try_from(arguments.number(4)? as i32).ok();
        }
        let mut value = 0_usize;
        while let Some(digit) = bytes.get(*at).filter(|byte| byte.is_ascii_digit()) {
            value = value.checked_mul(10)?.checked_add(usize::from(digit - b'0'))?;
            *at += 1;
        }
        Some(value)
    };
    found.width = number(&mut at)?;
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        found.precision = Some(number(&mut at)?);
    }
    if found.width.max(found.precision.unwrap_or(0)) > WIDEST {
        return None;
    }
    let rest = text.get(at..)?;
    let lengths = [("ll", 8), ("hh", 1), ("l", long), ("h", 2), ("z", long), ("t", long), ("L", 8)];
    let length = lengths.iter().find(|(letters, _)| rest.starts_with(letters));
    let rest = match length {
        Some((letters, bytes)) => {
            found.bytes = *bytes;
            rest.get(letters.len()..)?
        }
        None => rest,
    };
    found.letter = *rest.as_bytes().first()?;
    Some((found, rest.get(1..)?))
}

/// Writes one argument; what is left of the format behind it.
fn argument<'a>(
    out: &mut Vec<u8>,
    conversion: &Conversion,
    after: &'a str,
    long: usize,
    arguments: &mut Arguments<'_>,
    names: &Names,
) -> Option<&'a str> {
    let mut rest = after;
    let (sign, body) = match conversion.letter {
        b'%' => ("", "%".to_owned()),
        b'c' => ("", char::from(arguments.number(1)? as u8).to_string()),
        b's' => {
            let text = arguments.text()?;
            let most = conversion.precision.unwrap_or(usize::MAX);
            ("", text.chars().take(most).collect())
        }
        b'd' | b'i' => {
            let unused = 64 - 8 * conversion.bytes;
            let number = (arguments.number(conversion.bytes)? << unused).cast_signed() >> unused;
            let sign = if number < 0 {
                "-"
            } else if conversion.plus {
                "+"
            } else {
                ""
            };
            (sign, digits(number.unsigned_abs().to_string(), conversion))
        }
        b'u' => ("", digits(arguments.number(conversion.bytes)?.to_string(), conversion)),
        letter @ (b'x' | b'X' | b'o') => {
            let number = arguments.number(conversion.bytes)?;
            let (prefix, text) = match letter {
                b'x' => ("0x", format!("{number:x}")),
                b'X' => ("0X", format!("{number:X}")),
                _ => ("0", format!("{number:o}")),
            };
            (if conversion.prefix { prefix } else { "" }, digits(text, conversion))
        }
        b'p' => {
            let extension = after.as_bytes().first().filter(|byte| byte.is_ascii_alphanumeric());
            rest = after.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
            match extension {
                None | Some(b'x' | b'K' | b'e') => ("0x", format!("{:x}", arguments.number(long)?)),
                Some(b'S' | b's' | b'F' | b'f') => {
                    let address = arguments.number(long)?;
                    let name = names.symbols.function(address).map(str::to_owned);
                    ("", name.unwrap_or_else(|| format!("{address:#x}")))
                }
                // The kernel wrote all others as text.
                Some(_) => ("", arguments.text()?.into_owned()),
            }
        }
        _ => return None,
    };
    let missing = conversion.width.saturating_sub(sign.len() + body.chars().count());
    // What cannot be written to memory cannot be written anywhere.
    let _ = match (conversion.left, conversion.zero && conversion.precision.is_none()) {
        (true, _) => write!(out, "{sign}{body}{:missing$}", ""),
        (false, true) => write!(out, "{sign}{:0>missing$}{body}", ""),
        (false, false) => write!(out, "{:missing$}{sign}{body}", ""),
    };
    Some(rest)
}

/// At least as many digits as the precision says.
fn digits(text: String, conversion: &Conversion) -> String {
    let least = conversion.precision.unwrap_or(0);
    format!("{text:0>least$}")
}

/// The arguments, one behind the other.
struct Arguments<'a> {
    record: &'a [u8],
    at: usize,
}

impl<'a> Arguments<'a> {
    /// A number of so many bytes, at a multiple of its size: of 8 bytes, at one of 4.
    fn number(&mut self, bytes: usize) -> Option<u64> {
        let at = self.at.next_multiple_of(bytes.min(4));
        let end = at.checked_add(bytes)?;
        let mut number = [0; 8];
        number.get_mut(..bytes)?.copy_from_slice(self.record.get(at..end)?);
        self.at = end;
        Some(u64::from_le_bytes(number))
    }

    /// A text, up to its 0.
    fn text(&mut self) -> Option<std::borrow::Cow<'a, str>> {
        let rest = self.record.get(self.at..)?;
        let end = memchr::memchr(0, rest)?;
        self.at += end + 1;
        Some(String::from_utf8_lossy(rest.get(..end)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(format: &str, arguments: &[u8]) -> Option<String> {
        let mut out = Vec::new();
        let symbols = crate::dat::symbols::Symbols::of("1000 t do_it");
        let names = Names { symbols, ..Names::default() };
        write(&mut out, format, arguments, 0, 8, &names)?;
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn conversions_print_as_the_kernel_s() {
        let number = |value: i64| value.to_le_bytes();
        let told = |format: &str, value: i64| text(format, &number(value)).unwrap();
        assert_eq!(told("[%5d|", 42), "[   42|");
        assert_eq!(told("[%-5d|", -42), "[-42  |");
        assert_eq!(told("%05d %%", -42), "-0042 %");
        assert_eq!(told("%+i", 7), "+7");
        assert_eq!(told("%u", -1), "4294967295");
        assert_eq!(told("%lld", -1), "-1");
        assert_eq!(told("%#lx", 0x1234_5678_9abc), "0x123456789abc");
        assert_eq!(told("%08x", 0xbeef), "0000beef");
        assert_eq!(told("%hhd", 0xff), "-1");
        assert_eq!(told("%c!", 0x41), "A!");
        assert_eq!(told("%ps", 0x1004), "do_it");
        assert_eq!(told("%p", 0x1004), "0x1004");
        assert_eq!(text("%.3s|%6s", b"abcdef\0xy\0").as_deref(), Some("abc|    xy"));
        assert_eq!(text("%*d", &[5, 0, 0, 0, 9, 0, 0, 0]).as_deref(), Some("    9"));
    }

    #[test]
    fn arguments_lie_at_multiples_of_their_size() {
        // A character, then a long at a multiple of 4, then a text, then an int.
        let mut bytes = vec![b'A', 0, 0, 0];
        bytes.extend(5_u64.to_le_bytes());
        bytes.extend(b"hm\0\0");
        bytes.extend(9_u32.to_le_bytes());
        assert_eq!(text("%c %lu %s %d", &bytes).as_deref(), Some("A 5 hm 9"));
    }

    #[test]
    fn what_is_not_known_or_not_there_is_none() {
        assert_eq!(text("%f", &[0; 8]), None);
        assert_eq!(text("%d %d", &[0; 4]), None);
        assert_eq!(text("%", &[0; 8]), None);
        assert_eq!(text("%99999999999999999999d", &[0; 8]), None);
        assert_eq!(text("%70000d", &[0; 8]), None);
        assert_eq!(text("%s", b"endless"), None);
    }
}
