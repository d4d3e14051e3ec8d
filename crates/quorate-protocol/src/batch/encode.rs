//! Writing batches: byte for byte what a stock controller writes for the same records.

use bytes::{BufMut, Bytes, BytesMut};
use quorate_types::{ControlRecord, Epoch, Offset, WallTime};

use super::header::{CONTROL_BIT, CRC_END, LENGTH_END};
use super::{BATCH_HEADER_BYTES, BatchError, MAX_BATCH_BYTES, varint};
use crate::control;

/// A batch of data records, the first at `base`. The values are frames of metadata records, or
/// whatever another domain keeps in its log; none may be empty.
pub fn encode_data_batch(
    base: Offset,
    epoch: Epoch,
    at: WallTime,
    values: &[Bytes],
) -> Result<Bytes, BatchError> {
    if let Some(index) = values.iter().position(Bytes::is_empty) {
        return Err(BatchError::Record {
            base: base.0,
            index,
            what: "it has no value",
        });
    }
    encode(base, epoch, at, 0, values.len(), || {
        values.iter().map(|value| (None, &value[..]))
    })
}

/// A batch of control records, the first at `base`.
pub fn encode_control_batch(
    base: Offset,
    epoch: Epoch,
    at: WallTime,
    records: &[ControlRecord],
) -> Result<Bytes, BatchError> {
    let encoded = records
        .iter()
        .map(control::encode)
        .collect::<Result<Vec<_>, _>>()?;
    encode(base, epoch, at, CONTROL_BIT, records.len(), || {
        encoded
            .iter()
            .map(|record| (Some(&record.key[..]), &record.value[..]))
    })
}

/// The size that [`encode_data_batch`] gives a batch of values of these lengths, to compare with
/// [`MAX_BATCH_BYTES`] before anything is decided.
pub fn data_batch_size(value_lengths: impl IntoIterator<Item = usize>) -> usize {
    value_lengths
        .into_iter()
        .enumerate()
        .fold(BATCH_HEADER_BYTES, |size, (index, length)| {
            size.saturating_add(record_size(body_size(index, None, length)))
        })
}

fn encode<'a, I>(
    Offset(base): Offset,
    epoch: Epoch,
    WallTime(at): WallTime,
    attributes: i16,
    count: usize,
    records: impl Fn() -> I,
) -> Result<Bytes, BatchError>
where
    I: Iterator<Item = (Option<&'a [u8]>, &'a [u8])>,
{
    let size = records()
        .enumerate()
        .fold(BATCH_HEADER_BYTES, |size, (index, (key, value))| {
            let body = body_size(index, key.map(<[u8]>::len), value.len());
            size.saturating_add(record_size(body))
        });
    if size > MAX_BATCH_BYTES {
        return Err(BatchError::TooLarge { size });
    }
    // A record takes several bytes, so a count of records fits where the size does.
    let count = i32::try_from(count).map_err(|_| BatchError::TooLarge { size })?;
    if count == 0 {
        return Err(BatchError::Empty);
    }

    let mut batch = BytesMut::with_capacity(size);
    batch.put_i64(base);
    batch.put_i32((size - LENGTH_END) as i32);
    batch.put_i32(epoch.0);
    batch.put_i8(2);
    batch.put_u32(0); // the checksum, below
    batch.put_i16(attributes);
    batch.put_i32(count - 1);
    batch.put_i64(at);
    batch.put_i64(at);
    batch.put_i64(-1); // producer id
    batch.put_i16(-1); // producer epoch
    batch.put_i32(-1); // base sequence
    batch.put_i32(count);
    for (index, (key, value)) in records().enumerate() {
        put_record(&mut batch, index, key, value);
    }
    debug_assert_eq!(batch.len(), size);
    let crc = crc32c::crc32c(&batch[CRC_END..]);
    batch[CRC_END - 4..CRC_END].copy_from_slice(&crc.to_be_bytes());
    Ok(batch.freeze())
}

/// The bytes of a record after its own length. All lengths are below [`MAX_BATCH_BYTES`] by the
/// time they are written; before that, a sum that saturates is too large in any case.
fn body_size(index: usize, key: Option<usize>, value: usize) -> usize {
    let attributes_time_and_headers = 3;
    let key = key.map_or(1, |key| varint::size(narrow(key)).saturating_add(key));
    (attributes_time_and_headers + varint::size(narrow(index)))
        .saturating_add(key)
        .saturating_add(varint::size(narrow(value)))
        .saturating_add(value)
}

fn record_size(body: usize) -> usize {
    varint::size(narrow(body)).saturating_add(body)
}

fn put_record(batch: &mut BytesMut, index: usize, key: Option<&[u8]>, value: &[u8]) {
    let body = body_size(index, key.map(<[u8]>::len), value.len());
    varint::put(batch, narrow(body));
    batch.put_u8(0); // attributes
    varint::put(batch, 0); // timestamp delta
    varint::put(batch, narrow(index));
    match key {
        None => varint::put(batch, -1),
        Some(key) => {
            varint::put(batch, narrow(key.len()));
            batch.put_slice(key);
        }
    }
    varint::put(batch, narrow(value.len()));
    batch.put_slice(value);
    varint::put(batch, 0); // headers
}

fn narrow(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}
