//! Versions that model ids carry.

/// A number this large in an id is a date.
const DATE_MIN: u32 = 1000;

/// The version `version_min` of a capability rule is compared with.
///
/// Claude ids are `claude-<family>-<major>-<minor>` or `claude-<major>-<minor>-<family>`, GPT
/// ids `gpt-<major>[.<minor>]…`; a vendor prefix may stand before them. Anything else has none.
pub(crate) fn version(model: &str) -> Option<(u32, u32)> {
    let model = model.to_ascii_lowercase();
    if let Some(rest) = claude(&model) {
        let parts: Vec<&str> = rest.split('-').collect();
        let from = usize::from(number(parts.first()).is_none());
        let minor = number(parts.get(from + 1))?;
        return Some((number(parts.get(from))?, dated(minor)));
    }
    let rest = model.strip_prefix("openai/").unwrap_or(&model);
    let rest = rest.strip_prefix("gpt-")?;
    let (major, rest) = leading(rest)?;
    let minor = rest.strip_prefix('.').and_then(leading);
    Some((major, minor.map_or(0, |(minor, _)| minor)))
}

/// The version of a Claude model for its encoder, which also has to know `claude-opus-5`,
/// `claude-sonnet-4.6` and the ids of clouds.
pub(crate) fn claude_version(model: &str) -> Option<(u32, u32)> {
    let model = model.to_ascii_lowercase();
    let rest = &model[model.find("claude-")? + "claude-".len()..];
    let mut parts = rest.split(['-', '.', '@', ':']);
    let major = parts.by_ref().find_map(|part| part.parse().ok())?;
    let minor = number(parts.next().as_ref()).map_or(0, dated);
    (major < DATE_MIN).then_some((major, minor))
}

fn claude(model: &str) -> Option<&str> {
    let model = model.strip_prefix("anthropic/").unwrap_or(model);
    model.strip_prefix("claude-")
}

fn number(part: Option<&&str>) -> Option<u32> {
    part.and_then(|part| part.parse().ok())
}

fn dated(minor: u32) -> u32 {
    if minor >= DATE_MIN { 0 } else { minor }
}

fn leading(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_carry_versions() {
        let rows = [
            ("claude-opus-4-7", Some((4, 7))),
            ("claude-sonnet-4-20250514", Some((4, 0))),
            ("claude-sonnet-4-5-20250929", Some((4, 5))),
            ("claude-3-5-haiku-20241022", Some((3, 5))),
            ("anthropic/claude-opus-4-6", Some((4, 6))),
            ("Claude-Opus-4-7", Some((4, 7))),
            ("claude-3-opus-20240229", None),
            ("claude-opus", None),
            ("gpt-5.4-mini", Some((5, 4))),
            ("openai/gpt-5.4", Some((5, 4))),
            ("gpt-4o", Some((4, 0))),
            ("gpt-5", Some((5, 0))),
            ("gpt-oss", None),
            ("llama3.2", None),
            ("gpt-99999999999999999999", None),
        ];
        for (model, expected) in rows {
            assert_eq!(version(model), expected, "{model}");
        }
    }

    #[test]
    fn encoders_know_more_spellings() {
        let rows = [
            ("claude-opus-5", Some((5, 0))),
            ("anthropic/claude-sonnet-4.6", Some((4, 6))),
            ("us.anthropic.claude-opus-4-7-v1:0", Some((4, 7))),
            ("claude-sonnet-4-20250514", Some((4, 0))),
            ("claude-3-opus-20240229", Some((3, 0))),
            ("claude-2.1", Some((2, 1))),
            ("gpt-5", None),
            ("claude-", None),
        ];
        for (model, expected) in rows {
            assert_eq!(claude_version(model), expected, "{model}");
        }
    }
}
