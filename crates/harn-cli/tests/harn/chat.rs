//! `harn chat` in a real terminal, with a model that says what a scenario tells it to.

mod asking;
mod ending;
mod looks;
mod plain;
mod sessions;
mod talking;

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::tmux::Window;

/// A chat in a window of 80 columns and 24 rows.
struct Chat {
    window: Window,
    folder: TempDir,
}

impl Chat {
    /// A chat whose model answers as a scenario says.
    fn new(scenario: &str) -> Self {
        Self::with(scenario, "", &[])
    }

    /// With variables of the environment, such as `A=1 B=2`.
    fn in_environment(variables: &str, scenario: &str) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        write(folder.path(), "s.toml", scenario);
        let command = format!("export {variables}; {}", command(""));
        let window = Window::open(folder.path(), &command, 80, 24);
        window.shows("ready");
        Self { window, folder }
    }

    /// With options of the command, and files beside it.
    fn with(scenario: &str, options: &str, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        write(folder.path(), "s.toml", scenario);
        for (name, text) in files {
            write(folder.path(), name, text);
        }
        let window = Window::open(folder.path(), &command(options), 80, 24);
        window.shows("ready");
        Self { window, folder }
    }

    /// The same folder again, as after leaving.
    fn again(self, options: &str) -> Self {
        let Self { window, folder } = self;
        drop(window);
        let window = Window::open(folder.path(), &command(options), 80, 24);
        window.shows("ready");
        Self { window, folder }
    }

    fn has(&self, file: &str) -> bool {
        self.folder.path().join(file).exists()
    }

    fn text_of(&self, file: &str) -> String {
        fs::read_to_string(self.folder.path().join(file)).expect("it is there")
    }
}

/// Runs a chat; when it has ended, its status is shown, and whether the terminal works.
fn command(options: &str) -> String {
    let harn = env!("CARGO_BIN_EXE_harn");
    format!(
        "echo before; sh -c 'echo $$ > pid; exec {harn} chat --scenario s.toml {options}'; \
         status=$?; stty -a | grep -ow -e '-*icanon' -e '-*echo' | tr '\\n' ' '; \
         echo; echo \"left with $status\""
    )
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).expect("the folder is ours");
}
