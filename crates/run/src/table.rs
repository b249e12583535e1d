//! What a table is: a row type, a struct of columns, and a description of every column, all
//! generated from one definition so that they cannot disagree.

use std::any::Any;

use serde::de::DeserializeOwned;

use crate::kind::Kind;
use crate::storage::Column;
use crate::tables::Tables;

/// One column: its name ends in its unit, its text says what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Name in NDJSON and Parquet.
    pub name: &'static str,
    /// Kind of value.
    pub kind: Kind,
    /// Whether a cell may be absent.
    pub nullable: bool,
    /// What the column means.
    pub doc: &'static str,
}

/// A doc comment as one line.
pub(crate) fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Endings of columns' names, and the units that they stand for.
const UNITS: [(&str, &str); 11] = [
    ("_ns", "ns"),
    ("_us", "us"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("_khz", "kHz"),
    ("_percent", "%"),
    ("_permille", "1/1000"),
    ("_mj", "mJ"),
    ("_mw", "mW"),
    ("_ticks", "counter ticks"),
    ("_celsius", "C"),
];

impl ColumnSpec {
    /// The unit that the name ends in.
    pub fn unit(&self) -> Option<&'static str> {
        UNITS.iter().find(|(ending, _)| self.name.ends_with(ending)).map(|(_, unit)| *unit)
    }
}

/// One table of the run directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSpec {
    /// File name without its extension.
    pub name: &'static str,
    /// What one row is.
    pub doc: &'static str,
    /// The columns in order.
    pub columns: &'static [ColumnSpec],
}

/// One row of a table, as written to NDJSON.
pub trait Row: AnyRow + DeserializeOwned + Clone + Default {
    /// The table that holds such rows.
    type Table: Table<Row = Self>;
}

/// A row whose type is not known. Its methods belong to a type and not to who calls them: what appends rows is
/// compiled here, once, and not in every crate that writes a run.
pub trait AnyRow {
    /// The schema of its table.
    fn spec(&self) -> &'static TableSpec;
    /// The first column whose value NDJSON cannot carry (NaN, infinity).
    fn unwritable(&self) -> Option<&'static str>;
    /// Adds it as JSON, in one line without its end.
    ///
    /// # Errors
    /// A value that has no JSON form.
    fn write_json(&self, buffer: &mut Vec<u8>) -> serde_json::Result<()>;
    /// Adds a copy to its table.
    fn push_to(&self, tables: &mut Tables);
}

/// A table in memory: one vector per column.
pub trait Table: Default + Clone + Send + 'static {
    /// One row.
    type Row: Row<Table = Self>;
    /// The schema.
    const SPEC: TableSpec;

    /// Adds a row at the end.
    fn push(&mut self, row: Self::Row);
    /// Row `index`, assembled; `None` behind the end.
    fn row(&self, index: usize) -> Option<Self::Row>;
    /// Number of rows.
    fn len(&self) -> usize;
    /// Whether there is no row.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Adds all rows of `other` at the end.
    fn append(&mut self, other: Self);
    /// Makes room for `additional` rows.
    fn reserve(&mut self, additional: usize);
    /// Gives every column as many cells as the longest has: empty ones at its end.
    fn fill(&mut self);
    /// The columns, in the order of the schema.
    fn columns(&self) -> Vec<&dyn Column>;
    /// The columns, in the order of the schema.
    fn columns_mut(&mut self) -> Vec<&mut dyn Column>;
}

/// A table whose rows' type is not known: what reads and writes whole tables is compiled once, not
/// once per table.
pub(crate) trait AnyTable: Any + Send {
    /// The schema.
    fn spec(&self) -> TableSpec;
    /// Number of rows.
    fn rows(&self) -> usize;
    /// What makes empty tables of the same type.
    fn maker(&self) -> fn() -> Box<dyn AnyTable>;
    /// Adds the row of one line of NDJSON.
    fn push_line(&mut self, line: &[u8]) -> serde_json::Result<()>;
    /// Adds all rows of `other`, a table of the same type.
    fn absorb(&mut self, other: Box<dyn AnyTable>);
    /// The columns, in the order of the schema.
    fn stored(&self) -> Vec<&dyn Column>;
    /// The columns, in the order of the schema.
    fn stored_mut(&mut self) -> Vec<&mut dyn Column>;
}

impl<T: Table> AnyTable for T {
    fn spec(&self) -> TableSpec {
        T::SPEC
    }

    fn rows(&self) -> usize {
        self.len()
    }

    fn maker(&self) -> fn() -> Box<dyn AnyTable> {
        || Box::new(T::default())
    }

    fn push_line(&mut self, line: &[u8]) -> serde_json::Result<()> {
        self.push(serde_json::from_slice(line)?);
        Ok(())
    }

    fn absorb(&mut self, other: Box<dyn AnyTable>) {
        let other = (other as Box<dyn Any>).downcast::<T>();
        debug_assert!(other.is_ok(), "only tables of one type are joined");
        if let Ok(other) = other {
            self.append(*other);
        }
    }

    fn stored(&self) -> Vec<&dyn Column> {
        self.columns()
    }

    fn stored_mut(&mut self) -> Vec<&mut dyn Column> {
        self.columns_mut()
    }
}

