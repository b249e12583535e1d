//! The keys of a scenario as a document, from the tables that the reader uses.

use super::keys::{CGROUP, DOMAIN, FEATURES, GOVERNOR, HINT, INTERRUPT, Key, TASK, TOP};
use super::kinds::KINDS;
use std::fmt::Write;

/// Every key as Markdown tables.
pub fn reference() -> String {
    let mut text = String::new();
    section(&mut text, "## The file", "", TOP);
    section(
        &mut text,
        "## `[governor]`",
        "Every other key is a tunable by its upstream name; the governors' pages list them.",
        GOVERNOR,
    );
    section(&mut text, "### `[governor.domain.NAME]`", "One clock domain.", DOMAIN);
    section(&mut text, "## `[features]`", "", FEATURES);
    section(
        &mut text,
        "## `[[task]]`",
        "Keys of every kind; a key without a default must be there.",
        TASK,
    );
    for kind in KINDS {
        section(&mut text, &format!("### kind = \"{}\"", kind.name), kind.doc, kind.keys);
    }
    section(
        &mut text,
        "## `[[cgroup]]`",
        "A control group that tasks name with `cgroup`: files of the `cpu` controller of version 2. Groups are side by \
         side, none in another one. On a machine they are made below this program's own one, and removed.",
        CGROUP,
    );
    section(
        &mut text,
        "## `[[hint]]`",
        "A call that tells the scheduler one thing about a task (patch 10 of the response-time \
         series). The kernel must have the series' patches 8 or 15.",
        HINT,
    );
    section(&mut text, "## `[[interrupt]]`", "", INTERRUPT);
    text
}

fn section(text: &mut String, title: &str, doc: &str, keys: &[Key]) {
    let _ = writeln!(text, "{title}\n");
    if !doc.is_empty() {
        let _ = writeln!(text, "{doc}\n");
    }
    if keys.is_empty() {
        return;
    }
    text.push_str("| key | form | default | meaning |\n|---|---|---|---|\n");
    for key in keys {
        let _ = writeln!(text, "| `{}` | {} | {} | {} |", key.name, key.form, key.default, key.doc);
    }
    text.push('\n');
}
