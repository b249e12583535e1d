//! A compiled program for the kernel (an ELF file, as clang writes it): its parts, and what of them the loader
//! has to fill in.

use crate::BpfError;
use crate::btf::{ARRAY, Btf, DATASEC, ENUM64, FUNC, PTR, STRUCT, TYPE_BYTES, TYPEDEF};

/// A compiled program, taken apart.
#[derive(Debug)]
pub struct Object {
    /// What is loaded by itself, one per section.
    pub(crate) programs: Vec<Code>,
    /// Functions that these call.
    pub(crate) shared: Code,
    pub(crate) maps: Vec<Map>,
    /// Its types, as the kernel takes them.
    pub(crate) types: Vec<u8>,
    pub(crate) licence: Vec<u8>,
}

/// Instructions of a section.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub section: String,
    /// The function's name.
    pub name: String,
    pub bytes: Vec<u8>,
    pub references: Vec<Reference>,
    pub fields: Vec<FieldUse>,
    /// Where functions begin, in instructions, and their types.
    pub functions: Vec<[u32; 2]>,
}

/// An instruction that names something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// Which instruction.
    pub at: usize,
    pub to: Target,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Map(String),
    /// A function of the kernel.
    Kernel(String),
    /// An instruction of the shared functions.
    Shared(usize),
}

/// An instruction that holds the offset of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldUse {
    pub at: usize,
    pub structure: String,
    pub path: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Map {
    pub name: String,
    pub kind: u32,
    pub entries: u32,
    pub flags: u32,
    pub key: [u32; 2],
    pub value: [u32; 2],
}

struct Section<'a> {
    name: &'a str,
    kind: u32,
    bytes: &'a [u8],
    /// Of relocations: the section that they are for.
    of: usize,
}

struct Symbol<'a> {
    name: &'a str,
    section: usize,
    value: usize,
    is_function: bool,
}

const PROGBITS: u32 = 1;
const SYMTAB: u32 = 2;
const REL: u32 = 9;
/// Bytes of an instruction.
pub(crate) const STEP: usize = 8;
/// Loads 64 bits, over two instructions.
pub(crate) const LOAD_WIDE: u8 = 0x18;

fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let part = bytes.get(at..at.checked_add(width)?)?;
    Some(part.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    number(bytes, at, 4).map(|value| value as u32)
}

fn text(bytes: &[u8], at: usize) -> Option<&str> {
    let rest = bytes.get(at..)?;
    std::str::from_utf8(rest.get(..memchr::memchr(0, rest)?)?).ok()
}

fn wrong(what: &str) -> BpfError {
    BpfError::Object(what.to_owned())
}

impl Object {
    /// Takes an object apart.
    ///
    /// # Errors
    /// It is none, or has what nobody here knows.
    pub fn parse(bytes: &[u8]) -> Result<Object, BpfError> {
        let sections =
            sections(bytes).ok_or_else(|| wrong("sections of a little-endian ELF file"))?;
        let section = |name: &str| sections.iter().find(|section| section.name == name);
        let raw = section(".BTF").ok_or_else(|| wrong("a section .BTF"))?.bytes;
        let types = Btf::parse(raw.to_vec(), &[]).map_err(|error| wrong(&error.to_string()))?;
        let symbols = symbols(&sections).ok_or_else(|| wrong("symbols"))?;
        let licence = section("license").ok_or_else(|| wrong("a section license"))?.bytes.to_vec();
        let extra = section(".BTF.ext").ok_or_else(|| wrong("a section .BTF.ext"))?.bytes;
        let mut programs = Vec::new();
        let mut shared = Code::default();
        for (at, section) in sections.iter().enumerate() {
            if section.kind != PROGBITS
                || section.bytes.is_empty()
                || !section.is_code(&symbols, at)
            {
                continue;
            }
            let mut code = Code {
                section: section.name.to_owned(),
                bytes: section.bytes.to_vec(),
                ..Code::default()
            };
            let first =
                symbols.iter().find(|it| it.section == at && it.is_function && it.value == 0);
            code.name = first.map(|it| it.name.to_owned()).unwrap_or_default();
            code.references = references(&sections, &symbols, at)?;
            code.notes(extra, raw, &types).ok_or_else(|| wrong("records of .BTF.ext"))?;
            match section.name {
                ".text" => shared = code,
                _ => programs.push(code),
            }
        }
        let maps = maps(&types).ok_or_else(|| wrong("maps as structures of .maps"))?;
        let types = plain_types(raw, &types).ok_or_else(|| wrong("types"))?;
        Ok(Object { programs, shared, maps, types, licence })
    }

