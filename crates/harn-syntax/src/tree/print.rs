//! A tree as text, for tests and for the curious.
//!
//! Every node is a list in parentheses that begins with its kind. Places and comments are
//! left out, so two programs print the same exactly if they mean the same to a compiler.
//!
//! ```
//! let module = harn_syntax::parse("let x: int = (1 + 2) * f(y)").module;
//! assert_eq!(module.to_string(), "(let x (: int) (* (+ 1 2) (call f y)))\n");
//! ```

use std::fmt;

use super::{
    Argument, Attribute, AttributeValue, Binary, Block, DurationLiteral, Entry, EvalPackEntry,
    EvalPackName, Expression, ExpressionKind, Field, Function, FunctionKind, InterfaceMember, Item,
    ItemKind, Key, LoopPattern, Module, Name, ParallelMode, Parameter, Pattern, PatternKind,
    Segment, SelectArm, Statement, StatementKind, Suffix, SuffixKind, Text, Type, TypeParameter,
    UnaryOp, Variance,
};

/// The widest line that is not broken.
const WIDTH: usize = 96;

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut nodes = self.statements.iter().map(statement);
        nodes.try_for_each(|node| writeln!(f, "{}", node.lines(0)))
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&statement(self).lines(0))
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&expression(self).lines(0))
    }
}

/// What is printed.
enum Node {
    Word(String),
    List(Vec<Node>),
}

impl Node {
    fn width(&self) -> usize {
        match self {
            Self::Word(word) => word.chars().count(),
            Self::List(nodes) => {
                let widths = nodes.iter().map(|node| node.width() + 1);
                widths.sum::<usize>().max(1) + 1
            }
        }
    }

    /// In one line if it fits, otherwise each part after the first on a line of its own.
    fn lines(&self, indent: usize) -> String {
        let Self::List(nodes) = self else {
            return self.line();
        };
        if indent + self.width() <= WIDTH {
            return self.line();
        }
        let parts = nodes.iter().map(|node| node.lines(indent + 2));
        let gap = format!("\n{}", " ".repeat(indent + 2));
        format!("({})", parts.collect::<Vec<_>>().join(&gap))
    }

    fn line(&self) -> String {
        match self {
            Self::Word(word) => word.clone(),
            Self::List(nodes) => {
                let parts = nodes.iter().map(Self::line);
                format!("({})", parts.collect::<Vec<_>>().join(" "))
            }
        }
    }
}

fn word(text: impl fmt::Display) -> Node {
    Node::Word(text.to_string())
}

fn name(name: &Name) -> Node {
    word(&name.text)
}

fn quoted(text: &Text) -> Node {
    word(format_args!("{:?}", text.text))
}

/// A list that begins with its kind.
fn list(kind: &str, parts: impl IntoIterator<Item = Node>) -> Node {
    Node::List(std::iter::once(word(kind)).chain(parts).collect())
}

fn block(block: &Block) -> Node {
    list("do", block.statements.iter().map(statement))
}

fn statement(statement: &Statement) -> Node {
    match &statement.kind {
        StatementKind::Expression(value) => expression(value),
        StatementKind::Item(it) => item(it),
        StatementKind::Binding(it) => {
            let kind = if it.mutable { "var" } else { "let" };
            let parts = std::iter::once(pattern(&it.pattern)).chain(it.ty.as_ref().map(typed));
            list(kind, parts.chain([expression(&it.value)]))
        }
        StatementKind::Assignment(it) => {
            let op = it.op.map_or("", |op| op.text());
            list(
                &format!("{op}="),
                [expression(&it.target), expression(&it.value)],
            )
        }
        StatementKind::For(it) => {
            let bound = match &it.pattern {
                LoopPattern::One(one) => pattern(one),
                LoopPattern::Pair(first, second) => list("pair", [name(first), name(second)]),
            };
            list("for", [bound, expression(&it.source), block(&it.body)])
        }
        StatementKind::While(it) => list("while", [expression(&it.condition), block(&it.body)]),
        StatementKind::Select(it) => list("select", it.arms.iter().map(select_arm)),
        StatementKind::Guard(it) => {
            list("guard", [expression(&it.condition), block(&it.otherwise)])
        }
        StatementKind::Require(it) => {
            let message = it.message.as_ref().map(expression);
            list(
                "require",
                [expression(&it.condition)].into_iter().chain(message),
            )
        }
        StatementKind::Mutex(it) => list("mutex", [block(it)]),
        StatementKind::Defer(it) => list("defer", [block(it)]),
        StatementKind::Return(value) => list("return", value.as_ref().map(expression)),
        StatementKind::Yield(value) => list("yield", value.as_ref().map(expression)),
        StatementKind::Throw(value) => list("throw", [expression(value)]),
        StatementKind::Emit(value) => list("emit", [expression(value)]),
        StatementKind::Break => list("break", []),
        StatementKind::Continue => list("continue", []),
    }
}

