//! The paths of a call, as policies judge them.
//!
//! ```text
//! arguments ─► paths among them ─► links followed ─► relative to the root ─► rules, roots
//! ```
//!
//! A rule about paths looks at where a path leads and never at how it was written: `./a`,
//! `b/../a` and a link to `a` are `a`. What a path of a coding tool starts at is the root of the
//! tool, what any other starts at is the folder of the program.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::Run;
use super::super::turn::Call;
use crate::own_tools;
use crate::policy::{Approval, CommandPlace, declared_paths};
use crate::real_path::resolve;
use crate::registry::Backend;
use crate::tool::{Caution, ToolCall};

/// How resolved paths are written for rules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// From the root on, where they lie inside of it.
    Relative,
    /// From the root of the disk on.
    Absolute,
}

impl Run<'_> {
    /// Why a person has to agree to a call each time.
    pub(super) fn caution(&self, call: &Call) -> Option<Caution> {
        match self.backend_of(&call.name) {
            Backend::Here(tool) => tool.caution(self.asked(call)),
            Backend::Own => own_tools::caution(&call.name, &call.arguments, self.runtime),
            Backend::Host | Backend::Mcp { .. } | Backend::Provider | Backend::Nobody(_) => None,
        }
    }

    /// A person has agreed to such a call.
    pub(super) fn allow(&self, call: &Call, agreed: &Caution) {
        if let Backend::Here(tool) = self.backend_of(&call.name) {
            tool.allow(self.asked(call), agreed);
        }
    }

    fn asked<'a>(&'a self, call: &'a Call) -> ToolCall<'a> {
        ToolCall {
            id: &call.id,
            session_id: self.session.id(),
            name: &call.name,
            arguments: &call.arguments,
        }
    }

    /// What the approval policies say to a call with these arguments.
    pub(super) fn decide(&self, call: &Call, arguments: &Value) -> Approval {
        let own = self.own_annotations(&call.name);
        let decide = |form| {
            let judged = self.judged(call, arguments, form);
            self.ambient.decide(&call.name, own, &judged)
        };
        match decide(Form::Relative) {
            // A list of what may be written can name the whole path as well.
            Approval::Denied(reason) => match decide(Form::Absolute) {
                Approval::Denied(_) => Approval::Denied(reason),
                allowed => allowed,
            },
            allowed => allowed,
        }
    }

    /// Whether the ceilings allow a call, by its paths too.
    ///
    /// # Errors
    /// What it exceeds.
    pub(super) fn check_ceilings(&self, call: &Call) -> Result<(), String> {
        let own = self.own_annotations(&call.name);
        let parameters = self.parameters_of(&call.name);
        let place = self.command_place(&call.name);
        let check = |form| {
            let judged = self.judged(call, &call.arguments, form);
            self.ambient
                .check_tool(&call.name, own, &parameters, &judged, &place)
        };
        check(Form::Relative).or_else(|refused| check(Form::Absolute).map_err(|_| refused))?;
        self.check_roots(call)
    }

    /// The arguments of a call for rules that look at them: paths are those that they lead to.
    pub(super) fn judged_arguments(&self, call: &Call) -> Value {
        self.judged(call, &call.arguments, Form::Relative)
    }

    fn judged(&self, call: &Call, arguments: &Value, form: Form) -> Value {
        let mut judged = arguments.clone();
        let Some(annotations) = self.annotations_of(&call.name) else {
            return judged;
        };
        let root = self.root_of(&call.name);
        let write = |path: &mut String| {
            let Some(real) = resolve(&root.join(&*path)) else {
                return;
            };
            let inside = real.path.strip_prefix(&root).ok();
            let written = match (inside, form) {
                (Some(inside), Form::Relative) if !inside.as_os_str().is_empty() => inside,
                (Some(_), Form::Relative) => Path::new("."),
                (_, _) => &real.path,
            };
            *path = written.to_string_lossy().into_owned();
        };
        // What a shell runs is not what is left of it as a path.
        let commands = self.commands_of(&call.name);
        let paths = annotations.arg_schema.path_params.iter();
        for key in paths.filter(|key| !commands.contains(key)) {
            match judged.get_mut(key) {
                Some(Value::String(path)) => write(path),
                Some(Value::Array(items)) => {
                    for item in items {
                        if let Value::String(path) = item {
                            write(path);
                        }
                    }
                }
                _ => {}
            }
        }
        judged
    }

    /// Whether the paths of a call lie in the folders of all levels.
    fn check_roots(&self, call: &Call) -> Result<(), String> {
        let levels = self.ambient.workspace_roots();
        if levels.is_empty() {
            return Ok(());
        }
        let root = self.root_of(&call.name);
        let declared = declared_paths(self.annotations_of(&call.name), &call.arguments);
        let mut paths: Vec<&str> = declared.into_iter().map(|(_, path)| path).collect();
        paths.extend(own_tools::path_argument(&call.name, &call.arguments));
        // A coding tool without a path works in its root.
        if paths.is_empty() && self.is_coding(&call.name) {
            paths.push(".");
        }
        let folder = absolute(&self.runtime.folder);
        for path in paths {
            let Some(real) = resolve(&root.join(path)) else {
                let name = &call.name;
                return Err(format!("tool '{name}' follows '{path}' in circles"));
            };
            for roots in &levels {
                let is_in = |root: &String| {
                    let root = resolve(&folder.join(root));
                    root.is_some_and(|root| real.path.starts_with(root.path))
                };
                if !roots.iter().any(is_in) {
                    return Err(format!(
                        "tool '{}' targets '{path}' outside workspace_roots [{}]",
                        call.name,
                        roots.join(", ")
                    ));
                }
            }
        }
        Ok(())
    }

    fn is_coding(&self, tool: &str) -> bool {
        let entry = self.tool(tool);
        entry.is_some_and(|entry| entry.declared["runtime"] == "coding")
    }

    /// Where the commands of a tool run: in its folders, or in that of the program.
    pub(super) fn command_place(&self, tool: &str) -> CommandPlace {
        let folder = absolute(&self.runtime.folder);
        let own = self.tool(tool).filter(|_| self.is_coding(tool));
        let own = own.and_then(|entry| entry.declared["roots"].as_array());
        let own = own.into_iter().flatten().filter_map(Value::as_str);
        let mut roots: Vec<PathBuf> = own.map(|root| folder.join(root)).collect();
        if roots.is_empty() {
            roots.push(folder);
        }
        CommandPlace::new(roots, self.runtime.search_path())
    }

    /// What relative paths of a tool start at, without links.
    fn root_of(&self, tool: &str) -> PathBuf {
        let folder = absolute(&self.runtime.folder);
        let own = self.tool(tool).filter(|_| self.is_coding(tool));
        let own = own.and_then(|entry| entry.declared["roots"][0].as_str());
        let root = own.map_or_else(|| folder.clone(), |own| folder.join(own));
        resolve(&root).map_or(root, |real| real.path)
    }
}

fn absolute(folder: &Path) -> PathBuf {
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}
