//! Who plays what: the sizes that a protocol is for, its grids, and the role of each rank.

use super::expression::{Fault, Numbers};
use super::{Bindings, Complaint};
use crate::grammar::LanguageError;
use crate::grammar::syntax::{Extent, Pattern, Protocol, Role};
use crate::model::{Place, Rank};

/// What a pattern is held against.
#[derive(Clone, Copy)]
enum Subject {
    Number(i64),
    /// A rank with its coordinates.
    OnGrid(i64, (i64, i64)),
}

/// Whether the protocol is for worlds of this size.
pub(in crate::grammar) fn allows(
    protocol: &Protocol,
    constants: &[i64],
    size: u32,
) -> Result<bool, Fault> {
    let size = i64::from(size);
    let sizing = Sizing { rank: 0, size, grid: (0, 0), open_end: i64::MAX };
    matches(&protocol.sizes.pattern, Subject::Number(size), &sizing, &mut constants.to_vec())
}

/// The grids of this size: one without extents for a protocol that has no grid, none if no grid
/// has this size.
pub(in crate::grammar) fn grids(protocol: &Protocol, size: u32) -> Vec<Option<(u32, u32)>> {
    let Some(grid) = &protocol.grid else { return vec![None] };
    let fits = |extent: &Extent, value: u32| match extent {
        Extent::Named(_) => true,
        Extent::Fixed(fixed) => *fixed == value,
    };
    (1..=size)
        .filter(|rows| size.is_multiple_of(*rows))
        .map(|rows| (rows, size / rows))
        .filter(|&(rows, columns)| fits(&grid.rows, rows) && fits(&grid.columns, columns))
        .filter(|(rows, columns)| !grid.is_square() || rows == columns)
        .map(Some)
        .collect()
}

/// Everything that a pattern's expressions see, but for names.
struct Sizing {
    rank: i64,
    size: i64,
    grid: (i64, i64),
    /// Where a range without an end ends.
    open_end: i64,
}

/// The role of this rank, its pattern's names bound in the bindings. Exactly one, or an error.
pub(super) fn role_of<'p>(
    protocol: &'p Protocol,
    rank: Rank,
    bindings: &mut Bindings,
) -> Result<(usize, &'p Role), Complaint> {
    let subject = subject_of(protocol, rank, bindings);
    let sizing = Sizing {
        rank: i64::from(rank),
        size: bindings.size,
        grid: bindings.grid,
        open_end: bindings.size,
    };
    let mut found: Option<usize> = None;
    for (index, role) in protocol.roles.iter().enumerate() {
        let plays = matches(&role.pattern, subject, &sizing, &mut bindings.values)
            .map_err(|fault| bindings.complaint(fault, rank, role.place))?;
        match found {
            _ if !plays => {}
            None => found = Some(index),
            Some(first) => return Err(two_roles(protocol, first, index, rank, bindings.size)),
        }
    }
    let Some(index) = found else { return Err(no_role(protocol, rank, bindings.size)) };
    let role = &protocol.roles[index];
    // Another role's pattern may have bound a name under the same id.
    matches(&role.pattern, subject, &sizing, &mut bindings.values)
        .map_err(|fault| bindings.complaint(fault, rank, role.place))?;
    Ok((index, role))
}

fn subject_of(protocol: &Protocol, rank: Rank, bindings: &Bindings) -> Subject {
    let rank = i64::from(rank);
    match &protocol.grid {
        Some(_) => {
            let columns = bindings.grid.1.max(1);
            Subject::OnGrid(rank, (rank / columns, rank % columns))
        }
        None => Subject::Number(rank),
    }
}

fn two_roles(protocol: &Protocol, first: usize, second: usize, rank: Rank, size: i64) -> Complaint {
    let (first, second) = (&protocol.roles[first], &protocol.roles[second]);
    let message =
        format!("rank {rank} of {size} has two roles: `{}` and `{}`", first.name, second.name);
    let error = LanguageError::new(protocol.region(second.place), message)
        .help("narrow one of the patterns, so that each rank has exactly one role");
    Complaint { place: second.place, error }
}

fn no_role(protocol: &Protocol, rank: Rank, size: i64) -> Complaint {
    let message = format!("rank {rank} of {size} has no role");
    let (place, region, name) = match protocol.roles.last() {
        Some(role) => (role.place, protocol.region(role.place), role.name.to_string()),
        None => (Place(0), protocol.sizes.region(), String::new()),
    };
    let help = format!(
        "widen a pattern, such as that of `{name}`, or say with `ranks = ..` which sizes the \
         protocol is for"
    );
    Complaint { place, error: LanguageError::new(region, message).help(help) }
}

/// Whether the pattern fits. Names that it binds get their values, whether it fits or not.
fn matches(
    pattern: &Pattern,
    subject: Subject,
    sizing: &Sizing,
    values: &mut Vec<i64>,
) -> Result<bool, Fault> {
    let value = match subject {
        Subject::Number(value) | Subject::OnGrid(value, _) => value,
    };
    let integer = |expression, values: &[i64]| {
        let Sizing { rank, size, grid, .. } = *sizing;
        Numbers { rank, size, grid, values }.integer(expression)
    };
    match pattern {
        Pattern::All => Ok(true),
        Pattern::Value(expression) => Ok(integer(expression, values)? == value),
        Pattern::Range { start, end, inclusive } => {
            let start = start.as_ref().map_or(Ok(0), |start| integer(start, values))?;
            let end = end.as_ref().map_or(Ok(sizing.open_end), |end| integer(end, values))?;
            Ok(start <= value && (value < end || *inclusive && value == end))
        }
        Pattern::Or(patterns) => {
            for pattern in patterns {
                if matches(pattern, subject, sizing, values)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Pattern::Binding(name) => {
            super::set(values, name.id, value);
            Ok(true)
        }
        Pattern::Pair(x, y) => {
            let Subject::OnGrid(_, (at_x, at_y)) = subject else { return Ok(false) };
            let rows = Sizing { open_end: sizing.grid.0, ..*sizing };
            let columns = Sizing { open_end: sizing.grid.1, ..*sizing };
            let fits_x = matches(x, Subject::Number(at_x), &rows, values)?;
            Ok(matches(y, Subject::Number(at_y), &columns, values)? && fits_x)
        }
        Pattern::Guarded(inner, guard) => {
            Ok(matches(inner, subject, sizing, values)? && integer(guard, values)? != 0)
        }
    }
}
