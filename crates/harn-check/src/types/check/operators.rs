//! What is wrong with the operands of operators.

use harn_syntax::Span;
use harn_syntax::tree::{Binary, BinaryOp};

use crate::types::checker::Checker;
use crate::types::codes;
use crate::types::infer::{gives_bool, operation};
use crate::types::ty::Ty;

impl Checker {
    pub(super) fn check_binary(&mut self, binary: &Binary) {
        match binary.rest[0].op {
            BinaryOp::And => self.check_logic(binary, true),
            BinaryOp::Or => self.check_logic(binary, false),
            _ => self.check_operation(binary),
        }
    }

    /// The right operand is only reached if the left one is true, or false.
    fn check_logic(&mut self, binary: &Binary, reached_if: bool) {
        self.scoped(|checker| {
            checker.check(&binary.first);
            let mut before = &binary.first;
            for operand in &binary.rest {
                checker.assume(before, reached_if);
                checker.check(&operand.value);
                before = &operand.value;
            }
        });
    }

    fn check_operation(&mut self, binary: &Binary) {
        self.check(&binary.first);
        let mut left = self.infer(&binary.first);
        for operand in &binary.rest {
            self.check(&operand.value);
            let right = self.infer(&operand.value);
            let span = binary.first.span.to(operand.value.span);
            self.check_operands(operand.op, &left, &right, span);
            left = match operand.op {
                op if gives_bool(op) => Ty::BOOL,
                BinaryOp::Pipe => Ty::Dynamic,
                op => operation(op, &left, &right),
            };
        }
    }

    /// Only operands whose types are single names are looked at.
    fn check_operands(&mut self, op: BinaryOp, left: &Ty, right: &Ty, span: Span) {
        let (Some(one), Some(other)) = (left.name(), right.name()) else {
            return;
        };
        let numbers = is_number(one) && is_number(other);
        let pair = (one.as_str(), other.as_str());
        let text = op.text();
        let problem = match op {
            BinaryOp::Add => {
                let joined = ["string", "list", "dict"].contains(&pair.0) && pair.0 == pair.1;
                (!numbers && !joined).then(|| format!("can't add {one} and {other}"))
            }
            BinaryOp::Subtract | BinaryOp::Divide | BinaryOp::Remainder | BinaryOp::Power => {
                (!numbers).then(|| {
                    format!("can't use '{text}' on {one} and {other} (needs numeric operands)")
                })
            }
            BinaryOp::Multiply => {
                let repeated = matches!(pair, ("string", "int") | ("int", "string"));
                (!numbers && !repeated)
                    .then(|| format!("can't multiply {one} and {other} (try string * int)"))
            }
            _ if matches!(op.level(), 6 | 7) => {
                return self.check_comparison(op, one, other, span);
            }
            _ => None,
        };
        if let Some(message) = problem {
            self.error(codes::OPERAND_TYPE, span, message);
        }
    }

    fn check_comparison(&mut self, op: BinaryOp, one: &str, other: &str, span: Span) {
        let orders = match op {
            BinaryOp::Less | BinaryOp::Greater | BinaryOp::LessEqual | BinaryOp::GreaterEqual => {
                true
            }
            BinaryOp::Equal | BinaryOp::NotEqual => false,
            _ => return,
        };
        let op = op.text();
        let mixed = |text: &str, number: &str| text == "string" && is_number(number);
        let has_order = |name: &str| is_number(name) || name == "string";
        if orders && !(has_order(one) && has_order(other)) {
            let message =
                format!("Comparison '{op}' may not be meaningful for types {one} and {other}");
            self.warn(codes::COMPARISON, span, message);
        } else if mixed(one, other) || mixed(other, one) {
            let message =
                format!("Comparing {one} with {other} using '{op}' may give unexpected results");
            self.warn(codes::COMPARISON, span, message);
        }
    }
}

fn is_number(name: &str) -> bool {
    name == "int" || name == "float"
}
