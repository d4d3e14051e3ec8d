//! The code that the macros write.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Expr, ExprLit, Lit};

use crate::attributes::{MessageAttributes, WireField, wire_fields};

/// `Default`, `Wire` and `Message`.
pub fn message(input: &DeriveInput) -> syn::Result<TokenStream> {
    let attributes = MessageAttributes::of(input)?;
    let part = wire(input)?;
    let ident = &input.ident;
    let name = ident.to_string();
    let key = option(attributes.key);
    let (min, max) = attributes.versions;
    let flexible = option(attributes.flexible);
    Ok(quote! {
        #part

        #[automatically_derived]
        impl ::quorate_protocol::codec::Message for #ident {
            const KEY: ::core::option::Option<i16> = #key;
            const NAME: &str = #name;
            const VERSIONS: ::quorate_protocol::types::VersionRange =
                ::quorate_protocol::types::VersionRange { min: #min, max: #max };
            const FLEXIBLE_FROM: ::core::option::Option<i16> = #flexible;
        }
    })
}

/// `Default`, `Wire` and `Nullable`.
pub fn fields(input: &DeriveInput) -> syn::Result<TokenStream> {
    let part = wire(input)?;
    let ident = &input.ident;
    Ok(quote! {
        #part

        #[automatically_derived]
        impl ::quorate_protocol::codec::Nullable for #ident {
            fn min_nullable_size(_: ::quorate_protocol::codec::Form) -> usize {
                1
            }

            fn write_nullable<S: ::quorate_protocol::codec::Sink>(
                value: ::core::option::Option<&Self>,
                form: ::quorate_protocol::codec::Form,
                sink: &mut S,
            ) -> ::core::result::Result<(), ::quorate_protocol::codec::EncodeError> {
                match value {
                    ::core::option::Option::Some(value) => {
                        sink.put_i8(1);
                        ::quorate_protocol::codec::Wire::write(value, form, sink)
                    }
                    ::core::option::Option::None => {
                        sink.put_i8(-1);
                        ::core::result::Result::Ok(())
                    }
                }
            }

            fn read_nullable(
                form: ::quorate_protocol::codec::Form,
                reader: &mut ::quorate_protocol::codec::Reader<'_>,
            ) -> ::core::result::Result<
                ::core::option::Option<Self>,
                ::quorate_protocol::codec::DecodeError,
            > {
                match reader.read_i8()? {
                    1 => ::quorate_protocol::codec::Wire::read(form, reader)
                        .map(::core::option::Option::Some),
                    -1 => ::core::result::Result::Ok(::core::option::Option::None),
                    byte => ::core::result::Result::Err(reader.error(
                        ::quorate_protocol::codec::DecodeProblem::InvalidPresence { byte },
                    )),
                }
            }
        }
    })
}

/// `Default` and `Wire`.
fn wire(input: &DeriveInput) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    let (fields, keeps_tags) = wire_fields(input)?;
    let defaults = fields.iter().map(|field| {
        let (name, default) = (field.ident, default(field));
        quote!(#name: #default,)
    });
    let no_tags = keeps_tags.then(|| quote!(unknown_tags: ::core::default::Default::default(),));
    let min_size = min_size(&fields, keeps_tags);
    let write = write(ident, &fields, keeps_tags);
    let read = read(ident, &fields, keeps_tags);
    Ok(quote! {
        #[automatically_derived]
        impl ::core::default::Default for #ident {
            fn default() -> Self {
                #ident { #(#defaults)* #no_tags }
            }
        }

        #[automatically_derived]
        #[allow(clippy::all, unused_variables)]
        impl ::quorate_protocol::codec::Wire for #ident {
            fn min_size(form: ::quorate_protocol::codec::Form) -> usize {
                #min_size
            }

            fn write<S: ::quorate_protocol::codec::Sink>(
                &self,
                form: ::quorate_protocol::codec::Form,
                sink: &mut S,
            ) -> ::core::result::Result<(), ::quorate_protocol::codec::EncodeError> {
                #write
                ::core::result::Result::Ok(())
            }

            fn read(
                form: ::quorate_protocol::codec::Form,
                reader: &mut ::quorate_protocol::codec::Reader<'_>,
            ) -> ::core::result::Result<Self, ::quorate_protocol::codec::DecodeError> {
                #read
            }
        }
    })
}

