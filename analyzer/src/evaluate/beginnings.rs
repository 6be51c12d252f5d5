//! The values that things of C begin with: zeros, what was never set, strings, arrays; variables
//! outside of functions, and what `main` is handed.

use std::rc::Rc;
use std::sync::Arc;

use super::handle::Handle;
use super::identity::Identity;
use super::library;
use super::machine::{Machine, Outcome};
use super::value::{Constant, Content, Items, Length, Path, Sequence, Value};
use crate::program::{
    Binary, Entry, EntryKind, Expression, FunctionId, GlobalId, Place, Scalar, Type,
};

/// Numbers of arrays, arrays of arrays included, that are kept one by one, at most.
const MOST_KEPT: u64 = 128;

/// The same of numbers with a fraction, by which programs seldom go.
const MOST_FRACTIONS: u64 = 16;

/// Elements of a row of structs that are kept one by one in any case.
const FEW: u64 = 8;

impl Machine<'_> {
    /// How many elements of a type an array may have of which each is kept: what MPI's handles are
    /// must be known of each.
    pub(super) fn most_kept(&self, element: &Type) -> u64 {
        match element {
            Type::Array(inner, Some(length)) => self.most_kept(inner) / length.max(&1),
            Type::Array(_, None) => 0,
            Type::External(name, _) if name.starts_with("MPI_") => super::value::MOST_ITEMS as u64,
            Type::Scalar(scalar) if scalar.is_float() => MOST_FRACTIONS,
            Type::Defined(definition, _) => {
                let fields = self.program.definition(*definition).variants.first();
                let fields = fields.map_or(&[][..], |variant| &variant.fields);
                let least = fields.iter().map(|(_, ty)| self.most_kept(ty)).min();
                (least.unwrap_or(MOST_KEPT) / (fields.len() as u64).max(1)).max(FEW)
            }
            _ => MOST_KEPT,
        }
    }

    /// A string of the program's text: an array, or a pointer to one that is always there.
    pub(super) fn string(&mut self, bytes: &[u8], whole: &Expression) -> Value {
        let byte = |byte: &u8| Value::integer(i128::from(byte.cast_signed()), Scalar::I8);
        let mut items: Vec<Value> = bytes.iter().map(byte).collect();
        if let Type::Array(_, Some(length)) = &whole.ty
            && let Ok(length) = usize::try_from(*length)
            && length <= super::value::MOST_ITEMS
        {
            items.resize(length, Value::integer(0, Scalar::I8));
        }
        let sequence =
            Sequence { element: Type::Scalar(Scalar::I8), items: Items::Each(Rc::new(items)) };
        if let Type::Array(..) = whole.ty {
            return Value::Sequence(sequence);
        }
        let address = std::ptr::from_ref(whole) as usize;
        if let Some(object) = self.state.constants.get(&address) {
            return Value::Reference(Path::whole(*object));
        }
        let path = self.allocate(Value::Sequence(sequence));
        Rc::make_mut(&mut self.state.constants).insert(address, path.object);
        Value::Reference(path)
    }

    /// A constant or a function of a library as a value.
    pub(super) fn external_exactly(&mut self, path: &Arc<[String]>, whole: &Expression) -> Value {
        if let [dialect, name] = &path[..]
            && dialect == "c"
        {
            match name.as_str() {
                "null" => return Value::none(),
                "zero" => return self.zero(&whole.ty),
                "uninitialized" => return self.never_set(&whole.ty, whole.place),
                _ => {}
            }
        }
        if let Some(value) = library::constant_of_c(self, path, &whole.ty) {
            return value;
        }
        Value::External(path.clone(), Rc::default())
    }

    /// The value of a type all of whose bytes are zero.
    pub(super) fn zero(&mut self, ty: &Type) -> Value {
        self.made_of(ty, &mut |machine, ty| match ty {
            Type::Scalar(Scalar::Bool) => Value::bool(false),
            Type::Scalar(scalar) if scalar.is_float() => {
                Value::Scalar(*scalar, Content::Known(Constant::Float(0.0.into())))
            }
            Type::Scalar(scalar) => Value::integer(0, *scalar),
            Type::Reference(_) | Type::Function(..) => Value::none(),
            other => machine.uniform(&format!("zeroed {other:?}"), other.clone()),
        })
    }

    /// What a variable has that was never set. Of a handle of MPI that is kept in mind.
    fn never_set(&mut self, ty: &Type, place: Place) -> Value {
        let Type::External(name, _) = super::bytes::leaf(ty) else {
            return self.uninitialized(ty, place);
        };
        match library::mpi::never_set(name) {
            Some(handle) => self.made_of(ty, &mut |_, _| Value::Handle(handle.clone())),
            None => self.uninitialized(ty, place),
        }
    }

    /// A value that was never set: some value, which is the same each time that it is asked for.
    pub(super) fn uninitialized(&mut self, ty: &Type, place: Place) -> Value {
        let mut number = 0;
        self.made_of(ty, &mut |machine, ty| {
            number += 1;
            let mut identity = Identity::of("uninitialized");
            identity.number(u64::from(place.0) << 32 | number);
            identity.not_uniform();
            machine.unknown(identity.finish(), ty)
        })
    }

    /// A value of a type, each part of which that is no array and no struct is made by `make`.
    pub(super) fn made_of(
        &mut self,
        ty: &Type,
        make: &mut dyn FnMut(&mut Self, &Type) -> Value,
    ) -> Value {
        match ty {
            Type::Array(element, Some(length)) => {
                let items = if *length <= self.most_kept(element) {
                    let items = (0..*length).map(|_| self.made_of(element, make)).collect();
                    Items::Each(Rc::new(items))
                } else {
                    Items::Alike(Rc::new(self.made_of(element, make)), Length::Known(*length))
                };
                Value::Sequence(Sequence { element: (**element).clone(), items })
            }
            Type::Defined(definition, _)
                if !self.program.definition(*definition).is_enum
                    && self.program.can_be_taken_apart(ty) =>
            {
                let program = self.program;
                let variants = &program.definition(*definition).variants;
                let Some(variant) = variants.first() else { return make(self, ty) };
                let fields = variant.fields.iter().map(|(_, ty)| self.made_of(ty, make)).collect();
                let definition = *definition;
                Value::Defined { definition, variant: 0, fields: Rc::new(fields) }
            }
            _ => make(self, ty),
        }
    }

    /// An array of equal elements.
    pub(super) fn repeated_exactly(
        &mut self,
        item: &Expression,
        length: &Expression,
        ty: &Type,
    ) -> Outcome {
        let value = self.evaluate(item)?;
        let length = self.evaluate(length)?;
        let element = match ty {
            Type::Array(element, _) => (**element).clone(),
            _ => item.ty.clone(),
        };
        // How long rows are may only be known by their values.
        let most = match (&element, &value) {
            (Type::Array(inner, None), Value::Sequence(row)) => match &row.items {
                Items::Each(items) => self.most_kept(inner) / (items.len() as u64).max(1),
                Items::Alike(..) => 0,
            },
            (element, _) => self.most_kept(element),
        };
        let items = match length.as_integer().map(|length| u64::try_from(length).unwrap_or(0)) {
            Some(length) if length <= most => {
                let is_plain = matches!(value, Value::Scalar(_, Content::Known(_)));
                let mut items = vec![value; length as usize];
                if !is_plain {
                    self.tell_apart(&mut items);
                }
                Items::Each(Rc::new(items))
            }
            Some(length) => Items::Alike(Rc::new(value), Length::Known(length)),
            None => Items::Alike(Rc::new(value), Length::Unknown(self.identity(&length))),
        };
        Ok(Value::Sequence(Sequence { element, items }))
    }

    /// Values that nobody knows are other ones in each element.
    fn tell_apart(&mut self, items: &mut [Value]) {
        for (item, number) in items.iter_mut().zip(0_u64..) {
            if let Value::Scalar(_, Content::Unknown(unknown)) | Value::Unknown(unknown, _) = item {
                let mut identity = Identity::of("element");
                identity.number(number);
                identity.unknown(*unknown);
                *unknown = identity.finish();
            }
        }
    }

    /// Makes unknown what a function may have set outside of it.
    pub(super) fn forget_globals_of(&mut self, function: FunctionId) {
        for global in self.effects.globals_of(self.program, function).iter() {
            self.forget_global(*global);
        }
    }

    /// Makes unknown what code that is not there may have set: every variable that it may know.
    pub(super) fn forget_globals(&mut self) {
        for number in 0..self.program.globals.len() as u32 {
            self.forget_global(GlobalId(number));
        }
    }

    fn forget_global(&mut self, global: GlobalId) {
        if !self.program.global(global).is_mutable {
            return;
        }
        if let Some(object) = self.state.globals.get(&global) {
            let path = Path::whole(*object);
            let value = self.peek_at(&path);
            self.forget_behind(&value);
            self.forget_there(&path);
        }
    }

    /// What a function is called with where a run starts at it: the command line for `main`; for
    /// others the world for a communicator, what is the same on every rank for numbers, and memory
    /// of which nothing is known for pointers.
    pub(super) fn handed_over(&mut self, entry: &Entry) -> Vec<Value> {
        let program = self.program;
        let function = program.function(entry.function);
        let mut arguments = Vec::new();
        for (number, parameter) in function.parameters.iter().enumerate() {
            let name = function.name_of(parameter);
            let given = entry.given.iter().find(|(known, _)| name == Some(known));
            arguments.push(match (&parameter.ty, given) {
                (Type::Scalar(scalar), Some((_, number))) => {
                    Value::integer(i128::from(*number), *scalar)
                }
                (Type::External(name, _), _) if name == "MPI_Comm" => {
                    Value::Handle(Handle::Communicator(self.world()))
                }
                (Type::Reference(to), _) => {
                    let is_main = entry.kind == EntryKind::Main;
                    self.memory_from_outside(to, number, is_main)
                }
                (ty, _) => self.uniform(&format!("argument {number}"), ty.clone()),
            });
        }
        if let (EntryKind::Main, Some(count)) = (&entry.kind, arguments.first()) {
            // There is the program's name, at least.
            let zero = Value::integer(0, Scalar::I32);
            let some =
                self.binary(Binary::Less, &zero, &count.clone(), &Type::Unknown, function.place);
            if let Ok(Value::Scalar(_, Content::Unknown(condition))) = some {
                self.hold_from_start(condition);
            }
        }
        arguments
    }

    fn memory_from_outside(&mut self, to: &Type, number: usize, is_same: bool) -> Value {
        let what = format!("memory of argument {number}");
        let item = match is_same {
            true => self.uniform(&what, to.clone()),
            false => self.fresh(to.clone()),
        };
        let length = match is_same {
            true => self.uniform(&format!("{what} length"), Type::Unknown),
            false => self.fresh(Type::Unknown),
        };
        let length = Length::Unknown(self.identity(&length));
        let items = Items::Alike(Rc::new(item), length);
        let value = Value::Sequence(Sequence { element: to.clone(), items });
        Value::Reference(self.allocate(value))
    }

    /// Gives the program's variables outside of functions their first values, before it begins.
    pub(super) fn initialize_globals(&mut self) -> Outcome<()> {
        for number in 0..self.program.globals.len() as u32 {
            self.global(GlobalId(number))?;
        }
        self.state.kept = self.state.memory.len();
        Ok(())
    }
}
