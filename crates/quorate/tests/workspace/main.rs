//! What the workspace as a whole is held to: its arrows, its sources, its documents.

mod compatibility;
mod documents;
mod edges;
mod sources;
mod tree;
