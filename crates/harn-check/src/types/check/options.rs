//! What is wrong with the options of a builtin, where they are written down as a dict.
//!
//! A run finds out by itself, and a program can catch what is thrown; who checks a program wants
//! to know before. A key that the builtin keeps is only told of if it looks like a slip of the
//! hand.

use harn_options::{BUILT_IN_PROVIDERS, Holds, OptionDict, Others, Unknown, place_of};
use harn_syntax::tree::{Argument, Call, Entry, Expression, ExpressionKind, Key, Skill};
use harn_syntax::{Diagnostic, Edit, Span};

use crate::types::checker::Checker;
use crate::types::codes;

/// Whose options are looked at, and where among them.
#[derive(Clone, Copy)]
struct Place<'a> {
    builtin: &'a str,
    dict: &'static OptionDict,
    /// The options above, with a dot behind each.
    path: &'a str,
}

impl Checker {
    /// Looks at the options of a builtin that nothing in the file hides.
    pub(super) fn check_options(&mut self, call: &Call) {
        let name = call.name.text.as_str();
        let place = place_of(name).filter(|_| self.options.before_a_run);
        let Some(place) = place else {
            return;
        };
        let Some((options, before)) = call
            .arguments
            .get(..=place.argument)
            .and_then(<[Argument]>::split_last)
        else {
            return;
        };
        if before.iter().any(|one| matches!(one, Argument::Spread(_))) {
            return;
        }
        if let Argument::One(options) = options {
            let place = Place {
                builtin: name,
                dict: place.dict,
                path: "",
            };
            self.check_option_dict(place, options);
        }
    }

    /// The fields of a declared skill are what `skill_define` takes.
    pub(super) fn check_skill_fields(&mut self, skill: &Skill) {
        let place = Place {
            builtin: "skill_define",
            dict: &harn_options::SKILL,
            path: "",
        };
        if !self.options.before_a_run {
            return;
        }
        for field in &skill.fields {
            let text = field.name.text.as_str();
            self.check_key(place, text, field.name.span, "", &field.value);
        }
    }

    fn check_option_dict(&mut self, place: Place<'_>, options: &Expression) {
        let ExpressionKind::Dict(entries) = &options.kind else {
            return;
        };
        for entry in entries {
            let Entry::Field(key, value) = entry else {
                continue;
            };
            let Some(name) = key.name() else {
                continue;
            };
            let quote = match key {
                Key::String(_) => "\"",
                Key::Name(_) | Key::Computed(_) => "",
            };
            self.check_key(place, &name.text, name.span, quote, value);
            self.check_inside(place, &name.text, value);
        }
    }

    fn check_inside(&mut self, place: Place<'_>, key: &str, value: &Expression) {
        let Some(known) = place.dict.find(key) else {
            return;
        };
        let path = format!("{}{key}.", place.path);
        let below = |dict| Place {
            dict,
            path: &path,
            ..place
        };
        match (known.holds, &value.kind) {
            (Holds::Dict(dict), ExpressionKind::Dict(_)) => {
                self.check_option_dict(below(dict), value);
            }
            (Holds::ListOf(dict), ExpressionKind::List(items)) => {
                for item in items {
                    self.check_option_dict(below(dict), item.expression());
                }
            }
            (Holds::DictOf(dict), ExpressionKind::Dict(entries)) => {
                for entry in entries {
                    if let Entry::Field(key, value) = entry
                        && let Some(name) = key.name()
                    {
                        let path = format!("{path}{}.", name.text);
                        let path = path.as_str();
                        self.check_option_dict(
                            Place {
                                dict,
                                path,
                                ..place
                            },
                            value,
                        );
                    }
                }
            }
            _ => {}
        }
    }

    fn check_key(
        &mut self,
        place: Place<'_>,
        key: &str,
        span: Span,
        quote: &str,
        value: &Expression,
    ) {
        let Place {
            builtin,
            dict,
            path,
        } = place;
        let is_provider = |name: &str| may_be_provider(dict, name, value);
        let found = match Unknown::find(dict, path, key, is_provider) {
            Some(unknown) => {
                let text = format!("{builtin}: {unknown}");
                let error = Diagnostic::error(codes::UNKNOWN_OPTION, span, text);
                Some((error, unknown.meant))
            }
            None if dict.others == Others::Kept && dict.lacks(key) => {
                dict.meant_by(key).map(|meant| {
                    let text = format!(
                        "{builtin}: option key '{path}{key}' means nothing; did you mean '{meant}'?"
                    );
                    let warning = Diagnostic::warning(codes::UNKNOWN_OPTION, span, text);
                    (warning, Some(meant))
                })
            }
            None => None,
        };
        let Some((mut diagnostic, meant)) = found else {
            return;
        };
        if let Some(meant) = meant {
            let text = format!("{quote}{meant}{quote}");
            diagnostic = diagnostic.with_fix(format!("Write `{meant}`"), vec![Edit { span, text }]);
        }
        self.say(diagnostic);
    }
}

/// Whether a key may be the name of a provider, which only a run knows for sure: its options are
/// a dict, and nothing that is known has a name like that.
fn may_be_provider(dict: &OptionDict, name: &str, value: &Expression) -> bool {
    let may_be_dict = !matches!(
        value.kind,
        ExpressionKind::Nil
            | ExpressionKind::Bool(_)
            | ExpressionKind::Int(_)
            | ExpressionKind::Float(_)
            | ExpressionKind::Duration(_)
            | ExpressionKind::String(_)
            | ExpressionKind::RawString(_)
            | ExpressionKind::Interpolated(_)
            | ExpressionKind::List(_)
            | ExpressionKind::Closure(_)
    );
    may_be_dict && (BUILT_IN_PROVIDERS.contains(&name) || dict.meant_by(name).is_none())
}
