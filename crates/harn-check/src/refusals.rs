//! What is grammatical and still cannot be compiled.
//!
//! These few rules need no types and no names, only what is around a node. They are told apart
//! from type errors because they come in a later phase: a program with a type error is never
//! told about them.

use harn_syntax::tree::{
    Attribute, DurationLiteral, Expression, ExpressionKind, Function, Item, ItemKind, LoopPattern,
    Module, Statement, StatementKind,
};
use harn_syntax::visit::{self, Visit};
use harn_syntax::{Code, Diagnostic, Span};

use crate::codes::code_list;

code_list! {
    /// Every code of a refusal with one line about it.
    REFUSAL_CODES:
    BREAK_OUTSIDE_LOOP "break-outside-loop" "`break` has no loop to leave"
    CONTINUE_OUTSIDE_LOOP "continue-outside-loop" "`continue` has no loop to go on with"
    TRY_STAR_OUTSIDE_FUNCTION "try-star-outside-function" "`try*` has no function to leave"
    DURATION_TOO_LARGE "duration-too-large" "a duration is longer than a duration can be"
    ATTRIBUTE_NEEDS_FUNCTION "attribute-needs-function" "an attribute that only functions can have"
}

/// A rule that is broken, without the words `compile error` before its message.
const BREAK: &str = "break outside of loop";
const CONTINUE: &str = "continue outside of loop";
const TRY_STAR: &str =
    "try* requires an enclosing function (fn, tool, or pipeline) so the rethrow has a target";
const DURATION: &str = "duration literal is too large";

/// Something that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, as it ends a run.
    pub message: String,
    /// The same as it is shown at its place.
    pub diagnostic: Diagnostic,
}

/// Everything in a file that cannot be compiled, in source order.
pub fn refusals(module: &Module) -> Vec<Refusal> {
    let mut search = Search::default();
    visit::walk_module(&mut search, module);
    search.found
}

/// Where we are.
#[derive(Clone, Copy, Default)]
struct Around {
    /// Whether a loop of the same function body is around.
    is_loop: bool,
    /// Whether there is something that `try*` can leave.
    is_function: bool,
}

#[derive(Default)]
struct Search {
    around: Around,
    found: Vec<Refusal>,
}

impl Search {
    fn refuse(&mut self, code: Code, span: Span, message: impl Into<String>) {
        let message = message.into();
        let shown = format!("compile error: {message}");
        self.found.push(Refusal {
            message,
            diagnostic: Diagnostic::error(code, span, shown),
        });
    }

    /// Looks at something that has other surroundings.
    fn within(&mut self, around: Around, look: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.around, around);
        look(self);
        self.around = outer;
    }

    /// Looks at the body of a function, which no loop around it reaches into.
    fn within_function(&mut self, look: impl FnOnce(&mut Self)) {
        let inside = Around {
            is_loop: false,
            is_function: true,
        };
        self.within(inside, look);
    }

    /// Looks at the body of a task: a function body of its own, but not one to be left.
    fn within_task(&mut self, look: impl FnOnce(&mut Self)) {
        let inside = Around {
            is_loop: false,
            ..self.around
        };
        self.within(inside, look);
    }

    fn within_loop(&mut self, look: impl FnOnce(&mut Self)) {
        let inside = Around {
            is_loop: true,
            ..self.around
        };
        self.within(inside, look);
    }

    fn check_attributes(&mut self, attributes: &[Attribute], kind: &ItemKind) {
        let is_function = matches!(kind, ItemKind::Function(_));
        for attribute in attributes {
            let name = attribute.name.text.as_str();
            if matches!(name, "acp_tool" | "acp_skill") && !is_function {
                let message = format!("@{name} can only be applied to function declarations");
                self.refuse(ATTRIBUTE_NEEDS_FUNCTION, attribute.span, message);
            }
        }
    }
}

