//! `harn new`: the first files of a project.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::output::{Output, Untrusted};
use crate::suggestion;

const EXAMPLES: &str = "  \
  harn new                             The templates there are
  harn new agent helper                An agent in the folder helper
  harn new script hello                A script in the folder hello
  harn new library                     A library in the folder we are in";

/// Start a project
///
/// Copies a template into a folder: a program, a test, harn.toml and a README. The folder is
/// made if it does not exist. Nothing is overwritten: if one of the files is there already,
/// nothing is written. Without TEMPLATE the templates are listed.
///
/// With --json the answer is {"folder", "files": [PATH, …]}, or {"templates": [{"template",
/// "summary"}, …]} without TEMPLATE.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// What kind of project it is
    #[arg(value_name = "TEMPLATE")]
    template: Option<String>,

    /// Where it goes; its name is that of the project
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// What a project can start with.
struct Template {
    name: &'static str,
    summary: &'static str,
    /// What can be done with it, told when it is there.
    hints: &'static [&'static str],
    /// Where each file goes, and its text, in which `{{name}}` stands for the project.
    files: &'static [(&'static str, &'static str)],
}

macro_rules! templates {
    ($($name:literal $summary:literal [$($file:literal)*] [$($hint:literal)*];)*) => {
        &[$(Template {
            name: $name,
            summary: $summary,
            hints: &[$($hint,)*],
            files: &[$((
                $file,
                include_str!(concat!("../../templates/", $name, "/", $file)),
            ),)*],
        },)*]
    };
}

const TEMPLATES: &[Template] = templates! {
    "agent" "An agent with tools, to be run, talked with, tested and served to editors"
        ["harn.toml" "main.harn" "main.scenario.toml" "lib/notes.harn" "notes/today.md"
         "tests/notes_test.harn" "README.md" ".gitignore"]
        ["`harn run . --scenario` runs it, in its folder; a script stands for the model"
         "`harn test` runs its tests"
         "`harn chat main.harn` talks with it, once there is a key; see README.md"];
    "library" "Functions for other programs to import"
        ["harn.toml" "lib.harn" "src/money.harn" "tests/money_test.harn" "README.md"]
        ["`harn test` runs its tests"];
    "pipeline" "A program with an entry point, and functions in files of their own"
        ["harn.toml" "main.harn" "lib/words.harn" "tests/words_test.harn" "README.md"]
        ["`harn test` runs its tests"];
    "script" "Statements that run from top to bottom"
        ["harn.toml" "main.harn" "tests/main_test.harn" "README.md"]
        ["`harn test` runs its tests"];
};

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let Some(name) = &arguments.template else {
        return list(form, output);
    };
    let Some(template) = TEMPLATES.iter().find(|one| one.name == name) else {
        output.error(format_args!("there is no template `{}`", Untrusted(name)));
        match suggestion::closest(name, TEMPLATES.iter().map(|one| one.name)) {
            Some(other) => output.note(format_args!("did you mean `{other}`?")),
            None => output.note(format_args!("`harn new` lists all templates")),
        }
        return Ok(Outcome::Problems);
    };
    let written = match write_all(template, &arguments.folder) {
        Ok(written) => written,
        Err((path, why)) => {
            let path = path.display().to_string();
            output.error(format_args!("{}: {why}", Untrusted(path)));
            return Ok(Outcome::Problems);
        }
    };
    let shown = written.iter().map(|path| path.display().to_string());
    match form {
        Form::Json => output.json(&serde_json::json!({
            "folder": arguments.folder.display().to_string(),
            "files": shown.collect::<Vec<_>>(),
        }))?,
        Form::Text => {
            for path in shown {
                writeln!(output, "{}", Untrusted(path))?;
            }
            for hint in template.hints {
                output.note(format_args!("{hint}"));
            }
        }
    }
    Ok(Outcome::Done)
}

fn list(form: Form, output: &mut Output) -> io::Result<Outcome> {
    match form {
        Form::Json => {
            let templates = TEMPLATES
                .iter()
                .map(|one| serde_json::json!({"template": one.name, "summary": one.summary}));
            output.json(&serde_json::json!({"templates": templates.collect::<Vec<_>>()}))?;
        }
        Form::Text => {
            let palette = output.palette();
            for template in TEMPLATES {
                let name = palette.name(format!("{:<10}", template.name));
                writeln!(output, "{name} {}", template.summary)?;
            }
        }
    }
    Ok(Outcome::Done)
}

/// Writes the files of a template, unless one of them is there already.
///
/// # Errors
/// The path that cannot be written, and why.
fn write_all(template: &Template, folder: &Path) -> Result<Vec<PathBuf>, (PathBuf, String)> {
    let paths: Vec<_> = template
        .files
        .iter()
        .map(|(name, _)| folder.join(name))
        .collect();
    if let Some(path) = paths.iter().find(|path| fs::symlink_metadata(path).is_ok()) {
        return Err((
            path.clone(),
            "it is there already; nothing was written".to_owned(),
        ));
    }
    let failed = |path: &Path, error: io::Error| (path.to_owned(), error.to_string());
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let project = project_name(folder);
    for (path, (_, text)) in paths.iter().zip(template.files) {
        let text = text.replace("{{name}}", &project);
        write_new(path, &text).map_err(|error| failed(path, error))?;
    }
    Ok(paths)
}

/// Writes a file that does not exist, also if somebody makes it at the same time.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::create_new(path)?.write_all(text.as_bytes())
}

/// What a project in this folder is called: as the folder, in the letters that packages use.
fn project_name(folder: &Path) -> String {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let is_fine = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    let name: String = name
        .chars()
        .map(|char| if is_fine(char) { char } else { '_' })
        .collect();
    match name.trim_matches('_') {
        "" => "project".to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_called_as_its_folder() {
        assert_eq!(project_name(Path::new("/no/such/hello-2")), "hello-2");
        assert_eq!(
            project_name(Path::new("/no/such/my \"project\"")),
            "my__project_"
        );
        assert_eq!(project_name(Path::new("/")), "project");
        assert_eq!(project_name(Path::new("/no/such/日本")), "project");
    }

    #[test]
    fn every_template_has_a_program_a_test_a_project_and_a_page() {
        assert!(TEMPLATES.is_sorted_by(|a, b| a.name < b.name));
        for template in TEMPLATES {
            let has = |part: &str| template.files.iter().any(|(name, _)| name.contains(part));
            for part in ["harn.toml", "README.md", ".harn", "tests/"] {
                assert!(has(part), "{} {part}", template.name);
            }
        }
    }
}
