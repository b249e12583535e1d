//! A table as Arrow: its columns as they lie in memory, lent to whoever reads the stream.

use crate::error::wrong;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, PrimitiveArray, RecordBatch,
    RecordBatchIterator, StringArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Field, Schema};
use flyball_run::column::{Cells, Values};
use flyball_run::{ColumnSpec, TableSpec};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::HashMap;
use std::sync::Arc;

/// A table whose columns cross to other libraries without a copy.
#[pyclass(frozen, module = "flyball._flyball")]
pub struct Table(pub RecordBatch);

#[pymethods]
impl Table {
    /// The table as a stream of one batch (Arrow PyCapsule interface). The schema is the table's own,
    /// whatever is asked for, as the interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The schema (Arrow PyCapsule interface).
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref())
            .map_err(|error| wrong(error, None))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// Where the values of a column of numbers lie in memory.
    fn address(&self, column: &str) -> Option<usize> {
        let data = self.0.column_by_name(column)?.to_data();
        data.buffers().first().map(|buffer| buffer.as_ptr() as usize)
    }
}

impl Table {
    /// The same columns' memory, fewer of them.
    pub fn only(&self, columns: &[String]) -> PyResult<Table> {
        let kept = self.0.schema();
        let kept = kept.fields().iter().enumerate();
        let kept: Vec<usize> =
            kept.filter(|(_, field)| columns.contains(field.name())).map(|(at, _)| at).collect();
        self.0.project(&kept).map(Table).map_err(|error| wrong(error, None))
    }
}

/// A table of the columns `wanted`, all where none are named.
pub fn table(spec: TableSpec, cells: Vec<Cells>, wanted: Option<&[String]>) -> PyResult<Table> {
    batch(spec, cells, wanted).map(Table).map_err(|error| wrong(error, None))
}

fn batch(
    spec: TableSpec,
    cells: Vec<Cells>,
    wanted: Option<&[String]>,
) -> Result<RecordBatch, ArrowError> {
    let mut blank = Blank::default();
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (column, cells) in spec.columns.iter().zip(cells) {
        if wanted.is_some_and(|wanted| !wanted.iter().any(|name| name == column.name)) {
            continue;
        }
        let array = array(cells, &mut blank)?;
        fields.push(field(column, &array));
        arrays.push(array);
    }
    let told = HashMap::from([("flyball.table".to_owned(), spec.name.to_owned())]);
    RecordBatch::try_new(Arc::new(Schema::new_with_metadata(fields, told)), arrays)
}

fn field(column: &ColumnSpec, array: &ArrayRef) -> Field {
    let unit = column.unit().map(|unit| ("unit".to_owned(), unit.to_owned()));
    let doc = ("doc".to_owned(), column.doc.trim().to_owned());
    Field::new(column.name, array.data_type().clone(), column.nullable)
        .with_metadata([doc].into_iter().chain(unit).collect())
}

/// Cells of columns that are null throughout: the same zeros for all of them.
#[derive(Default)]
struct Blank(Option<Buffer>);

impl Blank {
    /// At least eight bytes per row; the system maps them when somebody looks.
    fn of(&mut self, rows: usize) -> Buffer {
        self.0.get_or_insert_with(|| Buffer::from_vec(vec![0_u64; rows])).clone()
    }
}

fn array(cells: Cells, blank: &mut Blank) -> Result<ArrayRef, ArrowError> {
    let Cells { values, valid, rows } = cells;
    let empty = valid.as_ref().is_some_and(|bits| bits.len() * 64 < rows);
    let nulls = valid.map(|bits| {
        let bits = if empty { blank.of(rows) } else { Buffer::from_vec(bits) };
        NullBuffer::new(BooleanBuffer::new(bits, 0, rows))
    });
    let lie = |values: Buffer, blank: &mut Blank| if empty { blank.of(rows) } else { values };
    Ok(match values {
        Values::U32(v) => numbers::<UInt32Type>(lie(Buffer::from_vec(v), blank), rows, nulls)?,
        Values::U64(v) => numbers::<UInt64Type>(lie(Buffer::from_vec(v), blank), rows, nulls)?,
        Values::I32(v) => numbers::<Int32Type>(lie(Buffer::from_vec(v), blank), rows, nulls)?,
        Values::I64(v) => numbers::<Int64Type>(lie(Buffer::from_vec(v), blank), rows, nulls)?,
        Values::F64(v) => numbers::<Float64Type>(lie(Buffer::from_vec(v), blank), rows, nulls)?,
        Values::Bool(v) => {
            let bits = match empty {
                true => BooleanBuffer::new(blank.of(rows), 0, rows),
                false => BooleanBuffer::from(v),
            };
            Arc::new(BooleanArray::new(bits, nulls))
        }
        Values::Text { codes, names } => {
            // Signed, because pandas knows no other codes; there are fewer than 2^31 texts.
            let codes = lie(Buffer::from_vec(codes), blank);
            let codes =
                PrimitiveArray::<Int32Type>::try_new(ScalarBuffer::new(codes, 0, rows), nulls)?;
            let names = StringArray::from_iter_values(names.iter().map(AsRef::as_ref));
            Arc::new(DictionaryArray::try_new(codes, Arc::new(names))?)
        }
    })
}

fn numbers<T: ArrowPrimitiveType>(
    values: Buffer,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(PrimitiveArray::<T>::try_new(ScalarBuffer::new(values, 0, rows), nulls)?))
}
