//! Narrowing is airtight: whatever a level says, what passes below it passes above it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::policy::read_annotations;

const TOOLS: [&str; 4] = ["look", "write", "run", "shell"];
const PATHS: [&str; 4] = ["src/a", "etc/a", "a", ""];
const GLOBS: [&str; 5] = ["*", "src/*", "etc/*", "a", "*/a"];
const LEVELS: [&str; 6] = [
    "none",
    "read_only",
    "workspace_write",
    "process_exec",
    "network",
    "nonsense",
];
const KINDS: [&str; 5] = ["read", "edit", "execute", "search", "other"];
const BUILTINS: [&str; 6] = [
    "read_file",
    "write_file",
    "shell",
    "llm_call",
    "sub_agent_run",
    "http_get",
];

fn some_of(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let lists = prop::collection::vec(prop::sample::select(names), 0..3);
    prop_oneof![Just(json!(null)), lists.prop_map(|names| json!(names))]
}

fn capabilities() -> impl Strategy<Value = Value> {
    let operations = some_of(&["read_text", "write_text", "call", "exec"]);
    let names = prop::sample::select(&["workspace", "llm", "process"][..]);
    prop::collection::btree_map(names, operations, 0..3).prop_map(|map| json!(map))
}

fn annotations() -> impl Strategy<Value = Value> {
    let kinds = prop::sample::select(&KINDS[..]);
    let levels = prop::sample::select(&LEVELS[..5]);
    let parameters = some_of(&["path", "other"]);
    (kinds, levels, parameters, capabilities()).prop_map(|(kind, level, paths, capabilities)| {
        json!({
            "kind": kind,
            "side_effect_level": level,
            "arg_schema": {"path_params": paths.as_array().cloned().unwrap_or_default()},
            "capabilities": capabilities,
        })
    })
}

fn policy() -> impl Strategy<Value = Option<CapabilityPolicy>> {
    let constraint = (
        prop::sample::select(&["*", "write", "r*"][..]),
        some_of(&GLOBS),
        prop::option::of(Just("path")),
    );
    let constraint = constraint.prop_map(|(tool, globs, key)| {
        let globs = globs.as_array().cloned().unwrap_or_default();
        json!({"tool": tool, "arg_patterns": globs, "arg_key": key})
    });
    let known = prop::collection::btree_map(prop::sample::select(&TOOLS[..]), annotations(), 0..3);
    let policy = (
        some_of(&TOOLS),
        capabilities(),
        some_of(&["/a", "/b", "/a/c"]),
        prop::option::of(prop::sample::select(&LEVELS[..])),
        prop::collection::vec(constraint, 0..2),
        known,
    );
    let policy = policy.prop_map(|(tools, capabilities, roots, level, constraints, known)| {
        let value = json!({
            "tools": tools, "capabilities": capabilities, "workspace_roots": roots,
            "side_effect_level": level, "tool_arg_constraints": constraints,
            "tool_annotations": known,
        });
        CapabilityPolicy::read("policy", &value).expect("it is well formed")
    });
    prop::option::of(policy)
}

fn approval() -> impl Strategy<Value = Option<ApprovalPolicy>> {
    const NAMES: [&str; 5] = ["*", "look", "write", "r*", "shell"];
    let lists = (
        some_of(&NAMES),
        some_of(&NAMES),
        some_of(&NAMES),
        some_of(&GLOBS),
    );
    let approval = lists.prop_map(|(approve, deny, require, paths)| {
        let value = json!({
            "auto_approve": approve, "auto_deny": deny, "require_approval": require,
            "write_path_allowlist": paths,
        });
        ApprovalPolicy::read("approval", &value).expect("it is well formed")
    });
    prop::option::of(approval)
}

type Narrowing = (Option<CapabilityPolicy>, Option<ApprovalPolicy>);

fn narrowings() -> impl Strategy<Value = Vec<Narrowing>> {
    prop::collection::vec((policy(), approval()), 1..5)
}

/// Every call that the tests know, with and without something known about the tool.
fn calls() -> Vec<(&'static str, Option<ToolAnnotations>, Value)> {
    let known = |kind: &str, level: &str| {
        let value = json!({
            "kind": kind, "side_effect_level": level, "arg_schema": {"path_params": ["path"]},
            "capabilities": {"workspace": ["write_text"]},
        });
        read_annotations(&value)
    };
    let annotations = [
        None,
        known("read", "read_only"),
        known("edit", "workspace_write"),
        known("execute", "process_exec"),
    ];
    let mut calls = Vec::new();
    for tool in TOOLS {
        for own in &annotations {
            for path in PATHS {
                calls.push((tool, own.clone(), json!({"path": path, "other": "etc/a"})));
                calls.push((tool, own.clone(), json!({"other": path})));
            }
        }
    }
    calls
}

fn strictness(approval: &Approval) -> u8 {
    match approval {
        Approval::Approved => 0,
        Approval::Ask => 1,
        Approval::Denied(_) => 2,
    }
}

/// Whether nothing passes inside that does not pass outside.
pub(crate) fn check_narrower(outer: &Ambient, inner: &Ambient) -> Result<(), TestCaseError> {
    let open = DeclaredParameters::default();
    for (tool, own, arguments) in calls() {
        let own = own.as_ref();
        let passes = inner.check_tool(tool, own, &open, &arguments, &harn_shell::Nowhere);
        let above = outer.check_tool(tool, own, &open, &arguments, &harn_shell::Nowhere);
        prop_assert!(
            passes.is_err() || above.is_ok(),
            "{tool} {arguments} with {own:?} passes, although {above:?}"
        );
        let (below, above) = (
            inner.decide(tool, own, &arguments),
            outer.decide(tool, own, &arguments),
        );
        prop_assert!(
            strictness(&below) >= strictness(&above),
            "{tool} {arguments} with {own:?} is {below:?}, although {above:?}"
        );
    }
    for builtin in BUILTINS {
        let passes = inner.check_builtin(builtin, None);
        let above = outer.check_builtin(builtin, None);
        prop_assert!(passes.is_err() || above.is_ok(), "{builtin}: {above:?}");
    }
    let roots = inner.workspace_roots();
    for list in outer.workspace_roots() {
        prop_assert!(roots.contains(&list), "{list:?} does not hold any more");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn no_level_ever_widens_what_holds_above_it(narrowings in narrowings()) {
        let mut levels = vec![Ambient::default()];
        for (policy, approval) in narrowings {
            let mut ambient = levels[levels.len() - 1].clone();
            // What asks for more than there is is refused, and nothing runs.
            if ambient.narrow(policy.as_ref(), approval.as_ref()).is_err() {
                continue;
            }
            for outer in &levels {
                check_narrower(outer, &ambient)?;
            }
            levels.push(ambient);
        }
    }
}

#[test]
fn a_level_that_names_folders_stays_inside_those_above() {
    let policy = |roots: &[&str]| {
        let value = json!({"workspace_roots": roots});
        CapabilityPolicy::read("policy", &value).expect("it is well formed")
    };
    let mut ambient = Ambient::default();
    ambient
        .narrow(Some(&policy(&["/a"])), None)
        .expect("it fits");
    ambient
        .narrow(Some(&policy(&["/b"])), None)
        .expect("it fits");
    let shown = ambient
        .policy
        .as_ref()
        .map(|policy| &policy.workspace_roots[..]);
    assert_eq!(shown, Some(&["/b".to_owned()][..]));
    assert_eq!(ambient.workspace_roots(), [["/b"], ["/a"]]);
}