fn select_arm(arm: &SelectArm) -> Node {
    match arm {
        SelectArm::Receive(bound, channel, body) => {
            list("from", [name(bound), expression(channel), block(body)])
        }
        SelectArm::Timeout(time, body) => list("timeout", [expression(time), block(body)]),
        SelectArm::Default(body) => list("default", [block(body)]),
    }
}

fn pattern(pattern: &Pattern) -> Node {
    let rest = |rest: &Option<Name>| rest.as_ref().map(|rest| list("...", [name(rest)]));
    let default = |value: &Option<Expression>| value.as_ref().map(expression);
    match &pattern.kind {
        PatternKind::Name(bound) => name(bound),
        PatternKind::Dict {
            fields,
            rest: other,
        } => {
            let fields = fields.iter().map(|field| {
                let parts = [name(&field.field), name(field.bound())].into_iter();
                Node::List(parts.chain(default(&field.default)).collect())
            });
            list("dict", fields.chain(rest(other)))
        }
        PatternKind::List {
            elements,
            rest: other,
        } => {
            let elements = elements.iter().map(|element| match &element.default {
                Some(value) => Node::List(vec![name(&element.name), expression(value)]),
                None => name(&element.name),
            });
            list("list", elements.chain(rest(other)))
        }
    }
}

fn expression(expression: &Expression) -> Node {
    match &expression.kind {
        ExpressionKind::Nil => word("nil"),
        ExpressionKind::Bool(value) => word(value),
        ExpressionKind::Int(value) => word(value),
        ExpressionKind::Float(value) => word(format_args!("{value:?}")),
        ExpressionKind::Duration(DurationLiteral::Milliseconds(time)) => {
            word(format_args!("{time}ms"))
        }
        ExpressionKind::Duration(DurationLiteral::TooLarge) => word("too-long"),
        ExpressionKind::String(text) => word(format_args!("{text:?}")),
        ExpressionKind::RawString(text) => list("raw", [word(format_args!("{text:?}"))]),
        ExpressionKind::Interpolated(segments) => list("text", segments.iter().map(segment)),
        ExpressionKind::Name(it) => name(it),
        ExpressionKind::List(elements) => list("list", arguments(elements)),
        ExpressionKind::Dict(entries) => list("dict", entries.iter().map(entry)),
        ExpressionKind::Struct(it) => {
            let entries = it.entries.iter().map(entry);
            list("struct", [name(&it.name)].into_iter().chain(entries))
        }
        ExpressionKind::Closure(it) => list("fn", [parameters(&it.parameters), block(&it.body)]),
        ExpressionKind::Call(it) => {
            let types = it.type_arguments.iter().map(typed);
            let parts = [name(&it.name)].into_iter().chain(types);
            list("call", parts.chain(arguments(&it.arguments)))
        }
        ExpressionKind::Postfix(it) => {
            let suffixes = it.suffixes.iter().map(suffix);
            Node::List(
                [self::expression(&it.base)]
                    .into_iter()
                    .chain(suffixes)
                    .collect(),
            )
        }
        ExpressionKind::Unary(UnaryOp::Not, value) => list("!", [self::expression(value)]),
        ExpressionKind::Unary(UnaryOp::Negate, value) => list("-", [self::expression(value)]),
        ExpressionKind::Binary(it) => binary(it),
        _ => construct(&expression.kind),
    }
}

