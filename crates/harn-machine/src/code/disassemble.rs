//! Functions as text, to read.
//!
//! ```text
//! add(a, b)  3 registers
//!    0  Add          r2 = r0 r1*
//!    1  Return       r2
//! ```
//!
//! A register that is read for the last time has a star, a window says how many registers it
//! has, a jump says where it goes.

use std::fmt::Write;

use super::function::{CaptureFrom, Function, FunctionKind, PathStep};
use super::op::{Instruction, OPTIONAL, Op, Operand, TAKE_B, TAKE_C};
use crate::registry::BuiltinId;
use crate::value::Value;

/// The code of a function and of the functions inside it.
pub fn disassemble(function: &Function) -> String {
    let mut out = String::new();
    let mut waiting = vec![(String::new(), function)];
    while let Some((path, function)) = waiting.pop() {
        if !out.is_empty() {
            out.push('\n');
        }
        write_function(&mut out, &path, function);
        let children = function.functions.iter().enumerate().rev();
        waiting.extend(children.map(|(at, child)| {
            let path = match path.is_empty() {
                true => format!("f{at}"),
                false => format!("{path}.{at}"),
            };
            (path, &**child)
        }));
    }
    out
}

fn write_function(out: &mut String, path: &str, function: &Function) {
    out.push_str(path);
    if !path.is_empty() {
        out.push(' ');
    }
    out.push_str(function.name.as_deref().unwrap_or("closure"));
    let mut parameters = function.parameters.clone();
    if let (true, Some(last)) = (function.has_rest, parameters.last_mut()) {
        *last = format!("...{last}").into();
    }
    let _ = write!(
        out,
        "({})  {} registers",
        parameters.join(", "),
        function.registers
    );
    match function.kind {
        FunctionKind::Plain => {}
        FunctionKind::Generator => out.push_str("  generator"),
        FunctionKind::Stream => out.push_str("  stream"),
    }
    if !function.captures.is_empty() {
        let captures: Vec<_> = function.captures.iter().map(show_capture).collect();
        let _ = write!(out, "  captures {}", captures.join(" "));
    }
    out.push('\n');
    for at in 0..function.code.len() {
        let line = show_instruction(function, at);
        let _ = writeln!(out, "{at:>4}  {}", line.trim_end());
    }
    for handler in &function.handlers {
        let _ = writeln!(
            out,
            "      {}..{} -> {} r{}",
            handler.start, handler.end, handler.target, handler.register
        );
    }
    for (number, start) in function.defers.iter().enumerate() {
        let _ = writeln!(out, "      defer {number} -> {start}");
    }
    for (number, keep) in function.keeps.iter().enumerate() {
        let registers: Vec<_> = keep.registers.iter().map(|one| format!("r{one}")).collect();
        let (blocks, registers) = (&keep.blocks, registers.join(" "));
        let line = format!("      keep {number} defer {blocks:?} {registers}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn show_capture(capture: &CaptureFrom) -> String {
    match capture {
        CaptureFrom::Register(register) => format!("r{register}"),
        CaptureFrom::Capture(at) => format!("c{at}"),
    }
}

fn show_instruction(function: &Function, at: usize) -> String {
    let instruction = function.code[at];
    let op = instruction.op();
    let mut line = format!("{:<12} ", format!("{op:?}"));
    let operands = op.operands();
    for (position, operand) in operands.into_iter().enumerate() {
        if let Some(text) = show_operand(function, at, position, operand) {
            line.push_str(&text);
            line.push_str(match (operand, operands[1]) {
                (Operand::Write, next) if position == 0 && next != Operand::None => " = ",
                _ => " ",
            });
        }
    }
    line.push_str(&show_number(instruction));
    line
}

/// What `n` says beyond how long a window is and what is read for the last time.
fn show_number(instruction: Instruction) -> String {
    let n = instruction.n();
    match instruction.op() {
        Op::GetField | Op::GetIndex if n & OPTIONAL != 0 => "?".into(),
        Op::NewRange if n == 1 => "exclusive".into(),
        Op::Raise | Op::Parallel | Op::Select => format!("/{n}"),
        _ => String::new(),
    }
}

fn show_operand(
    function: &Function,
    at: usize,
    position: usize,
    operand: Operand,
) -> Option<String> {
    let instruction = function.code[at];
    let wide = instruction.wide_bc() as usize;
    let narrow = [instruction.a(), instruction.b(), instruction.c()][position];
    let index = match instruction.op().is_wide() && position == 1 {
        true => wide,
        false => usize::from(narrow),
    };
    Some(match operand {
        Operand::None => return None,
        Operand::Read => format!("r{narrow}{}", star(instruction, position)),
        Operand::Write | Operand::Change => format!("r{narrow}"),
        Operand::Window => {
            let len = function.window_len(instruction).unwrap_or(0);
            format!("r{narrow}:{len}")
        }
        Operand::Number => match (instruction.op().is_wide(), position) {
            (true, 1) => format!("{}", instruction.signed_wide()),
            _ => format!("{}", narrow as i16),
        },
        Operand::Jump => format!("-> {}", function.jump_target(at).unwrap_or(-1)),
        Operand::Constant => match function.constants.get(index) {
            Some(value) => show_constant(value),
            None => format!("k{index}"),
        },
        Operand::Site => match function.sites.get(index) {
            Some(site) => format!(".{}", site.name),
            None => format!("s{index}"),
        },
        Operand::Keys => {
            let keys = function.keys.get(index).into_iter().flatten();
            let keys: Vec<_> = keys.map(|key| key.as_str()).collect();
            format!("{{{}}}", keys.join(", "))
        }
        Operand::Shape => match function.shapes.get(index) {
            Some(shape) => shape.name.to_string(),
            None => format!("shape {index}"),
        },
        Operand::Path => {
            let path = function.paths.get(index).into_iter().flatten();
            path.map(show_step).collect()
        }
        Operand::Builtin => match BuiltinId::at(narrow) {
            Some(id) => id.name().into(),
            None => format!("builtin {narrow}"),
        },
        Operand::Global => format!("g{index}"),
        Operand::Function => format!("f{index}"),
        Operand::Capture => format!("c{index}"),
        Operand::Check => match function.checks.get(index) {
            Some(check) => format!("'{}'", check.parameter),
            None => format!("check {index}"),
        },
    })
}

fn star(instruction: Instruction, position: usize) -> &'static str {
    let flag = match position {
        1 => TAKE_B,
        2 => TAKE_C,
        _ => 0,
    };
    let has_flags = super::last_use::takes(instruction.op()) & flag != 0;
    match has_flags && instruction.n() & flag != 0 {
        true => "*",
        false => "",
    }
}

fn show_step(step: &PathStep) -> String {
    match step {
        PathStep::Field(name) => format!(".{name}"),
        PathStep::Index(register) => format!("[r{register}]"),
    }
}

fn show_constant(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("{:?}", text.as_str()),
        Value::Enum(variant) => format!("{}.{}", variant.tag.name, variant.tag.variant),
        Value::Builtin(id) => id.name().into(),
        other => other.to_string(),
    }
}
