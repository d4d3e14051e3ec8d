//! The records inside a batch, read without copying and refused where Kafka's reader refuses.

use bytes::Bytes;

use super::{BatchError, varint};

/// One record as it stands in a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRecord {
    /// Present on control records only.
    pub key: Option<Bytes>,
    /// Never absent or empty.
    pub value: Bytes,
}

/// The records of one batch, in order; ends after the first error.
#[derive(Debug, Clone)]
pub struct RawRecords {
    base: i64,
    control: bool,
    next: usize,
    count: usize,
    rest: Bytes,
    failed: Option<BatchError>,
}

impl RawRecords {
    pub(super) fn new(base: i64, control: bool, count: usize, rest: Bytes) -> RawRecords {
        RawRecords {
            base,
            control,
            next: 0,
            count,
            rest,
            failed: None,
        }
    }

    pub(super) fn failed(error: BatchError) -> RawRecords {
        RawRecords {
            base: 0,
            control: false,
            next: 0,
            count: 0,
            rest: Bytes::new(),
            failed: Some(error),
        }
    }

    /// Reads one record off the front.
    fn read(&mut self) -> Result<RawRecord, &'static str> {
        let mut input = &self.rest[..];
        let size = varint::take(&mut input).ok_or("its length is cut off")?;
        let body = usize::try_from(size)
            .ok()
            .filter(|size| *size <= input.len())
            .ok_or("its length does not fit into the batch")?;
        let after = &input[body..];
        let record = self.read_body(&input[..body])?;
        self.rest = self.rest.slice_ref(after);
        Ok(record)
    }

    fn read_body(&self, mut input: &[u8]) -> Result<RawRecord, &'static str> {
        const CUT: &str = "it is cut off";
        let (_attributes, rest) = input.split_first().ok_or(CUT)?;
        input = rest;
        if varint::take_long(&mut input).ok_or(CUT)? != 0 {
            return Err("its timestamp delta is not 0");
        }
        let delta = varint::take(&mut input).ok_or(CUT)?;
        if usize::try_from(delta) != Ok(self.next) {
            return Err("its offset does not follow on the one before");
        }
        let key = self.take_field(&mut input)?;
        if key.is_some() != self.control {
            return Err("data records have no key, control records have one");
        }
        let value = self
            .take_field(&mut input)?
            .filter(|value| !value.is_empty())
            .ok_or("it has no value")?;
        match input {
            [0] => Ok(RawRecord { key, value }),
            _ => Err("it has headers or bytes left over"),
        }
    }

    /// A byte string with its length before it; `None` for the length −1.
    fn take_field(&self, input: &mut &[u8]) -> Result<Option<Bytes>, &'static str> {
        let length = varint::take(input).ok_or("it is cut off")?;
        if length < 0 {
            return Ok(None);
        }
        let (field, rest) = usize::try_from(length)
            .ok()
            .and_then(|length| input.split_at_checked(length))
            .ok_or("a field is longer than the record")?;
        *input = rest;
        Ok(Some(self.rest.slice_ref(field)))
    }

    fn fail(&mut self, what: &'static str) -> BatchError {
        let index = self.next;
        self.next = 0;
        self.count = 0;
        BatchError::Record {
            base: self.base,
            index,
            what,
        }
    }
}

impl Iterator for RawRecords {
    type Item = Result<RawRecord, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        if self.next == self.count {
            return None;
        }
        match self.read() {
            Ok(_) if self.next + 1 == self.count && !self.rest.is_empty() => {
                Some(Err(self.fail("bytes are left over after it")))
            }
            Ok(record) => {
                self.next += 1;
                Some(Ok(record))
            }
            Err(what) => Some(Err(self.fail(what))),
        }
    }
}

/// The values of a data batch, in order; ends after the first error.
#[derive(Debug, Clone)]
pub struct Records(pub(super) RawRecords);

impl Iterator for Records {
    type Item = Result<Bytes, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.0.next()?.map(|record| record.value))
    }
}
