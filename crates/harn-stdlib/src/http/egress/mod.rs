//! Where a program may connect to.
//!
//! ```text
//! every URL, every hop ─► check_outgoing ─► deny rules ─► allow rules ─► default
//! ```
//!
//! The rules are set once in a run, by the environment or by the program, so that nothing that
//! runs later can widen them.

mod rules;

use harn_machine::{Context, Failure, Fault, Registry, Value, argument, thrown};
use harn_options::{EGRESS_POLICY, Unknown};
use url::Url;

use crate::environment::variable;
use rules::{Place, Rule};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("egress_policy", egress_policy)]);
}

/// Whether `surface`, the builtin that wants it, may connect to `url`. Everything that leaves
/// through HTTP, event streams and web sockets passes here before it does, redirects included.
///
/// # Errors
/// It may not; the refusal is a dict that programs can take apart.
pub(crate) fn check_outgoing(
    context: &mut Context<'_>,
    surface: &str,
    url: &str,
) -> Result<(), Failure> {
    let Some(policy) = in_force(context)? else {
        return Ok(());
    };
    // What is no URL cannot be connected to, and whoever tries says what is wrong with it.
    let Some(place) = Url::parse(url).ok().as_ref().and_then(Place::of) else {
        return Ok(());
    };
    match policy.refusal(&place) {
        None => Ok(()),
        Some(reason) => Err(Fault::thrown(refusal(surface, url, &place, &reason))),
    }
}

fn refusal(surface: &str, url: &str, place: &Place, reason: &str) -> Value {
    let Place { host, port, .. } = place;
    let message = format!("EgressBlocked: {surface} blocked {host}:{port} for {url} ({reason})");
    Value::dict([
        ("type", "EgressBlocked".into()),
        ("category", "egress_blocked".into()),
        ("message", message.into()),
        ("surface", surface.into()),
        ("url", url.into()),
        ("host", host.as_str().into()),
        ("port", Value::Int(i64::from(*port))),
        ("reason", reason.into()),
    ])
}

/// The rules of a run.
#[derive(Default)]
struct State {
    policy: Option<Policy>,
    /// Whether the environment was asked.
    is_asked: bool,
}

struct Policy {
    source: &'static str,
    allow: Vec<Rule>,
    deny: Vec<Rule>,
    /// Whether what no rule names is allowed.
    allows: bool,
}

impl Policy {
    /// Why a place is refused; `None` if it is not.
    fn refusal(&self, place: &Place) -> Option<String> {
        if let Some(rule) = self.deny.iter().find(|rule| rule.matches(place)) {
            return Some(format!("matched deny rule `{}`", rule.text));
        }
        let allowed = self.allows || self.allow.iter().any(|rule| rule.matches(place));
        (!allowed).then(|| "no allow rule matched".to_owned())
    }
}

/// The rules that hold now, those of the environment if there are some.
fn in_force<'a>(context: &'a mut Context<'_>) -> Result<Option<&'a Policy>, Failure> {
    if !context.state::<State>().is_asked {
        let policy = of_environment(context)?;
        let state = context.state::<State>();
        state.is_asked = true;
        state.policy = policy;
    }
    Ok(context.state::<State>().policy.as_ref())
}

fn of_environment(context: &mut Context<'_>) -> Result<Option<Policy>, Failure> {
    let mut read = |name: &str| {
        let value = variable(context, name)?;
        Some(value.trim().to_owned()).filter(|value| !value.is_empty())
    };
    let (allow, deny) = (read("HARN_EGRESS_ALLOW"), read("HARN_EGRESS_DENY"));
    let default = read("HARN_EGRESS_DEFAULT");
    if allow.is_none() && deny.is_none() && default.is_none() {
        return Ok(None);
    }
    let listed = |text: Option<String>| -> Result<Vec<Rule>, Failure> {
        let text = text.unwrap_or_default();
        let items = text.split([',', ';', '\n']).map(str::trim);
        items.filter(|item| !item.is_empty()).map(rule).collect()
    };
    Ok(Some(Policy {
        source: "environment",
        allow: listed(allow)?,
        deny: listed(deny)?,
        allows: allows(default.as_deref().unwrap_or("allow"))?,
    }))
}

fn rule(text: &str) -> Result<Rule, Failure> {
    let rule = Rule::parse(text);
    rule.map_err(|reason| {
        let message = format!("egress_policy: invalid rule `{text}`: {reason}");
        Fault::thrown(message)
    })
}

fn allows(default: &str) -> Result<bool, Failure> {
    match default {
        "allow" => Ok(true),
        "deny" => Ok(false),
        other => thrown(format!(
            "egress_policy: default must be `allow` or `deny`, got `{other}`"
        )),
    }
}

/// `egress_policy({allow, deny, default})`
fn egress_policy(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let Value::Dict(config) = argument(arguments, 0) else {
        return thrown("egress_policy: requires a config dict");
    };
    let mut keys = config.iter();
    if let Some(unknown) =
        keys.find_map(|(key, _)| Unknown::find(&EGRESS_POLICY, "", key, |_| false))
    {
        return thrown(format!("egress_policy: {unknown}"));
    }
    let listed = |key: &str| -> Result<Vec<Rule>, Failure> {
        match config.get(key) {
            None | Some(Value::Nil) => Ok(Vec::new()),
            Some(Value::List(rules)) => rules.iter().map(|one| rule(&one.to_text())).collect(),
            Some(one) => Ok(vec![rule(&one.to_text())?]),
        }
    };
    let default = match config.get("default") {
        None | Some(Value::Nil) => "allow".into(),
        Some(default) => default.to_text(),
    };
    let policy = Policy {
        source: "stdlib",
        allow: listed("allow")?,
        deny: listed("deny")?,
        allows: allows(&default)?,
    };
    if let Some(known) = in_force(context)? {
        let source = known.source;
        return thrown(format!(
            "egress_policy: policy already configured from {source}"
        ));
    }
    let described = described(&policy);
    context.state::<State>().policy = Some(policy);
    Ok(described)
}

fn described(policy: &Policy) -> Value {
    let listed = |rules: &[Rule]| rules.iter().map(|rule| Value::from(&*rule.text)).collect();
    let default = match policy.allows {
        true => "allow",
        false => "deny",
    };
    Value::dict([
        ("configured", true.into()),
        ("source", policy.source.into()),
        ("default", default.into()),
        ("allow", listed(&policy.allow)),
        ("deny", listed(&policy.deny)),
    ])
}
