//! Columns as the page holds them: unsigned LEB128 varints of differences, lane by lane, in blocks
//! that are deflated (RFC 1950) where that saves a tenth.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use rayon::prelude::*;

use super::spans::Stay;

/// Raw bytes from which on a block is closed: several blocks are inflated at a time, and each shows
/// how far the page has come.
const BLOCK: usize = 8 << 20;

/// A block ready for the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Length of the raw bytes.
    pub raw: usize,
    /// Whether `bytes` are deflated.
    pub deflated: bool,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Collects lanes into blocks.
#[derive(Debug, Default)]
pub(super) struct Packer {
    blocks: Vec<Vec<u8>>,
}

impl Packer {
    /// Block and offset of the lane that comes next.
    fn open(&mut self) -> (usize, usize) {
        if self.blocks.last().is_none_or(|block| block.len() >= BLOCK) {
            self.blocks.push(Vec::new());
        }
        let block = self.blocks.len() - 1;
        (block, self.blocks[block].len())
    }

    fn varints(&mut self, values: impl Iterator<Item = u64>) {
        if let Some(block) = self.blocks.last_mut() {
            values.for_each(|value| varint(block, value));
        }
    }

    /// Columns of spans, ascending and apart: gap to the one before, length, what. `extra` has one
    /// signed value per span, or is empty.
    pub(super) fn spans(&mut self, spans: &[Stay], extra: &[i64]) -> (usize, usize) {
        let place = self.open();
        let mut end = 0;
        self.varints(spans.iter().map(|span| {
            let gap = span.from.saturating_sub(end);
            end = span.to;
            gap
        }));
        self.varints(spans.iter().map(|span| span.to.saturating_sub(span.from)));
        self.varints(spans.iter().map(|span| u64::from(span.what)));
        self.varints(extra.iter().map(|&value| zigzag(value)));
        place
    }

    /// Columns of values over time, ascending: time and value, each as the difference to the one
    /// before.
    pub(super) fn values(&mut self, points: &[(u64, u32)]) -> (usize, usize) {
        let place = self.open();
        let (mut before, mut value_before) = (0, 0);
        self.varints(points.iter().map(|&(t, _)| {
            let step = t.saturating_sub(before);
            before = t;
            step
        }));
        self.varints(points.iter().map(|&(_, value)| {
            let step = i64::from(value) - value_before;
            value_before = i64::from(value);
            zigzag(step)
        }));
        place
    }

    /// The blocks, deflated side by side.
    pub(super) fn finish(self) -> Vec<Block> {
        self.blocks.into_par_iter().map(deflate).collect()
    }
}

fn deflate(raw: Vec<u8>) -> Block {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(raw.len() / 2), Compression::fast());
    // Writing to memory cannot fail; if it did, the raw bytes are as good.
    let packed = encoder.write_all(&raw).and_then(|()| encoder.finish());
    match packed {
        Ok(bytes) if bytes.len() < raw.len() / 10 * 9 => {
            Block { raw: raw.len(), deflated: true, bytes }
        }
        _ => Block { raw: raw.len(), deflated: false, bytes: raw },
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Signed as unsigned, small ones small: 0, -1, 1, -2 become 0, 1, 2, 3.
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<u64> {
        let (mut values, mut value, mut shift) = (Vec::new(), 0, 0);
        for byte in bytes {
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                values.push(std::mem::take(&mut value));
                shift = 0;
            }
        }
        values
    }

    #[test]
    fn lanes_lie_behind_one_another_as_differences() {
        let mut packer = Packer::default();
        let stay = |from, to, what| Stay { from, to, what };
        let first = packer.spans(&[stay(5, 10, 3), stay(10, 400, 0)], &[-1, 2]);
        let second = packer.values(&[(7, 1000), (9, 999)]);
        assert_eq!((first, second), ((0, 0), (0, 9)));
        let blocks = packer.finish();
        assert!(!blocks[0].deflated, "two dozen bytes do not shrink");
        assert_eq!(read(&blocks[0].bytes), [5, 0, 5, 390, 3, 0, 1, 4, 7, 2, 2000, 1]);
    }

    #[test]
    fn what_shrinks_is_deflated() {
        let mut packer = Packer::default();
        let spans: Vec<Stay> =
            (0..10_000).map(|i| Stay { from: i * 50, to: i * 50 + 30, what: 1 }).collect();
        packer.spans(&spans, &[]);
        let block = packer.finish().remove(0);
        assert!(block.deflated && block.bytes.len() < 1000 && block.raw == 30_000);
        let mut raw = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(&block.bytes[..]), &mut raw)
            .unwrap();
        assert_eq!(read(&raw)[9_999..10_001], [20, 30]);
    }
}
