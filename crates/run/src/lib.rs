//! The run directory: manifest, table registry, writer, reader, importers.
