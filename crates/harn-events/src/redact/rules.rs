//! What secrets look like in text.
//!
//! Each rule is a pattern whose groups `before` and `after` are kept, and perhaps a second look.
//! Where a rule is in doubt it redacts: a lost word is a nuisance, a leaked key is an incident.
//! Source code about secrets stays readable: `password: String` is no password.

use regex::{Captures, escape};

use super::known::entropy;
use super::names::{FieldNames, SUFFIXES};
use super::triggers::TOKEN_PREFIXES;

/// Looks at a find once more, and at the text that it is in.
pub(super) type Check = fn(&Captures<'_>, &str) -> bool;

/// What something secret looks like.
pub(super) struct Looks {
    pub(super) pattern: String,
    /// `None` where the pattern alone is sure enough.
    pub(super) is_secret: Option<Check>,
}

fn sure(pattern: impl Into<String>) -> Looks {
    Looks {
        pattern: pattern.into(),
        is_secret: None,
    }
}

fn checked(is_secret: Check, pattern: impl Into<String>) -> Looks {
    Looks {
        pattern: pattern.into(),
        is_secret: Some(is_secret),
    }
}

/// A private key, closed or not, with line ends as they are or inside JSON.
const PRIVATE_KEY: &str = concat!(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
    r"(?:[A-Za-z0-9+/=\s\\:.,()]|-[^-])*",
    r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)?",
);

/// The rules for text, given the secret names as one alternative.
pub(super) fn whole(names: &str) -> Vec<Looks> {
    let mut all = keys();
    all.extend(headers());
    all.extend(assignments(names));
    all.extend(commands());
    all.extend(tokens());
    all
}

/// Blocks of keys, and lines of them.
fn keys() -> Vec<Looks> {
    vec![
        sure(PRIVATE_KEY),
        // Read from the second line on, up to the end.
        sure(
            r"(?:[A-Za-z0-9+/=]{16,}(?:\s|\\[rn])+)+-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
        ),
        // Read from the second line on, without the end; numbered, perhaps.
        checked(
            is_key_line,
            r"(?m)(?<before>^[ \t]*(?:\d+[ \t]*[:|\u{2192}\t-]?[ \t]*)?)(?<value>[A-Za-z0-9+/]{64}|[A-Za-z0-9+/]{70}|[A-Za-z0-9+/]{76})\r?$",
        ),
        sure(r"AGE-SECRET-KEY-1[A-Za-z0-9]{16,}"),
    ]
}