    /// Names of the kernel's types and functions that it takes.
    pub(crate) fn wanted(&self) -> Vec<String> {
        let all = || self.programs.iter().chain([&self.shared]);
        let functions = all().flat_map(|code| &code.references).filter_map(|it| match &it.to {
            Target::Kernel(name) => Some(name.clone()),
            _ => None,
        });
        let structures = all().flat_map(|code| &code.fields).map(|field| field.structure.clone());
        functions.chain(structures).collect()
    }
}

impl Section<'_> {
    fn is_code(&self, symbols: &[Symbol<'_>], at: usize) -> bool {
        self.bytes.len().is_multiple_of(STEP)
            && symbols.iter().any(|it| it.section == at && it.is_function)
    }
}

fn sections(bytes: &[u8]) -> Option<Vec<Section<'_>>> {
    const HEADER: usize = 64;
    if bytes.get(..6)? != [0x7f, b'E', b'L', b'F', 2, 1] {
        return None;
    }
    let from = number(bytes, 0x28, 8)? as usize;
    let count = number(bytes, 0x3c, 2)? as usize;
    let names = number(bytes, 0x3e, 2)? as usize;
    let part = |number_of: usize| {
        let at = from.checked_add(number_of.checked_mul(HEADER)?)?;
        let (offset, length) =
            (number(bytes, at + 24, 8)? as usize, number(bytes, at + 32, 8)? as usize);
        let kind = word(bytes, at + 4)?;
        // Sections without bytes in the file.
        let body = if kind == 8 || kind == 0 {
            &[]
        } else {
            bytes.get(offset..offset.checked_add(length)?)?
        };
        Some((word(bytes, at)? as usize, kind, body, word(bytes, at + 44)? as usize))
    };
    let (_, _, names, _) = part(names)?;
    let section = |number_of| {
        let (name, kind, bytes, of) = part(number_of)?;
        Some(Section { name: text(names, name)?, kind, bytes, of })
    };
    (0..count).map(section).collect()
}

fn symbols<'a>(sections: &[Section<'a>]) -> Option<Vec<Symbol<'a>>> {
    const ENTRY: usize = 24;
    let table = sections.iter().find(|section| section.kind == SYMTAB)?.bytes;
    let names = sections.iter().find(|section| section.name == ".strtab")?.bytes;
    let symbol = |entry: &'a [u8]| {
        Some(Symbol {
            name: text(names, word(entry, 0)? as usize)?,
            section: number(entry, 6, 2)? as usize,
            value: number(entry, 8, 8)? as usize,
            is_function: entry.get(4)? & 0xf == 2,
        })
    };
    table.chunks_exact(ENTRY).map(symbol).collect()
}

