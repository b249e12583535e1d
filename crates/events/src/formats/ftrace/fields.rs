//! Words and numbers in the text of an event, by bytes.

use super::line::Malformed;
use flyball_units::leading_number;
use memchr::memchr;

/// What a parser here returns.
pub(super) type Parsed<'a, T> = Result<T, Malformed<'a>>;

/// `text` without leading spaces.
#[inline]
pub(super) fn trim(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while let Some((chunk, behind)) = rest.split_first_chunk::<8>() {
        let others = u64::from_le_bytes(*chunk) ^ BLANKS;
        if others != 0 {
            return rest.get(others.trailing_zeros() as usize / 8..).unwrap_or_default();
        }
        rest = behind;
    }
    let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
    rest.get(blanks..).unwrap_or_default()
}

/// Eight of them.
const BLANKS: u64 = u64::from_le_bytes([b' '; 8]);

/// Where the blanks of eight bytes stand: the highest bit of each one.
#[inline]
fn blanks_of(chunk: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let others = chunk ^ BLANKS;
    !((others & LOW).wrapping_add(LOW) | others | LOW)
}

/// What follows the first word that begins with `key`.
#[inline]
pub(super) fn after<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let mut rest = text;
    loop {
        if let Some(value) = rest.strip_prefix(key) {
            return Some(value);
        }
        let blank = memchr(b' ', rest)?;
        rest = rest.get(blank + 1..)?;
    }
}

/// The first word of `text`.
pub(super) fn word(text: &[u8]) -> &[u8] {
    let end = memchr(b' ', text).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// A number without sign at the begin of `text`, and what follows. None where there is no digit or
/// the number exceeds 64 bits.
#[inline]
pub(super) fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let (value, digits) = leading_number(text)?;
    Some((value, text.get(digits..).unwrap_or_default()))
}

/// A number that may be written `0x...`.
pub(super) fn hex_or_decimal(text: &[u8]) -> Option<u64> {
    let Some(hex) = text.strip_prefix(b"0x") else { return number(text).map(|(value, _)| value) };
    let mut value = 0_u64;
    let mut digits = 0;
    for byte in hex.iter().take_while(|byte| byte.is_ascii_hexdigit()) {
        let digit = char::from(*byte).to_digit(16)?;
        value = value.checked_mul(16)?.checked_add(digit.into())?;
        digits += 1;
    }
    (digits > 0).then_some(value)
}

/// The number behind `key`, which has to be there.
pub(super) fn need<'a, T: TryFrom<u64>>(text: &'a [u8], key: &'static str) -> Parsed<'a, T> {
    take(text, key).map(|(value, _)| value)
}

/// The number behind `key` and what follows it; keys come in the order of the kernel's format.
pub(super) fn take<'a, T: TryFrom<u64>>(
    text: &'a [u8],
    key: &'static str,
) -> Parsed<'a, (T, &'a [u8])> {
    let malformed = Malformed { expected: key, found: text };
    let value = after(text, key.as_bytes()).ok_or(malformed)?;
    let (value, rest) = number(value).ok_or(malformed)?;
    // A digit would follow where the number is whole and a letter where it is not one.
    if rest.first().is_some_and(u8::is_ascii_alphanumeric) {
        return Err(malformed);
    }
    Ok((T::try_from(value).map_err(|_| malformed)?, rest))
}

/// The number behind `key`, decimal or `0x...`; none where the key is not there.
pub(super) fn optional(text: &[u8], key: &[u8]) -> Option<u32> {
    after(text, key).and_then(hex_or_decimal).and_then(|value| u32::try_from(value).ok())
}

/// The kernel's names of tasks are no longer (TASK_COMM_LEN less its end).
pub(super) const NAME_BYTES: usize = 15;