/// The expressions that are made of several parts.
fn construct(kind: &ExpressionKind) -> Node {
    match kind {
        ExpressionKind::Range(it) => {
            let kind = if it.exclusive { "to-exclusive" } else { "to" };
            list(kind, [expression(&it.start), expression(&it.end)])
        }
        ExpressionKind::Ternary(it) => list(
            "?",
            [&it.condition, &it.then, &it.otherwise].map(expression),
        ),
        ExpressionKind::If(it) => {
            let branches = it.branches.iter();
            let branches = branches.flat_map(|(test, body)| [expression(test), block(body)]);
            list("if", branches.chain(it.otherwise.as_ref().map(block)))
        }
        ExpressionKind::Match(it) => {
            let arms = it.arms.iter().map(|arm| {
                let patterns = list("case", arm.patterns.iter().map(expression));
                let guard = arm
                    .guard
                    .as_ref()
                    .map(|guard| list("if", [expression(guard)]));
                let parts = [patterns].into_iter().chain(guard);
                Node::List(parts.chain([block(&arm.body)]).collect())
            });
            list("match", [expression(&it.value)].into_iter().chain(arms))
        }
        ExpressionKind::Try(it) => {
            let catch = it.catch.as_ref().map(|catch| {
                let bound = catch.name.as_ref().map(name);
                let parts = bound.into_iter().chain(catch.ty.as_ref().map(typed));
                list("catch", parts.chain([block(&catch.body)]))
            });
            let finally = it
                .finally
                .as_ref()
                .map(|body| list("finally", [block(body)]));
            list(
                "try",
                [block(&it.body)].into_iter().chain(catch).chain(finally),
            )
        }
        ExpressionKind::TryStar(value) => list("try*", [expression(value)]),
        ExpressionKind::Retry(it) => list("retry", [expression(&it.count), block(&it.body)]),
        ExpressionKind::Deadline(it) => list("deadline", [expression(&it.time), block(&it.body)]),
        ExpressionKind::Spawn(body) => list("spawn", [block(body)]),
        ExpressionKind::Parallel(it) => {
            let mode = match (it.mode, it.as_stream) {
                (ParallelMode::Count, _) => "parallel",
                (ParallelMode::Each, false) => "parallel-each",
                (ParallelMode::Each, true) => "parallel-each-stream",
                (ParallelMode::Settle, _) => "parallel-settle",
            };
            let limits = it.max_concurrent.iter().map(expression);
            let limits = limits.map(|limit| list("max_concurrent", [limit]));
            let parts = [expression(&it.source)].into_iter().chain(limits);
            let parts = parts.chain(it.variable.as_ref().map(name));
            list(mode, parts.chain([block(&it.body)]))
        }
        _ => unreachable!("the others are printed by their caller"),
    }
}

fn segment(segment: &Segment) -> Node {
    match segment {
        Segment::Text(text) => word(format_args!("{text:?}")),
        Segment::Expression(value) => expression(value),
    }
}

fn arguments(arguments: &[Argument]) -> impl Iterator<Item = Node> + '_ {
    arguments.iter().map(|argument| match argument {
        Argument::One(value) => expression(value),
        Argument::Spread(value) => list("...", [expression(value)]),
    })
}

fn entry(entry: &Entry) -> Node {
    match entry {
        Entry::Spread(value) => list("...", [expression(value)]),
        Entry::Field(key, value) => {
            let key = match key {
                Key::Name(it) => name(it),
                Key::String(it) => word(format_args!("{:?}", it.text)),
                Key::Computed(it) => list("computed", [expression(it)]),
            };
            Node::List(vec![key, expression(value)])
        }
    }
}

/// `(+ a b c)` if all operators are the same, otherwise `(a + b - c)`. It is flat, because a
/// chain may be long.
fn binary(binary: &Binary) -> Node {
    let op = binary.rest[0].op;
    let is_same = binary.rest.iter().all(|operand| operand.op == op);
    let first = expression(&binary.first);
    let operands = binary.rest.iter().flat_map(|operand| {
        let sign = (!is_same).then(|| word(operand.op.text()));
        sign.into_iter().chain([expression(&operand.value)])
    });
    let parts = [first].into_iter().chain(operands);
    match is_same {
        true => list(op.text(), parts),
        false => Node::List(parts.collect()),
    }
}

