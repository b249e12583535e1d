//! From runs to what a person reads.
//!
//! ```text
//! Run(s) -> analysis -> model::Report -> kinds, sheets -> table::Table, figures -> terminal | html |
//!                                                                        csv, markdown, json, SVG, PNG
//! ```
//! `analysis` (with that of `kinds`) is the only room here that computes; `kinds` says which tables and
//! figures a run has; the renderers only place them.

pub mod analysis;
pub mod bundle;
pub mod draw;
pub mod export;
pub mod figures;
pub mod gate;
pub mod html;
pub mod kinds;
pub mod lanes;
pub mod model;
pub mod ramped;
mod sheets;
pub mod sides;
pub mod table;
pub mod terminal;
pub mod text;
pub mod timeline;
pub mod view;
