//! From runs to what a person reads.
//!
//! ```text
//! Run(s) -> analysis -> model::Report -> terminal | html | figures | json, csv, markdown
//! ```
//! `analysis` is the only room here that computes; the renderers only place what the model says.

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
mod sheets;
pub mod table;
pub mod terminal;
pub mod text;
pub mod timeline;
pub mod view;
