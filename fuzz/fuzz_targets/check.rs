//! Whatever the files of a program say, they can be looked at, and what is said about them
//! points into them.

#![no_main]

use harn_check::modules::{MemoryFiles, Workspace};
use harn_check::{CheckOptions, LintOptions, analyse, inspect_types, lint};
use harn_fuzz::source::program_text;
use harn_fuzz::{files, spans};
use harn_syntax::{LineIndex, parse};

const ENTRY: &str = "/p/main.harn";

fn look_at(workspace: &mut Workspace, path: &str) {
    let Ok(file) = workspace.parsed(path) else {
        return;
    };
    workspace.imports(path);
    workspace.exports(path);
    workspace.bindings(path);
    workspace.load_plan(path);
    assert!(!workspace.reachable(path).is_empty());
    let imported = workspace.imported(path);
    workspace.import_problems(path);
    let mut diagnostics = workspace.import_diagnostics(path);
    let (text, module) = (&*file.text, &file.parsed.module);
    let options = CheckOptions {
        strict_types: true,
        before_a_run: true,
    };
    diagnostics.extend(analyse(&file, &imported, options).diagnostics);
    let checked = inspect_types(module, &imported, CheckOptions::default());
    for offset in 0..text.len() {
        checked.type_at(u32::try_from(offset).expect("inputs are small"));
    }
    diagnostics.extend(checked.diagnostics);
    let options = LintOptions {
        require_file_header: true,
        complexity_max: 2,
        ..LintOptions::default()
    };
    let findings = lint(text, module, &imported, &options);
    let lines = LineIndex::new(text);
    for diagnostic in diagnostics.iter().chain(&findings) {
        spans::check_diagnostic(text, &lines, diagnostic);
    }
    if !file.parsed.errors.is_empty() {
        return;
    }
    for finding in &findings {
        let Some(fix) = &finding.fix else { continue };
        let fixed = spans::apply(text, fix);
        let errors = parse(&fixed).errors;
        let code = finding.code.0;
        assert!(
            errors.is_empty(),
            "{code} breaks {text:?}: {fixed:?}, {errors:?}"
        );
    }
}

harn_fuzz::target!(|bytes| {
    let memory = MemoryFiles::new();
    let mut paths = Vec::new();
    for (name, content) in files::split(bytes) {
        let path = match name.as_str() {
            "" => ENTRY.to_owned(),
            name => format!("/p/{name}"),
        };
        memory.write(&path, &program_text(&content));
        paths.push(path);
    }
    let mut workspace = Workspace::new(Box::new(memory));
    for path in &paths {
        look_at(&mut workspace, path);
    }
});
