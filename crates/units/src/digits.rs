//! The digits at the begin of a text, eight at a time.

/// Powers of ten up to that of eight digits.
const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The number without sign at the begin of `text`, and how many digits it has. None where there is
/// no digit or the number exceeds 64 bits.
#[inline]
pub fn leading_number(text: &[u8]) -> Option<(u64, usize)> {
    let (mut value, mut digits) = (0_u64, 0);
    while let Some(chunk) = text.get(digits..).and_then(<[u8]>::first_chunk::<8>) {
        // A digit's byte becomes its value; any other one is then above 9, and so gets its highest
        // bit by the sum. A carry out of it spoils only bytes that are behind it.
        let bytes = u64::from_le_bytes(*chunk) ^ 0x3030_3030_3030_3030;
        let others = (bytes.wrapping_add(0x7676_7676_7676_7676) | bytes) & 0x8080_8080_8080_8080;
        let count = others.trailing_zeros() / 8;
        if count == 0 {
            break;
        }
        // The first digit is in the lowest byte: shifted up, zeros stand before it.
        let part = eight_digits(bytes << (64 - 8 * count));
        value = value.checked_mul(*POWERS.get(count as usize)?)?.checked_add(part)?;
        digits += count as usize;
        if count < 8 {
            return Some((value, digits));
        }
    }
    for byte in text.get(digits..).unwrap_or_default() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.checked_mul(10)?.checked_add(digit.into())?;
        digits += 1;
    }
    (digits > 0).then_some((value, digits))
}

/// The number that eight bytes of 0 to 9 are, the first in the lowest byte: neighbours are joined to
/// pairs, these to fours, and these to the whole.
#[inline]
fn eight_digits(bytes: u64) -> u64 {
    let pairs = bytes.wrapping_mul(1 + (10 << 8)) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(1 + (100 << 16)) >> 16 & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(1 + (10_000 << 32)) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Digit by digit.
    fn slowly(text: &[u8]) -> Option<(u64, usize)> {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let value = std::str::from_utf8(&text[..digits]).unwrap().parse().ok()?;
        Some((value, digits))
    }

    proptest! {
        #[test]
        fn as_digit_by_digit(text in "[0-9]{0,22}[ -~\u{80}-\u{ff}]{0,9}", bytes: Vec<u8>) {
            prop_assert_eq!(leading_number(text.as_bytes()), slowly(text.as_bytes()));
            prop_assert_eq!(leading_number(&bytes), slowly(&bytes));
            let behind = [text.as_bytes(), &bytes].concat();
            prop_assert_eq!(leading_number(&behind), slowly(&behind));
        }
    }

    #[test]
    fn the_ends() {
        for text in [
            "",
            "x",
            "7",
            "12345678",
            "123456789x",
            "0000000000000000000000007;",
            "18446744073709551615",
            "18446744073709551616",
            "99999999999999999999999 ",
        ] {
            assert_eq!(leading_number(text.as_bytes()), slowly(text.as_bytes()), "{text}");
        }
    }
}
