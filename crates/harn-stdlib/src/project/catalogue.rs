//! The kinds of project that are recognised.

use harn_machine::{Registry, Value};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("project_catalog_native", |_, _| {
        Ok(KINDS.iter().map(Kind::described).collect())
    })]);
}

/// A kind of project.
pub(super) struct Kind {
    pub(super) id: &'static str,
    pub(super) languages: &'static [&'static str],
    pub(super) frameworks: &'static [&'static str],
    pub(super) build_system: &'static str,
    /// Files that are only there in such a project.
    pub(super) anchors: &'static [&'static str],
    /// How sure one is that has found an anchor.
    pub(super) anchor_score: f64,
    pub(super) lockfiles: &'static [&'static str],
    /// How its source files end.
    pub(super) extensions: &'static [&'static str],
    /// Where its source files are; `""` is the folder of the project.
    source_folders: &'static [&'static str],
    pub(super) build_command: Option<&'static str>,
    pub(super) test_command: Option<&'static str>,
}

const NODE_LOCKFILES: &[&str] = &[
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lockb",
];

/// All kinds, in the order in which they are listed.
pub(super) const KINDS: [Kind; 7] = [
    Kind {
        id: "rust",
        languages: &["rust"],
        frameworks: &[],
        build_system: "cargo",
        anchors: &["Cargo.toml"],
        anchor_score: 0.5,
        lockfiles: &["Cargo.lock"],
        extensions: &["rs"],
        source_folders: &["", "src", "crates", "tests"],
        build_command: Some("cargo build"),
        test_command: Some("cargo test"),
    },
    Kind {
        id: "go",
        languages: &["go"],
        frameworks: &[],
        build_system: "go",
        anchors: &["go.mod"],
        anchor_score: 0.5,
        lockfiles: &["go.sum"],
        extensions: &["go"],
        source_folders: &["", "cmd", "internal", "pkg"],
        build_command: Some("go build ./..."),
        test_command: Some("go test ./..."),
    },
    Kind {
        id: "python",
        languages: &["python"],
        frameworks: &[],
        build_system: "python",
        anchors: &["pyproject.toml", "setup.py", "requirements.txt"],
        anchor_score: 0.5,
        lockfiles: &[
            "uv.lock",
            "poetry.lock",
            "Pipfile.lock",
            "requirements.lock",
        ],
        extensions: &["py"],
        source_folders: &["", "src", "tests"],
        build_command: None,
        test_command: Some("pytest"),
    },
    Kind {
        id: "typescript",
        languages: &["typescript"],
        frameworks: &[],
        build_system: "npm",
        anchors: &["tsconfig.json", "package.json"],
        anchor_score: 0.2,
        lockfiles: NODE_LOCKFILES,
        extensions: &["ts", "tsx"],
        source_folders: &["", "src", "tests"],
        build_command: Some("npm run build"),
        test_command: Some("npm test"),
    },
    Kind {
        id: "javascript",
        languages: &["javascript"],
        frameworks: &[],
        build_system: "npm",
        anchors: &["package.json"],
        anchor_score: 0.1,
        lockfiles: NODE_LOCKFILES,
        extensions: &["js", "jsx", "mjs", "cjs"],
        source_folders: &["", "src"],
        build_command: Some("npm run build"),
        test_command: Some("npm test"),
    },
    Kind {
        id: "nextjs",
        languages: &["javascript", "typescript"],
        frameworks: &["nextjs"],
        build_system: "npm",
        anchors: &["next.config.js", "next.config.mjs", "next.config.ts"],
        anchor_score: 0.7,
        lockfiles: &[],
        extensions: &["tsx", "js"],
        source_folders: &["pages", "app"],
        build_command: Some("npm run build"),
        test_command: Some("npm test"),
    },
    Kind {
        id: "ruby",
        languages: &["ruby"],
        frameworks: &[],
        build_system: "bundler",
        anchors: &["Gemfile"],
        anchor_score: 0.5,
        lockfiles: &["Gemfile.lock"],
        extensions: &["rb"],
        source_folders: &["", "app", "lib", "spec"],
        build_command: None,
        test_command: Some("bundle exec rspec"),
    },
];

impl Kind {
    fn described(&self) -> Value {
        let globs = self.source_folders.iter().flat_map(|folder| {
            self.extensions.iter().map(move |extension| match *folder {
                "" => format!("*.{extension}"),
                folder => format!("{folder}/**/*.{extension}"),
            })
        });
        Value::dict([
            ("id", self.id.into()),
            ("languages", texts(self.languages)),
            ("frameworks", texts(self.frameworks)),
            ("build_systems", texts(&[self.build_system])),
            ("anchors", texts(self.anchors)),
            ("lockfiles", texts(self.lockfiles)),
            ("source_globs", globs.map(Value::from).collect()),
            ("default_build_cmd", self.build_command.into_value()),
            ("default_test_cmd", self.test_command.into_value()),
        ])
    }

    /// Whether a file is one of its sources, by its path from the folder of the project.
    pub(super) fn has_source(&self, path: &str, extension: &str) -> bool {
        if !self.extensions.contains(&extension) {
            return false;
        }
        let top = path.split_once('/').map_or("", |(top, _)| top);
        // A pattern without a folder fits files everywhere.
        self.source_folders.contains(&"") || self.source_folders.contains(&top)
    }
}

/// Whether files of some names make a folder a project of its own.
pub(super) fn is_project<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    names.any(|name| {
        matches!(name, ".git" | "harn.toml")
            || KINDS
                .iter()
                .any(|kind| kind.anchors.contains(&name) || kind.lockfiles.contains(&name))
    })
}

fn texts(names: &[&str]) -> Value {
    names.iter().map(|name| Value::from(*name)).collect()
}

/// A text that may be missing.
trait IntoValue {
    fn into_value(self) -> Value;
}

impl IntoValue for Option<&str> {
    fn into_value(self) -> Value {
        self.map_or(Value::Nil, Value::from)
    }
}