fn suffix(suffix: &Suffix) -> Node {
    let dot = |optional: bool| if optional { "?." } else { "." };
    match &suffix.kind {
        SuffixKind::Member { name, optional } => {
            word(format_args!("{}{}", dot(*optional), name.text))
        }
        SuffixKind::Method {
            name,
            optional,
            arguments: given,
        } => list(
            &format!("{}{}", dot(*optional), name.text),
            arguments(given),
        ),
        SuffixKind::Index { index, optional } => {
            list(if *optional { "?[]" } else { "[]" }, [expression(index)])
        }
        SuffixKind::Slice { start, end } => {
            let bound = |bound: &Option<Expression>| bound.as_ref().map_or(word("_"), expression);
            list("[:]", [bound(start), bound(end)])
        }
        SuffixKind::Try => word("?"),
    }
}

fn parameters(parameters: &[Parameter]) -> Node {
    Node::List(parameters.iter().map(parameter).collect())
}

fn parameter(parameter: &Parameter) -> Node {
    let bound = match parameter.rest {
        true => word(format_args!("...{}", parameter.name.text)),
        false => name(&parameter.name),
    };
    let ty = parameter.ty.as_ref().map(typed);
    let default = parameter.default.as_ref().map(expression);
    let mut parts: Vec<_> = [bound].into_iter().chain(ty).collect();
    parts.extend(default.map(|value| list("=", [value])));
    match parts.len() {
        1 => parts.remove(0),
        _ => Node::List(parts),
    }
}

fn typed(ty: &Type) -> Node {
    list(":", [word(ty)])
}

fn type_parameters(parameters: &[TypeParameter]) -> Option<Node> {
    let parameters = parameters.iter().map(|parameter| match parameter.variance {
        Variance::Invariant => name(&parameter.name),
        Variance::Covariant => word(format_args!("out {}", parameter.name.text)),
        Variance::Contravariant => word(format_args!("in {}", parameter.name.text)),
    });
    let parameters: Vec<_> = parameters.collect();
    (!parameters.is_empty()).then(|| list("<>", parameters))
}

fn item(item: &Item) -> Node {
    let declared = declaration(&item.kind);
    let declared = match item.public {
        Some(_) => list("pub", [declared]),
        None => declared,
    };
    item.attributes
        .iter()
        .rev()
        .fold(declared, |declared, one| {
            list("@", [attribute(one), declared])
        })
}

fn attribute(attribute: &Attribute) -> Node {
    let Some(arguments) = &attribute.arguments else {
        return name(&attribute.name);
    };
    let arguments = arguments.iter().map(|argument| match &argument.name {
        Some(key) => Node::List(vec![name(key), attribute_value(&argument.value)]),
        None => attribute_value(&argument.value),
    });
    Node::List(
        [name(&attribute.name)]
            .into_iter()
            .chain(arguments)
            .collect(),
    )
}

fn attribute_value(value: &AttributeValue) -> Node {
    match value {
        AttributeValue::String(text) => word(format_args!("{text:?}")),
        AttributeValue::Int(number) => word(number),
        AttributeValue::Float(number) => word(format_args!("{number:?}")),
        AttributeValue::Bool(value) => word(value),
        AttributeValue::Nil => word("nil"),
        AttributeValue::Name(it) => name(it),
        AttributeValue::List(values) => list("list", values.iter().map(attribute_value)),
    }
}

