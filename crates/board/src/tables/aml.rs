//! The few terms of the ACPI Machine Language that a table of P-states needs, as bytes (ACPI 6.5,
//! chapter 20).

const ZERO: u8 = 0x00;
const ONE: u8 = 0x01;
const NAME: u8 = 0x08;
const BYTE: u8 = 0x0A;
const WORD: u8 = 0x0B;
const DWORD: u8 = 0x0C;
const SCOPE: u8 = 0x10;
const BUFFER: u8 = 0x11;
const PACKAGE: u8 = 0x12;
const METHOD: u8 = 0x14;
const DUAL_NAME: u8 = 0x2E;
const MULTI_NAME: u8 = 0x2F;
const RETURN: u8 = 0xA4;

/// An integer in its shortest form.
pub fn integer(value: u32) -> Vec<u8> {
    match value {
        0 => vec![ZERO],
        1 => vec![ONE],
        2..=0xFF => vec![BYTE, value as u8],
        0x100..=0xFFFF => [&[WORD][..], &(value as u16).to_le_bytes()].concat(),
        _ => [&[DWORD][..], &value.to_le_bytes()].concat(),
    }
}

/// A name's segments, from the root: `\_SB.CPUS.C000`. Each is padded to four characters.
pub fn path(segments: &[&str]) -> Vec<u8> {
    let mut bytes = vec![b'\\'];
    match segments.len() {
        0 => bytes.push(0),
        1 => {}
        2 => bytes.push(DUAL_NAME),
        many => bytes.extend([MULTI_NAME, many as u8]),
    }
    bytes.extend(segments.iter().flat_map(|segment| segment_bytes(segment)));
    bytes
}

fn segment_bytes(segment: &str) -> [u8; 4] {
    let mut bytes = [b'_'; 4];
    for (to, from) in bytes.iter_mut().zip(segment.bytes()) {
        *to = from;
    }
    bytes
}

/// `Scope (path) { terms }`.
pub fn scope(path: &[u8], terms: &[Vec<u8>]) -> Vec<u8> {
    with_length(SCOPE, &[path, &terms.concat()].concat())
}

/// `Name (NAME, value)`.
pub fn name(name: &str, value: &[u8]) -> Vec<u8> {
    [&[NAME][..], &segment_bytes(name), value].concat()
}

/// `Package () { elements }`: at most 255.
pub fn package(elements: &[Vec<u8>]) -> Vec<u8> {
    with_length(PACKAGE, &[&[elements.len() as u8][..], &elements.concat()].concat())
}

/// `Method (NAME, 0) { Return (value) }`.
pub fn method_returning(name: &str, value: &[u8]) -> Vec<u8> {
    with_length(METHOD, &[&segment_bytes(name)[..], &[0, RETURN], value].concat())
}

/// `ResourceTemplate () { Register (SystemIO, bits, 0, port, access) }`: a generic register
/// descriptor and an end tag in a buffer. `access` is the size of an access: 1 byte, 2 word, 3
/// double word.
pub fn io_register(port: u16, bits: u8, access: u8) -> Vec<u8> {
    let mut resource = vec![0x82, 12, 0, 1, bits, 0, access];
    resource.extend(u64::from(port).to_le_bytes());
    resource.extend([0x79, 0]); // end tag; checksum 0: not calculated
    let size = integer(resource.len() as u32);
    with_length(BUFFER, &[size, resource].concat())
}

/// `opcode PkgLength contents`; the length counts itself.
fn with_length(opcode: u8, contents: &[u8]) -> Vec<u8> {
    let mut bytes = vec![opcode];
    bytes.extend(package_length(contents.len()));
    bytes.extend(contents);
    bytes
}

/// PkgLength: up to 63 in one byte; else the low nibble and the number of further bytes in the
/// first.
fn package_length(contents: usize) -> Vec<u8> {
    if contents < 0x3F {
        return vec![(contents + 1) as u8];
    }
    let further = (1..=3).find(|n| contents + 1 + n < 1 << (4 + 8 * n)).unwrap_or(3);
    let total = contents + 1 + further;
    let mut bytes = vec![(further << 6) as u8 | (total & 0xF) as u8];
    bytes.extend((0..further).map(|n| (total >> (4 + 8 * n)) as u8));
    bytes
}

/// A whole table of definitions (SSDT) with its header and checksum.
pub fn ssdt(terms: &[Vec<u8>]) -> Vec<u8> {
    let body = terms.concat();
    let mut table = b"SSDT".to_vec();
    table.extend((36 + body.len() as u32).to_le_bytes());
    table.extend([2, 0]); // revision; checksum, below
    table.extend(b"FLYBAL");
    table.extend(b"PSTATES\0");
    table.extend(1_u32.to_le_bytes());
    table.extend(b"FLYB");
    table.extend(1_u32.to_le_bytes());
    table.extend(body);
    let sum = table.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    if let Some(checksum) = table.get_mut(9) {
        *checksum = 0_u8.wrapping_sub(sum);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_their_shortest_form() {
        assert_eq!(integer(0), [0]);
        assert_eq!(integer(1), [1]);
        assert_eq!(integer(255), [0x0A, 255]);
        assert_eq!(integer(256), [0x0B, 0, 1]);
        assert_eq!(integer(3_200_000), [0x0C, 0x00, 0xD4, 0x30, 0x00]);
    }

    #[test]
    fn lengths_count_themselves() {
        assert_eq!(package_length(62), [63]);
        assert_eq!(package_length(63), [0x41, 0x04]); // 65
        assert_eq!(package_length(4093), [0x4F, 0xFF]); // 4095
        assert_eq!(package_length(4094), [0x81, 0x00, 0x01]); // 4097
    }

    #[test]
    fn paths_have_a_prefix_by_their_length() {
        assert_eq!(path(&["_SB"]), b"\\_SB_");
        assert_eq!(path(&["_SB", "CPUS"]), b"\\\x2E_SB_CPUS");
        assert_eq!(path(&["_SB", "CPUS", "C00A"]), b"\\\x2F\x03_SB_CPUSC00A");
    }

    #[test]
    fn a_table_sums_to_zero() {
        let table = ssdt(&[name("_PPC", &integer(7))]);
        assert_eq!(table.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)), 0);
        assert_eq!(table[4..8], (table.len() as u32).to_le_bytes());
    }
}
