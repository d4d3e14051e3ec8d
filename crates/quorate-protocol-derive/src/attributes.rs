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