fn headers() -> Vec<Looks> {
    vec![
        // Credentials in a URL.
        sure(r"(?<before>[A-Za-z][A-Za-z0-9+.-]*://)[^/\s@?#]*:[^/\s?#]*(?<after>@)"),
        checked(
            is_credential,
            r"(?<before>(?i:bearer)[ \t]+)(?<value>[A-Za-z0-9._~+/=-]{4,})",
        ),
        checked(
            is_credential,
            r"(?<before>(?i:basic)[ \t]+)(?<value>[A-Za-z0-9+/=]{8,})",
        ),
        // Headers, up to the end of the line or of the string they are in.
        checked(
            is_credential,
            r#"(?<before>(?i:authorization)\s*:\s*(?:[A-Za-z]+[ \t]+)?)(?<value>[^\s"'\\\[\],;]{4,})"#,
        ),
        sure(r#"(?<before>(?i:cookie)\s*:\s*)[^\s"'\\\[\]=]+=[^\r\n"'\\]*"#),
    ]
}

fn assignments(names: &str) -> Vec<Looks> {
    vec![
        // `"api_key": "…"` in JSON that travels as text, escaped or not, closed or not.
        sure(format!(
            r#"(?<before>"(?i:{names})"\s*:\s*")[^"\\\[](?:[^"\\]|\\.)*"#
        )),
        sure(format!(
            r#"(?<before>\\"(?i:{names})\\"\s*:\s*\\")[^"\\\[](?:[^"\\]|\\[^"])*"#
        )),
        sure(format!(
            r"(?<before>'(?i:{names})'\s*:\s*')[^'\\\[](?:[^'\\]|\\.)*"
        )),
        // `api_key = "…"` in settings and source code.
        sure(format!(
            r#"(?<before>(?i:(?:^|[^A-Za-z0-9]){names})\s*[=:]\s*")[^"\\\[](?:[^"\\]|\\.)*"#
        )),
        sure(format!(
            r"(?<before>(?i:(?:^|[^A-Za-z0-9]){names})\s*[=:]\s*')[^'\\\[](?:[^'\\]|\\.)*"
        )),
        // `api_key=…` in URLs, shells, settings and prose.
        checked(
            is_assigned_value,
            format!(
                r#"(?<before>(?:^|[^A-Za-z0-9])(?<name>(?i:{names}))(?<sign>\s*[=:]\s*))(?<value>[^\s"'&;,()\[\]{{}}<>\\]+)(?<after>[(\[<]?)"#
            ),
        ),
        // `<password>…</password>`, and `key="password" value="…"`.
        sure(format!(
            r"(?<before><(?i:[\w.-]+:)?(?i:{names})(?:\s[^<>]*)?>)[^<\s\[][^<]*(?<after></)"
        )),
        sure(format!(
            r#"(?<before>(?i:key|name)="(?i:{names})"\s+(?i:value)=")[^"\[][^"]*"#
        )),
        // A pass phrase in YAML.
        checked(
            is_phrase,
            r"(?m)(?<before>(?:^|\\n)[ \t-]*(?:password|passphrase|passwd):[ \t]+)(?<value>[\w!@$%^*+-]+(?: [\w!@$%^*+-]+){1,7})[ \t]*(?<after>\r?$|\\)",
        ),
        // Names in capitals that say less.
        checked(
            is_value,
            r#"(?<before>\b[A-Z][A-Z0-9_]*_(?:PASS|KEY_BASE)\s*[=:]\s*["']?)(?<value>[^\s"'&;,()\[\]{}<>\\]+)"#,
        ),
        checked(
            is_mixed,
            r#"(?<before>\b[A-Z][A-Z0-9_]*_KEY["']?\s*[=:]\s*["']?)(?<value>[A-Za-z0-9+/=_.~-]{16,})"#,
        ),
        sure(r"(?<before>(?i:AccountKey|SharedAccessKey|SharedSecretValue)=)[A-Za-z0-9+/=]{16,}"),
        sure(r"(?<before>[?&](?:sig|X-Amz-Signature)=)[A-Za-z0-9%+/=_-]{20,}"),
        // A login for a registry of containers: name and password in base64.
        sure(r#"(?<before>\\?"auth\\?"\s*:\s*\\?")[A-Za-z0-9+/=]{8,}"#),
        // The secret that belongs to a key's id.
        sure(
            r#"(?<before>\b(?:AKIA|ASIA)[A-Z0-9]{16}\b(?:[^A-Za-z0-9/+]{1,8}[A-Za-z_]{0,40}){0,3}[^A-Za-z0-9/+])[A-Za-z0-9/+]{40}\b"#,
        ),
        sure(r"(?<before>\blogin\s+\S+\s+password\s+)[^\s\[]\S*"),
    ]
}

/// What stands in the words of a command.
fn commands() -> Vec<Looks> {
    const UP_TO: &str = r"\b[^\r\n|;&]*?\s";
    const VALUE: &str = r#"(?<value>"[^"\r\n]+"|'[^'\r\n]+'|[^\s"'|;&]+)"#;
    vec![
        checked(
            is_argument,
            format!(
                r"(?<before>--(?i:[a-z0-9-]*(?:password|passwd|passphrase|token|secret|api-?key|access-key|secret-key|private-key))[ \t]+){VALUE}"
            ),
        ),
        checked(
            is_argument,
            format!(
                r"(?<before>\b(?:sshpass|docker login|podman login|az login|mongo|mongosh|mongodump){UP_TO}-p[ \t]*){VALUE}"
            ),
        ),
        // Without a space: `mysql -p NAME` names a database.
        checked(
            is_argument,
            format!(
                r"(?<before>\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump){UP_TO}-p){VALUE}"
            ),
        ),
        checked(
            is_argument,
            format!(r"(?<before>\b(?:redis-cli){UP_TO}-a[ \t]+){VALUE}"),
        ),
        checked(
            is_argument,
            format!(
                r"(?<before>\b(?:ldapsearch|ldapmodify|ldapadd|ldapwhoami){UP_TO}-w[ \t]+){VALUE}"
            ),
        ),
        checked(
            is_argument,
            format!(
                r#"(?<before>\bcurl{UP_TO}(?:-u|-U|--user|--proxy-user)[ =]?[ \t]*["']?[^\s:'"]+:)(?<value>[^\s'"]+)"#
            ),
        ),
    ]
}

/// Tokens with a known look.
fn tokens() -> Vec<Looks> {
    vec![
        sure(r"\b(?:AKIA|ASIA|AGPA|AIDA|ANPA|AROA|AIPA)[A-Z0-9]{16}\b"),
        sure(r"\bAIza[A-Za-z0-9_-]{30,}"),
        sure(r"\bgh[pousr]_[A-Za-z0-9]{16,}"),
        sure(concat!(
            r"\b(?:github_pat_|dckr_(?:pat|oat)_|shp(?:at|ss|ca|pa)_|gsk_|hf_|r8_|pplx-|pypi-|",
            r"do[opr]_v1_|lin_(?:api|oauth)_|ntn_|sq0(?:atp|csp|idp)-|nvapi-|sbp_|glc_|glsa_|",
            r"pscale_(?:tkn|pw|oauth)_|tskey-|figd_|nfp_|CCIPAT_|sntrys_|sntryu_|tvly-|lsv2_|",
            r"xkeysib-|GOCSPX-|ATATT3x|ATBB|NRAK-|PMAK-|HRKU-|CFPAT-|FLWSECK|rdme_|pnu_|bkua_|",
            r"hv[sbr]\.|whsec_|jina_|fo1_|fm2_)[A-Za-z0-9_.=+/-]{16,}",
        )),
        sure(
            r"\b(?:glpat-|gldt-|glrt-|glcbt-|glptt-|glft-|glsoat-|sk-|xai-|xapp-|ya29\.|SG\.)[A-Za-z0-9_.-]{16,}",
        ),
        sure(r"\bnpm_[A-Za-z0-9]{30,}"),
        sure(r"\bxox[abeprs]-[A-Za-z0-9-]{8,}"),
        sure(r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{12,}"),
        sure(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
        sure(r"\bdapi[0-9a-f]{32}(?:-\d+)?\b"),
        sure(r"\bEAAA[A-Za-z0-9_-]{40,}"),
        sure(r"\bsecret_[A-Za-z0-9]{40,}"),
        sure(r"\bpat-(?:na|eu)\d-[0-9a-f-]{30,}"),
        sure(r"\b1//0[A-Za-z0-9_-]{30,}"),
        sure(r"\bkey-[0-9a-f]{32}\b"),
        sure(r"\b[0-9a-f]{32}-us\d{1,2}\b"),
        sure(r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}"),
        sure(r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,}"),
        // Bots of Telegram and Discord.
        sure(r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}"),
        sure(r"\b[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),
        // Addresses that are keys.
        sure(r"(?<before>hooks\.slack\.com/(?:services|workflows)/)[A-Za-z0-9/_-]{20,}"),
        sure(r"(?<before>discord(?:app)?\.com/api/webhooks/\d+/)[A-Za-z0-9_-]{20,}"),
    ]
}

/// What is a secret only because more of it may follow.
pub(super) fn partial(names: &str) -> Vec<Looks> {
    vec![
        sure(format!(r"(?<before><(?i:{names})(?:\s[^<>]*)?>)[^<]+<?$")),
        sure(format!(r"{}[A-Za-z0-9._=+/-]*$", begun_token())),
        sure(r"(?<before>(?i:bearer|basic)[ \t]+)[A-Za-z0-9._~+/=-]+$"),
        // A port is digits; a password may begin with some.
        sure(
            r"(?<before>[A-Za-z][A-Za-z0-9+.-]*://)[^/\s@?#]*:(?:\d{6,}|\d*[^\d/\s@?#][^/\s@?#]*)$",
        ),
    ]
}

/// What must not be released from a stream yet, because more may make a secret of it.
pub(super) fn open(names: &str) -> Vec<String> {
    const VALUE: &str = r#"(?:"(?:[^"\\]|\\.)*|'(?:[^'\\]|\\.)*|[^\s"'&;,()\[\]{}<>\\]*)$"#;
    vec![
        r"-----(?:B|E|BE|EN|BEG|END|BEGI|BEGIN|END |BEGIN )?$".to_owned(),
        r"-----(?:BEGIN|END) [A-Z0-9 ]*-{0,4}$".to_owned(),
        format!("{PRIVATE_KEY}(?:-{{1,5}}(?:E(?:N(?:D[A-Z0-9 ]*-{{0,5}})?)?)?)?$"),
        r"(?:[A-Za-z0-9+/=]{16,}\s+)+(?:-----[A-Z0-9 ]*-{0,4})?$".to_owned(),
        format!(r"{}[A-Za-z0-9._~=+/-]*$", begun_token()),
        r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s?#]*$".to_owned(),
        r"(?:hooks\.slack|discord)[^\s]*$".to_owned(),
        r"(?i:bearer|basic)[ \t]+[A-Za-z0-9._~+/=-]*$".to_owned(),
        r#"(?i:authorization)\s*:\s*(?:[A-Za-z]+[ \t]+)?[^\s"'\\\[\],;]*$"#.to_owned(),
        r#"(?i:cookie)\s*:\s*[^\r\n"'\\]*$"#.to_owned(),
        format!(r#"\\?["']?(?i:{names})\\?["']?\s*[=:]\s*\\?{VALUE}"#),
        format!(r"<(?i:{names})(?:\s[^<>]*)?>[^<]*<?$"),
        format!(r#"\b[A-Z][A-Z0-9_]*_(?:PASS|KEY_BASE|KEY)["']?\s*[=:]\s*{VALUE}"#),
        r"(?i:AccountKey|SharedAccessKey|SharedSecretValue|sig|X-Amz-Signature)=[A-Za-z0-9%+/=_-]*$".to_owned(),
        r#"\\?"auth\\?"\s*:\s*\\?"[A-Za-z0-9+/=]*$"#.to_owned(),
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b[^\r\n]{0,160}$".to_owned(),
        r"\blogin\s+\S+\s+password\s+\S*$".to_owned(),
        r"(?m)^[ \t-]*(?:password|passphrase|passwd):[^\r\n]*$".to_owned(),
        r"(?:--(?i:[a-z0-9-]*(?:password|passwd|passphrase|token|secret|key))|\b(?:mysql|mariadb|sshpass|docker|podman|mongo|redis-cli|ldap|curl))[^\r\n]*$".to_owned(),
    ]
}

fn begun_token() -> String {
    let prefixes = TOKEN_PREFIXES.iter().map(|prefix| escape(prefix));
    let prefixes: Vec<String> = prefixes.collect();
    format!(r"\b(?:{})", prefixes.join("|"))
}

/// All names as one alternation in which `_` may also be `-` or nothing.
pub(super) fn alternatives(names: &FieldNames) -> String {
    let spelled = |name: &str| escape(name).replace('_', "[_-]?");
    let suffixes = SUFFIXES
        .iter()
        .map(|suffix| format!("[A-Za-z0-9_-]*{}", spelled(suffix)));
    let all: Vec<String> = suffixes.chain(names.iter().map(spelled)).collect();
    format!("(?:{})", all.join("|"))
}

fn group<'a>(found: &Captures<'a>, name: &str) -> &'a str {
    found.name(name).map_or("", |group| group.as_str())
}

/// Whether what follows `Bearer` or `Basic` is a credential and not the next word of
/// a sentence.
fn is_credential(found: &Captures<'_>, _text: &str) -> bool {
    let value = group(found, "value");
    value.len() >= 24 || value.bytes().any(|byte| !byte.is_ascii_alphabetic())
}

/// Whether what is assigned to a secret name is a value and not a piece of source
/// code: `password: hunter2` and `TOKEN=abc` are, `password: String` and
/// `token = parser.next()` are not. The folder that one works in is no secret either.
fn is_assigned_value(found: &Captures<'_>, _text: &str) -> bool {
    let (name, value) = (group(found, "name"), group(found, "value"));
    let is_folder = matches!(name, "PWD" | "OLDPWD");
    if is_folder
        || !group(found, "after").is_empty()
        || is_code(value)
        || is_reference(value)
        || value.eq_ignore_ascii_case(name)
    {
        return false;
    }
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    group(found, "sign") == "=" || has_digit || value.len() >= 24
}

/// Whether something assigned is a value at all.
fn is_value(found: &Captures<'_>, _text: &str) -> bool {
    let value = group(found, "value");
    value.len() >= 4 && !is_code(value) && !is_reference(value)
}

/// Whether a value is as mixed as keys are.
fn is_mixed(found: &Captures<'_>, text: &str) -> bool {
    let value = group(found, "value");
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    is_value(found, text)
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && entropy(value) >= 3.5
}

/// Whether a word of a command is a value and not the next option, a variable or a placeholder.
fn is_argument(found: &Captures<'_>, _text: &str) -> bool {
    let value = group(found, "value").trim_matches(['"', '\'']);
    let is_placeholder = value.starts_with(['-', '<', '[', '.', ':', ',', '=']);
    let is_name = !value.is_empty()
        && value
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let is_variable = value.strip_prefix('$').is_some_and(|name| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        name.starts_with(['{', '(']) || name.bytes().all(is_plain)
    });
    value.len() >= 4 && !is_placeholder && !is_name && !is_variable && !is_reference(value)
}

/// Whether a line is one of a key and neither a digest in hex nor part of what everybody may read.
fn is_key_line(found: &Captures<'_>, text: &str) -> bool {
    let value = group(found, "value");
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let is_mixed =
        has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let before = &text[..found.get_match().start()];
    let opened = before.rfind("-----BEGIN ").map(|at| &before[at..]);
    let is_public = opened.is_some_and(|block| {
        let title = block.lines().next().unwrap_or_default();
        !block.contains("-----END ") && !title.contains("PRIVATE")
    });
    is_mixed && entropy(value) >= 4.0 && !is_public
}

/// Whether several words are a pass phrase and not a sentence or a type.
fn is_phrase(found: &Captures<'_>, _text: &str) -> bool {
    let value = group(found, "value");
    let is_type = [
        "string", "str", "optional", "required", "the", "a", "an", "your", "is", "must",
    ];
    let first = value.split(' ').next().unwrap_or_default().to_lowercase();
    value.len() <= 64 && !is_type.contains(&first.as_str())
}

/// Whether this stands for a value that is somewhere else, or hides it already.
fn is_reference(value: &str) -> bool {
    let is_variable = |name: &str| {
        let is_plain =
            |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        name.starts_with(['{', '(']) || name.bytes().all(is_plain)
    };
    let in_shell = value.strip_prefix('$').is_some_and(is_variable);
    let in_prompt = value
        .strip_prefix('%')
        .and_then(|name| name.strip_suffix('%'));
    in_shell
        || in_prompt.is_some_and(is_variable)
        || value.starts_with(['<', '`'])
        || value.starts_with("{{")
        || value
            .bytes()
            .all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X'))
}

/// Whether this is a type, a constant or the path of a variable.
fn is_code(value: &str) -> bool {
    const WORDS: [&str; 7] = ["none", "null", "nil", "true", "false", "undefined", "self"];
    let is_name = |part: &str| {
        let mut bytes = part.bytes();
        bytes
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let is_number_type = |text: &str| {
        let digits = text.strip_prefix(['u', 'i', 'f']).unwrap_or_default();
        matches!(digits, "8" | "16" | "32" | "64" | "128")
    };
    // One number at most, as in `Sha256Digest`: a key has digits everywhere.
    let numbers = |text: &str| {
        let pieces = text.split(|character: char| !character.is_ascii_digit());
        pieces.filter(|digits| !digits.is_empty()).count()
    };
    let is_type = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_uppercase())
            && text.bytes().any(|byte| byte.is_ascii_lowercase())
            && text.ends_with(|last: char| last.is_ascii_alphabetic())
            && numbers(text) <= 1
            && is_name(text)
    };
    WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || value.contains("::")
        || is_number_type(value)
        || is_type(value)
        || (value.contains('.') && value.split('.').all(is_name))
}
