//! Text that a terminal paints.

use harn_machine::{Answer, Context, Failure, Registry, Request, Value, thrown};

use super::is_terminal;
use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("bold", bold),
        ("color", color),
        ("dim", dim),
        ("set_color_mode", set_color_mode),
    ]);
}

/// Whether texts are painted.
#[derive(Clone, Copy, Default)]
enum Mode {
    /// If the terminal and the environment want it.
    #[default]
    Auto,
    Always,
    Never,
}

fn set_color_mode(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let name = text(arguments, 0);
    *context.state::<Mode>() = match name.as_str() {
        "auto" => Mode::Auto,
        "always" => Mode::Always,
        "never" => Mode::Never,
        _ => {
            return thrown(format!(
                "set_color_mode: invalid mode '{name}'. Expected 'auto', 'always', or 'never'."
            ));
        }
    };
    Ok(Value::Nil)
}

fn color(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let code = code_of(&text(arguments, 1));
    Ok(painted(context, arguments, code))
}

fn bold(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(painted(context, arguments, Some(1)))
}

fn dim(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(painted(context, arguments, Some(2)))
}

fn painted(context: &mut Context<'_>, arguments: &[Value], code: Option<u8>) -> Value {
    let text = text(arguments, 0);
    match code {
        Some(code) if is_on(context) => format!("\u{1b}[{code}m{text}\u{1b}[0m").into(),
        _ => text.into(),
    }
}

fn is_on(context: &mut Context<'_>) -> bool {
    let mode = *context.state::<Mode>();
    match mode {
        Mode::Always => true,
        Mode::Never => false,
        Mode::Auto if is_set(context, "FORCE_COLOR") => true,
        Mode::Auto if is_set(context, "NO_COLOR") => false,
        Mode::Auto => is_terminal(context, 1),
    }
}

fn is_set(context: &mut Context<'_>, variable: &str) -> bool {
    let answer = context.perform(&Request::Environment(variable.to_owned()));
    matches!(answer, Answer::Text(Some(_)))
}

/// The code of a colour.
fn code_of(name: &str) -> Option<u8> {
    const NAMES: [&str; 8] = [
        "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
    ];
    if matches!(name, "gray" | "grey") {
        return Some(90);
    }
    let (first, name) = match name.strip_prefix("bright_") {
        Some(name) => (90, name),
        None => (30, name),
    };
    let at = NAMES.iter().position(|one| *one == name)?;
    Some(first + u8::try_from(at).expect("there are eight names"))
}

#[cfg(test)]
mod tests {
    use super::code_of;

    #[test]
    fn colours_have_the_codes_of_terminals() {
        for (name, code) in [
            ("black", Some(30)),
            ("white", Some(37)),
            ("bright_black", Some(90)),
            ("gray", Some(90)),
            ("grey", Some(90)),
            ("bright_red", Some(91)),
            ("bright_white", Some(97)),
            ("bright_gray", None),
            ("pink", None),
        ] {
            assert_eq!(code_of(name), code, "{name}");
        }
    }
}
