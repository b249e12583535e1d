//! What kinds of values columns hold.

/// The kind of value in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// IEEE double, finite.
    F64,
    /// True or false.
    Bool,
    /// UTF-8 text.
    Text,
}

impl Kind {
    /// The name used in the schema.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::U32 => "u32",
            Kind::U64 => "u64",
            Kind::I32 => "i32",
            Kind::I64 => "i64",
            Kind::F64 => "f64",
            Kind::Bool => "bool",
            Kind::Text => "text",
        }
    }
}
