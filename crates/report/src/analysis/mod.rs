//! From run directories to a [`Report`](crate::model::Report).
