//! Tools, skills and eval packs: declarations of values that library functions make.

use harn_check::{Ty, schema_of_type};
use harn_syntax::tree::{
    Argument, Attribute, AttributeValue, DurationLiteral, Entry, EvalPack, EvalPackEntry,
    EvalPackName, Expression, ExpressionKind, Item, Name, Parameter, Skill, Tool,
};
use smol_str::SmolStr;

use super::expression::int_literal;
use super::function::{Spec, Taking};
use super::name::Target;
use super::schema::json_schema;
use super::unit::Compiler;
use crate::code::Op;
use crate::value::{Text, Value};

impl Compiler<'_> {
    /// Calls a builtin with what is in a window; the result goes to its first register.
    fn library_call(&mut self, at: u32, name: &str, window: u16, count: u8) {
        let builtin = self.known_builtin(name);
        self.op_n(at, Op::CallBuiltin, count, window, window, builtin);
    }

    /// a = a value that is known
    fn load_value(&mut self, at: u32, d: u16, value: Value) {
        let constant = self.constant_value(value);
        self.wide(at, Op::LoadConstant, d, constant);
    }

    /// a = a dict with values that are in consecutive registers; the keys are sorted
    fn dict_of_window(&mut self, at: u32, d: u16, keys: &[&str], window: u16) {
        let keys: Vec<Text> = keys.iter().map(|key| self.interner.text(key)).collect();
        let keys = self.keys(keys);
        self.op(at, Op::NewDict, d, keys, window);
    }

    /// `tool name(a: int) { … }`
    pub(super) fn tool(&mut self, tool: &Tool) {
        let at = tool.name.span.start;
        let window = self.window(4);
        let [name, description, config] = [1, 2, 3].map(|at| window.saturating_add(at));
        self.library_call(at, "tool_registry", window, 0);
        self.load_text(at, name, &tool.name.text);
        let text = tool.description.as_ref().map_or("", |text| &text.text);
        self.load_text(at, description, text);
        self.tool_config(at, tool, config);
        self.library_call(at, "tool_define", window, 4);
        self.bind_register(&tool.name, window);
    }

    fn tool_config(&mut self, at: u32, tool: &Tool, d: u16) {
        let mark = self.mark();
        let aliases = &self.declared.aliases;
        let returns = tool.result.as_ref();
        let returns = returns.and_then(|ty| schema_of_type(&Ty::from(ty), aliases));
        let parameters = tool.parameters.iter();
        let parameters = parameters.map(|one| (one.name.text.as_str(), self.parameter_schema(one)));
        let parameters = Value::dict(parameters.collect::<Vec<_>>());
        let window = self.window(3);
        let spec = Spec {
            name: Some(tool.name.text.clone()),
            parameters: tool.parameters.iter().map(Taking::from).collect(),
            is_tool: true,
            span: Some("tool_call"),
            ..Spec::task(&tool.body)
        };
        self.make_closure(spec, window);
        self.load_value(at, window.saturating_add(1), parameters);
        match returns {
            Some(schema) => {
                self.load_value(at, window.saturating_add(2), json_schema(&schema));
                self.dict_of_window(at, d, &["handler", "parameters", "returns"], window);
            }
            None => self.dict_of_window(at, d, &["handler", "parameters"], window),
        }
        self.release(mark);
    }

    /// What the model is told about a parameter.
    fn parameter_schema(&self, parameter: &Parameter) -> Value {
        let ty = parameter.ty.as_ref();
        let schema = ty.and_then(|ty| schema_of_type(&Ty::from(ty), &self.declared.aliases));
        let schema = schema.map_or_else(
            || Value::dict([("type", Value::text("any"))]),
            |schema| json_schema(&schema),
        );
        let (Value::Dict(mut schema), Some(default)) = (schema.clone(), &parameter.default) else {
            return schema;
        };
        schema.insert(Text::new("required"), Value::Bool(false));
        if let Some(value) = literal(default) {
            schema.insert(Text::new("default"), value);
        }
        Value::Dict(schema)
    }

    /// `skill name { field value … }`
    pub(super) fn skill(&mut self, skill: &Skill) {
        let at = skill.name.span.start;
        let window = self.window(3);
        let [name, config] = [1, 2].map(|at| window.saturating_add(at));
        self.library_call(at, "skill_registry", window, 0);
        self.load_text(at, name, &skill.name.text);
        let fields = skill
            .fields
            .iter()
            .map(|field| (&field.name.text, &field.value));
        self.named_entries(at, &fields.collect::<Vec<_>>(), config);
        self.library_call(at, "skill_define", window, 3);
        self.bind_register(&skill.name, window);
    }

    /// `eval_pack name "id" { … }`: its code runs at once, unless the file has pipelines.
    pub(super) fn eval_pack(&mut self, pack: &EvalPack, runs: bool) {
        let mark = self.mark();
        let at = pack.body.start;
        let manifest = self.temporary();
        let values = self.pack_values(at, pack);
        self.pack_manifest(at, &values, manifest);
        match &pack.name {
            EvalPackName::Name(name, _) => self.bind_register(name, manifest),
            EvalPackName::Id(id) => {
                let declared = self.resolved.declared_by_id(id);
                match declared.map(|declared| self.target_of(declared)) {
                    Some(Target::Register(register)) => self.copy(at, register, manifest),
                    Some(Target::Global(global)) => self.wide(at, Op::SetGlobal, manifest, global),
                    _ => {}
                }
            }
        }
        if runs {
            self.run_pack(at, pack, &values);
        }
        self.release(mark);
    }

    /// The registers of `id`, `version` and the fields, in this order.
    fn pack_values<'e>(&mut self, at: u32, pack: &'e EvalPack) -> Vec<(&'e str, u16)> {
        let id = match &pack.name {
            EvalPackName::Name(_, Some(id)) | EvalPackName::Id(id) => &id.text,
            EvalPackName::Name(name, None) => &name.text,
        };
        let (given_id, version) = (self.temporary(), self.temporary());
        self.load_text(at, given_id, id);
        self.load_int(at, version, 1);
        let mut values = vec![("id", given_id), ("version", version)];
        for entry in &pack.entries {
            if let EvalPackEntry::Field(name, value) = entry {
                let register = self.temporary();
                self.evaluate(value, register);
                values.push((&name.text, register));
            }
        }
        values
    }

    fn pack_manifest(&mut self, at: u32, values: &[(&str, u16)], d: u16) {
        let mark = self.mark();
        let mut keys: Vec<&str> = values.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys.dedup();
        let argument = self.temporary();
        let window = self.window(keys.len());
        for (key, register) in values {
            let position = keys.binary_search(key).unwrap_or_default();
            let place = window.saturating_add(self.narrow(position));
            self.copy(at, place, *register);
        }
        self.dict_of_window(at, argument, &keys, window);
        self.library_call(at, "eval_pack_manifest", argument, 1);
        self.copy(at, d, argument);
        self.release(mark);
    }

    /// The statements of a pack and then its summary, with its fields as variables.
    fn run_pack(&mut self, at: u32, pack: &EvalPack, values: &[(&str, u16)]) {
        let visible = self.visible.len();
        let given = self.resolved.declared_in_pack(pack);
        for ((name, register), declared) in values.iter().zip(given) {
            let target = declared.map(|declared| self.target_of(declared));
            if let Some(Target::Register(slot)) = target {
                self.copy(at, slot, *register);
            }
            self.visible.push(SmolStr::new(name));
        }
        let names = pack.entries.iter().filter_map(|entry| match entry {
            EvalPackEntry::Field(name, _) => Some(name),
            _ => None,
        });
        for (name, (_, register)) in names.zip(values.iter().skip(2)) {
            self.bind_register(name, *register);
        }
        for entry in &pack.entries {
            if let EvalPackEntry::Statement(statement) = entry {
                self.statement(statement);
            }
        }
        for entry in &pack.entries {
            if let EvalPackEntry::Summarize(block) = entry {
                self.block(block, None);
            }
        }
        self.visible.truncate(visible);
    }

    /// What attributes do with a function that is in a register.
    pub(super) fn function_attributes(&mut self, item: &Item, name: &Name, made: u16) {
        for attribute in &item.attributes {
            match attribute.name.text.as_str() {
                "acp_tool" => self.acp_tool(attribute, name, made),
                "acp_skill" => self.acp_skill(attribute, name, made),
                _ => {}
            }
        }
    }

    fn acp_tool(&mut self, attribute: &Attribute, name: &Name, made: u16) {
        let at = attribute.span.start;
        let mark = self.mark();
        let (given, others) = attribute_values(attribute);
        let window = self.window(4);
        let [title, description, config] = [1, 2, 3].map(|at| window.saturating_add(at));
        self.library_call(at, "tool_registry", window, 0);
        self.load_value(at, title, given.unwrap_or_else(|| Value::text(&name.text)));
        self.load_text(at, description, "");
        let parts = self.window(2);
        let annotations = Value::dict(others.iter().map(|(key, value)| (*key, value.clone())));
        self.load_value(at, parts, annotations);
        self.copy(at, parts.saturating_add(1), made);
        self.dict_of_window(at, config, &["annotations", "handler"], parts);
        self.library_call(at, "tool_define", window, 4);
        self.release(mark);
    }

    fn acp_skill(&mut self, attribute: &Attribute, name: &Name, made: u16) {
        let at = attribute.span.start;
        let mark = self.mark();
        let (given, others) = attribute_values(attribute);
        let window = self.window(3);
        let [title, config] = [1, 2].map(|at| window.saturating_add(at));
        self.library_call(at, "skill_registry", window, 0);
        self.load_value(at, title, given.unwrap_or_else(|| Value::text(&name.text)));
        let fields = Value::dict(others.iter().map(|(key, value)| (*key, value.clone())));
        self.load_value(at, config, fields);
        let key = self.temporary();
        self.load_text(at, key, "on_activate");
        self.op(at, Op::DictPut, config, key, made);
        self.library_call(at, "skill_define", window, 3);
        self.release(mark);
    }
}