fn declaration(kind: &ItemKind) -> Node {
    let names = |names: &[Name]| Node::List(names.iter().map(name).collect());
    match kind {
        ItemKind::Import(it) => {
            let wanted = it.names.as_deref().map(names);
            list("import", wanted.into_iter().chain([quoted(&it.path)]))
        }
        ItemKind::Pipeline(it) => {
            let result = it.result.as_ref().map(typed);
            let parent = it
                .parent
                .as_ref()
                .map(|parent| list("extends", [name(parent)]));
            let parts = [name(&it.name), names(&it.parameters)].into_iter();
            list(
                "pipeline",
                parts.chain(result).chain(parent).chain([block(&it.body)]),
            )
        }
        ItemKind::Override(it) => list(
            "override",
            [name(&it.name), names(&it.parameters), block(&it.body)],
        ),
        ItemKind::Function(it) => function(it),
        ItemKind::Tool(it) => {
            let parts = [name(&it.name), parameters(&it.parameters)].into_iter();
            let parts = parts.chain(it.result.as_ref().map(typed));
            let parts = parts.chain(it.description.as_ref().map(quoted));
            list("tool", parts.chain([block(&it.body)]))
        }
        ItemKind::Skill(it) => {
            let fields = it.fields.iter();
            let fields = fields.map(|field| list(&field.name.text, [expression(&field.value)]));
            list("skill", [name(&it.name)].into_iter().chain(fields))
        }
        ItemKind::EvalPack(it) => {
            let title = match &it.name {
                EvalPackName::Name(it, id) => [name(it)]
                    .into_iter()
                    .chain(id.as_ref().map(quoted))
                    .collect(),
                EvalPackName::Id(id) => vec![quoted(id)],
            };
            let entries = it.entries.iter().map(|entry| match entry {
                EvalPackEntry::Field(it, value) => list("field", [name(it), expression(value)]),
                EvalPackEntry::Summarize(body) => list("summarize", [block(body)]),
                EvalPackEntry::Statement(it) => statement(it),
            });
            list("eval_pack", title.into_iter().chain(entries))
        }
        _ => type_declaration(kind),
    }
}

/// The declarations that are about types.
fn type_declaration(kind: &ItemKind) -> Node {
    let titled = |kind, it: &Name, generic: &[TypeParameter], parts: Vec<Node>| {
        let title = [name(it)].into_iter().chain(type_parameters(generic));
        list(kind, title.chain(parts))
    };
    match kind {
        ItemKind::Struct(it) => {
            let fields = it.fields.iter().map(field).collect();
            titled("struct", &it.name, &it.type_parameters, fields)
        }
        ItemKind::Enum(it) => {
            let variants = it.variants.iter().map(|variant| match &variant.parameters {
                Some(carried) => list(&variant.name.text, carried.iter().map(parameter)),
                None => name(&variant.name),
            });
            titled("enum", &it.name, &it.type_parameters, variants.collect())
        }
        ItemKind::Type(it) => titled("type", &it.name, &it.type_parameters, vec![word(&it.ty)]),
        ItemKind::Interface(it) => {
            let members = it.members.iter().map(interface_member).collect();
            titled("interface", &it.name, &it.type_parameters, members)
        }
        ItemKind::Impl(it) => {
            let methods = it.methods.iter().map(|(public, method)| match public {
                Some(_) => list("pub", [function(method)]),
                None => function(method),
            });
            list("impl", [name(&it.name)].into_iter().chain(methods))
        }
        _ => unreachable!("the others are printed by their caller"),
    }
}

fn field(field: &Field) -> Node {
    let mark = if field.optional { "?" } else { "" };
    let title = word(format_args!("{}{mark}", field.name.text));
    match &field.ty {
        Some(ty) => Node::List(vec![title, typed(ty)]),
        None => title,
    }
}

fn interface_member(member: &InterfaceMember) -> Node {
    match member {
        InterfaceMember::Type { name: it, ty } => {
            list("type", [name(it)].into_iter().chain(ty.as_ref().map(typed)))
        }
        InterfaceMember::Method {
            name: it,
            type_parameters: generic,
            parameters: given,
            result,
        } => {
            let parts = [name(it)].into_iter().chain(type_parameters(generic));
            let parts = parts.chain([parameters(given)]);
            list("fn", parts.chain(result.as_ref().map(typed)))
        }
    }
}

fn function(function: &Function) -> Node {
    let kind = match function.kind {
        FunctionKind::Plain => "fn",
        FunctionKind::Stream => "gen-fn",
    };
    let bounds = function.bounds.iter();
    let bounds =
        bounds.map(|bound| list("where", [name(&bound.parameter), name(&bound.interface)]));
    let parts = [name(&function.name)].into_iter();
    let parts = parts.chain(type_parameters(&function.type_parameters));
    let parts = parts.chain([parameters(&function.parameters)]);
    let parts = parts
        .chain(function.result.as_ref().map(typed))
        .chain(bounds);
    list(kind, parts.chain([block(&function.body)]))
}
