//! Answers the request on standard input as the WebAssembly module does.

use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let mut request = String::new();
    std::io::stdin().read_to_string(&mut request)?;
    std::io::stdout().write_all(flyball_wasm::answer(&request).as_bytes())
}