/// The `name` of an attribute and what else it is given.
fn attribute_values(attribute: &Attribute) -> (Option<Value>, Vec<(&str, Value)>) {
    let arguments = attribute.arguments.iter().flatten();
    let mut name = None;
    let mut others = Vec::new();
    for argument in arguments {
        let value = attribute_value(&argument.value);
        match &argument.name {
            Some(key) if key.text == "name" => name = Some(value),
            Some(key) => others.push((key.text.as_str(), value)),
            None => {}
        }
    }
    (name, others)
}

fn attribute_value(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::String(text) => Value::text(text),
        AttributeValue::Int(number) => Value::Int(*number),
        AttributeValue::Float(number) => Value::Float(*number),
        AttributeValue::Bool(value) => Value::Bool(*value),
        AttributeValue::Nil => Value::Nil,
        AttributeValue::Name(name) => Value::text(&name.text),
        AttributeValue::List(items) => items.iter().map(attribute_value).collect(),
    }
}

/// The value of an expression that is written out. Expressions are nested within bounds.
fn literal(expression: &Expression) -> Option<Value> {
    if let Some(number) = int_literal(expression) {
        return Some(Value::Int(number));
    }
    match &expression.kind {
        ExpressionKind::Nil => Some(Value::Nil),
        ExpressionKind::Bool(value) => Some(Value::Bool(*value)),
        ExpressionKind::Float(number) => Some(Value::Float(*number)),
        ExpressionKind::Duration(DurationLiteral::Milliseconds(time)) => {
            Some(Value::Duration(*time))
        }
        ExpressionKind::Unary(harn_syntax::tree::UnaryOp::Negate, value) => match value.kind {
            ExpressionKind::Float(number) => Some(Value::Float(-number)),
            _ => None,
        },
        ExpressionKind::String(text) | ExpressionKind::RawString(text) => Some(Value::text(text)),
        ExpressionKind::List(elements) => {
            let elements = elements.iter().map(|element| match element {
                Argument::One(value) => literal(value),
                Argument::Spread(_) => None,
            });
            Some(Value::list(elements.collect::<Option<_>>()?))
        }
        ExpressionKind::Dict(entries) => {
            let entries = entries.iter().map(|entry| match entry {
                Entry::Field(key, value) => Some((key.name()?.text.as_str(), literal(value)?)),
                Entry::Spread(_) => None,
            });
            Some(Value::dict(entries.collect::<Option<Vec<_>>>()?))
        }
        _ => None,
    }
}
