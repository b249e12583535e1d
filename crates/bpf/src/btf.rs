//! The kernel's description of its own types (BTF, `Documentation/bpf/btf.rst`): where a field of a
//! structure lies, and what a function's parameters are called. Only what probes need.

use std::collections::HashMap;

use memchr::memchr;

/// First two bytes, in the machine's byte order.
const MAGIC: u16 = 0xeb9f;
/// Bytes of a type before what its kind adds.
pub(crate) const TYPE_BYTES: usize = 12;
/// Qualifiers and names that a type may hide behind before it counts as a loop.
const HOPS_MAX: usize = 32;

pub(crate) const INT: u32 = 1;
pub(crate) const PTR: u32 = 2;
pub(crate) const ARRAY: u32 = 3;
pub(crate) const STRUCT: u32 = 4;
pub(crate) const UNION: u32 = 5;
pub(crate) const ENUM: u32 = 6;
pub(crate) const FWD: u32 = 7;
pub(crate) const TYPEDEF: u32 = 8;
pub(crate) const VOLATILE: u32 = 9;
pub(crate) const CONST: u32 = 10;
pub(crate) const RESTRICT: u32 = 11;
pub(crate) const FUNC: u32 = 12;
pub(crate) const FUNC_PROTO: u32 = 13;
pub(crate) const VAR: u32 = 14;
pub(crate) const DATASEC: u32 = 15;
pub(crate) const FLOAT: u32 = 16;
pub(crate) const DECL_TAG: u32 = 17;
pub(crate) const TYPE_TAG: u32 = 18;
pub(crate) const ENUM64: u32 = 19;

/// Text that is no BTF, or of a kind that nobody here knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at}: expected {expected}, found {found}")]
pub struct BtfError {
    /// Where.
    pub at: usize,
    /// What should have been there.
    pub expected: &'static str,
    /// What was there.
    pub found: String,
}

/// A field of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Bytes from the start of the outermost structure.
    pub offset: u32,
    /// Bytes that it takes; 0 where its type has no size.
    pub bytes: u32,
    /// Whether it is a signed integer.
    pub signed: bool,
    type_id: u32,
}

/// Types by name, of those that were asked for.
#[derive(Debug)]
pub struct Btf {
    bytes: Vec<u8>,
    big_endian: bool,
    strings: usize,
    /// Offset of each type; number 0 is void.
    types: Vec<usize>,
    named: HashMap<String, Vec<u32>>,
}

/// One type's head.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub at: usize,
    pub kind: u32,
    pub length: usize,
    pub flag: bool,
    /// Size, or the type that it leads to.
    pub size_or_type: u32,
}

impl Btf {
    /// Reads the BTF and remembers the structures, functions and names of types in `wanted`.
    ///
    /// # Errors
    /// The bytes are no BTF, end early, or hold a kind of type whose length is unknown.
    pub fn parse(bytes: Vec<u8>, wanted: &[&str]) -> Result<Btf, BtfError> {
        let fail = |at, expected, found: String| Err(BtfError { at, expected, found });
        let big_endian = match bytes.get(..2) {
            Some([0x9f, 0xeb]) => false,
            Some([0xeb, 0x9f]) => true,
            other => return fail(0, "the magic number of BTF", format!("{other:02x?}")),
        };
        debug_assert_eq!(MAGIC.to_be_bytes(), [0xeb, 0x9f]);
        let mut btf = Btf { bytes, big_endian, strings: 0, types: vec![0], named: HashMap::new() };
        let header = (1..=5).map(|word| btf.word(4 * word)).collect::<Option<Vec<u32>>>();
        let Some([head, from, length, strings, _]) = header.as_deref() else {
            return fail(4, "a header", format!("{} bytes", btf.bytes.len()));
        };
        let begin = *head as usize;
        btf.strings = begin.saturating_add(*strings as usize);
        let end = begin.saturating_add(*from as usize).saturating_add(*length as usize);
        let mut at = begin.saturating_add(*from as usize);
        while at < end {
            let Some(head) = btf.head(at) else {
                return fail(at, "a type", "the end".to_owned());
            };
            let Some(bytes) = extra(head.kind, head.length) else {
                return fail(at, "a kind of type from 1 to 19", head.kind.to_string());
            };
            let id = btf.types.len() as u32;
            btf.types.push(at);
            if matches!(head.kind, STRUCT | FUNC | TYPEDEF)
                && let Some(name) = btf.name(at)
                && wanted.iter().any(|wanted| wanted.as_bytes() == name)
            {
                let name = String::from_utf8_lossy(name).into_owned();
                btf.named.entry(name).or_default().push(id);
            }
            at += TYPE_BYTES + bytes;
        }
        Ok(btf)
    }

    /// Whether a structure, function or name of a type of this name is there.
    pub fn has(&self, name: &str) -> bool {
        self.named.contains_key(name)
    }

    /// The field `path` (`avg.util_avg`) of the structure `name`, through unnamed structures and
    /// unions, not through pointers. Of several structures of one name the first that has it.
    pub fn field(&self, name: &str, path: &str) -> Option<Field> {
        self.named.get(name)?.iter().find_map(|id| self.path(*id, path))
    }

    /// The structure that the pointer `path` of the structure `name` leads to has the field `to`.
    pub fn behind(&self, name: &str, path: &str, to: &str) -> Option<Field> {
        let pointer = self.head_of(self.plain(self.field(name, path)?.type_id)?)?;
        (pointer.kind == PTR).then(|| self.path(pointer.size_or_type, to)).flatten()
    }

    /// The number of the structure of this name; as all here, of what was asked for.
    pub fn structure(&self, name: &str) -> Option<u32> {
        self.number(name, STRUCT)
    }

