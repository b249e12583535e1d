//! Text columns read by the codes of their dictionary: a text is looked at once, not once per cell.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};

use super::{Rows, no_room, text};
use crate::column::Labels;

/// Adds the cells of a group of a column without nulls to `labels`; false, and nothing added, where a page holds
/// its texts in another way.
///
/// # Errors
/// A damaged file.
pub(super) fn read(
    labels: &mut Labels,
    mut pages: Box<dyn PageReader>,
    rows: Rows,
) -> ParquetResult<bool> {
    let mut dictionary = Vec::new();
    let mut codes = Vec::new();
    codes.try_reserve_exact(rows.here).map_err(no_room)?;
    while let Some(page) = pages.get_next_page()? {
        let (values, count) = match page {
            Page::DictionaryPage { buf, num_values, encoding, .. } => {
                if !matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY) {
                    return Ok(false);
                }
                dictionary = texts(&buf, num_values)?;
                continue;
            }
            Page::DataPage { buf, num_values, encoding, .. } if coded(encoding) => {
                (buf, num_values)
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                def_levels_byte_len: 0,
                rep_levels_byte_len: 0,
                ..
            } if coded(encoding) => (buf, num_values),
            _ => return Ok(false),
        };
        let before = codes.len();
        let wanted = before + count as usize;
        if wanted > rows.here {
            return Err(damaged("more cells than rows"));
        }
        unpack(&values, wanted, &mut codes)?;
        let known = |code: &u32| (*code as usize) < dictionary.len();
        if !codes.get(before..).unwrap_or_default().iter().all(known) {
            return Err(damaged("a code without a text"));
        }
    }
    if codes.len() < rows.here {
        return Err(damaged("fewer cells than rows"));
    }
    labels.try_reserve(rows.left).map_err(no_room)?;
    labels.extend_coded(&dictionary, &codes);
    Ok(true)
}

fn coded(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY)
}

fn damaged(what: &str) -> ParquetError {
    ParquetError::General(format!("a column of texts has {what}"))
}

/// The texts of a dictionary: each behind its length, four bytes.
fn texts(page: &Bytes, count: u32) -> ParquetResult<Vec<String>> {
    let short = || damaged("a dictionary that ends within a text");
    let mut rest: &[u8] = page;
    let mut texts = Vec::new();
    for _ in 0..count {
        let (length, behind) = rest.split_first_chunk().ok_or_else(short)?;
        let length = u32::from_le_bytes(*length) as usize;
        let bytes = behind.get(..length).ok_or_else(short)?;
        texts.push(text(&bytes.to_vec().into())?.to_owned());
        rest = behind.get(length..).ok_or_else(short)?;
    }
    Ok(texts)
}

/// Adds codes until there are `wanted`: runs of one code, and groups of eight packed ones (Parquet's hybrid
/// of run lengths and bit-packing; the first byte is the width of a code in bits).
fn unpack(page: &[u8], wanted: usize, codes: &mut Vec<u32>) -> ParquetResult<()> {
    let short = || damaged("a page that ends within its codes");
    let (&width, mut rest) = page.split_first().ok_or_else(short)?;
    if width > 32 {
        return Err(damaged("codes of more than 32 bits"));
    }
    let width = usize::from(width);
    while codes.len() < wanted {
        let header = varint(&mut rest).ok_or_else(short)?;
        let left = wanted - codes.len();
        let count = usize::try_from(header >> 1).map_err(|_| short())?;
        if header & 1 == 0 {
            let (bytes, behind) = rest.split_at_checked(width.div_ceil(8)).ok_or_else(short)?;
            let code = bytes.iter().rev().fold(0, |code, &byte| code << 8 | u32::from(byte));
            if count == 0 {
                return Err(damaged("a run of nothing"));
            }
            codes.resize(codes.len() + count.min(left), code);
            rest = behind;
        } else {
            let bytes = count.checked_mul(width).ok_or_else(short)?;
            // The last group may be cut behind the last code.
            let (packed, behind) = rest.split_at(bytes.min(rest.len()));
            let whole = (packed.len() * 8).checked_div(width).unwrap_or(left);
            let there = left.min(whole).min(count.saturating_mul(8));
            if there == 0 || there < left && packed.len() < bytes {
                return Err(short());
            }
            codes.extend((0..there).map(|at| packed_code(packed, at * width, width)));
            rest = behind;
        }
    }
    Ok(())
}

/// The code of `width` bits that begins at bit `from`, the lowest bit first.
fn packed_code(packed: &[u8], from: usize, width: usize) -> u32 {
    let bytes = packed.get(from / 8..).unwrap_or_default();
    let mut word = [0; 8];
    word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let bits = u64::from_le_bytes(word) >> (from % 8);
    (bits & ((1 << width) - 1)) as u32
}

/// A number of seven bits a byte, the lowest first.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, behind) = rest.split_first()?;
        *rest = behind;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(page: &[u8], wanted: usize) -> Option<Vec<u32>> {
        let mut codes = Vec::new();
        unpack(page, wanted, &mut codes).ok().map(|()| codes)
    }

    #[test]
    fn runs_and_packed_groups() {
        // The format's own example: 0 to 7 in three bits each.
        let packed = [3, 0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(unpacked(&packed, 8), Some((0..8).collect()));
        assert_eq!(unpacked(&packed, 5), Some((0..5).collect()));
        let run = [9, 0xc8, 0x01, 0x2c, 0x01];
        assert_eq!(unpacked(&run, 100), Some(vec![300; 100]));
        assert_eq!(unpacked(&run, 101), None, "a page that ends early");
        assert_eq!(unpacked(&[3, 3, 0x88], 8), None, "a group that is cut");
        assert_eq!(unpacked(&[33, 2, 0], 1), None);
        assert_eq!(unpacked(&[0, 8], 4), Some(vec![0; 4]), "one text has codes of no bits");
        assert_eq!(unpacked(&[1, 0, 0], 4), None, "a run of nothing");
        assert_eq!(unpacked(&[], 1), None);
    }
}
