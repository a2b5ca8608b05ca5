//! The paths among the words of a command.
//!
//! A process is not kept inside any folder by this: it can do what its user can do. But a command
//! that names what lies outside the folders of a loop's policy says that it means to go there,
//! so it is refused before it starts. Names that a shell makes up, by variables or by what
//! another command says, are not seen here.

use std::fs;
use std::path::{Path, PathBuf};

use harn_agent::real_path::resolve;
use harn_machine::ProcessRequest;

use crate::files::Files;
use crate::policy::{Access, Refusal};

/// Where programs and what they need lie. To name them reveals nothing of anybody.
const SYSTEM: [&str; 9] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/nix/store",
    "/dev/null",
    "/dev/urandom",
    "/dev/fd",
];

/// Programs whose argument is a text of commands.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "busybox"];

/// Looks at where a process is to run and at what its words name.
pub(crate) fn check(
    request: &ProcessRequest,
    files: &Files,
    search_path: Option<&str>,
) -> Result<(), Refusal> {
    if let Some(folder) = &request.folder {
        files.check(Access::Read, folder)?;
    }
    if !files.policy.has_roots() {
        return Ok(());
    }
    let folder = request.folder.as_deref().unwrap_or(Path::new("."));
    let here = std::path::absolute(files.at(folder)).unwrap_or_else(|_| PathBuf::from("/"));
    let real = resolve(&here).map_or_else(|| here.clone(), |real| real.path);
    files.policy.check_roots(&real, &|| {
        format!(
            "attempted to run '{}' in '{}'",
            request.program,
            here.display()
        )
    })?;
    let program = Path::new(&request.program);
    let has_folder = program
        .parent()
        .is_some_and(|folder| !folder.as_os_str().is_empty());
    if has_folder && !is_searched(program, search_path) {
        judge(&request.program, &here, files)?;
    }
    let name = program.file_name().unwrap_or_default();
    let is_shell = SHELLS.iter().any(|shell| name == *shell);
    for argument in &request.arguments {
        for word in words(argument, is_shell) {
            judge(word, &here, files)?;
        }
    }
    Ok(())
}

fn is_searched(program: &Path, search_path: Option<&str>) -> bool {
    let mut folders = search_path.unwrap_or_default().split(':');
    folders.any(|folder| program.parent() == Some(Path::new(folder)))
}

/// What may be a path in an argument.
fn words(argument: &str, is_shell: bool) -> Vec<&str> {
    if is_shell {
        let ends =
            |character: char| character.is_whitespace() || ";|&<>()$\"'`={},".contains(character);
        return argument.split(ends).collect();
    }
    let value = argument.split_once('=').map(|(_, value)| value);
    let option = argument.starts_with('-').then(|| argument.find('/'));
    let glued = option.flatten().map(|at| &argument[at..]);
    [Some(argument), value, glued]
        .into_iter()
        .flatten()
        .collect()
}

fn judge(word: &str, here: &Path, files: &Files) -> Result<(), Refusal> {
    let attempt = || format!("attempted to run a command that names '{word}'");
    if word == "~" || word.starts_with("~/") {
        // Only a shell knows where that is, and it is never a workspace as such.
        return files.policy.check_roots(Path::new("/"), &attempt);
    }
    let place = here.join(word);
    let is_name = !word.contains('/') && word != "..";
    if word.is_empty() || (is_name && !place.is_symlink()) {
        return Ok(());
    }
    let Some(real) = resolve(&place) else {
        return Ok(());
    };
    let is_system = SYSTEM.iter().any(|folder| real.path.starts_with(folder));
    let leads_somewhere = real
        .path
        .parent()
        .is_none_or(|folder| fs::metadata(folder).is_ok());
    match is_system || !leads_somewhere {
        true => Ok(()),
        false => files.policy.check_roots(&real.path, &attempt),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::files::Asker;
    use crate::policy::{Policy, Rules};

    #[test]
    fn a_command_that_names_what_lies_outside_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(folder.join("in/sub")).unwrap();
        fs::create_dir_all(folder.join("out")).unwrap();
        symlink("../out", folder.join("in/link")).unwrap();
        let rules = Rules {
            workspace_roots: vec![folder.join("in")],
            ..Rules::default()
        };
        let files = Files {
            policy: Policy::default().narrowed(rules).unwrap(),
            folder: Some(folder.join("in")),
            read_bytes_max: None,
            asker: Asker::default(),
        };
        let outside = folder.join("out/file").display().to_string();
        let is_allowed = |program: &str, arguments: &[&str], at: Option<&str>| {
            let request = ProcessRequest {
                program: program.to_owned(),
                arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
                folder: at.map(PathBuf::from),
                ..ProcessRequest::default()
            };
            check(&request, &files, Some("/usr/bin:/bin")).is_ok()
        };
        assert!(is_allowed("git", &["log", "-n", "3", "--", "sub/x"], None));
        assert!(is_allowed(
            "sh",
            &["-c", "ls sub && echo 'a b' > /dev/null"],
            None
        ));
        assert!(is_allowed("grep", &["/api/users", "sub"], None));
        assert!(is_allowed("/usr/bin/env", &[], Some("sub")));
        assert!(!is_allowed("cat", &[&outside], None));
        assert!(!is_allowed("cat", &["link/file"], None));
        assert!(!is_allowed("cat", &["link"], None));
        assert!(!is_allowed("cat", &["../out/file"], None));
        assert!(!is_allowed("tool", &[&format!("--file={outside}")], None));
        assert!(!is_allowed("tool", &[&format!("-I{outside}")], None));
        assert!(!is_allowed("sh", &["-c", &format!("cat <{outside}")], None));
        assert!(!is_allowed("sh", &["-c", "cat ~/.bashrc"], None));
        assert!(!is_allowed("ls", &[], Some("..")));
        assert!(!is_allowed("ls", &[], Some("link")));
        assert!(!is_allowed(&outside, &[], None));
    }
}
