//! A client against brokers that answer as they like.

mod chaos;
mod scenarios;
mod support;
