//! Types as schemas: what a value of a type looks like at run time.
//!
//! A schema is plain data here. The machine turns it into a dict for programs
//! and checks parameters with it.

use harn_syntax::tree::{ItemKind, Module, StatementKind};
use hashbrown::HashMap;
use smol_str::SmolStr;

use super::declarations::Alias;
use super::known::expand;
use super::ty::{Shape, Ty};

/// How many schemas one schema may consist of. Aliases in aliases grow quickly.
const SIZE_MAX: u32 = 20_000;
/// How deeply schemas may be nested.
const DEPTH_MAX: u32 = 100;

/// What a value looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schema {
    /// Anything at all. Only parameters are checked against it.
    Anything,
    /// A value of that kind: `int`, `string`, `closure` and so on.
    Kind(&'static str),
    /// A dict with these fields.
    Shape(Vec<SchemaField>),
    /// A list, with what its elements look like if that is known.
    List(Option<Box<Schema>>),
    /// A dict, with what its values look like if that is known.
    Dict(Option<Box<Schema>>),
    /// That string.
    StringConstant(SmolStr),
    /// That int.
    IntConstant(i64),
    /// One of these strings.
    StringChoice(Vec<SmolStr>),
    /// One of these ints.
    IntChoice(Vec<i64>),
    /// What one of these describes.
    Union(Vec<Schema>),
}

/// A field of a dict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaField {
    /// Its name.
    pub name: SmolStr,
    /// Whether it must be there.
    pub required: bool,
    /// What its value looks like.
    pub schema: Schema,
}

/// The type aliases of a file, by name.
#[derive(Debug, Default)]
pub struct Aliases {
    aliases: HashMap<SmolStr, Alias>,
}

impl Aliases {
    /// The aliases declared at the top level of a file.
    pub fn of(module: &Module) -> Self {
        let items = module.statements.iter().filter_map(|one| match &one.kind {
            StatementKind::Item(item) => Some(&**item),
            _ => None,
        });
        let aliases = items.filter_map(|item| match &item.kind {
            ItemKind::Type(alias) => Some((alias.name.text.clone(), Alias::from(alias))),
            _ => None,
        });
        Self {
            aliases: aliases.collect(),
        }
    }

    /// No aliases at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether that is the name of an alias.
    pub fn contains(&self, name: &str) -> bool {
        self.aliases.contains_key(name)
    }
}

/// The schema of a type; `None` if it has none. Names of aliases are replaced by what they
/// stand for.
pub fn schema_of_type(ty: &Ty, aliases: &Aliases) -> Option<Schema> {
    Lowering::new(aliases, Unlowerable::Dropped).lower(ty)
}

/// What an argument for a parameter of that type must look like; `None` if it is not checked.
/// Aliases, like every other declared name, are not checked.
pub fn schema_of_parameter(ty: &Ty) -> Option<Schema> {
    let none = Aliases::none();
    let schema = Lowering::new(&none, Unlowerable::Accepted).lower(ty);
    schema.filter(|schema| *schema != Schema::Anything)
}

/// What becomes of the members of a union that have no schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unlowerable {
    /// They are left out.
    Dropped,
    /// The union accepts everything because of them.
    Accepted,
}

struct Lowering<'a> {
    aliases: &'a Aliases,
    unlowerable: Unlowerable,
    size: u32,
    depth: u32,
}

impl<'a> Lowering<'a> {
    fn new(aliases: &'a Aliases, unlowerable: Unlowerable) -> Self {
        Self {
            aliases,
            unlowerable,
            size: 0,
            depth: 0,
        }
    }

    fn lower(&mut self, ty: &Ty) -> Option<Schema> {
        self.size += 1;
        if self.size > SIZE_MAX || self.depth >= DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let schema = match expand(&self.aliases.aliases, ty) {
            Some(definition) => self.lower(&definition),
            None => self.lower_structure(ty),
        };
        self.depth -= 1;
        schema
    }

    fn lower_structure(&mut self, ty: &Ty) -> Option<Schema> {
        match ty {
            Ty::Named(name) => kind(name).map(Schema::Kind),
            Ty::String(text) => Some(Schema::StringConstant(text.clone())),
            Ty::Int(number) => Some(Schema::IntConstant(*number)),
            Ty::Function(_) => Some(Schema::Kind("closure")),
            Ty::Shape(shape) => self.lower_shape(shape),
            Ty::Union(union) => self.lower_union(&union.members),
            Ty::Applied(_) => self.lower_container(ty),
            Ty::Dynamic | Ty::Wildcard | Ty::Never => None,
        }
    }

    fn lower_shape(&mut self, shape: &Shape) -> Option<Schema> {
        let fields = shape.fields.iter().map(|field| {
            Some(SchemaField {
                name: field.name.clone(),
                required: !field.optional,
                schema: self.lower(&field.ty)?,
            })
        });
        Some(Schema::Shape(fields.collect::<Option<_>>()?))
    }

    fn lower_container(&mut self, ty: &Ty) -> Option<Schema> {
        if let Some([element]) = ty.arguments_of("list") {
            return Some(Schema::List(self.lower(element).map(Box::new)));
        }
        let [key, value] = ty.arguments_of("dict")?;
        let values = if key.is("string") {
            self.lower(value)
        } else {
            None
        };
        Some(Schema::Dict(values.map(Box::new)))
    }

    fn lower_union(&mut self, members: &[Ty]) -> Option<Schema> {
        let strings = members.iter().map(|member| match member {
            Ty::String(text) => Some(text.clone()),
            _ => None,
        });
        if let Some(strings) = strings.collect::<Option<_>>() {
            return Some(Schema::StringChoice(strings));
        }
        let ints = members.iter().map(|member| match member {
            Ty::Int(number) => Some(*number),
            _ => None,
        });
        if let Some(ints) = ints.collect::<Option<_>>() {
            return Some(Schema::IntChoice(ints));
        }
        let lowered: Vec<Schema> = members.iter().filter_map(|one| self.lower(one)).collect();
        let complete = lowered.len() == members.len() && !lowered.contains(&Schema::Anything);
        match self.unlowerable {
            Unlowerable::Accepted if !complete => Some(Schema::Anything),
            _ if lowered.is_empty() => None,
            _ => Some(Schema::Union(lowered)),
        }
    }
}

/// The kind of value a name stands for, if it can be checked.
fn kind(name: &str) -> Option<&'static str> {
    const KINDS: [&str; 10] = [
        "int", "float", "string", "bool", "list", "dict", "set", "nil", "closure", "bytes",
    ];
    KINDS.into_iter().find(|kind| *kind == name)
}