    /// The number of the function of this name.
    pub fn function(&self, name: &str) -> Option<u32> {
        self.number(name, FUNC)
    }

    /// The number of the name of a type.
    pub fn alias(&self, name: &str) -> Option<u32> {
        self.number(name, TYPEDEF)
    }

    fn number(&self, name: &str, kind: u32) -> Option<u32> {
        let mut ids = self.named.get(name)?.iter().copied();
        ids.find(|id| self.head_of(*id).is_some_and(|head| head.kind == kind))
    }

    /// Bytes of a structure.
    pub fn bytes(&self, structure: &str) -> Option<u32> {
        Some(self.head_of(self.structure(structure)?)?.size_or_type)
    }

    /// Which of a structure's members, from 0, has this name.
    pub fn place(&self, structure: &str, member: &str) -> Option<u32> {
        let head = self.head_of(self.structure(structure)?)?;
        let named = |number: &usize| {
            self.name(head.at + TYPE_BYTES + 12 * number) == Some(member.as_bytes())
        };
        (0..head.length).find(named).map(|number| number as u32)
    }

    /// The names of a function's parameters.
    pub fn parameters(&self, function: &str) -> Option<Vec<String>> {
        let ids = self.named.get(function)?.iter();
        let head = ids.filter_map(|id| self.head_of(*id)).find(|head| head.kind == FUNC)?;
        let proto = self.head_of(head.size_or_type).filter(|head| head.kind == FUNC_PROTO)?;
        let name = |number: usize| {
            let name = self.name(proto.at + TYPE_BYTES + 8 * number).unwrap_or_default();
            String::from_utf8_lossy(name).into_owned()
        };
        Some((0..proto.length).map(name).collect())
    }

    fn path(&self, id: u32, path: &str) -> Option<Field> {
        let mut found = Field { offset: 0, bytes: 0, signed: false, type_id: id };
        for name in path.split('.') {
            let inner = self.member(found.type_id, name, 0)?;
            found = Field { offset: found.offset.saturating_add(inner.offset), ..inner };
        }
        Some(found)
    }

    /// A member of a structure or union, or of an unnamed one in it.
    fn member(&self, id: u32, name: &str, depth: usize) -> Option<Field> {
        let head = self.head_of(self.plain(id)?)?;
        if !matches!(head.kind, STRUCT | UNION) || depth > HOPS_MAX {
            return None;
        }
        (0..head.length).find_map(|number| {
            let at = head.at + TYPE_BYTES + 12 * number;
            let type_id = self.word(at + 4)?;
            let bits = self.word(at + 8)?;
            // With the flag set, the upper 8 bits hold the width of a bit field.
            let (width, bits) = if head.flag { (bits >> 24, bits & 0xff_ffff) } else { (0, bits) };
            let offset = bits / 8;
            let own = self.name(at)?;
            if own == name.as_bytes() {
                if width != 0 || bits % 8 != 0 {
                    return None;
                }
                let (bytes, signed) = self.shape(type_id).unwrap_or_default();
                return Some(Field { offset, bytes, signed, type_id });
            }
            if !own.is_empty() {
                return None;
            }
            let inner = self.member(type_id, name, depth + 1)?;
            Some(Field { offset: offset.saturating_add(inner.offset), ..inner })
        })
    }

    /// Bytes of a type, and whether it is a signed integer.
    fn shape(&self, id: u32) -> Option<(u32, bool)> {
        let head = self.head_of(self.plain(id)?)?;
        match head.kind {
            INT => Some((head.size_or_type, self.word(head.at + TYPE_BYTES)? >> 24 & 1 == 1)),
            // The kernel's pointers are as wide as its unsigned long.
            PTR => Some((usize::BITS / 8, false)),
            STRUCT | UNION | ENUM | ENUM64 => Some((head.size_or_type, false)),
            _ => None,
        }
    }

    /// The type behind names and qualifiers.
    pub(crate) fn plain(&self, mut id: u32) -> Option<u32> {
        for _ in 0..HOPS_MAX {
            let head = self.head_of(id)?;
            match head.kind {
                TYPEDEF | VOLATILE | CONST | RESTRICT | TYPE_TAG => id = head.size_or_type,
                _ => return Some(id),
            }
        }
        None
    }

    /// All types, in their order.
    pub(crate) fn heads(&self) -> impl Iterator<Item = Head> {
        self.types.iter().skip(1).filter_map(|at| self.head(*at))
    }

    pub(crate) fn head_of(&self, id: u32) -> Option<Head> {
        if id == 0 {
            return None;
        }
        self.head(*self.types.get(id as usize)?)
    }

    fn head(&self, at: usize) -> Option<Head> {
        let info = self.word(at + 4)?;
        Some(Head {
            at,
            kind: info >> 24 & 0x1f,
            length: (info & 0xffff) as usize,
            flag: info >> 31 == 1,
            size_or_type: self.word(at + 8)?,
        })
    }

    /// The name whose offset is the word at `at`.
    pub(crate) fn name(&self, at: usize) -> Option<&[u8]> {
        let from = self.strings.checked_add(self.word(at)? as usize)?;
        let rest = self.bytes.get(from..)?;
        rest.get(..memchr(0, rest)?)
    }

    pub(crate) fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }
}

/// Bytes that a kind adds to the head; none where the kind is unknown.
fn extra(kind: u32, length: usize) -> Option<usize> {
    Some(match kind {
        PTR | FWD | TYPEDEF | VOLATILE | CONST | RESTRICT | FUNC | FLOAT | TYPE_TAG => 0,
        INT | VAR | DECL_TAG => 4,
        ARRAY => 12,
        STRUCT | UNION | DATASEC | ENUM64 => 12 * length,
        ENUM | FUNC_PROTO => 8 * length,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
