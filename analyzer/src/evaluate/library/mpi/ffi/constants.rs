//! The values of MPI's constants.
//!
//! Those that stand for no rank and no tag are numbers that no `int` is, so that none that a program
//! computes is taken for one of them: what number they are is each MPI's own affair.

use std::rc::Rc;

use p2p_protocol::model::HandleKind;

use super::super::communicator;
use super::super::group;
use super::super::signature::Signature;
use super::super::state::{self, rank};
use crate::evaluate::handle::{Datatype, Handle, Layout};
use crate::evaluate::machine::Machine;
use crate::evaluate::value::Value;
use crate::program::{Scalar, Type};

/// Below every `int`.
const BELOW: i128 = -(1 << 40);

pub(super) const ANY_SOURCE: i128 = BELOW - 1;
pub(super) const ANY_TAG: i128 = BELOW - 2;
pub(super) const PROC_NULL: i128 = BELOW - 3;
pub(super) const UNDEFINED: i128 = BELOW - 4;
pub(super) const ROOT: i128 = BELOW - 5;
/// `MPI_DISTRIBUTE_DFLT_DARG`.
pub(super) const DEFAULT_ARGUMENT: i128 = BELOW - 6;

/// What the answer of a comparison is called, by number.
pub(super) const IDENTICAL: i128 = 0;
pub(super) const CONGRUENT: i128 = 1;
pub(super) const SIMILAR: i128 = 2;
pub(super) const UNEQUAL: i128 = 3;

/// `MPI_COMM_TYPE_SHARED`: ranks that can share memory.
pub(super) const SHARED: i128 = 0;

/// Bits of assertions about epochs.
pub(super) const NO_CHECK: i128 = 1;
pub(super) const NO_PRECEDE: i128 = 2;
pub(super) const NO_PUT: i128 = 4;
pub(super) const NO_STORE: i128 = 8;
pub(super) const NO_SUCCEED: i128 = 16;

pub(super) const LOCK_EXCLUSIVE: i128 = 1;
pub(super) const LOCK_SHARED: i128 = 2;

/// Kinds of topologies.
pub(super) const GRAPH: i128 = 1;
pub(super) const CART: i128 = 2;
pub(super) const DIST_GRAPH: i128 = 3;

/// How the elements of an array are spread over ranks.
pub(super) const DISTRIBUTE_BLOCK: i128 = 0;
pub(super) const DISTRIBUTE_CYCLIC: i128 = 1;
pub(super) const DISTRIBUTE_NONE: i128 = 2;

pub(super) const ORDER_C: i128 = 0;
pub(super) const ORDER_FORTRAN: i128 = 1;

/// Values that stand for no object.
pub(super) const IN_PLACE: &str = "MPI_IN_PLACE";
pub(super) const BOTTOM: &str = "MPI_BOTTOM";
pub(super) const IGNORED: &str = "MPI_Status";
pub(super) const NO_PROCESS: &str = "MPI_MESSAGE_NO_PROC";

/// The value of a constant of MPI, by its name.
pub(in super::super) fn constant(machine: &mut Machine<'_>, name: &str) -> Option<Value> {
    let short = name.strip_prefix("RSMPI_").or_else(|| name.strip_prefix("MPI_"))?;
    if let Some(kind) = null(short) {
        return Some(Value::Handle(Handle::Null(kind)));
    }
    if let Some(number) = number(short) {
        return Some(rank(number));
    }
    Some(match short {
        "COMM_WORLD" => state::communicator(communicator::world(machine)),
        "COMM_SELF" => state::communicator(communicator::self_comm(machine)),
        "GROUP_EMPTY" => group::value(Some(Rc::new([]))),
        "IN_PLACE" => Value::Handle(Handle::Other(IN_PLACE)),
        "BOTTOM" => Value::Handle(Handle::Other(BOTTOM)),
        "STATUS_IGNORE" | "STATUSES_IGNORE" => Value::Handle(Handle::Other(IGNORED)),
        "MESSAGE_NO_PROC" => Value::Handle(Handle::Other(NO_PROCESS)),
        "UNWEIGHTED" | "WEIGHTS_EMPTY" | "ARGV_NULL" | "ARGVS_NULL" | "ERRCODES_IGNORE" => {
            Value::Handle(Handle::Other("MPI_UNWEIGHTED"))
        }
        "INFO_ENV" => Value::Handle(Handle::Object(HandleKind::Info, None)),
        "ERRORS_RETURN" => Value::Handle(Handle::Other(ERRORS_RETURN)),
        "ERRORS_ARE_FATAL" | "ERRORS_ABORT" => Value::Handle(Handle::Other("MPI_ERRORS_ARE_FATAL")),
        _ if operation(short).is_some() => {
            Value::Handle(Handle::Operation(operation(short).map(Into::into)))
        }
        _ => match datatype(short) {
            Some(datatype) => Value::Handle(Handle::Datatype(datatype)),
            // Codes of errors, keys of attributes, sizes: the same for all, whatever they are.
            _ if is_constant(short) => machine.uniform(name, Type::Scalar(Scalar::I32)),
            _ => return None,
        },
    })
}

