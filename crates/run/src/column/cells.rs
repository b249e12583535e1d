//! Columns moved out of their table as they lie in memory: for formats that keep them so.

use std::sync::Arc;

/// The cells of one column, whatever its type.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells {
    /// One value per cell (anything where null); empty where every cell is null.
    pub values: Values,
    /// Of a column with nulls, one bit per cell, lowest first, set where there is a value; at least as
    /// long as `values` needs.
    pub valid: Option<Vec<u64>>,
    /// Number of cells.
    pub rows: usize,
}

/// The values of one column.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named as the kinds are")]
pub enum Values {
    U32(Vec<u32>),
    U64(Vec<u64>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
    /// Codes into the distinct texts.
    Text {
        codes: Vec<u32>,
        names: Vec<Arc<str>>,
    },
}
