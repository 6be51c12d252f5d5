//! The roles that functions say they play: for each, what its protocol does.

use p2p_protocol::grammar;
use p2p_protocol::model::{Place, Role, RoleId, World};
use quote::ToTokens;
use syn::{Item, ItemMod};

use super::declare::is_protocol;
use super::load::ParsedFile;
use crate::program::{EntryKind, Program};
use crate::read::find::Found;
use crate::source::Location;

/// A function that says that it plays a role.
#[derive(Debug)]
pub struct Played {
    /// Which of the program's entries it is.
    pub entry: usize,
    /// The role, among those of the worlds.
    pub role: RoleId,
    /// What the protocol does, for each size that it is for and each value of its parameters that
    /// is worth a look. Its places are the program's.
    pub expected: Vec<Expected>,
    /// The parameters of the protocol of which the function has none of the same name: what it does
    /// cannot be compared then.
    pub missing: Vec<String>,
}

/// What a protocol does.
#[derive(Debug)]
pub struct Expected {
    /// For one size.
    pub world: World,
    /// With these values of its parameters, which the function's of the same names have as well.
    pub parameters: Vec<(String, i64)>,
}

/// What the protocols say of the roles that a program's functions play, for these sizes.
pub(super) fn played(program: &mut Program, files: &[ParsedFile], sizes: &[u32]) -> Vec<Played> {
    let mut all = Vec::new();
    for entry in 0..program.entries.len() {
        let EntryKind::Role(protocol, role) = program.entries[entry].kind.clone() else { continue };
        let found = files
            .iter()
            .enumerate()
            .find_map(|(number, file)| find(&file.items, &protocol).map(|module| (number, module)));
        let Some((file, module)) = found else { continue };
        let Some((role, expected)) = expected(program, file, files, module, &role, sizes) else {
            continue;
        };
        let names = expected.first().map(|first| &first.parameters).into_iter().flatten();
        let function = program.function(program.entries[entry].function);
        let parameters = function.parameters.iter().map(|it| function.name_of(it));
        let has = |name: &String| parameters.clone().any(|own| own == Some(name));
        let missing = names.map(|(name, _)| name.clone()).filter(|name| !has(name)).collect();
        all.push(Played { entry, role, expected, missing });
    }
    all
}

/// The protocol of this name.
fn find<'f>(items: &'f [Item], name: &str) -> Option<&'f ItemMod> {
    items.iter().find_map(|item| match item {
        Item::Mod(module) => {
            let marked = module.attrs.iter().any(|attribute| is_protocol(attribute.path()));
            if marked {
                (module.ident == name).then_some(module)
            } else {
                module.content.as_ref().and_then(|(_, items)| find(items, name))
            }
        }
        _ => None,
    })
}

fn expected(
    program: &mut Program,
    file: usize,
    files: &[ParsedFile],
    module: &ItemMod,
    role: &str,
    sizes: &[u32],
) -> Option<(RoleId, Vec<Expected>)> {
    let mut module = module.clone();
    let marked = module.attrs.iter().position(|attribute| is_protocol(attribute.path()))?;
    let meta = module.attrs.remove(marked).meta;
    let found = Found { meta, module };
    let (protocol, errors) = grammar::parse(found.arguments(), found.module.to_token_stream());
    let protocol = protocol.filter(|_| errors.is_empty())?;
    let values = grammar::values_to_try(&protocol);
    let cases = sizes.iter().flat_map(|&size| values.iter().map(move |values| (size, values)));
    let mut expected: Vec<Expected> = cases
        .filter_map(|(size, values)| {
            let world = grammar::evaluate(&protocol, size, values, None).ok()?;
            Some(Expected { world, parameters: values.clone() })
        })
        .collect();
    let wanted = plain(role);
    let roles = &expected.first()?.world.roles;
    let role = roles.iter().position(|it| plain(&it.name) == wanted)?;
    let first = u32::try_from(program.places.len()).ok()?;
    for (start, end) in protocol.places.iter().zip(&protocol.ends) {
        let (start, end) = (start.byte_range(), end.byte_range());
        let shift = files[file].start;
        let bytes = start.start + shift..end.end.max(start.end) + shift;
        program.places.push(Location { file, bytes });
    }
    expected.iter_mut().for_each(|expected| move_places(&mut expected.world, first));
    Some((RoleId::try_from(role).ok()?, expected))
}

/// A role's type is called `NearWorker` where its function is called `near_worker`.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| *letter != '_').flat_map(char::to_lowercase).collect()
}

/// Makes a protocol's places those of a program in which they begin here.
fn move_places(world: &mut World, first: u32) {
    let moved = |place: Place| Place(place.0.saturating_add(first));
    for behaviour in &mut world.behaviours {
        behaviour.events.iter_mut().for_each(|event| event.place = moved(event.place));
    }
    let roles = world.roles.iter();
    world.roles = roles.map(|role| Role { place: moved(role.place), ..role.clone() }).collect();
}
