//! Pointers of C: where they lead to, counted in elements and in bytes.

use std::rc::Rc;
use std::sync::Arc;

use crate::evaluate::Limits;
use crate::evaluate::bytes::Room;
use crate::evaluate::effects::{Communicating, Effects};
use crate::evaluate::machine::Machine;
use crate::evaluate::pointers::Located;
use crate::evaluate::value::{Path, Step, Value};
use crate::program::{Definition, DefinitionId, Dialect, Place, Program, Scalar, Type, Variant};

const INT: Type = Type::Scalar(Scalar::I32);
const DOUBLE: Type = Type::Scalar(Scalar::F64);

fn array(element: Type, length: u64) -> Type {
    Type::Array(Box::new(element), Some(length))
}

/// `struct { char tag; double x[3]; int n; }`
fn program() -> Program {
    let fields = [("tag", Type::Scalar(Scalar::I8)), ("x", array(DOUBLE, 3)), ("n", INT)];
    let fields = fields.map(|(name, ty)| (name.to_owned(), ty)).into();
    let variant = Variant { name: "s".into(), fields, discriminant: None };
    let definition = Definition {
        name: "s".into(),
        is_enum: false,
        generics: Vec::new(),
        variants: vec![variant],
        traits: Vec::new(),
    };
    Program { dialect: Dialect::C, definitions: vec![definition], ..Program::default() }
}

