//! The derive macros of quorate-protocol: `Message` and `Fields`.
//!
//! A struct that derives one of them is a piece of Kafka's wire format. Its fields stand in wire
//! order and have plain types; what differs between versions is said by attributes. The macros write
//! three implementations: `Default` with the defaults of the fields, `Wire`, and either `Message`
//! (for whole messages) or `Nullable` (for structs inside them). They know nothing about a message
//! that is not written at the struct.
//!
//! On the struct, for `Message` alone:
//!
//! | `#[message(…)]` | meaning |
//! |---|---|
//! | `versions = 0..=3` | the versions there are; needed |
//! | `key = 19` | the key of the API or of the record |
//! | `flexible = 2` | the first flexible version; never, if left out |
//!
//! On a field:
//!
//! | `#[field(…)]` | meaning |
//! |---|---|
//! | `since = 1` | the first version that has it |
//! | `until = 4` | the last version that has it |
//! | `tag = 0` | a tagged field, left out while it holds its default |
//! | `nullable = 7` | an `Option` that may be null from that version on (without: from the first) |
//! | `default = -1` | its default, instead of the type's own |
//! | `ignorable` | is dropped silently by versions that do not have it |
//! | `classic` | is spelled as in versions that are not flexible |
//!
//! A field named `unknown_tags` holds the tagged fields that are not known; every struct that is
//! ever flexible has one. It is not itself on the wire.
//!
//! ```
//! use quorate_protocol::codec::{Message, UnknownTags};
//!
//! /// A record of two versions.
//! #[derive(Debug, Clone, PartialEq, Message)]
//! #[message(key = 4, versions = 0..=1, flexible = 0)]
//! pub struct SwitchRecord {
//!     /// The name of the switch.
//!     pub name: String,
//!     /// Whether it is on.
//!     #[field(default = true)]
//!     pub on: bool,
//!     /// Who may turn it; null for everybody.
//!     #[field(since = 1, tag = 0)]
//!     pub owner: Option<String>,
//!     /// Tagged fields that are not known here.
//!     pub unknown_tags: UnknownTags,
//! }
//!
//! assert!(SwitchRecord::default().on);
//! assert_eq!(SwitchRecord::default().to_bytes(1)?, &b"\x01\x01\x00"[..]);
//! # Ok::<(), quorate_protocol::codec::EncodeError>(())
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod attributes;
mod expand;

use proc_macro::TokenStream;
use syn::DeriveInput;

/// Makes a struct a whole message; see the [crate](self).
#[proc_macro_derive(Message, attributes(message, field))]
pub fn derive_message(input: TokenStream) -> TokenStream {
    derive(input, expand::message)
}

/// Makes a struct a part of messages; see the [crate](self).
#[proc_macro_derive(Fields, attributes(field))]
pub fn derive_fields(input: TokenStream) -> TokenStream {
    derive(input, expand::fields)
}

fn derive(
    input: TokenStream,
    expand: fn(&DeriveInput) -> syn::Result<proc_macro2::TokenStream>,
) -> TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    expand(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
