//! Numbers from recordings: `--data DIR` holds their folders.

mod coremark;
mod cortex;

use crate::function::Function;

/// The functions of this room.
pub(crate) const FUNCTIONS: &[Function] = &{
    let [a, b, c, d, e, f, g, h, i] = cortex::FUNCTIONS;
    let [j, k, l, m] = coremark::FUNCTIONS;
    [a, b, c, d, e, f, g, h, i, j, k, l, m]
};
