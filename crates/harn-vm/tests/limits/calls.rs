//! The calls that are tried, made from the declarations.

use harn_check::builtins;

/// What is passed, by its type: `t` for texts, `l` lists, `d` dicts, `n` numbers, `b` bytes and
/// `a` for whatever may be anything.
pub(crate) struct Values {
    /// What makes them.
    pub(crate) prelude: &'static str,
}

pub(crate) const LARGE: Values = Values {
    prelude: r#"
let t = "ab, c\n" * 170000
let n = 1000000
let l = split("ab " * 20000, " ")
var d = {}
for i in 0 to 2000 { d["k${i}"] = i }
let b = bytes_from_string(t)
let a = l"#,
};

pub(crate) const BRACKETS: Values = Values {
    prelude: r#"
let t = "[" + "[]," * 300000 + "[]]"
let n = 0 - 1
let l = [t, t]
let d = {a: t, b: [t]}
let b = bytes_from_string(t)
let a = t"#,
};

pub(crate) const NUMBERS: Values = Values {
    prelude: r#"
let t = "a,b"
let n = 9223372036854775807
let l = [1, 2, 3]
let d = {a: 1, timeout_ms: 9223372036854775807}
let b = bytes_from_string(t)
let a = 9223372036854775807"#,
};

/// Every builtin and every method, called with such values.
pub(crate) fn all(_values: &Values) -> Vec<String> {
    let functions = builtins::all().iter().filter_map(|builtin| {
        let parameters = parameters(builtin.signature)?;
        Some(format!("{}({})", builtin.name, arguments(&parameters)))
    });
    let methods = builtins::methods().iter().flat_map(|(receiver, methods)| {
        methods.iter().map(|method| {
            let parameters = parameters(method.signature).unwrap_or_default();
            let receiver = match *receiver {
                "string" => "t",
                "list" => "l",
                "dict" => "d",
                "set" => "set(l)",
                "range" => "(0 to n)",
                "iter" => "iter(l)",
                other => panic!("values of a kind that no test knows: {other}"),
            };
            format!("{receiver}.{}({})", method.name(), arguments(&parameters))
        })
    });
    functions.chain(methods).collect()
}

fn arguments(parameters: &[String]) -> String {
    let passed: Vec<&str> = parameters.iter().map(|one| passed(one)).collect();
    passed.join(", ")
}

/// What is passed for a parameter of a type.
fn passed(declared: &str) -> &'static str {
    let first = declared.trim_start_matches(['(', ' ']);
    if declared.trim_start().starts_with("fn") || first.starts_with("fn") {
        return "{ one -> one }";
    }
    for (prefix, value) in [
        ("string", "t"),
        ("int", "n"),
        ("float", "n"),
        ("number", "n"),
        ("duration", "n"),
        ("bool", "true"),
        ("list", "l"),
        ("dict", "d"),
        ("set", "set(l)"),
        ("bytes", "b"),
        ("closure", "{ one -> one }"),
    ] {
        if first.starts_with(prefix) {
            return value;
        }
    }
    "a"
}

/// The types of the parameters; `None` if it is no function.
fn parameters(signature: &str) -> Option<Vec<String>> {
    let (_, rest) = signature.split_once('(')?;
    let (mut depth, mut start, mut found) = (0_u32, 0, Vec::new());
    for (offset, character) in rest.char_indices() {
        let is_end = matches!(character, ',' | ')') && depth == 0;
        if is_end {
            let declared = rest[start..offset].split_once(':');
            found.extend(declared.map(|(_, ty)| ty.trim().to_owned()));
            start = offset + 1;
        }
        match character {
            ')' if is_end => break,
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if !rest[..offset].ends_with('-') => depth -= 1,
            _ => {}
        }
    }
    Some(found)
}
