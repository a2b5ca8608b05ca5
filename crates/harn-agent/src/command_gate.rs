//! The command policy of a loop, where the runtime itself starts commands.
//!
//! ```text
//! run {command} ─► rules of the policy ─► pre ─► the command ─► post ─► the model
//! ```
//!
//! What a program starts by its own builtins is decided by the program's policy on the way. The
//! tools of the runtime never pass the program, so they ask here, with the same rules and the
//! same functions of the program.

use std::fmt;
use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::options::value::truthy;
use serde_json::{Map, Value, json};

use crate::callback::{Callback, Functions};

/// Knows what policies say about commands.
pub trait CommandRules: Send + Sync {
    /// What a policy itself has against a command: `{action, reason, risk_labels}`, or nothing.
    fn refusal(&self, policy: &Value, request: &Value) -> Option<Value>;
}

/// Decides about the commands of one loop.
#[derive(Clone)]
pub(crate) struct CommandGate {
    policy: Value,
    rules: Arc<dyn CommandRules>,
    pre: Option<Arc<dyn Callback>>,
    post: Option<Arc<dyn Callback>>,
}

impl fmt::Debug for CommandGate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("CommandGate");
        shown.field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// What was decided about a command.
pub(crate) enum Admission {
    /// It runs, perhaps as another one.
    Run(String),
    /// It does not; this is what the model reads.
    Blocked(String),
}

impl CommandGate {
    /// The gate of a loop with these options, if they have a policy.
    pub(crate) fn of(
        options: &Map<String, Value>,
        functions: &Functions,
        rules: Option<&Arc<dyn CommandRules>>,
    ) -> Option<Self> {
        let given = |value: Option<&Value>| value.filter(|value| value.is_object()).cloned();
        let own = given(options.get("command_policy")).map(|policy| (policy, "/command_policy"));
        let inner = || {
            let policy = options
                .get("policy")
                .and_then(|policy| policy.get("command_policy"));
            given(policy).map(|policy| (policy, "/policy/command_policy"))
        };
        let (policy, place) = own.or_else(inner)?;
        let hook = |name: &str| functions.at(&format!("{place}/{name}")).cloned();
        Some(Self {
            rules: Arc::clone(rules?),
            pre: hook("pre"),
            post: hook("post"),
            policy,
        })
    }

    /// Decides about a command for a shell.
    ///
    /// # Errors
    /// What a function of the program throws.
    pub(crate) async fn admit(&self, command: &str, folder: &str) -> Result<Admission, Thrown> {
        if let Some(decision) = self.refusal(command, folder) {
            return Ok(self.blocked("blocked", &decision, command, folder));
        }
        let Some(pre) = &self.pre else {
            return Ok(Admission::Run(command.to_owned()));
        };
        let said = pre.call(vec![self.context(command, folder)]).await?;
        let fields = match &said {
            Value::Object(fields) => fields,
            Value::Null => return Ok(Admission::Run(command.to_owned())),
            Value::String(word) if word == "allow" => {
                return Ok(Admission::Run(command.to_owned()));
            }
            _ => {
                let text = "command policy pre hook must return nil, \"allow\" or a dict";
                return Err(Thrown::Runtime(text.to_owned()));
            }
        };
        let wants = |word: &str| fields.get("action") == Some(&json!(word)) || is_set(fields, word);
        let stops = [
            ("deny", "blocked", "command denied by policy hook"),
            ("require_approval", "blocked", "command requires approval"),
            ("dry_run", "dry_run", "command was not run"),
            ("explain_only", "explain_only", "command was not run"),
        ];
        if let Some((word, status, usual)) = stops.into_iter().find(|(word, ..)| wants(word)) {
            let said = [fields.get(word), fields.get("reason")]
                .into_iter()
                .flatten();
            let reason = said.filter_map(Value::as_str).next().unwrap_or(usual);
            let decision = json!({"action": word, "reason": reason, "source": "pre"});
            return Ok(self.blocked(status, &decision, command, folder));
        }
        let rewritten = said.pointer("/rewrite/command").and_then(Value::as_str);
        let Some(rewritten) = rewritten else {
            return Ok(match fields.get("rewrite") {
                None | Some(Value::Null) => Admission::Run(command.to_owned()),
                // Nothing else of this command can be changed here.
                Some(_) => {
                    let reason = "command policy rewrite has no command";
                    let decision = json!({"action": "deny", "reason": reason, "source": "pre"});
                    self.blocked("blocked", &decision, command, folder)
                }
            });
        };
        Ok(match self.refusal(rewritten, folder) {
            Some(mut decision) => {
                let reason = decision["reason"].as_str().unwrap_or_default();
                decision["reason"] = json!(format!("rewritten {reason}"));
                self.blocked("blocked", &decision, rewritten, folder)
            }
            None => Admission::Run(rewritten.to_owned()),
        })
    }

    /// What the program makes of what a command has written.
    ///
    /// # Errors
    /// What a function of the program throws.
    pub(crate) async fn after(
        &self,
        command: &str,
        folder: &str,
        exit_code: i32,
        output: String,
    ) -> Result<String, Thrown> {
        let Some(post) = &self.post else {
            return Ok(output);
        };
        let mut context = self.context(command, folder);
        context["result"] = json!({
            "stdout": output, "stderr": "", "combined": output, "exit_code": exit_code,
            "success": exit_code == 0, "status": "completed",
        });
        let said = post.call(vec![context]).await?;
        let texts = ["/result/stdout", "/result/combined"].map(|place| said.pointer(place));
        let changed = texts.into_iter().flatten().filter_map(Value::as_str);
        // Whichever of the two was changed counts.
        let changed = changed
            .filter(|text| *text != output)
            .map(str::to_owned)
            .next();
        Ok(changed.unwrap_or(output))
    }

    fn refusal(&self, command: &str, folder: &str) -> Option<Value> {
        let request = request(command, folder);
        self.rules.refusal(&self.policy, &request)
    }

    /// What functions of the program see of a command.
    fn context(&self, command: &str, folder: &str) -> Value {
        json!({
            "request": request(command, folder), "active_cwd": folder,
            "workspace_roots": self.policy["workspace_roots"], "policy": self.policy,
            "tool_annotations": {}, "transcript": null, "caller": {"tool": "run"},
        })
    }

    fn blocked(&self, status: &str, decision: &Value, command: &str, folder: &str) -> Admission {
        let is_blocked = status == "blocked";
        let mut result = json!({
            "status": status, "exit_code": if is_blocked { -1 } else { 0 },
            "success": !is_blocked, "reason": decision["reason"],
            "command_policy": {
                "context": self.context(command, folder), "decisions": [decision],
            },
        });
        if is_blocked {
            result["error"] = json!("permission_denied");
        }
        Admission::Blocked(result.to_string())
    }
}

fn request(command: &str, folder: &str) -> Value {
    json!({"mode": "shell", "command": command, "cwd": folder})
}

fn is_set(fields: &Map<String, Value>, word: &str) -> bool {
    fields.get(word).is_some_and(truthy)
}
