//! What the attributes say, checked as far as one struct can be.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, Data, DeriveInput, Expr, Field, Fields, Ident, LitInt, Token, Type};

/// The attributes of a whole message.
pub struct MessageAttributes {
    pub key: Option<i16>,
    pub versions: (i16, i16),
    pub flexible: Option<i16>,
}

impl MessageAttributes {
    /// Reads `#[message(…)]`.
    pub fn of(input: &DeriveInput) -> syn::Result<MessageAttributes> {
        let (mut key, mut versions, mut flexible) = (None, None, None);
        for attribute in named(&input.attrs, "message") {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("key") {
                    key = Some(number(&meta)?);
                } else if meta.path.is_ident("versions") {
                    versions = Some(range(&meta)?);
                } else if meta.path.is_ident("flexible") {
                    flexible = Some(number(&meta)?);
                } else {
                    return Err(meta.error("one of key, versions, flexible is wanted"));
                }
                Ok(())
            })?;
        }
        let wanted = || syn::Error::new_spanned(&input.ident, "#[message(versions = …)] is wanted");
        Ok(MessageAttributes {
            key,
            versions: versions.ok_or_else(wanted)?,
            flexible,
        })
    }
}

/// One field that is on the wire.
pub struct WireField<'a> {
    pub ident: &'a Ident,
    pub ty: &'a Type,
    pub since: Option<i16>,
    pub until: Option<i16>,
    pub tag: Option<u32>,
    pub nullable: Option<i16>,
    pub default: Option<Expr>,
    pub ignorable: bool,
    pub classic: bool,
}

impl WireField<'_> {
    fn of(field: &Field) -> syn::Result<WireField<'_>> {
        let Some(ident) = &field.ident else {
            return Err(syn::Error::new_spanned(field, "fields must have names"));
        };
        let mut wire = WireField {
            ident,
            ty: &field.ty,
            since: None,
            until: None,
            tag: None,
            nullable: None,
            default: None,
            ignorable: false,
            classic: false,
        };
        for attribute in named(&field.attrs, "field") {
            attribute.parse_nested_meta(|meta| wire.set(&meta))?;
        }
        if let (Some(since), Some(until)) = (wire.since, wire.until)
            && since > until
        {
            return Err(syn::Error::new_spanned(ident, "no version has this field"));
        }
        Ok(wire)
    }

    fn set(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if meta.path.is_ident("since") {
            self.since = Some(number(meta)?);
        } else if meta.path.is_ident("until") {
            self.until = Some(number(meta)?);
        } else if meta.path.is_ident("tag") {
            self.tag = Some(number(meta)?);
        } else if meta.path.is_ident("nullable") {
            self.nullable = Some(number(meta)?);
        } else if meta.path.is_ident("default") {
            self.default = Some(meta.value()?.parse()?);
        } else if meta.path.is_ident("ignorable") {
            self.ignorable = true;
        } else if meta.path.is_ident("classic") {
            self.classic = true;
        } else {
            return Err(meta.error(
                "one of since, until, tag, nullable, default, ignorable, classic is wanted",
            ));
        }
        Ok(())
    }
}

/// The fields of a struct that are on the wire, in order, and whether it keeps unknown tags.
pub fn wire_fields(input: &DeriveInput) -> syn::Result<(Vec<WireField<'_>>, bool)> {
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new_spanned(
            input,
            "only structs have a wire format",
        ));
    };
    let fields = match &data.fields {
        Fields::Named(fields) => &fields.named,
        Fields::Unit | Fields::Unnamed(_) => {
            return Err(syn::Error::new_spanned(input, "fields must have names"));
        }
    };
    let mut wire = Vec::new();
    let mut keeps_tags = false;
    for field in fields {
        if field
            .ident
            .as_ref()
            .is_some_and(|ident| ident == "unknown_tags")
        {
            keeps_tags = true;
        } else {
            wire.push(WireField::of(field)?);
        }
    }
    if let Some(field) = wire.iter().find(|field| field.tag.is_some() && !keeps_tags) {
        let problem = "a struct with tagged fields needs a field `unknown_tags: UnknownTags`";
        return Err(syn::Error::new_spanned(field.ident, problem));
    }
    for (index, field) in wire.iter().enumerate() {
        let twice = |other: &WireField<'_>| other.tag == field.tag;
        if field.tag.is_some() && wire[..index].iter().any(twice) {
            return Err(syn::Error::new_spanned(
                field.ident,
                "another field has this tag",
            ));
        }
    }
    Ok((wire, keeps_tags))
}