/// What the instructions of section `of` name.
fn references(
    sections: &[Section<'_>],
    symbols: &[Symbol<'_>],
    of: usize,
) -> Result<Vec<Reference>, BpfError> {
    const ENTRY: usize = 16;
    let code = sections.get(of).map(|section| section.bytes).unwrap_or_default();
    let tables = sections.iter().filter(|section| section.kind == REL && section.of == of);
    let mut found = Vec::new();
    for entry in tables.flat_map(|table| table.bytes.chunks_exact(ENTRY)) {
        let read = || {
            let at = number(entry, 0, 8)? as usize / STEP;
            let symbol = symbols.get(number(entry, 8, 8)? as usize >> 32)?;
            let in_section = sections.get(symbol.section);
            let immediate = word(code, at * STEP + 4)?;
            let wide = *code.get(at * STEP)? == LOAD_WIDE;
            let to = match in_section.map(|section| section.name) {
                Some(".maps") => Target::Map(symbol.name.to_owned()),
                // A call holds the distance behind the next instruction, a load the distance in bytes.
                Some(".text") if wide => Target::Shared((symbol.value + immediate as usize) / STEP),
                Some(".text") => {
                    Target::Shared(symbol.value / STEP + immediate.wrapping_add(1) as usize)
                }
                Some("") if !symbol.name.is_empty() => Target::Kernel(symbol.name.to_owned()),
                _ => return None,
            };
            Some(Reference { at, to })
        };
        found
            .push(read().ok_or_else(|| {
                wrong("references to maps, functions of .text and of the kernel")
            })?);
    }
    Ok(found)
}

impl Code {
    /// Reads what `.BTF.ext` says of this section: types of functions, and the fields that are used.
    fn notes(&mut self, extra: &[u8], raw: &[u8], types: &Btf) -> Option<()> {
        let head = word(extra, 4)? as usize;
        let strings = {
            let (begin, from) = (word(raw, 4)? as usize, word(raw, 16)? as usize);
            raw.get(begin.checked_add(from)?..)?
        };
        for record in self.records(extra, head, 8, strings)? {
            self.functions.push([word(record, 0)? / STEP as u32, word(record, 4)?]);
        }
        // Of kernels and compilers before CO-RE there is none.
        if head < 32 {
            return Some(());
        }
        for record in self.records(extra, head, 24, strings)? {
            // Other kinds: whether something exists, and how large it is.
            if word(record, 12)? != 0 {
                return None;
            }
            let (structure, path) =
                named(types, word(record, 4)?, text(strings, word(record, 8)? as usize)?)?;
            self.fields.push(FieldUse { at: word(record, 0)? as usize / STEP, structure, path });
        }
        Some(())
    }

    /// The records of this section, in the part whose place is at `at` of the header.
    fn records<'a>(
        &self,
        extra: &'a [u8],
        head: usize,
        at: usize,
        strings: &[u8],
    ) -> Option<Vec<&'a [u8]>> {
        let (from, length) =
            (head.checked_add(word(extra, at)? as usize)?, word(extra, at + 4)? as usize);
        let mut found = Vec::new();
        if length == 0 {
            return Some(found);
        }
        let part = extra.get(from..from.checked_add(length)?)?;
        let size = word(part, 0)? as usize;
        let mut at = 4;
        while at < part.len() {
            let (name, count) =
                (text(strings, word(part, at)? as usize)?, word(part, at + 4)? as usize);
            let body = part.get(at + 8..(at + 8).checked_add(size.checked_mul(count)?)?)?;
            if name == self.section && size > 0 {
                found.extend(body.chunks_exact(size));
            }
            at += 8 + size * count;
        }
        Some(found)
    }
}

/// The structure and the fields' names of an access such as `0:1:0` to a type.
fn named(types: &Btf, id: u32, access: &str) -> Option<(String, String)> {
    let head = types.head_of(id).filter(|head| head.kind == STRUCT)?;
    let structure = String::from_utf8_lossy(types.name(head.at)?).into_owned();
    let mut steps = access.split(':').map(|step| step.parse::<usize>().ok());
    // An element of an array of structures: there is none here.
    steps.next().flatten().filter(|first| *first == 0)?;
    let (mut at, mut path) = (head, Vec::new());
    for step in steps {
        let member = at.at + TYPE_BYTES + 12 * step.filter(|step| *step < at.length)?;
        path.push(String::from_utf8_lossy(types.name(member)?).into_owned());
        // The last one is no structure.
        if let Some(inner) = types.head_of(types.plain(types.word(member + 4)?)?) {
            at = inner;
        }
    }
    Some((structure, path.join(".")))
}