/// A name that may hold spaces: from `text`'s begin up to ` key`, and what follows from `key` on. A name may
/// hold the key, too; so the last one counts that leaves it no longer than the kernel's are.
pub(super) fn name<'a>(text: &'a [u8], key: &'static str) -> Parsed<'a, (&'a [u8], &'a [u8])> {
    if let Some(found) = short_name(text, key.as_bytes()) {
        return Ok(found);
    }
    let mut from = 0;
    let mut found = None;
    while let Some(blank) = text.get(from..).and_then(|rest| memchr(b' ', rest)) {
        let (end, next) = (from + blank, from + blank + 1);
        if end > NAME_BYTES && found.is_some() {
            break;
        }
        if let Some(rest) = text.get(next..).filter(|rest| rest.starts_with(key.as_bytes())) {
            found = Some((text.get(..end).unwrap_or_default(), rest));
        }
        from = next;
    }
    found.ok_or(Malformed { expected: key, found: text })
}

/// The same for a name that is no longer than the kernel's; none where there is no key so near.
#[inline]
fn short_name<'a>(text: &'a [u8], key: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    const CHUNK: usize = 8;
    const { assert!(NAME_BYTES + 1 == 2 * CHUNK) };
    // From the last one on.
    for from in [CHUNK, 0] {
        let chunk = text.get(from..).and_then(<[u8]>::first_chunk::<CHUNK>)?;
        let mut blanks = blanks_of(u64::from_le_bytes(*chunk));
        while blanks != 0 {
            let last = 63 - blanks.leading_zeros();
            let end = from + last as usize / 8;
            let rest = text.get(end + 1..)?;
            if rest.starts_with(key) {
                return Some((text.get(..end)?, rest));
            }
            blanks ^= 1 << last;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_they_end() {
        assert_eq!(number(b"012 x"), Some((12, b" x".as_slice())));
        assert_eq!(number(b"x"), None);
        assert_eq!(number(b"18446744073709551616"), None, "one above 64 bits");
        assert_eq!(hex_or_decimal(b"0x8000000c"), Some(0x8000_000c));
        assert_eq!(hex_or_decimal(b"0x"), None);
        assert!(need::<u32>(b"pid=4294967296", "pid=").is_err());
        assert!(need::<u32>(b"pid=12a", "pid=").is_err());
    }

    proptest::proptest! {
        /// The way by chunks finds what the way by words does.
        #[test]
        fn near_names_as_far_ones(text in "[ab =]{0,24}( a=)?[ab ]{0,9}") {
            let key = b"a=";
            let near = short_name(text.as_bytes(), key).map(|(name, _)| name.len());
            let ends = (0..=NAME_BYTES).rev();
            let is_key = |end: &usize| {
                text.as_bytes().get(*end..).is_some_and(|rest| rest.starts_with(b" a="))
            };
            // Fewer than two chunks are left to the other way.
            let expected = if text.len() < 2 * 8 { None } else { ends.clone().find(is_key) };
            proptest::prop_assert_eq!(near, expected);
            let found = name(text.as_bytes(), "a=").map(|(name, _)| name.len()).ok();
            let far = || (0..text.len()).find(is_key);
            proptest::prop_assert_eq!(found, ends.clone().find(is_key).or_else(far));
            let blanks = text.bytes().take_while(|byte| *byte == b' ').count();
            proptest::prop_assert_eq!(trim(text.as_bytes()), &text.as_bytes()[blanks..]);
        }
    }

    #[test]
    fn names_may_hold_spaces() {
        let (name, rest) = name(b"a task pid=7", "pid=").unwrap();
        assert_eq!((name, rest), (b"a task".as_slice(), b"pid=7".as_slice()));
        let forged = super::name(b"x pid=7 prio=1 pid=123 prio=120", "pid=").unwrap();
        assert_eq!(forged, (b"x pid=7 prio=1".as_slice(), b"pid=123 prio=120".as_slice()));
        assert_eq!(after(b"xpid=3 pid=4", b"pid="), Some(b"4".as_slice()), "whole words only");
    }
}
