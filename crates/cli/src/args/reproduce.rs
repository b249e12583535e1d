//! Arguments of `flyball reproduce`.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use flyball_reproduce::Verdict;
use std::path::PathBuf;

pub const EXAMPLES: &str = include_str!("../../help/reproduce.txt").trim_ascii_end();

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Only numbers of this source, A to E; repeatable
    #[arg(short, long, value_name = "LETTER")]
    pub source: Vec<String>,
    /// Only numbers whose id starts so; repeatable
    #[arg(long, value_name = "ID")]
    pub id: Vec<String>,
    /// Only numbers with this verdict; repeatable
    #[arg(long, value_name = "VERDICT", value_parser = verdicts())]
    pub verdict: Vec<Verdict>,
    /// Folder with the sources' recordings, instead of the tables of them that ship
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Only the counts per source, without what is refuted
    #[arg(long)]
    pub summary: bool,
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = ReproduceFormat::Text)]
    pub format: ReproduceFormat,
    /// Write figures of CORTEX (source A) and powerd (C), drawn by the model, as SVG into this folder
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
}

/// Reads a verdict by its word.
fn verdicts() -> impl TypedValueParser<Value = Verdict> {
    let value = |verdict: Verdict| PossibleValue::new(verdict.name()).help(verdict.about());
    PossibleValuesParser::new(Verdict::ALL.map(value)).try_map(|name| name.parse::<Verdict>())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReproduceFormat {
    /// For people
    Text,
    /// The whole table (described in docs/reproduce.md)
    Json,
    /// For a pull request
    Md,
}
