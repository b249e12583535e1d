//! Layouts of events as the kernel prints them (`events/SYSTEM/EVENT/format` of tracefs).

/// One event's layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// `sched_switch`, ...
    pub name: String,
    /// What `common_type` of its records says.
    pub id: u16,
    /// In the kernel's order, the common ones first.
    pub fields: Vec<Field>,
    /// How the kernel prints a record: names of values are in it.
    pub print: String,
}

/// One field of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// Its name, without its type.
    pub name: String,
    /// Byte of the record at which it begins.
    pub at: usize,
    /// Length in bytes; 0 where only the record tells.
    pub bytes: usize,
    /// Whether a number has a sign.
    pub signed: bool,
    /// What it holds.
    pub shape: Shape,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// A number of `bytes` bytes.
    #[default]
    Number,
    /// Bytes in place; to the record's end where it has no size.
    Array,
    /// A place (low 16 bits) and a length (high ones) of bytes behind the fields.
    Dynamic,
    /// The same, its place counted from the field's end.
    Relative,
}

impl Format {
    /// Reads the text; none where it is not a layout.
    pub fn parse(text: &str) -> Option<Format> {
        let mut format = Format::default();
        let mut id = None;
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("name:") {
                format.name = name.trim().to_owned();
            } else if let Some(number) = line.strip_prefix("ID:") {
                id = number.trim().parse().ok();
            } else if let Some(print) = line.strip_prefix("print fmt:") {
                format.print = print.trim().to_owned();
                break;
            } else {
                format.fields.extend(field(line));
            }
        }
        format.id = id?;
        (!format.name.is_empty()).then_some(format)
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// `field:char comm[16]; offset:8; size:16; signed:0;`, with tabs between.
pub fn field(line: &str) -> Option<Field> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declaration = parts.next()?.strip_prefix("field:")?.trim();
    let mut field = Field::default();
    for part in parts {
        match part.split_once(':') {
            Some(("offset", value)) => field.at = value.trim().parse().ok()?,
            Some(("size", value)) => field.bytes = value.trim().parse().ok()?,
            Some(("signed", value)) => field.signed = value.trim() == "1",
            _ => {}
        }
    }
    let (kind, name) = declaration.rsplit_once(' ')?;
    field.shape = if kind.starts_with("__data_loc") {
        Shape::Dynamic
    } else if kind.starts_with("__rel_loc") {
        Shape::Relative
    } else if name.contains('[') || field.bytes == 0 {
        // `print` of kernels before 5.2 declares `char buf`, with a size of 0 and no brackets.
        Shape::Array
    } else {
        Shape::Number
    };
    field.name = name.split('[').next()?.trim_start_matches('*').to_owned();
    Some(field)
}

impl Field {
    /// The field as a number; none where the record is too short for it.
    #[inline]
    pub fn number(&self, record: &[u8]) -> Option<i64> {
        let bytes = record.get(self.at..self.at.checked_add(self.bytes)?)?;
        Some(match (self.bytes, self.signed) {
            (4, true) => i32::from_le_bytes(bytes.try_into().ok()?).into(),
            (4, false) => u32::from_le_bytes(bytes.try_into().ok()?).into(),
            (8, _) => i64::from_le_bytes(bytes.try_into().ok()?),
            (2, true) => i16::from_le_bytes(bytes.try_into().ok()?).into(),
            (2, false) => u16::from_le_bytes(bytes.try_into().ok()?).into(),
            (1, true) => i8::from_le_bytes(bytes.try_into().ok()?).into(),
            (1, false) => bytes.first().copied()?.into(),
            _ => return None,
        })
    }

    /// The field as a number without sign that fits.
    #[inline]
    pub fn unsigned<T: TryFrom<i64>>(&self, record: &[u8]) -> Option<T> {
        T::try_from(self.number(record)?).ok()
    }

    /// The field as text, up to its 0.
    #[inline]
    pub fn text<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        let bytes = match self.shape {
            Shape::Number => return None,
            Shape::Array if self.bytes == 0 => record.get(self.at..)?,
            Shape::Array => record.get(self.at..self.at.checked_add(self.bytes)?)?,
            Shape::Dynamic | Shape::Relative => {
                let place = record.get(self.at..self.at.checked_add(4)?)?;
                let place = u32::from_le_bytes(place.try_into().ok()?);
                let from = if self.shape == Shape::Relative { self.at + 4 } else { 0 };
                let from = from + (place & 0xffff) as usize;
                record.get(from..from.checked_add((place >> 16) as usize)?)?
            }
        };
        let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
        bytes.get(..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORK: &str = "name: sched_process_fork\nID: 366\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:__data_loc char[] child_comm;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:char comm[4];\toffset:12;\tsize:4;\tsigned:0;\n\
        \tfield:const char * reason;\toffset:16;\tsize:8;\tsigned:0;\n\nprint fmt: \"x\"\n";

    #[test]
    fn a_field_without_a_size_goes_to_the_records_end() {
        for declaration in ["char buf", "char buf[]"] {
            let field = field(&format!("\tfield:{declaration};\toffset:4;\tsize:0;\tsigned:0;"));
            let field = field.unwrap();
            assert_eq!((field.name.as_str(), field.shape), ("buf", Shape::Array));
            assert_eq!(field.text(b"\x05\0\0\0ramp\n\0\0\0"), Some(b"ramp\n".as_slice()));
            assert_eq!(field.text(b"\x05\0\0\0"), Some(b"".as_slice()));
            assert_eq!(field.text(b"\x05\0\0"), None, "cut before it");
        }
    }

    #[test]
    fn a_layout_is_read_from_the_kernels_text() {
        let format = Format::parse(FORK).unwrap();
        assert_eq!(
            (format.name.as_str(), format.id, format.fields.len()),
            ("sched_process_fork", 366, 5)
        );
        let mut record = vec![0; 24];
        record[4..8].copy_from_slice(&(-3_i32).to_le_bytes());
        record[8..12].copy_from_slice(&(24_u32 | 3 << 16).to_le_bytes());
        record[12..16].copy_from_slice(b"abcd");
        record.extend_from_slice(b"ab\0c");
        let of = |name: &str| format.field(name).unwrap();
        assert_eq!(of("common_pid").number(&record), Some(-3));
        assert_eq!(of("common_pid").unsigned::<u32>(&record), None);
        assert_eq!(of("child_comm").text(&record), Some(b"ab".as_slice()));
        assert_eq!(of("comm").text(&record), Some(b"abcd".as_slice()), "no 0 at its end");
        assert_eq!(of("reason").number(&record[..20]), None, "cut");
        assert_eq!(Format::parse("name: x\nformat:\n"), None, "no number");
    }
}
