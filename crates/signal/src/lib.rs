//! Real-time signal kernels and their input.
