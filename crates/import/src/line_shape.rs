//! The shape of a line of JSON: all that is not a number. Lines that a program writes one like the
//! other differ in their numbers alone, so one that was taken apart tells where those of the next
//! ones stand. An object without blanks, of whole numbers and plain strings, has a shape; everything
//! else is for a reader of JSON, which decides what is right.

use std::ops::Range;

use flyball_units::leading_number;

/// Lines without a shape until none is looked for any more.
const MISSES_MAX: u32 = 64;

/// Reads lines by the shape of the one before. `N` numbers and `T` texts are wanted, by their names;
/// others are passed over.
pub(super) struct LineShapes<const N: usize, const T: usize> {
    numbers: &'static [&'static str; N],
    texts: &'static [&'static str; T],
    shape: Option<Shape<T>>,
    misses: u32,
}

/// The wanted fields of a line.
pub(super) struct Fields<'a, const N: usize, const T: usize> {
    pub numbers: [Option<u64>; N],
    pub texts: [Option<&'a str>; T],
}

struct Shape<const T: usize> {
    /// The line that it was taken from.
    line: String,
    numbers: Vec<Number>,
    /// Where what follows the last number begins.
    end: usize,
    /// How many numbers stand before a text, and where it stands behind the last of these.
    texts: [Option<(usize, Range<usize>)>; T],
}

/// A number, and what stands between the one before and it.
struct Number {
    before: Range<usize>,
    /// Which of the wanted ones it is.
    wanted: Option<usize>,
    /// Whether a wanted text stands before it, behind the number before.
    is_behind_text: bool,
}

impl<const N: usize, const T: usize> LineShapes<N, T> {
    pub fn new(
        numbers: &'static [&'static str; N],
        texts: &'static [&'static str; T],
    ) -> LineShapes<N, T> {
        LineShapes { numbers, texts, shape: None, misses: 0 }
    }

    /// The fields of a line; none where it has no shape.
    pub fn read<'a>(&mut self, line: &'a str) -> Option<Fields<'a, N, T>> {
        if let Some(fields) = self.shape.as_ref().and_then(|shape| shape.read(line)) {
            return Some(fields);
        }
        if self.misses >= MISSES_MAX {
            return None;
        }
        match Shape::of(line, self.numbers, self.texts) {
            Some(shape) => self.shape.insert(shape).read(line),
            None => {
                self.misses += 1;
                None
            }
        }
    }
}

impl<const T: usize> Shape<T> {
    fn of(line: &str, numbers: &[&str], texts: &[&str]) -> Option<Shape<T>> {
        let bytes = line.as_bytes();
        let mut shape = Shape {
            line: line.to_owned(),
            numbers: Vec::new(),
            end: 0,
            texts: [const { None }; T],
        };
        let mut at = 0;
        loop {
            let expected = if at == 0 { b'{' } else { b',' };
            let name = string(line, at, expected)?;
            at = name.end + 1;
            let name = line.get(name)?;
            let number = numbers.iter().position(|wanted| *wanted == name);
            let text = texts.iter().position(|wanted| *wanted == name);
            match leading_number(bytes.get(at + 1..)?) {
                Some((_, digits)) if text.is_none() && bytes.get(at) == Some(&b':') => {
                    let twice = shape.numbers.iter().any(|known| known.wanted == number);
                    if number.is_some() && twice {
                        return None;
                    }
                    at += 1;
                    let count = shape.numbers.len();
                    let is_behind_text =
                        shape.texts.iter().flatten().any(|(numbers, _)| *numbers == count);
                    let before = shape.end..at;
                    shape.numbers.push(Number { before, wanted: number, is_behind_text });
                    at += digits;
                    shape.end = at;
                }
                _ if number.is_none() => {
                    let value = string(line, at, b':')?;
                    at = value.end + 1;
                    if let Some(slot) = text.and_then(|text| shape.texts.get_mut(text)) {
                        let behind = value.start - shape.end..value.end - shape.end;
                        if slot.replace((shape.numbers.len(), behind)).is_some() {
                            return None;
                        }
                    }
                }
                _ => return None,
            }
            if bytes.get(at..) == Some(b"}") {
                return Some(shape);
            }
        }
    }

    fn read<'a, const N: usize>(&self, line: &'a str) -> Option<Fields<'a, N, T>> {
        let bytes = line.as_bytes();
        let own = self.line.as_bytes();
        let mut fields = Fields { numbers: [None; N], texts: [None; T] };
        let take = |texts: &mut [Option<&'a str>; T], numbers: usize, from: usize| {
            for (slot, text) in texts.iter_mut().zip(&self.texts) {
                if let Some((before, behind)) = text
                    && *before == numbers
                {
                    *slot = line.get(from + behind.start..from + behind.end);
                }
            }
        };
        let mut at = 0;
        for (count, number) in self.numbers.iter().enumerate() {
            let before = own.get(number.before.clone())?;
            let (here, rest) = bytes.get(at..)?.split_at_checked(before.len())?;
            if here != before {
                return None;
            }
            if number.is_behind_text {
                take(&mut fields.texts, count, at);
            }
            let (value, digits) = leading_number(rest)?;
            // No number of JSON begins with a zero, but zero itself.
            if digits > 1 && rest.first() == Some(&b'0') {
                return None;
            }
            if let Some(slot) = number.wanted.and_then(|wanted| fields.numbers.get_mut(wanted)) {
                *slot = Some(value);
            }
            at += before.len() + digits;
        }
        take(&mut fields.texts, self.numbers.len(), at);
        (bytes.get(at..)? == own.get(self.end..)?).then_some(fields)
    }
}