/// Defines a table once: row struct, struct of columns and schema.
macro_rules! table {
    (
        $(#[doc = $table_doc:literal])*
        $name:ident : $row:ident => $table:ident {
            $( $(#[doc = $doc:literal])* $column:ident : $type:ty, )*
        }
    ) => {
        $crate::table::table! {
            $(#[doc = $table_doc])*
            $name : $row => $table as Store { $( $(#[doc = $doc])* $column : $type, )* }
        }
    };
    // Of many rows: `as Long`.
    (
        $(#[doc = $table_doc:literal])*
        $name:ident : $row:ident => $table:ident as $store:ident {
            $( $(#[doc = $doc:literal])* $column:ident : $type:ty, )*
        }
    ) => {
        $(#[doc = $table_doc])*
        #[derive(Debug, Clone, PartialEq, Default, ::serde::Deserialize)]
        pub struct $row {
            $(
                $(#[doc = $doc])*
                pub $column: $type,
            )*
        }

        $(#[doc = $table_doc])*
        ///
        /// One vector per column.
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $table {
            $(
                $(#[doc = $doc])*
                pub $column: <$type as $crate::column::Field>::$store,
            )*
        }

        impl $crate::table::Row for $row {
            type Table = $table;
        }

        impl $crate::table::AnyRow for $row {
            fn spec(&self) -> &'static $crate::table::TableSpec {
                &<$table as $crate::table::Table>::SPEC
            }

            fn write_json(&self, buffer: &mut Vec<u8>) -> ::serde_json::Result<()> {
                buffer.push(b'{');
                $( $crate::ndjson::field(
                    concat!("\"", stringify!($column), "\":"),
                    &self.$column,
                    buffer,
                )?; )*
                buffer.push(b'}');
                Ok(())
            }

            fn push_to(&self, tables: &mut $crate::tables::Tables) {
                tables.$name.push(self.clone());
            }

            fn unwritable(&self) -> Option<&'static str> {
                $(
                    if !$crate::column::Field::is_writable(&self.$column) {
                        return Some(stringify!($column));
                    }
                )*
                None
            }
        }

        impl $table {
            /// Number of rows.
            pub fn len(&self) -> usize {
                $crate::table::Table::len(self)
            }

            /// Whether there is no row.
            pub fn is_empty(&self) -> bool {
                $crate::table::Table::len(self) == 0
            }

            /// Adds a row at the end.
            pub fn push(&mut self, row: $row) {
                $crate::table::Table::push(self, row);
            }

            /// Row `index`, assembled; `None` behind the end.
            pub fn row(&self, index: usize) -> Option<$row> {
                $crate::table::Table::row(self, index)
            }
        }

        impl $crate::table::Table for $table {
            type Row = $row;

            const SPEC: $crate::table::TableSpec = $crate::table::TableSpec {
                name: stringify!($name),
                doc: concat!($($table_doc, "\n"),*),
                columns: &[$(
                    $crate::table::ColumnSpec {
                        name: stringify!($column),
                        kind: <$type as $crate::column::Field>::KIND,
                        nullable: <$type as $crate::column::Field>::NULLABLE,
                        doc: concat!($($doc, "\n"),*),
                    }
                ),*],
            };

            fn push(&mut self, row: $row) {
                $( $crate::column::Store::push(&mut self.$column, row.$column); )*
            }

            fn row(&self, index: usize) -> Option<$row> {
                Some($row {
                    $( $column: $crate::column::Store::value(&self.$column, index)?, )*
                })
            }

            fn len(&self) -> usize {
                [$( $crate::column::Store::len(&self.$column) ),*].into_iter().max().unwrap_or(0)
            }

            fn append(&mut self, other: Self) {
                $( $crate::column::Store::append(&mut self.$column, other.$column); )*
            }

            fn reserve(&mut self, additional: usize) {
                $( $crate::column::Store::reserve(&mut self.$column, additional); )*
            }

            fn fill(&mut self) {
                let len = $crate::table::Table::len(self);
                $( $crate::column::Store::fill(&mut self.$column, len); )*
            }

            fn columns(&self) -> Vec<&dyn $crate::storage::Column> {
                vec![$( &self.$column ),*]
            }

            fn columns_mut(&mut self) -> Vec<&mut dyn $crate::storage::Column> {
                vec![$( &mut self.$column ),*]
            }
        }
    };
}

/// Lists the tables once: the registry and the struct that holds them all.
macro_rules! tables {
    ($( $(#[doc = $doc:literal])* $name:ident : $table:ident ),* $(,)?) => {
        /// Every table of a run; absent ones are empty.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Tables {
            $( $(#[doc = $doc])* pub $name: $table, )*
        }

        impl Tables {
            /// Moves the cells of the table `name` out, a column each in the order of its schema; none
            /// where there is no such table.
            pub fn take(&mut self, name: &str) -> Option<Vec<$crate::column::Cells>> {
                let table: &mut dyn $crate::table::AnyTable = match name {
                    $( stringify!($name) => &mut self.$name, )*
                    _ => return None,
                };
                Some(table.stored_mut().into_iter().map(|column| column.take()).collect())
            }

            /// Gives the texts of all tables other words, where `change` has some.
            pub fn rename(&mut self, change: &mut dyn FnMut(&str) -> Option<String>) {
                $(
                    for column in $crate::table::AnyTable::stored_mut(&mut self.$name) {
                        column.rename(change);
                    }
                )*
            }
        }

        /// The schema of every table.
        pub const fn registry() -> &'static [$crate::table::TableSpec] {
            const ALL: &[$crate::table::TableSpec] =
                &[$( <$table as $crate::table::Table>::SPEC ),*];
            ALL
        }

        /// Calls `$run!(field, Type)` for every table, in order.
        macro_rules! for_each_table {
            ($run:ident) => { $( $run!($name, $table); )* };
        }
        pub(crate) use for_each_table;
    };
}

pub(crate) use {table, tables};
