//! What the program prints: readable lines, or one JSON object a line.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use serde_json::{Value, json};

/// Prints in the form that was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Report {
    json: bool,
    color: bool,
}

impl Report {
    /// Text, or JSON.
    pub fn new(json: bool) -> Report {
        Report {
            json,
            color: !json && io::stdout().is_terminal(),
        }
    }

    /// Whether the lines are JSON.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Something that programs wait for and people like to read.
    pub fn event(&self, at: Duration, name: &str, fields: Value, text: &str) {
        if self.json {
            let mut object = json!({ "event": name });
            if let (Value::Object(object), Value::Object(fields)) = (&mut object, fields) {
                object.extend(fields);
            }
            self.line(&object.to_string());
        } else {
            self.line(&format!("{} {text}", self.dim(&stamp(at))));
        }
    }

    /// Something for people only.
    pub fn say(&self, text: &str) {
        if !self.json {
            self.line(text);
        }
    }

    /// A heading, for people only.
    pub fn heading(&self, text: &str) {
        let bold = if self.color {
            format!("\x1b[1m{text}\x1b[0m")
        } else {
            text.to_owned()
        };
        self.say(&format!("\n{bold}"));
    }

    /// The outcome of a check, for people only; programs read the sum of them.
    pub fn check(&self, held: bool, text: &str) {
        let (mark, color) = if held { ("ok  ", "32") } else { ("FAIL", "31") };
        let mark = if self.color {
            format!("\x1b[{color}m{mark}\x1b[0m")
        } else {
            mark.to_owned()
        };
        self.say(&format!("  {mark} {text}"));
    }

    fn dim(&self, text: &str) -> String {
        if self.color {
            format!("\x1b[2m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// A reader that went away is no reason to stop the cluster.
    fn line(&self, text: &str) {
        let mut out = io::stdout().lock();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    }
}

fn stamp(at: Duration) -> String {
    format!("{:>4}.{:03}s", at.as_secs(), at.subsec_millis())
}
