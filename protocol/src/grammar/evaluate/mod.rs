//! Tree -> world: what every rank of one size does, event by event.
//!
//! Everything but a decision, a test and an endless loop is known once the size, the grid and the
//! parameters are, so `for` loops are unrolled and `if`s are gone. What is left are jumps.

mod bindings;
mod cast;
mod control;
mod expression;
mod lower;
mod tables;

use crate::finding::sizes;
use crate::model::{Behaviour, Place, Rank, RoleId, World};

pub(super) use bindings::Bindings;
use bindings::set;
pub(super) use cast::{allows, grids};
pub(super) use expression::Numbers;
use lower::Lowering;
pub(super) use tables::Tables;

use super::LanguageError;
use super::syntax::{Extent, Protocol, Requirement};

/// How much work [`evaluate`] puts into one world, in executed statements.
const MOST_WORK: u64 = 16_000_000;

/// What one world is made for.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) size: u32,
    /// Values for parameters by name; each must be there.
    pub(super) parameters: &'a [(String, i64)],
    pub(super) grid: Option<(u32, u32)>,
    /// Of each loop at most so many rounds; the role ends there.
    pub(super) rounds: Option<u64>,
}

/// Why there is no world.
pub(super) enum Failure {
    /// Something has no value or no rank.
    Errors(Vec<Complaint>),
    /// It would take more work than was allowed, most of it in this loop.
    TooLarge(Option<Place>),
}

/// A world, and the ranks in it that do more than it says.
pub(super) struct Begun {
    pub(super) world: World,
    pub(super) cut: Vec<Rank>,
}

/// Makes the world of one size. Without a grid given, a protocol on a grid gets the one that it
/// would have at run time: the most balanced, with the larger extent first.
///
/// # Errors
///
/// Every place at which a rank has no role, or a value cannot be computed; or that the protocol is
/// not for this size.
pub fn evaluate(
    protocol: &Protocol,
    size: u32,
    parameters: &[(String, i64)],
    grid: Option<(u32, u32)>,
) -> Result<World, Vec<LanguageError>> {
    let region = || protocol.sizes.region();
    if !allows(protocol, &constants(protocol), size).map_err(|fault| vec![fault.error()])? {
        let message = format!("this protocol is not for {}", sizes(&[size]));
        return Err(vec![LanguageError::new(region(), message)]);
    }
    let grid = match grid {
        Some(grid) => Some(grid),
        None => {
            let balanced = grids(protocol, size)
                .into_iter()
                .filter(|grid| grid.is_none_or(|(rows, columns)| rows >= columns))
                .min_by_key(|grid| grid.map(|(rows, columns)| rows - columns));
            balanced.or_else(|| grids(protocol, size).pop()).ok_or_else(|| {
                vec![LanguageError::new(region(), format!("no grid has {}", sizes(&[size])))]
            })?
        }
    };
    let mut work = MOST_WORK;
    let setting = Setting { size, parameters, grid, rounds: None };
    if let Some(requirement) = unfulfilled(protocol, &setting) {
        let message = format!("`{}` does not hold with {}", requirement.text, sizes(&[size]));
        return Err(vec![LanguageError::new(requirement.condition.region(), message)]);
    }
    let made = world(protocol, &Tables::new(protocol), &setting, &mut work);
    made.map(|begun| begun.world).map_err(|failure| match failure {
        Failure::Errors(complaints) => {
            complaints.into_iter().map(|complaint| complaint.error).collect()
        }
        Failure::TooLarge(_) => {
            let message = format!("a world of {} is too large to be checked", sizes(&[size]));
            vec![LanguageError::new(region(), message)]
        }
    })
}

/// The first requirement that does not hold; one that cannot be computed does not.
pub(super) fn unfulfilled<'p>(
    protocol: &'p Protocol,
    setting: &Setting<'_>,
) -> Option<&'p Requirement> {
    let values = shared_values(protocol, setting).unwrap_or_default();
    let bindings = Bindings::new(setting, values);
    let holds = |it: &&Requirement| bindings.numbers().holds(&it.condition).unwrap_or(false);
    protocol.requirements.iter().find(|requirement| !holds(requirement))
}

/// Makes one world, with as much work as is allowed; what was done is taken off.
pub(super) fn world(
    protocol: &Protocol,
    tables: &Tables,
    setting: &Setting<'_>,
    work: &mut u64,
) -> Result<Begun, Failure> {
    let mut errors = Vec::new();
    let mut cut = Vec::new();
    let mut behaviours = Vec::with_capacity(setting.size as usize);
    let shared = shared_values(protocol, setting)
        .map_err(|error| Failure::Errors(vec![Complaint { place: Place(0), error }]))?;
    for rank in 0..setting.size {
        let mut bindings = Bindings::new(setting, shared.clone());
        let (index, role) = match cast::role_of(protocol, rank, &mut bindings) {
            Ok(role) => role,
            Err(complaint) => {
                keep_first(&mut errors, complaint);
                continue;
            }
        };
        bindings.enter(rank, role);
        let mut lowering = Lowering::new(protocol, tables, bindings, *work);
        lowering.rounds = setting.rounds;
        let lowered = lowering.role(role);
        *work = lowering.work;
        let Ok(lowered) = lowered else {
            return Err(Failure::TooLarge(lowering.longest.map(|(_, place)| place)));
        };
        if lowering.cut {
            cut.push(rank);
        }
        for complaint in lowering.complaints {
            keep_first(&mut errors, complaint);
        }
        behaviours.push(Behaviour { role: RoleId::try_from(index).ok(), ..lowered });
    }
    if errors.is_empty() {
        Ok(Begun { world: tables.world(behaviours, protocol, setting), cut })
    } else {
        Err(Failure::Errors(errors))
    }
}

/// An error with the place that it is about. A place has at most one.
pub(super) struct Complaint {
    pub(super) place: Place,
    pub(super) error: LanguageError,
}

/// Adds a complaint unless its place has one already.
pub(super) fn keep_first(complaints: &mut Vec<Complaint>, complaint: Complaint) {
    if complaints.iter().all(|other| other.place != complaint.place) {
        complaints.push(complaint);
    }
}

/// The constants' values, by the id of their names.
pub(super) fn constants(protocol: &Protocol) -> Vec<i64> {
    let mut values = Vec::new();
    // In the order in which they depend on each other, as the parser left them; it has computed
    // each of them, so none fails here.
    for constant in &protocol.constants {
        let value = Numbers::fixed(&values).integer(&constant.value).unwrap_or_default();
        set(&mut values, constant.name.id, value);
    }
    values
}

/// The values that all ranks share: constants, extents, parameters.
fn shared_values(protocol: &Protocol, setting: &Setting<'_>) -> Result<Vec<i64>, LanguageError> {
    let mut values = constants(protocol);
    if let (Some(grid), Some((rows, columns))) = (&protocol.grid, setting.grid) {
        for (extent, value) in [(&grid.rows, rows), (&grid.columns, columns)] {
            if let Extent::Named(name) = extent {
                set(&mut values, name.id, i64::from(value));
            }
        }
    }
    for parameter in &protocol.parameters {
        let given = setting.parameters.iter().find(|(name, _)| parameter.name.ident == name);
        let Some((_, value)) = given else {
            let message = format!("the parameter `{}` has no value", parameter.name);
            return Err(LanguageError::new(parameter.name.span().into(), message));
        };
        set(&mut values, parameter.name.id, *value);
    }
    Ok(values)
}
