//! Captures this machine: `cargo run -p flyball-host --example capture -- DIR`, then prints what
//! it is and what this process may do, as JSON.
#![allow(clippy::print_stdout, reason = "an example speaks to the terminal")]

use flyball_host::{Permissions, RealHost, Topology, snapshot};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let host = RealHost::new();
    if let Some(folder) = std::env::args().nth(1) {
        let captured = snapshot::capture(&host, Path::new(&folder))?;
        println!("{} files, {} bytes in {folder}", captured.files, captured.bytes);
    }
    println!("{}", serde_json::to_string_pretty(&Topology::discover(&host)?)?);
    println!("{}", serde_json::to_string_pretty(&Permissions::probe(&host))?);
    Ok(())
}
