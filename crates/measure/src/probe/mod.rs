//! Delivered frequency, without any permission: timing a chain of dependent multiplications.