fn with(check: impl FnOnce(&mut Machine<'_>)) {
    let program = program();
    let communicating = Arc::new(Communicating::of(&program));
    let effects = Rc::new(Effects::of(communicating));
    let limits = Limits::default();
    let mut machine = Machine::new(&program, effects, (0.into(), 2.into()), limits);
    check(&mut machine);
}

fn number(value: i128) -> Value {
    Value::integer(value, Scalar::I32)
}

fn at(located: Located) -> Path {
    match located {
        Located::At(path) => path,
        other => panic!("it leads somewhere: {other:?}"),
    }
}

/// Memory of a type, never set, and a pointer to it.
fn memory(machine: &mut Machine<'_>, ty: &Type) -> (Path, Value) {
    let value = machine.uninitialized(ty, Place::default());
    let path = machine.allocate(value);
    (path.clone(), Value::Reference(path))
}

#[test]
fn a_pointer_is_counted_on_and_back() {
    with(|machine| {
        let (path, start) = memory(machine, &array(INT, 10));
        let third = machine.offset(&start, &number(3), &INT);
        assert_eq!(machine.pointer(&third), Some(path.child(Step::Slice(3, 10))));
        let second = machine.offset(&third, &number(-1), &INT);
        let element = at(machine.pointed(&second, &number(0), &INT));
        assert_eq!(element, path.child(Step::Element(2)));
        let again = machine.offset(&third, &number(-3), &INT);
        assert_eq!(machine.pointer(&again), Some(path.clone()));
        let back = machine.pointed(&third, &number(-3), &INT);
        assert_eq!(at(back), path.child(Step::Element(0)));
        assert_eq!(machine.difference(&third, &second, &INT).as_integer(), Some(1));
        assert_eq!(machine.order_of_pointers(&start, &third), Some(-12));
    });
}

#[test]
fn an_array_of_arrays_is_counted_through() {
    with(|machine| {
        let (path, start) = memory(machine, &array(array(DOUBLE, 5), 4));
        let row = array(DOUBLE, 5);
        // `a[1]`, as a pointer to its first element
        let first = Value::Reference(at(machine.pointed(&start, &number(1), &row)));
        let seven = at(machine.pointed(&first, &number(7), &DOUBLE));
        assert_eq!(seven, path.child(Step::Element(2)).child(Step::Element(2)));
        let before = at(machine.pointed(&first, &number(-1), &DOUBLE));
        assert_eq!(before, path.child(Step::Element(0)).child(Step::Element(4)));
        // `&a[0][0]` with 20 elements
        let all = Value::Reference(path.child(Step::Element(0)));
        let last = at(machine.pointed(&all, &number(19), &DOUBLE));
        assert_eq!(last, path.child(Step::Element(3)).child(Step::Element(4)));
        assert!(matches!(machine.pointed(&all, &number(20), &DOUBLE), Located::Passing(_)));
        let two_rows = machine.region(&path.child(Step::Element(1)), 0, 80);
        assert_eq!(two_rows, Some(path.child(Step::Slice(1, 3))));
        assert_eq!(machine.region(&path.child(Step::Element(0)), 0, 160), Some(path.clone()));
        assert_eq!(machine.region(&path.child(Step::Element(0)), 8, 80), None);
        assert_eq!(machine.span(&seven), Some((96, 104)));
        let room = Room { element: Some(DOUBLE), bytes: Some(64) };
        assert_eq!(machine.room(&seven), room);
    });
}

#[test]
fn flat_memory_is_counted_in_rows() {
    with(|machine| {
        let (path, start) = memory(machine, &array(INT, 12));
        let row = array(INT, 4);
        let second = at(machine.pointed(&start, &number(2), &row));
        assert_eq!(second, path.child(Step::Slice(8, 12)));
        let element = machine.element_behind(&second, &number(1), &INT);
        assert_eq!(at(element), path.child(Step::Element(9)));
    });
}

#[test]
fn structs_are_laid_out_with_gaps() {
    with(|machine| {
        let ty = Type::Defined(DefinitionId(0), Vec::new());
        assert_eq!(machine.program.size_of(&ty), Some(40));
        let (path, start) = memory(machine, &array(ty.clone(), 3));
        let second = at(machine.pointed(&start, &number(1), &ty));
        let x = second.child(Step::Field(1));
        assert_eq!(machine.span(&x), Some((48, 72)));
        assert_eq!(machine.region(&path, 48, 72), Some(x.clone()));
        assert_eq!(machine.region(&path, 40, 80), Some(second.clone()));
        assert_eq!(machine.element_at(&x, 2), x.child(Step::Element(2)));
        // Its bytes, one by one: nobody knows what they are.
        let byte = machine.pointed(&start, &number(49), &Type::Scalar(Scalar::I8));
        assert!(matches!(byte, Located::Within(inside) if inside == x.child(Step::Element(0))));
        let n = machine.pointed(&start, &number(18), &INT);
        assert_eq!(at(n), second.child(Step::Field(2)));
    });
}

#[test]
fn new_memory_gets_its_type_by_the_pointer_to_it() {
    with(|machine| {
        let n = machine.uniform("n", INT);
        let eight = Value::integer(8, Scalar::U64);
        let bytes = machine
            .binary_exactly(crate::program::Binary::Multiply, &n, &eight, &INT, Place::default())
            .unwrap();
        let untyped = Value::Variant(crate::evaluate::bytes::UNTYPED, Rc::new(vec![bytes.clone()]));
        let path = machine.allocate(untyped);
        let pointer = Value::Reference(path.clone());
        machine.cast_exactly(&pointer, &Type::Reference(Box::new(DOUBLE)));
        let room = Room { element: Some(DOUBLE), bytes: None };
        assert_eq!(machine.room(&path), room);
        assert_eq!(machine.region_of(&path, &n, 8), Some(path.clone()));
        assert_eq!(machine.region_of(&path, &n, 4), None);
        assert_eq!(machine.region_of(&path, &bytes, 1), Some(path.clone()));
        let two = number(2);
        assert_eq!(machine.region_of(&path, &two, 8), Some(path.child(Step::Slice(0, 2))));
        let second = machine.offset(&pointer, &number(1), &DOUBLE);
        let third = at(machine.pointed(&second, &number(1), &DOUBLE));
        assert_eq!(third, path.child(Step::Element(2)));
    });
}

#[test]
fn a_pointer_of_two_leads_to_either() {
    with(|machine| {
        let (one, first) = memory(machine, &array(INT, 2));
        let (other, second) = memory(machine, &array(INT, 2));
        let either = machine.united(&first, &second);
        assert_eq!(machine.pointer(&either), None);
        let Located::OneOf(paths) = machine.pointed(&either, &number(1), &INT) else {
            panic!("it is one of two");
        };
        assert_eq!(*paths, [one.child(Step::Element(1)), other.child(Step::Element(1))]);
        let perhaps_null = machine.united(&first, &Value::none());
        assert_eq!(machine.pointer(&perhaps_null), Some(one));
        assert_eq!(machine.is_null(&perhaps_null), None);
    });
}

#[test]
fn a_condition_stays_one_as_a_number() {
    with(|machine| {
        let n = machine.uniform("n", INT);
        let is_one = machine.equal(&n, &number(1));
        let kept = machine.cast_exactly(&is_one, &INT);
        let equal = crate::program::Binary::Equal;
        let ty = Type::Scalar(Scalar::Bool);
        let place = Place::default();
        let zero = machine.binary_exactly(equal, &kept, &number(0), &ty, place).unwrap();
        let one = machine.binary_exactly(equal, &number(1), &kept, &ty, place).unwrap();
        assert!(machine.is_same(&one, &is_one));
        assert!(machine.is_same(&zero, &machine.not(&is_one)));
        let two = machine.binary_exactly(equal, &kept, &number(2), &ty, place).unwrap();
        assert_eq!(two.as_bool(), Some(false));
    });
}

#[test]
fn bytes_in_use_are_compared() {
    with(|machine| {
        let (path, _) = memory(machine, &array(array(DOUBLE, 5), 4));
        let request = machine.new_request();
        let row = path.child(Step::Element(1));
        machine.begin_use(request, &row, true);
        let touching = |machine: &Machine<'_>, path: &Path| {
            let extent = machine.extent(path);
            machine.state.uses.touching_extent(path.object, extent, false)
        };
        assert_eq!(touching(machine, &row.child(Step::Element(4))), [request]);
        assert!(touching(machine, &path.child(Step::Element(0))).is_empty());
        assert_eq!(touching(machine, &row.child(Step::Among(1, 3))), [request]);
        // Nobody knows which row: silence.
        assert!(touching(machine, &path.child(Step::Among(1, 3))).is_empty());
        assert!(touching(machine, &path.child(Step::Somewhere)).is_empty());
        let all = machine.new_request();
        machine.begin_use(all, &path, true);
        assert_eq!(touching(machine, &path.child(Step::Somewhere)), [all]);
    });
}
