//! Background load: profiles, the generator, and the proof that it ran.
