//! `Clone`: copies of values, and what shares instead.

use std::rc::Rc;

use crate::evaluate::machine::Machine;
use crate::evaluate::map::Entries;
use crate::evaluate::value::{Items, Path, Sequence, Step, Value};
use crate::program::Type;

/// The kinds of memory that is shared by those who hold it.
const SHARED: [&str; 2] = ["Rc", "Arc"];

/// A copy that changes on its own. Values are copied when they are changed, so that only what is
/// kept elsewhere must be copied here.
pub(in crate::evaluate) fn copy(machine: &mut Machine<'_>, value: &Value) -> Value {
    match value {
        Value::Map(map) => {
            let mut map = (**map).clone();
            if let Entries::Known(entries) = &map.entries {
                let mut copied = Vec::with_capacity(entries.len());
                for (key, path) in entries.iter() {
                    let kept = machine.peek(path);
                    let kept = copy(machine, &kept);
                    copied.push((key.clone(), machine.allocate(kept)));
                }
                map.entries = Entries::Known(Rc::new(copied));
            }
            Value::Map(Rc::new(map))
        }
        Value::Tuple(parts) if parts.iter().any(keeps_elsewhere) => {
            Value::Tuple(copy_all(machine, parts))
        }
        Value::Variant(name, parts) if parts.iter().any(keeps_elsewhere) => {
            Value::Variant(name, copy_all(machine, parts))
        }
        Value::Defined { definition, variant, fields } if fields.iter().any(keeps_elsewhere) => {
            let fields = copy_all(machine, fields);
            Value::Defined { definition: *definition, variant: *variant, fields }
        }
        Value::Sequence(Sequence { element, items: Items::Each(items) })
            if items.first().is_some_and(keeps_elsewhere) =>
        {
            let items = Items::Each(copy_all(machine, items));
            Value::Sequence(Sequence { element: element.clone(), items })
        }
        other => other.clone(),
    }
}

fn copy_all(machine: &mut Machine<'_>, parts: &[Value]) -> Rc<Vec<Value>> {
    Rc::new(parts.iter().map(|part| copy(machine, part)).collect())
}

/// Whether a part of the value is kept elsewhere.
fn keeps_elsewhere(value: &Value) -> bool {
    match value {
        Value::Map(_) => true,
        Value::Tuple(parts) | Value::Variant(_, parts) | Value::Defined { fields: parts, .. } => {
            parts.iter().any(keeps_elsewhere)
        }
        Value::Sequence(Sequence { items: Items::Each(items), .. }) => {
            items.first().is_some_and(keeps_elsewhere)
        }
        _ => false,
    }
}

/// New memory that is shared by those who hold it: `Rc::new(value)`.
pub(super) fn share(machine: &mut Machine<'_>, kind: &str, value: Value) -> Value {
    let kind = SHARED.into_iter().find(|known| *known == kind).unwrap_or("Arc");
    let path = machine.allocate(Value::Variant(kind, Rc::new(vec![value])));
    Value::Reference(path.child(Step::Field(0)))
}

/// The `Rc` or `Arc` that a value is, or that it refers to: its clone shares what it refers to.
/// `ty`: what a clone of it is, as far as that is known.
pub(super) fn shared(machine: &mut Machine<'_>, value: &Value, ty: &Type) -> Option<Value> {
    let shares = match ty {
        Type::External(name, _) => SHARED.contains(&name.as_str()),
        other => *other == Type::Unknown,
    };
    let mut value = value.clone();
    for _ in 0..8 {
        let Value::Reference(path) = &value else { return None };
        if shares && is_shared(machine, path) {
            return Some(value);
        }
        let path = path.clone();
        value = machine.peek(&path);
    }
    None
}

fn is_shared(machine: &mut Machine<'_>, path: &Path) -> bool {
    matches!(&*path.steps, [Step::Field(0)])
        && matches!(machine.peek(&Path::whole(path.object)), Value::Variant("Rc" | "Arc", _))
}