/// Maps are variables of `.maps`, whose types say what they are.
fn maps(types: &Btf) -> Option<Vec<Map>> {
    let mut found = Vec::new();
    for section in types.heads().filter(|head| head.kind == DATASEC) {
        if types.name(section.at)? != b".maps" {
            continue;
        }
        for entry in 0..section.length {
            let variable = types.head_of(types.word(section.at + TYPE_BYTES + 12 * entry)?)?;
            let body = types.head_of(types.plain(variable.size_or_type)?)?;
            let mut map = Map {
                name: String::from_utf8_lossy(types.name(variable.at)?).into_owned(),
                ..Map::default()
            };
            for member in 0..body.length {
                let at = body.at + TYPE_BYTES + 12 * member;
                let pointer = types.head_of(types.word(at + 4)?).filter(|head| head.kind == PTR)?;
                let to = pointer.size_or_type;
                let count = || {
                    let array = types.head_of(to).filter(|head| head.kind == ARRAY)?;
                    types.word(array.at + TYPE_BYTES + 8)
                };
                match types.name(at)? {
                    b"type" => map.kind = count()?,
                    b"max_entries" => map.entries = count()?,
                    b"map_flags" => map.flags = count()?,
                    b"key" => map.key = [to, types.head_of(types.plain(to)?)?.size_or_type],
                    b"value" => map.value = [to, types.head_of(types.plain(to)?)?.size_or_type],
                    _ => return None,
                }
            }
            found.push(map);
        }
    }
    Some(found)
}

/// The types as the kernel takes them. Sections of data are no types to it, and functions of its own are not
/// the program's: both become something of the same length that means nothing.
fn plain_types(raw: &[u8], types: &Btf) -> Option<Vec<u8>> {
    let mut plain = raw.to_vec();
    let mut set = |at: usize, value: u32| {
        plain.get_mut(at..at + 4).map(|to| to.copy_from_slice(&value.to_le_bytes()))
    };
    const EXTERNAL: usize = 2;
    for head in types.heads() {
        match head.kind {
            FUNC if head.length == EXTERNAL => {
                set(head.at + 4, TYPEDEF << 24)?;
                set(head.at + 8, 0)?;
            }
            DATASEC => {
                let name = |entry: usize| {
                    let variable = types.head_of(types.word(head.at + TYPE_BYTES + 12 * entry)?)?;
                    types.word(variable.at)
                };
                let names: Option<Vec<u32>> = (0..head.length).map(name).collect();
                let names = names?;
                set(head.at, 0)?;
                set(head.at + 4, ENUM64 << 24 | head.length as u32)?;
                set(head.at + 8, 8)?;
                for (entry, name) in names.into_iter().enumerate() {
                    let at = head.at + TYPE_BYTES + 12 * entry;
                    set(at, name)?;
                    set(at + 4, entry as u32)?;
                    set(at + 8, 0)?;
                }
            }
            _ => {}
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_is_what_was_compiled() {
        let object = Object::parse(crate::RAMP).unwrap();
        let names: Vec<_> = object.maps.iter().map(|map| map.name.as_str()).collect();
        assert_eq!(names, ["cpus", "threads", "ramps"]);
        let threads = &object.maps[1];
        assert_eq!(
            (threads.kind, threads.entries, threads.key[1], threads.value[1]),
            (1, 16384, 4, 24)
        );
        let sections: Vec<_> = object.programs.iter().map(|code| code.section.as_str()).collect();
        assert_eq!(sections, ["tp_btf/sched_switch", "struct_ops.s/init"]);
        assert_eq!(object.programs[0].name, "switched");
        let paths: Vec<_> = object.shared.fields.iter().map(|it| it.path.as_str()).collect();
        assert!(paths.contains(&"se.avg.util_avg"), "{paths:?}");
        assert_eq!(object.shared.fields[0].structure, "task_struct");
        let kernel = Target::Kernel("scx_bpf_cpuperf_set".to_owned());
        assert!(object.shared.references.iter().any(|it| it.to == kernel));
        assert!(object.programs[0].references.iter().any(|it| it.to == Target::Shared(0)));
        assert_eq!(object.licence, b"Dual MIT/GPL\0");
        // What the kernel would not take is gone, and all else is as it was.
        let plain = Btf::parse(object.types, &[]).unwrap();
        assert!(
            plain
                .heads()
                .all(|head| head.kind != DATASEC && !(head.kind == FUNC && head.length == 2))
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
        assert!(Object::parse(b"").is_err());
        for cut in [1, 63, 64, 200, 4000, crate::TICK.len() / 2] {
            assert!(Object::parse(&crate::TICK[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn no_flipped_byte_makes_it_panic() {
        for at in 0..crate::RAMP.len() {
            let mut bytes = crate::RAMP.to_vec();
            bytes[at] ^= 0xff;
            let _ = Object::parse(&bytes);
        }
    }
}
