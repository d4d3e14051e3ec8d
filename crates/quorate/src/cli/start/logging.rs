//! Log lines on stderr: one an event, to be read by people or by programs.

use std::fmt;

use clap::ValueEnum;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::dump::json::Object;

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Time, level, and a sentence.
    #[default]
    Text,
    /// One JSON object: time, level, message, and for what happened to the node its name and fields.
    Json,
}

/// Starts logging to stderr. What is logged is chosen by `RUST_LOG`, `info` without it.
pub fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .event_format(Line { format })
        .init();
}

struct Line {
    format: LogFormat,
}

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = event.metadata().level();
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        match self.format {
            LogFormat::Text => {
                write!(writer, "{time} {level:<5} {}", fields.message)?;
                // What happened to the node is a whole sentence; elsewhere fields say more.
                if fields.name.is_none() {
                    for (key, value) in &fields.others {
                        match value {
                            Value::Number(number) => write!(writer, " {key}={number}")?,
                            Value::Text(text) => write!(writer, " {key}={text}")?,
                        }
                    }
                }
                writeln!(writer)
            }
            LogFormat::Json => {
                let mut line = String::new();
                let mut object = Object::open(&mut line);
                object.field("time", &time, 0);
                object.field("level", &level.to_string(), 0);
                if let Some(name) = &fields.name {
                    object.field("event", name, 0);
                }
                object.field("message", &fields.message, 0);
                for (key, value) in &fields.others {
                    match value {
                        Value::Number(number) => object.field(key, number, 0),
                        Value::Text(text) => object.field(key, text, 0),
                    }
                }
                object.close();
                writeln!(writer, "{line}")
            }
        }
    }
}

/// The fields of one event.
#[derive(Default)]
struct Fields {
    message: String,
    /// What happened, in one word.
    name: Option<String>,
    others: Vec<(&'static str, Value)>,
}

enum Value {
    Number(i64),
    Text(String),
}

impl Fields {
    fn put(&mut self, field: &Field, value: String) {
        match field.name() {
            "message" => self.message = value.replace('\n', " | "),
            "event" => self.name = Some(value),
            name => self.others.push((name, Value::Text(value))),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.others.push((field.name(), Value::Number(value)));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.record_i64(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.to_owned());
    }
}
