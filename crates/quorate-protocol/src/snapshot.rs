//! Snapshot files: a header batch, data batches, a footer batch.