/// Where the string stands that follows `before` and a quotation mark at `at`: without anything that
/// means something else.
fn string(line: &str, at: usize, before: u8) -> Option<Range<usize>> {
    let rest = line.as_bytes().get(at..)?.strip_prefix(&[before, b'"'])?;
    let plain = rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f)).count();
    (rest.get(plain) == Some(&b'"')).then(|| at + 2..at + 2 + plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NUMBERS: [&str; 3] = ["a", "b", "c"];
    const TEXTS: [&str; 2] = ["t", "u"];

    type Found = ([Option<u64>; 3], Vec<Option<String>>);

    /// What of a line is found, once its shape is known and while it is not.
    fn read(lines: &[&str]) -> Vec<Option<Found>> {
        let mut shapes = LineShapes::new(&NUMBERS, &TEXTS);
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let found = |fields: Fields<'_, 3, 2>| (fields.numbers, fields.texts.map(owned).to_vec());
        lines.iter().map(|line| shapes.read(line).map(found)).collect()
    }

    #[test]
    fn numbers_and_texts_where_they_stand() {
        let found = read(&[
            r#"{"u":"","a":1,"x":"é, \u{7f}","t":"k","y":123456789012,"b":20}"#,
            r#"{"u":"","a":15021350747717,"x":"é, \u{7f}","t":"k","y":3,"b":0}"#,
        ]);
        assert_eq!(found, [None, None], "a backslash");
        let found = read(&[
            r#"{"u":"","a":1,"x":"é, ","t":"k","y":123456789012,"b":20}"#,
            r#"{"u":"","a":15021350747717,"x":"é, ","t":"k","y":3,"b":0}"#,
            r#"{"u":"","a":5,"x":"é, ","t":"other","y":3,"b":0}"#,
            r#"{"c":18446744073709551615,"u":"last"}"#,
        ]);
        let texts = |u: &str, t: &str| vec![Some(t.to_owned()), Some(u.to_owned())];
        let expected = [
            ([Some(1), Some(20), None], texts("", "k")),
            ([Some(15_021_350_747_717), Some(0), None], texts("", "k")),
            ([Some(5), Some(0), None], texts("", "other")),
            ([None, None, Some(u64::MAX)], vec![None, Some("last".to_owned())]),
        ];
        assert_eq!(found, expected.map(Some));
    }

    #[test]
    fn whatever_is_not_plain_has_no_shape() {
        for line in [
            "",
            "{}",
            "{\"a\":1",
            "{\"a\":1} ",
            "{ \"a\":1}",
            "{\"a\":01}",
            "{\"a\":-1}",
            "{\"a\":1.5}",
            "{\"a\":1e3}",
            "{\"a\":null}",
            "{\"a\":\"1\"}",
            "{\"t\":1}",
            "{\"a\":1,\"a\":1}",
            "{\"t\":\"\",\"t\":\"\"}",
            "{\"x\":[1]}",
            "{\"a\":18446744073709551616}",
            "{\"t\":\"\u{1}\"}",
            "{\"t\":\"a\\n\"}",
            "{\"a\":1,}",
            "[1]",
            "{\"a\"1}",
            "{\"a\":}",
        ] {
            assert_eq!(read(&[line]), [None], "{line}");
            assert_eq!(read(&["{\"a\":1}", line])[1], None, "{line} behind one with a shape");
        }
    }

    proptest! {
        /// What has a shape reads the same as JSON.
        #[test]
        fn as_a_reader_of_json(
            lines in prop::collection::vec(
                "[{](\"(a|b|t|x)\":([0-9]{1,21}|\"[a-z\\\\]{0,2}\"|null),?){0,3}[}]",
                1..6,
            ),
        ) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            for (line, found) in lines.iter().zip(read(&lines)) {
                let Some((numbers, texts)) = found else { continue };
                let value: serde_json::Value = serde_json::from_str(line).unwrap();
                for (name, number) in NUMBERS.iter().zip(numbers) {
                    prop_assert_eq!(value.get(name).and_then(|v| v.as_u64()), number);
                }
                for (name, text) in TEXTS.iter().zip(texts) {
                    prop_assert_eq!(value.get(name).and_then(|v| v.as_str()), text.as_deref());
                }
            }
        }
    }
}
