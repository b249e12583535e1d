//! The generated parts of docs/platforms.md and docs/kernels.md are the ones that the code gives.
//!
//! `UPDATE_DOCS=1 cargo test -p flyball-platform --test together docs` rewrites them.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test reads and writes documents of the repository, and fails by panicking"
)]

use flyball_platform::reference;

/// The text between `<!-- generated: NAME -->` and `<!-- end: NAME -->`, replaced.
fn with_generated(document: &str, name: &str, generated: &str) -> String {
    let (start, end) = (format!("<!-- generated: {name} -->\n"), format!("<!-- end: {name} -->"));
    let head = document.find(&start).unwrap_or_else(|| panic!("no mark {start}")) + start.len();
    let tail = document.find(&end).unwrap_or_else(|| panic!("no mark {end}"));
    format!("{}{}\n{}", &document[..head], generated.trim_end(), &document[tail..])
}

fn check(file: &str, keys: &str, shipped: &str) {
    let path = format!("{}/../../docs/{file}", env!("CARGO_MANIFEST_DIR"));
    let committed = fs_err::read_to_string(&path).unwrap();
    let generated = with_generated(&with_generated(&committed, "keys", keys), "shipped", shipped);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs_err::write(&path, &generated).unwrap();
        return;
    }
    assert!(
        committed == generated,
        "docs/{file} is out of date; run: UPDATE_DOCS=1 cargo test -p flyball-platform --test together docs"
    );
}

#[test]
fn platforms_are_documented() {
    check("platforms.md", &reference::platform_keys(), &reference::shipped_platforms());
}

#[test]
fn kernels_are_documented() {
    check("kernels.md", &reference::kernel_keys(), &reference::shipped_kernels());
}