/// The error handler that lets calls return.
pub(super) const ERRORS_RETURN: &str = "MPI_ERRORS_RETURN";

fn is_constant(short: &str) -> bool {
    !short.contains(|letter: char| letter.is_ascii_lowercase())
}

/// The kind of a null handle.
fn null(short: &str) -> Option<HandleKind> {
    Some(match short {
        "COMM_NULL" => HandleKind::Communicator,
        "DATATYPE_NULL" => HandleKind::Datatype,
        "OP_NULL" => HandleKind::Operation,
        "WIN_NULL" => HandleKind::Window,
        "GROUP_NULL" => HandleKind::Group,
        "REQUEST_NULL" => HandleKind::Request,
        "INFO_NULL" => HandleKind::Info,
        "ERRHANDLER_NULL" => HandleKind::ErrorHandler,
        "MESSAGE_NULL" => HandleKind::Message,
        "FILE_NULL" => HandleKind::File,
        _ => return None,
    })
}

fn number(short: &str) -> Option<i128> {
    if let Some(number) = ATTRIBUTES.iter().position(|key| *key == short) {
        return Some(BELOW - 100 + number as i128);
    }
    Some(match short {
        "ANY_SOURCE" => ANY_SOURCE,
        "ANY_TAG" => ANY_TAG,
        "PROC_NULL" => PROC_NULL,
        "UNDEFINED" => UNDEFINED,
        "ROOT" => ROOT,
        "DISTRIBUTE_DFLT_DARG" => DEFAULT_ARGUMENT,
        "COMM_TYPE_SHARED" => SHARED,
        "SUCCESS" | "IDENT" | "THREAD_SINGLE" => 0,
        "CONGRUENT" | "THREAD_FUNNELED" => CONGRUENT,
        "SIMILAR" | "THREAD_SERIALIZED" => SIMILAR,
        "UNEQUAL" | "THREAD_MULTIPLE" => UNEQUAL,
        "MODE_NOCHECK" => NO_CHECK,
        "MODE_NOPRECEDE" => NO_PRECEDE,
        "MODE_NOPUT" => NO_PUT,
        "MODE_NOSTORE" => NO_STORE,
        "MODE_NOSUCCEED" => NO_SUCCEED,
        "LOCK_EXCLUSIVE" => LOCK_EXCLUSIVE,
        "LOCK_SHARED" => LOCK_SHARED,
        "GRAPH" => GRAPH,
        "CART" => CART,
        "DIST_GRAPH" => DIST_GRAPH,
        "DISTRIBUTE_BLOCK" => DISTRIBUTE_BLOCK,
        "DISTRIBUTE_CYCLIC" => DISTRIBUTE_CYCLIC,
        "DISTRIBUTE_NONE" => DISTRIBUTE_NONE,
        "ORDER_C" => ORDER_C,
        "ORDER_FORTRAN" => ORDER_FORTRAN,
        "BSEND_OVERHEAD" => BSEND_OVERHEAD,
        // What is at least as long as that, in every MPI.
        "MAX_PROCESSOR_NAME" | "MAX_PORT_NAME" | "MAX_OBJECT_NAME" => 128,
        "MAX_ERROR_STRING" | "MAX_LIBRARY_VERSION_STRING" => 512,
        "MAX_INFO_KEY" => 255,
        "MAX_INFO_VAL" => 1024,
        _ => return None,
    })
}

/// Keys of attributes that MPI has itself.
const ATTRIBUTES: [&str; 12] = [
    "TAG_UB",
    "HOST",
    "IO",
    "WTIME_IS_GLOBAL",
    "APPNUM",
    "LASTUSEDCODE",
    "UNIVERSE_SIZE",
    "WIN_BASE",
    "WIN_SIZE",
    "WIN_DISP_UNIT",
    "WIN_CREATE_FLAVOR",
    "WIN_MODEL",
];

/// Whether a key is that of an attribute which MPI has itself.
pub(super) fn is_predefined_attribute(key: i128) -> bool {
    (BELOW - 100..BELOW - 100 + ATTRIBUTES.len() as i128).contains(&key)
}

/// What each message in an attached buffer takes besides its bytes: as much as it does anywhere.
const BSEND_OVERHEAD: i128 = 128;

/// A predefined operation's name as rsmpi has it.
pub(super) fn operation(short: &str) -> Option<&'static str> {
    Some(match short {
        "SUM" => "sum",
        "MAX" => "max",
        "MIN" => "min",
        "PROD" => "product",
        "LAND" => "logical_and",
        "LOR" => "logical_or",
        "LXOR" => "logical_xor",
        "BAND" => "bitwise_and",
        "BOR" => "bitwise_or",
        "BXOR" => "bitwise_xor",
        "MAXLOC" => "max_loc",
        "MINLOC" => "min_loc",
        "REPLACE" => "replace",
        "NO_OP" => "no_op",
        _ => return None,
    })
}

