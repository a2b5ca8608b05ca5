//! The programs, and where they are.

use std::path::PathBuf;

/// Where the programs are, with everything else that is not Rust.
pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/vm");

/// The same work in several languages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The argument of a smoke test. Without an argument a program does its full work.
    smoke_size: usize,
}

/// What a program spends its time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Computing.
    Work,
    /// Waiting for the clock, so that the time of the processor says little.
    Sleep,
    /// Beginning and ending. Only Harn's program contains anything.
    Startup,
}

/// Everything the table shows.
pub(crate) const PROGRAMS: &[Program] = &[
    program("fib", 10),
    program("arithmetic", 100),
    program("comparison", 100),
    program("locals", 100),
    program("calls", 100),
    program("closures", 100),
    program("methods", 100),
    program("recursion", 2),
    program("list_iteration", 2),
    program("map_filter_reduce", 2),
    program("sort", 100),
    program("list_building", 100),
    program("dict_read", 2),
    program("dict_insert", 100),
    program("struct_fields", 100),
    program("interpolation", 100),
    program("string_building", 100),
    program("regex", 10),
    program("spawn_await", 200),
    program("channels", 100),
    Program {
        name: "parallel_sleep",
        kind: Kind::Sleep,
        smoke_size: 100,
    },
];

/// The smallest program.
pub(crate) const STARTUP: Program = Program {
    name: "startup",
    kind: Kind::Startup,
    smoke_size: 0,
};

const fn program(name: &'static str, smoke_size: usize) -> Program {
    Program {
        name,
        kind: Kind::Work,
        smoke_size,
    }
}

/// All names that `--only` knows.
pub(crate) fn names() -> Vec<&'static str> {
    let all = PROGRAMS.iter().chain([&STARTUP]);
    all.map(|program| program.name).collect()
}

impl Program {
    /// The file in one language, if there is one.
    pub(crate) fn file(&self, extension: &str) -> Option<PathBuf> {
        let file = match (self.kind, extension) {
            (Kind::Startup, "harn") => "startup/hello.harn".to_string(),
            (Kind::Startup, _) => format!("startup/empty.{extension}"),
            (Kind::Work | Kind::Sleep, _) => format!("programs/{}.{extension}", self.name),
        };
        let path = PathBuf::from(FOLDER).join(file);
        path.is_file().then_some(path)
    }

    /// The argument it is given.
    pub(crate) fn size(&self, smoke: bool) -> Option<usize> {
        (smoke && self.kind != Kind::Startup).then_some(self.smoke_size)
    }

    /// How often it is run for each round that is asked for. The start takes a hundredth of
    /// the time of the others, and is asked about to a fraction of a millisecond.
    pub(crate) fn rounds_each(&self) -> usize {
        match self.kind {
            Kind::Work | Kind::Sleep => 1,
            Kind::Startup => 10,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use harn_check::{CheckOptions, Imported, check_types};
    use harn_syntax::{FormatOptions, format, parse};

    use super::*;

    #[test]
    fn every_program_exists_in_every_language_that_can() {
        for program in PROGRAMS.iter().chain([&STARTUP]) {
            for extension in ["harn", "lua", "py", "js"] {
                // Lua cannot sleep.
                let is_missing = program.name == "parallel_sleep" && extension == "lua";
                let is_there = program.file(extension).is_some();
                assert_eq!(is_there, !is_missing, "{}.{extension}", program.name);
            }
        }
    }

    #[test]
    fn every_file_belongs_to_a_program() {
        for entry in fs::read_dir(Path::new(FOLDER).join("programs")).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            assert!(names().contains(&stem), "{}", path.display());
        }
    }

    #[test]
    fn there_is_nothing_to_say_about_the_harn_programs() {
        let mut files: Vec<PathBuf> = PROGRAMS
            .iter()
            .chain([&STARTUP])
            .map(|program| program.file("harn").unwrap())
            .collect();
        files.push(Path::new(FOLDER).join("memory/idle_fibers.harn"));
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let parsed = parse(&text);
            assert_eq!(parsed.errors, [], "{}", file.display());
            let found = check_types(
                &parsed.module,
                &Imported::default(),
                CheckOptions::default(),
            );
            assert_eq!(found, [], "{}", file.display());
            let formatted = format(&text, &FormatOptions::default());
            assert_eq!(formatted.unwrap(), text, "{}", file.display());
        }
    }
}
