//! The `[[hooks]]` of a project: functions of its modules that see what agents do.

use std::collections::BTreeMap;
use std::path::Path;

use harn_agent::llm::desk::Thrown;
use harn_agent::tool_hooks::{ManifestHook, missing_handler};
use harn_check::modules::Workspace;
use harn_machine::{LoadError, Offer};
use serde::Deserialize;
use serde_json::Value;

/// The tables of a manifest that hooks need.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Manifest {
    package: Package,
    exports: BTreeMap<String, String>,
    hooks: Vec<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Package {
    name: String,
}

/// The hooks of a project, and the functions they need.
///
/// # Errors
/// The manifest cannot be read, or a hook does not say what it means.
pub(crate) fn hooks(
    workspace: &mut Workspace,
    manifest: &Path,
) -> Result<(Vec<ManifestHook>, Vec<Offer>), LoadError> {
    let failed = |message: String| LoadError {
        message: format!("{}: {message}", manifest.display()),
    };
    let text =
        harn_agent::real_path::read_text(manifest).map_err(|error| failed(error.to_string()))?;
    if !text.contains("[[hooks]]") {
        return Ok(Default::default());
    }
    let known: Manifest = toml::from_str(&text).map_err(|error| failed(error.to_string()))?;
    let folder = manifest.parent().unwrap_or(Path::new("."));
    let (mut hooks, mut offers) = (Vec::new(), Vec::new());
    for (number, entry) in known.hooks.iter().enumerate() {
        let hook = ManifestHook::read(entry).map_err(|thrown| failed(told(thrown)))?;
        let module = &hook.handler.module;
        let import = match known.exports.get(module) {
            Some(path) => format!("./{}", path.trim_start_matches("./")),
            None if *module == known.package.name => "./lib".to_owned(),
            None => module.clone(),
        };
        let function = hook.handler.function.clone();
        // A file that does nothing but import the function finds it as the program would.
        let file = folder.join(format!("<hook {number}>.harn"));
        workspace.set_text(
            &file,
            format!("import {{ {function} }} from \"{import}\"\n"),
        );
        if !workspace.import_problems(&file).is_empty() || workspace.bindings(&file).is_empty() {
            return Err(failed(told(missing_handler(&hook.handler))));
        }
        offers.push(Offer {
            file,
            function,
            tag: number.to_string(),
        });
        hooks.push(hook);
    }
    Ok((hooks, offers))
}

fn told(thrown: Thrown) -> String {
    match thrown {
        Thrown::Plain(text) | Thrown::Runtime(text) | Thrown::Categorised(_, text) => text,
        Thrown::Dict(dict) => dict.to_string(),
    }
}
