//! Windows: memory of each rank that `put` and `get` reach, one for each message that they name.

use std::collections::BTreeSet;

use p2p_protocol::grammar::syntax::{Block, Message, Protocol, StatementKind};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::errors::coordinates;
use crate::messages;
use crate::names::{generated, plain, snake};

/// The messages that `put` and `get` name.
fn windowed(protocol: &Protocol) -> Vec<&Message> {
    fn find(block: &Block, found: &mut BTreeSet<usize>) {
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::Put(_, message) | StatementKind::Get(_, message) => {
                    found.insert(message.index);
                }
                kind => kind.blocks().into_iter().for_each(|block| find(block, found)),
            }
        }
    }
    let mut found = BTreeSet::new();
    protocol.roles.iter().for_each(|role| find(&role.body, &mut found));
    found.into_iter().filter_map(|index| protocol.messages.get(index)).collect()
}

fn name(message: &Message) -> String {
    snake(&plain(&message.name))
}

/// The operation that stands for the window itself.
fn operation(message: &Message) -> TokenStream {
    let text = plain(&message.name);
    let Message { tag, communicator, .. } = message;
    let tag = Literal::i32_suffixed(*tag);
    let (file, line, column) = coordinates(message.name.span());
    quote! {
        static WINDOW: ::p2p::Operation = ::p2p::Operation::new(
            #text, "window", #text, #tag, #communicator, #file, #line, #column,
        );
    }
}

/// Code that opens all windows of a run.
pub(crate) fn open(protocol: &Protocol) -> TokenStream {
    let windows = windowed(protocol).into_iter().map(|message| {
        let (operation, element) = (operation(message), messages::element(message));
        quote!({ #operation session.open_window::<#element>(&WINDOW); })
    });
    windows.collect()
}

/// Methods of every state by which a rank looks at its windows.
pub(crate) fn accessors(protocol: &Protocol) -> TokenStream {
    let accessors = windowed(protocol).into_iter().map(|message| {
        let (operation, element) = (operation(message), messages::element(message));
        let window = generated(&format!("window_{}", name(message)));
        let fetched = generated(&format!("fetched_{}", name(message)));
        let own = format!(
            "This rank's window of `{}`, to fill and to read. What others put into it is there \
             after a fence.",
            message.name
        );
        let got = format!(
            "What the oldest `get` of `{}` has brought, if a fence has completed it and nobody has \
             asked for it yet.",
            message.name
        );
        quote! {
            #[doc = #own]
            #[inline]
            pub fn #window(&mut self) -> &mut ::std::vec::Vec<#element> {
                #operation
                self.session.window(&WINDOW)
            }
            #[doc = #got]
            #[inline]
            pub fn #fetched(&mut self) -> ::core::option::Option<::std::vec::Vec<#element>> {
                #operation
                self.session.fetched(&WINDOW)
            }
        }
    });
    accessors.collect()
}
