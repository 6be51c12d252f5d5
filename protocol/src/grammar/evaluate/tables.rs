//! What all worlds of a protocol share: the names and types of what is sent.

use std::sync::Arc;

use super::Setting;
use crate::grammar::parse::scalar_bytes;
use crate::grammar::syntax::{Extent, Payload, Protocol};
use crate::model::{
    Behaviour, Communicator, CommunicatorId, Data, Datatype, DatatypeId, LabelId, MessageId, Role,
    World,
};

/// The tables that worlds refer to.
pub(in crate::grammar) struct Tables {
    communicators: Arc<[Communicator]>,
    datatypes: Arc<[Datatype]>,
    messages: Arc<[String]>,
    labels: Arc<[String]>,
    roles: Arc<[Role]>,
    /// The datatype of each message.
    datatype_of: Vec<DatatypeId>,
}

/// An index as the model's narrow one. The parser's input cannot hold so many declarations that
/// this matters; those beyond share the last.
fn narrow(index: usize) -> u16 {
    u16::try_from(index).unwrap_or(u16::MAX)
}

impl Tables {
    pub(in crate::grammar) fn new(protocol: &Protocol) -> Tables {
        let mut datatypes: Vec<Datatype> = Vec::new();
        let mut datatype_of = Vec::new();
        for message in &protocol.messages {
            let known = datatypes.iter().position(|known| known.signature == message.signature);
            datatype_of.push(narrow(known.unwrap_or(datatypes.len())));
            if known.is_none() {
                let bytes = match message.payload {
                    Payload::Struct(_) => None,
                    _ => scalar_bytes(&message.signature),
                };
                datatypes.push(Datatype { signature: message.signature.clone(), bytes });
            }
        }
        datatypes.push(Datatype { signature: "decision".to_owned(), bytes: None });
        let mut communicators = vec![Communicator::of_all(protocol.name.to_string())];
        communicators.extend(
            protocol.communicators.iter().map(|name| Communicator::of_all(name.to_string())),
        );
        communicators.push(Communicator::of_all("decisions"));
        let roles = protocol.roles.iter();
        Tables {
            communicators: communicators.into(),
            datatypes: datatypes.into(),
            messages: protocol.messages.iter().map(|message| message.name.to_string()).collect(),
            labels: protocol.labels.iter().map(ToString::to_string).collect(),
            roles: roles
                .map(|role| Role { name: role.name.to_string(), place: role.place })
                .collect(),
            datatype_of,
        }
    }

    /// What a message of this index carries, that many elements of it.
    pub(super) fn data(&self, message: usize, count: Option<u64>) -> Data {
        let datatype = Some(self.datatype_of.get(message).copied().unwrap_or_default());
        let message = Some(MessageId::from(narrow(message)));
        Data { datatype, count, message, label: None, buffer: None }
    }

    /// What announces a decision.
    pub(super) fn decision(&self, label: Option<usize>) -> Data {
        Data {
            datatype: Some(narrow(self.datatypes.len() - 1)),
            count: Some(1),
            message: None,
            label: label.map(|label| LabelId::from(narrow(label))),
            buffer: None,
        }
    }

    /// The communicator on which decisions travel.
    pub(super) fn decisions(&self) -> CommunicatorId {
        narrow(self.communicators.len() - 1)
    }

    /// A world of these behaviours.
    pub(super) fn world(
        &self,
        behaviours: Vec<Behaviour>,
        protocol: &Protocol,
        setting: &Setting<'_>,
    ) -> World {
        let mut parameters = setting.parameters.to_vec();
        if let (Some(grid), Some((rows, columns))) = (&protocol.grid, setting.grid) {
            for (extent, value) in [(&grid.rows, rows), (&grid.columns, columns)] {
                let Extent::Named(name) = extent else { continue };
                if parameters.iter().all(|(known, _): &(String, i64)| name.ident != known) {
                    parameters.push((name.to_string(), i64::from(value)));
                }
            }
        }
        World {
            behaviours,
            parameters,
            communicators: Arc::clone(&self.communicators),
            datatypes: Arc::clone(&self.datatypes),
            messages: Arc::clone(&self.messages),
            labels: Arc::clone(&self.labels),
            roles: Arc::clone(&self.roles),
            ..World::default()
        }
    }
}
