//! Numbers from recordings: a folder of them, or else the tables that ship (`data/README.md`).

mod coremark;
mod cortex;
mod shipped;

use crate::function::Function;

/// The functions of this room.
pub(crate) const FUNCTIONS: &[Function] = &{
    let [a, b, c, d, e, f, g, h, i] = cortex::FUNCTIONS;
    let [j, k, l, m] = coremark::FUNCTIONS;
    [a, b, c, d, e, f, g, h, i, j, k, l, m]
};
