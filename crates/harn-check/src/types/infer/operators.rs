//! What operators give.

use harn_syntax::tree::BinaryOp;

use crate::types::ty::Ty;

/// The type an arithmetic operator or `??` gives for operands of these types.
pub(in crate::types) fn operation(op: BinaryOp, left: &Ty, right: &Ty) -> Ty {
    if op == BinaryOp::Coalesce {
        return coalesce(left, right);
    }
    let (Some(one), Some(other)) = (left.name(), right.name()) else {
        return Ty::Dynamic;
    };
    match (op, one.as_str(), other.as_str()) {
        (_, "int", "int") => Ty::INT,
        (_, "int" | "float", "int" | "float") => Ty::FLOAT,
        (BinaryOp::Add, "string", "string") => Ty::STRING,
        (BinaryOp::Add, "list", "list") => Ty::LIST,
        (BinaryOp::Add, "dict", "dict") => Ty::DICT,
        (BinaryOp::Multiply, "string", "int") | (BinaryOp::Multiply, "int", "string") => Ty::STRING,
        (_, "float", _) | (_, _, "float") => Ty::FLOAT,
        _ => Ty::Dynamic,
    }
}

fn coalesce(left: &Ty, right: &Ty) -> Ty {
    match left {
        Ty::Dynamic => right.clone(),
        Ty::Union(_) => match left.without(|member| *member == Ty::NIL) {
            Ty::Never => right.clone(),
            rest => rest,
        },
        _ if *left == Ty::NIL => right.clone(),
        _ => left.clone(),
    }
}