fn min_size(fields: &[WireField<'_>], keeps_tags: bool) -> TokenStream {
    let sizes = fields
        .iter()
        .filter(|field| field.tag.is_none())
        .map(|field| {
            let ty = field.ty;
            let form = form(field);
            let size = quote!(<#ty as ::quorate_protocol::codec::Wire>::min_size(#form));
            match present(field) {
                None => quote!(+ #size),
                Some(present) => quote!(+ if #present { #size } else { 0 }),
            }
        });
    let tags = keeps_tags.then(|| quote!(+ usize::from(form.flexible)));
    quote!(0 #(#sizes)* #tags)
}

fn write(ident: &syn::Ident, fields: &[WireField<'_>], keeps_tags: bool) -> TokenStream {
    let plain = fields
        .iter()
        .filter(|field| field.tag.is_none())
        .map(|field| {
            let label = label(ident, field);
            let name = field.ident;
            let form = form(field);
            let put = match field.nullable {
                None => quote!(::quorate_protocol::codec::Wire::write(&self.#name, #form, sink)?;),
                Some(since) => quote! {
                    ::quorate_protocol::codec::write_nullable_since(
                        &self.#name, #since, #label, #form, sink,
                    )?;
                },
            };
            match present(field) {
                None => put,
                Some(present) => {
                    let lost = lost(&label, field);
                    quote!(if #present { #put } #lost)
                }
            }
        });
    let tags = keeps_tags.then(|| write_tags(ident, fields));
    quote!(#(#plain)* #tags)
}

fn write_tags(ident: &syn::Ident, fields: &[WireField<'_>]) -> TokenStream {
    let tagged = tagged(fields);
    let flags: Vec<_> = tagged
        .iter()
        .map(|(tag, _)| quote::format_ident!("writes_{tag}"))
        .collect();
    let conditions = tagged.iter().map(|(_, field)| {
        let set = not_default(field);
        match present(field) {
            None => quote!(form.flexible && #set),
            Some(present) => quote!(form.flexible && #present && #set),
        }
    });
    let checks = tagged
        .iter()
        .zip(&flags)
        .filter(|((_, field), _)| !field.ignorable)
        .map(|((_, field), flag)| {
            let (label, set) = (label(ident, field), not_default(field));
            quote! {
                if !#flag && #set {
                    return ::core::result::Result::Err(
                        ::quorate_protocol::codec::EncodeError::FieldNotInVersion {
                            field: #label,
                            version: form.version,
                        },
                    );
                }
            }
        });
    let puts = tagged.iter().zip(&flags).map(|((tag, field), flag)| {
        let name = field.ident;
        quote!(if #flag { tags.known(#tag, &self.#name, form, sink)?; })
    });
    let unknown = format!("{ident}.unknown_tags");
    // Only a struct with tagged fields of its own changes its writer.
    let binding = if tagged.is_empty() {
        quote!(tags)
    } else {
        quote!(mut tags)
    };
    quote! {
        #(let #flags = #conditions;)*
        #(#checks)*
        if form.flexible {
            let #binding = ::quorate_protocol::codec::TagWriter::begin(
                0 #(+ u32::from(#flags))*,
                &self.unknown_tags,
                sink,
            );
            #(#puts)*
            tags.finish(sink);
        } else if !self.unknown_tags.is_empty() {
            return ::core::result::Result::Err(
                ::quorate_protocol::codec::EncodeError::FieldNotInVersion {
                    field: #unknown,
                    version: form.version,
                },
            );
        }
    }
}

fn read(ident: &syn::Ident, fields: &[WireField<'_>], keeps_tags: bool) -> TokenStream {
    let values = fields.iter().map(|field| {
        let (name, default) = (field.ident, default(field));
        let get = read_field(ident, field);
        match (field.tag, present(field)) {
            (Some(_), _) => quote!(#name: #default,),
            (None, None) => quote!(#name: #get,),
            (None, Some(present)) => quote!(#name: if #present { #get } else { #default },),
        }
    });
    if !keeps_tags {
        return quote!(::core::result::Result::Ok(#ident { #(#values)* }));
    }
    let arms = tagged(fields).into_iter().map(|(tag, field)| {
        let (name, get) = (field.ident, read_field(ident, field));
        let guard = present(field).map(|present| quote!(if #present));
        quote!(#tag #guard => value.#name = #get,)
    });
    quote! {
        let mut value = #ident {
            #(#values)*
            unknown_tags: ::core::default::Default::default(),
        };
        if form.flexible {
            value.unknown_tags = reader.read_tags(|tag, reader| {
                match tag {
                    #(#arms)*
                    _ => return ::core::result::Result::Ok(false),
                }
                #[allow(unreachable_code)]
                ::core::result::Result::Ok(true)
            })?;
        }
        ::core::result::Result::Ok(value)
    }
}

fn read_field(ident: &syn::Ident, field: &WireField<'_>) -> TokenStream {
    let (ty, label, form) = (field.ty, label(ident, field), form(field));
    let get = match field.nullable {
        None => quote!(<#ty as ::quorate_protocol::codec::Wire>::read(#form, reader)),
        Some(since) => {
            quote!(::quorate_protocol::codec::read_nullable_since(#since, #form, reader))
        }
    };
    quote!(#get.map_err(|error| error.within(#label))?)
}

/// The tagged fields, ascending by tag.
fn tagged<'a, 'b>(fields: &'a [WireField<'b>]) -> Vec<(u32, &'a WireField<'b>)> {
    let mut tagged: Vec<_> = fields
        .iter()
        .filter_map(|field| field.tag.map(|tag| (tag, field)))
        .collect();
    tagged.sort_by_key(|(tag, _)| *tag);
    tagged
}

/// The form that the field is spelled in.
fn form(field: &WireField<'_>) -> TokenStream {
    if field.classic {
        quote!(form.classic())
    } else {
        quote!(form)
    }
}

/// Whether the version has the field; `None` if every version has it.
fn present(field: &WireField<'_>) -> Option<TokenStream> {
    match (field.since, field.until) {
        (None, None) => None,
        (Some(since), None) => Some(quote!(form.version >= #since)),
        (None, Some(until)) => Some(quote!(form.version <= #until)),
        (Some(since), Some(until)) => Some(quote!((#since..=#until).contains(&form.version))),
    }
}

/// What happens to a field that the version does not have.
fn lost(label: &str, field: &WireField<'_>) -> Option<TokenStream> {
    if field.ignorable {
        return None;
    }
    let set = not_default(field);
    Some(quote! {
        else if #set {
            return ::core::result::Result::Err(
                ::quorate_protocol::codec::EncodeError::FieldNotInVersion {
                    field: #label,
                    version: form.version,
                },
            );
        }
    })
}

fn not_default(field: &WireField<'_>) -> TokenStream {
    let (name, ty, default) = (field.ident, field.ty, default(field));
    quote!((self.#name != { let default: #ty = #default; default }))
}

fn default(field: &WireField<'_>) -> TokenStream {
    match &field.default {
        None => quote!(::core::default::Default::default()),
        Some(Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        })) => {
            quote!(::std::string::String::from(#text))
        }
        Some(value) => quote!(#value),
    }
}

fn label(ident: &syn::Ident, field: &WireField<'_>) -> String {
    format!("{ident}.{}", field.ident)
}

fn option(value: Option<i16>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