impl Visit for Search {
    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Break if !self.around.is_loop => {
                self.refuse(BREAK_OUTSIDE_LOOP, statement.span, BREAK);
            }
            StatementKind::Continue if !self.around.is_loop => {
                self.refuse(CONTINUE_OUTSIDE_LOOP, statement.span, CONTINUE);
            }
            StatementKind::For(item) => {
                if let LoopPattern::One(pattern) = &item.pattern {
                    self.pattern(pattern);
                }
                self.expression(&item.source);
                self.within_loop(|search| search.block(&item.body));
            }
            StatementKind::While(item) => {
                self.expression(&item.condition);
                self.within_loop(|search| search.block(&item.body));
            }
            _ => visit::walk_statement(self, statement),
        }
    }

    fn item(&mut self, item: &Item) {
        self.check_attributes(&item.attributes, &item.kind);
        match &item.kind {
            ItemKind::Pipeline(_) | ItemKind::Tool(_) | ItemKind::Override(_) => {
                self.within_function(|search| visit::walk_item(search, item));
            }
            _ => visit::walk_item(self, item),
        }
    }

    fn function(&mut self, function: &Function) {
        self.within_function(|search| visit::walk_function(search, function));
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Closure(_) => {
                self.within_function(|search| visit::walk_expression(search, expression));
            }
            ExpressionKind::Spawn(body) => self.within_task(|search| search.block(body)),
            ExpressionKind::Parallel(parallel) => {
                self.expression(&parallel.source);
                let limits = parallel.max_concurrent.iter();
                limits.for_each(|limit| self.expression(limit));
                self.within_task(|search| search.block(&parallel.body));
            }
            ExpressionKind::TryStar(_) if !self.around.is_function => {
                self.refuse(TRY_STAR_OUTSIDE_FUNCTION, expression.span, TRY_STAR);
                visit::walk_expression(self, expression);
            }
            ExpressionKind::Duration(DurationLiteral::TooLarge) => {
                self.refuse(DURATION_TOO_LARGE, expression.span, DURATION);
            }
            _ => visit::walk_expression(self, expression),
        }
    }
}

#[cfg(test)]
mod tests {
    use harn_syntax::parse;

    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let parsed = parse(source);
        assert_eq!(parsed.errors, [], "{source}");
        let found = refusals(&parsed.module);
        let messages: Vec<_> = found.iter().map(|refusal| &refusal.message).collect();
        assert_eq!(messages, expected, "{source}");
    }

    /// 6.5, 6.13
    #[test]
    fn loops_are_left_from_inside() {
        check("while a { break }", &[]);
        check("for x in xs { if x { continue } }", &[]);
        check("for x in xs { try { break } finally { continue } }", &[]);
        check("break", &[BREAK]);
        check("if a { continue }", &[CONTINUE]);
        check("for x in f({ -> break }) { }", &[BREAK]);
        check("while a { let f = { -> break } }", &[BREAK]);
        check("while a { fn f() { continue } }", &[CONTINUE]);
        check("while a { spawn { break } }", &[BREAK]);
        check("while a { parallel 3 { i -> continue } }", &[CONTINUE]);
        check("while a { let f = { -> while b { break } } }", &[]);
        check("while a { log(\"${ { -> break } }\") }", &[BREAK]);
    }

    /// 6.7
    #[test]
    fn try_star_needs_a_function() {
        check("fn f() { try* g() }", &[]);
        check("tool t() { try* g() }", &[]);
        check("pipeline p() { spawn { try* g() } }", &[]);
        check("let f = { -> try* g() }", &[]);
        check("impl S { fn m(self) { try* g() } }", &[]);
        check("try* g()", &[TRY_STAR]);
        check("if a { let x = try* g() }", &[TRY_STAR]);
    }

    #[test]
    fn a_duration_has_a_largest_value() {
        check("let d = 106751991167d", &[]);
        check("let d = 106751991168d", &[DURATION]);
    }

    /// 15.4
    #[test]
    fn acp_attributes_are_for_functions() {
        check("@acp_tool(name: \"n\") fn f() { }", &[]);
        check(
            "@acp_tool tool t() { }\n@acp_skill struct S { }",
            &[
                "@acp_tool can only be applied to function declarations",
                "@acp_skill can only be applied to function declarations",
            ],
        );
    }

    #[test]
    fn it_is_shown_as_a_compile_error() {
        let found = refusals(&parse("break").module);
        assert_eq!(
            found[0].diagnostic.message,
            "compile error: break outside of loop"
        );
    }
}
