//! Record batches, version 2: what a log segment and a Fetch answer are made of.