/// A predefined datatype.
fn datatype(short: &str) -> Option<Datatype> {
    if short == "PACKED" {
        // Whatever is packed in there, it fits.
        let layout = Some(Rc::new(Layout::of_bytes(1)));
        return Some(Datatype { signature: None, layout, made: None });
    }
    if let Some((first, second, bytes)) = pair(short) {
        let of = |scalar| Signature::of_scalar(scalar).expect("MPI has a type for it");
        let signature = of(first).followed_by(&of(second));
        let start = i64::try_from(first.bytes().next_multiple_of(second.bytes())).ok()?;
        let [one, two] = [first, second].map(|it| Layout::of_bytes(it.bytes()));
        let layout = Layout::of_blocks(&[(0, 1, &one), (start, 1, &two)])?.padded();
        debug_assert_eq!(layout.extent, bytes);
        return Some(Datatype { signature, layout: Some(Rc::new(layout)), made: None });
    }
    if let Some(bytes) = without_scalar(short) {
        let layout = Some(Rc::new(Layout::of_bytes(bytes)));
        return Some(Datatype { signature: None, layout, made: None });
    }
    let (scalar, times) = scalars(short)?;
    let signature = Signature::of_scalar(scalar).map(|one| one.repeated(times));
    let layout = Some(Rc::new(Layout::of_bytes(scalar.bytes() * times)));
    Some(Datatype { signature, layout, made: None })
}

/// Pairs of a value and an index, with their extent.
fn pair(short: &str) -> Option<(Scalar, Scalar, i64)> {
    Some(match short {
        "FLOAT_INT" => (Scalar::F32, Scalar::I32, 8),
        "DOUBLE_INT" => (Scalar::F64, Scalar::I32, 16),
        "LONG_INT" => (Scalar::I64, Scalar::I32, 16),
        "SHORT_INT" => (Scalar::I16, Scalar::I32, 8),
        _ => return None,
    })
}

/// Datatypes of which there is no scalar, with their bytes.
fn without_scalar(short: &str) -> Option<u64> {
    Some(match short {
        "LONG_DOUBLE" | "REAL16" => 16,
        "C_LONG_DOUBLE_COMPLEX" | "CXX_LONG_DOUBLE_COMPLEX" | "COMPLEX32" | "LONG_DOUBLE_INT" => 32,
        "REAL2" => 2,
        "INTEGER16" => 16,
        _ => return None,
    })
}

/// The scalar that a predefined datatype stands for, and how many of it.
fn scalars(short: &str) -> Option<(Scalar, u64)> {
    let scalar = match short {
        "INT8_T" | "CHAR" | "SIGNED_CHAR" | "CHARACTER" | "INTEGER1" => Scalar::I8,
        "UINT8_T" | "UNSIGNED_CHAR" | "BYTE" => Scalar::U8,
        "INT16_T" | "SHORT" | "INTEGER2" => Scalar::I16,
        "UINT16_T" | "UNSIGNED_SHORT" => Scalar::U16,
        "INT32_T" | "INT" | "INTEGER" | "INTEGER4" | "WCHAR" | "LOGICAL" | "LOGICAL4" => {
            Scalar::I32
        }
        "UINT32_T" | "UNSIGNED" => Scalar::U32,
        "INT64_T" | "LONG" | "LONG_LONG" | "LONG_LONG_INT" | "INTEGER8" | "AINT" | "OFFSET"
        | "COUNT" => Scalar::I64,
        "UINT64_T" | "UNSIGNED_LONG" | "UNSIGNED_LONG_LONG" => Scalar::U64,
        "FLOAT" | "REAL" | "REAL4" => Scalar::F32,
        "DOUBLE" | "DOUBLE_PRECISION" | "REAL8" => Scalar::F64,
        "C_BOOL" | "CXX_BOOL" => Scalar::Bool,
        "2INT" | "2INTEGER" => return Some((Scalar::I32, 2)),
        "2REAL" | "C_COMPLEX" | "C_FLOAT_COMPLEX" | "CXX_FLOAT_COMPLEX" | "COMPLEX"
        | "COMPLEX8" => return Some((Scalar::F32, 2)),
        "2DOUBLE_PRECISION" | "C_DOUBLE_COMPLEX" | "CXX_DOUBLE_COMPLEX" | "DOUBLE_COMPLEX"
        | "COMPLEX16" => return Some((Scalar::F64, 2)),
        _ => return None,
    };
    Some((scalar, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_lie_as_structs_do() {
        for name in ["FLOAT_INT", "DOUBLE_INT", "LONG_INT", "SHORT_INT"] {
            let made = datatype(name).expect("it is predefined");
            let (_, _, extent) = pair(name).expect("it is a pair");
            assert_eq!(made.layout.expect("it lies somehow").extent, extent, "{name}");
        }
        let two = datatype("2INT").expect("it is predefined");
        assert!(two.layout.expect("it lies somehow").is_dense());
    }

    #[test]
    fn no_constant_that_stands_for_no_rank_is_an_int() {
        for number in [ANY_SOURCE, ANY_TAG, PROC_NULL, UNDEFINED, ROOT] {
            assert!(i32::try_from(number).is_err());
        }
    }
}