fn named<'a>(attributes: &'a [Attribute], name: &str) -> impl Iterator<Item = &'a Attribute> {
    attributes
        .iter()
        .filter(move |attribute| attribute.path().is_ident(name))
}

fn number<N>(meta: &ParseNestedMeta<'_>) -> syn::Result<N>
where
    N: std::str::FromStr,
    N::Err: std::fmt::Display,
{
    meta.value()?.parse::<LitInt>()?.base10_parse()
}

/// `0..=3`, or `3` for `3..=3`.
fn range(meta: &ParseNestedMeta<'_>) -> syn::Result<(i16, i16)> {
    let value = meta.value()?;
    let min = value.parse::<LitInt>()?.base10_parse()?;
    if !value.peek(Token![..=]) {
        return Ok((min, min));
    }
    value.parse::<Token![..=]>()?;
    Ok((min, value.parse::<LitInt>()?.base10_parse()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn refusal(input: &DeriveInput) -> String {
        match wire_fields(input) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn attributes_are_read_as_they_are_written() {
        let input = parse_quote! {
            #[message(key = 7, versions = 1..=3, flexible = 2)]
            struct Example {
                #[field(since = 2, until = 3, tag = 1, nullable = 3, default = None, ignorable)]
                first: Option<String>,
                #[field(classic)]
                second: String,
                unknown_tags: UnknownTags,
            }
        };
        let message = MessageAttributes::of(&input).unwrap();
        assert_eq!(
            (message.key, message.versions, message.flexible),
            (Some(7), (1, 3), Some(2))
        );
        let (fields, keeps_tags) = wire_fields(&input).unwrap();
        assert!(keeps_tags && fields.len() == 2);
        let first = &fields[0];
        assert_eq!(
            (first.since, first.until, first.tag),
            (Some(2), Some(3), Some(1))
        );
        assert!(first.nullable == Some(3) && first.default.is_some() && first.ignorable);
        assert!(fields[1].classic && !fields[1].ignorable && fields[1].since.is_none());
    }

    #[test]
    fn one_version_is_a_range_too() {
        let input = parse_quote! {
            #[message(versions = 4)]
            struct Example {}
        };
        let message = MessageAttributes::of(&input).unwrap();
        assert_eq!(
            (message.key, message.versions, message.flexible),
            (None, (4, 4), None)
        );
    }

    #[test]
    fn a_message_without_versions_is_refused() {
        let error = MessageAttributes::of(&parse_quote!(
            struct Example {}
        ))
        .err();
        assert!(error.is_some_and(|error| error.to_string().contains("versions")));
    }

    #[test]
    fn what_has_no_wire_format_is_refused() {
        assert!(
            refusal(&parse_quote!(
                enum Example {
                    A,
                }
            ))
            .contains("only structs")
        );
        assert!(
            refusal(&parse_quote!(
                struct Example(u8);
            ))
            .contains("names")
        );
    }

    #[test]
    fn contradictions_are_refused() {
        let homeless = parse_quote!(
            struct Example {
                #[field(tag = 0)]
                a: i8,
            }
        );
        assert!(refusal(&homeless).contains("unknown_tags"));
        let twice = parse_quote! {
            struct Example {
                #[field(tag = 0)]
                a: i8,
                #[field(tag = 0)]
                b: i8,
                unknown_tags: UnknownTags,
            }
        };
        assert!(refusal(&twice).contains("another field"));
        let never = parse_quote!(
            struct Example {
                #[field(since = 3, until = 2)]
                a: i8,
            }
        );
        assert!(refusal(&never).contains("no version"));
        let unknown = parse_quote!(
            struct Example {
                #[field(sometimes)]
                a: i8,
            }
        );
        assert!(refusal(&unknown).contains("is wanted"));
    }
}
