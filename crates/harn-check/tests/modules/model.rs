//! Exports of arbitrary small programs, compared with the definition.

use std::collections::BTreeSet;

use harn_check::modules::Workspace;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::files::workspace;

const MODULES: usize = 5;
const NAMES: [&str; 4] = ["f", "g", "h", "k"];

#[derive(Clone, Debug)]
struct Module {
    /// Its functions, each with whether it is public.
    functions: Vec<(usize, bool)>,
    imports: Vec<Import>,
}

#[derive(Clone, Debug)]
struct Import {
    public: bool,
    module: usize,
    names: Option<Vec<usize>>,
}

fn module() -> impl Strategy<Value = Module> {
    let name = 0..NAMES.len();
    let import = (
        any::<bool>(),
        0..MODULES,
        proptest::option::of(vec(name.clone(), 1..3)),
    );
    let import = import.prop_map(|(public, module, names)| Import {
        public,
        module,
        names,
    });
    let parts = (vec((name, any::<bool>()), 0..3), vec(import, 0..4));
    parts.prop_map(|(functions, imports)| Module { functions, imports })
}

fn source(module: &Module) -> String {
    let public = |public: bool| if public { "pub " } else { "" };
    let imports = module.imports.iter().map(|import| {
        let names = import.names.as_ref().map(|names| {
            let names: Vec<_> = names.iter().map(|name| NAMES[*name]).collect();
            format!("{{ {} }} from ", names.join(", "))
        });
        let names = names.unwrap_or_default();
        format!(
            "{}import {names}\"m{}\"\n",
            public(import.public),
            import.module
        )
    });
    let functions = module.functions.iter();
    let functions =
        functions.map(|(name, is)| format!("{}fn {}() {{}}\n", public(*is), NAMES[*name]));
    imports.chain(functions).collect()
}

/// 11.3 as it is written, until nothing is added any more.
fn expected(modules: &[Module]) -> Vec<BTreeSet<usize>> {
    let own = |module: &Module| {
        let some_public = module.functions.iter().any(|(_, public)| *public);
        let functions = module.functions.iter();
        let exported = functions.filter(|(_, public)| *public || !some_public);
        exported.map(|(name, _)| *name).collect::<BTreeSet<_>>()
    };
    let mut exports: Vec<_> = modules.iter().map(own).collect();
    loop {
        let before = exports.clone();
        for (at, module) in modules.iter().enumerate() {
            for import in module.imports.iter().filter(|import| import.public) {
                let wanted = |name: &&usize| match &import.names {
                    Some(names) => names.contains(name),
                    None => true,
                };
                let passed_on = before[import.module].iter().filter(wanted);
                exports[at].extend(passed_on);
            }
        }
        if exports == before {
            return exports;
        }
    }
}

fn exported(workspace: &mut Workspace, module: usize) -> BTreeSet<usize> {
    let exports = workspace.exports(format!("/m{module}.harn"));
    let functions = exports.functions.iter();
    let number = |name: &str| NAMES.iter().position(|known| *known == name);
    functions.filter_map(|it| number(&it.name)).collect()
}

proptest! {
    #[test]
    fn exports_are_what_the_definition_says(modules in vec(module(), MODULES)) {
        let texts: Vec<_> = modules.iter().map(source).collect();
        let paths: Vec<_> = (0..MODULES).map(|at| format!("/m{at}.harn")).collect();
        let files = paths.iter().map(String::as_str).zip(texts.iter().map(String::as_str));
        let files: Vec<_> = files.collect();
        let (mut workspace, _) = workspace(&files);
        for (module, expected) in expected(&modules).into_iter().enumerate() {
            prop_assert_eq!(exported(&mut workspace, module), expected);
            // Whatever is wrong with it, it is found out in finite time.
            workspace.load_plan(&paths[module]);
            workspace.import_problems(&paths[module]);
        }
    }
}
