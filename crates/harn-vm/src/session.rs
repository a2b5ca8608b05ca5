//! A conversation with the language: one entry after the other, as typed at a prompt.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use harn_check::modules::{Disk, SourceFile, Workspace};
use harn_check::{CheckOptions, Phase, analyse, inspect_types};
use harn_machine::{Failure, Fault, Isolate, Value};
use harn_syntax::tree::StatementKind;
use harn_syntax::{Diagnostic, Severity};

use crate::driver::{Outcome, drive};
use crate::program::{RunOptions, isolate};
use crate::skills::Skills;
use crate::world::Sink;

/// A conversation. Names, types and modules stay from one entry to the next.
pub struct Session {
    workspace: Workspace,
    isolate: Isolate,
    /// How many entries there were.
    count: usize,
    /// The declarations of entries that could be run, for what can be said about types.
    declarations: String,
    /// Their other statements.
    statements: String,
}

/// What came of an entry.
pub struct Typed {
    /// What the entry is called in messages.
    pub name: String,
    /// The entry as it was read.
    pub file: Arc<SourceFile>,
    /// What is wrong with it, or could be.
    pub diagnostics: Vec<Diagnostic>,
    /// The value of its last statement; `None` if it was not run.
    pub result: Option<Result<Value, Failure>>,
}

impl Session {
    /// A conversation that begins. Its time is not limited.
    pub fn new(options: &RunOptions, sink: Box<dyn Sink>) -> Self {
        let options = &options.judged();
        let skills = Skills::new(options);
        let mut isolate = isolate(options, sink, Vec::new(), &skills);
        skills.discover(&mut isolate, options, Path::new(""));
        Self {
            workspace: Workspace::new(Box::new(Disk)),
            isolate,
            count: 0,
            declarations: String::new(),
            statements: String::new(),
        }
    }

    /// Checks an entry and runs it.
    pub fn enter(&mut self, text: &str) -> Typed {
        self.count += 1;
        let name = format!("<{}>", self.count);
        let path = PathBuf::from(&name);
        self.workspace.set_text(&path, text);
        let file = match self.workspace.parsed(&path) {
            Ok(file) => file,
            Err(error) => {
                return Typed {
                    name,
                    file: SourceFile::of_text("").into(),
                    diagnostics: Vec::new(),
                    result: Some(Err(Fault::runtime(error.to_string()))),
                };
            }
        };
        let own = self.workspace.imported(&path);
        let imported = self.isolate.typed_so_far(&own);
        let analysis = analyse(&file, &imported, CheckOptions::default());
        let mut typed = Typed {
            name,
            file,
            diagnostics: analysis.diagnostics,
            result: None,
        };
        if analysis.phase == Phase::Run {
            typed.result = Some(self.run(&path));
            self.accept(&typed.file);
        }
        typed
    }

    fn accept(&mut self, file: &SourceFile) {
        for statement in &file.parsed.module.statements {
            let kept = match &statement.kind {
                StatementKind::Item(_) => &mut self.declarations,
                _ => &mut self.statements,
            };
            kept.push_str(statement.span.of(&file.text));
            kept.push('\n');
        }
    }

    fn run(&mut self, path: &Path) -> Result<Value, Failure> {
        let loaded = self.isolate.load_typed(&mut self.workspace, path);
        loaded.map_err(|error| Fault::runtime(format!("Compile error: {error}")))?;
        let ended = drive(&mut self.isolate, None);
        // Whoever typed it wants to see now what it wrote.
        self.isolate.effects().idle();
        match ended {
            Outcome::Ended(result) => result,
            Outcome::TimedOut => Err(Fault::runtime("timed out".to_owned())),
            Outcome::Interrupted => Err(Fault::runtime("interrupted".to_owned())),
        }
    }

    /// The names that were typed so far.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.isolate.typed_names()
    }

    /// The type of an expression, as far as one can tell without running it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn type_of(&mut self, expression: &str) -> Result<String, String> {
        // Only the variables of a body have types, so what was typed becomes one.
        let before = format!("{}pipeline it() {{\n{}", self.declarations, self.statements);
        let text = format!("{before}let it = {expression}\n}}\n");
        let path = PathBuf::from("<type>");
        self.workspace.set_text(&path, text);
        let parsed = self.workspace.parsed(&path);
        let file = parsed.map_err(|error| error.to_string())?;
        if let Some(error) = file.parsed.errors.first() {
            return Err(error.diagnostic.message.clone());
        }
        let module = &file.parsed.module;
        let imported = self.workspace.imported(&path);
        let checked = inspect_types(module, &imported, CheckOptions::default());
        let start = before.len() as u32;
        let errors = checked.diagnostics.iter();
        let mut errors = errors.filter(|one| one.severity == Severity::Error);
        if let Some(error) = errors.find(|one| one.span.start >= start) {
            return Err(error.message.clone());
        }
        let known = checked.type_at(start + "let ".len() as u32);
        Ok(known.map_or_else(|| "any".to_owned(), |(_, ty)| ty.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harn_machine::Stream;

    struct Silent;

    impl Sink for Silent {
        fn write(&mut self, _stream: Stream, _text: &str) {}

        fn flush(&mut self) {}
    }

    fn session() -> Session {
        Session::new(&RunOptions::default(), Box::new(Silent))
    }

    /// What is shown for each entry: its value, its error, or what is wrong with it.
    fn answers(entries: &[&str]) -> Vec<String> {
        let mut session = session();
        let answers = entries.iter().map(|text| {
            let typed = session.enter(text);
            match typed.result {
                Some(Ok(value)) => value.show(),
                Some(Err(failure)) => failure.text(),
                None => typed.diagnostics[0].message.clone(),
            }
        });
        answers.collect()
    }

    #[track_caller]
    fn check(entries: &[(&str, &str)]) {
        let (typed, expected): (Vec<_>, Vec<_>) = entries.iter().copied().unzip();
        assert_eq!(answers(&typed), expected);
    }

    #[test]
    fn the_value_of_the_last_statement_is_the_answer() {
        check(&[
            ("1 + 2", "3"),
            ("let a = 1\na + 1", "2"),
            ("let b = 1", "nil"),
            ("", "nil"),
            ("// nothing", "nil"),
            ("if true { 1 } else { 2 }", "1"),
        ]);
    }

    #[test]
    fn names_stay() {
        check(&[
            ("let a = 1", "nil"),
            ("var b = [a]", "nil"),
            ("b = b + [2]", "nil"),
            ("b", "[1, 2]"),
            ("fn double(n) { return n * 2 }", "nil"),
            ("double(b[1])", "4"),
            ("let {x, y} = {x: 1, y: 2}", "nil"),
            ("x + y", "3"),
        ]);
    }

    #[test]
    fn everything_can_be_declared_again() {
        check(&[
            ("let a = 1", "nil"),
            ("let a = a + 1", "nil"),
            ("a", "2"),
            ("fn f() { return \"old\" }", "nil"),
            ("fn g() { return f() }", "nil"),
            ("fn f() { return \"new\" }", "nil"),
            ("g()", "new"),
            ("let f = 3", "nil"),
            ("f", "3"),
        ]);
    }

    #[test]
    fn functions_share_the_variables_of_the_session() {
        check(&[
            ("var n = 0", "nil"),
            ("fn next() { n = n + 1\n return n }", "nil"),
            ("next()", "1"),
            ("next()", "2"),
            ("n = 10", "nil"),
            ("next()", "11"),
        ]);
    }

    /// There is no host to call one.
    #[test]
    fn pipelines_do_not_run() {
        check(&[
            ("let a = 1; pipeline p() { throw 1 }; a", "1"),
            ("pipeline q() { throw a }", "nil"),
        ]);
    }

    #[test]
    fn a_constant_stays_one() {
        let answers = answers(&["let a = 1", "a = 2", "a"]);
        assert!(answers[1].contains("immutable"), "{answers:?}");
        assert_eq!(answers[2], "1");
    }

    #[test]
    fn a_failure_leaves_what_was_before() {
        check(&[
            ("var a = 1", "nil"),
            ("a = 2\nthrow \"boom\"\na = 3", "Thrown: boom"),
            ("a", "2"),
            (
                "let b = throw_it()",
                "call target `throw_it` is not defined or imported",
            ),
        ]);
        let failed = answers(&["throw \"boom\"\nlet late = 1", "late"]);
        assert!(failed[1].contains("Undefined variable: late"), "{failed:?}");
    }

    #[test]
    fn types_stay() {
        check(&[
            ("struct Point { x: int, y: int }", "nil"),
            ("let p = Point { x: 1, y: 2 }", "nil"),
            ("p", "Point {x: 1, y: 2}"),
            (
                "impl Point { fn sum(self) { return self.x + self.y } }",
                "nil",
            ),
            ("p.sum()", "3"),
            ("enum Color { Red, Green }", "nil"),
            ("Color.Red == Color.Red", "true"),
            ("Color.Green", "Color.Green"),
        ]);
    }

    #[test]
    fn imports_stay() {
        let folder = tempfile::tempdir().unwrap();
        let module = folder.path().join("counter.harn");
        let text = "var n = 0\npub fn next() {\n  n = n + 1\n  return n\n}\n";
        std::fs::write(&module, text).unwrap();
        let import = format!("import {{ next }} from \"{}\"", module.display());
        check(&[
            (&import, "nil"),
            ("next()", "1"),
            ("fn twice() { return next() + next() }", "nil"),
            ("twice()", "5"),
            (&import, "nil"),
            ("next()", "4"),
        ]);
    }

    #[test]
    fn tasks_go_on_between_entries() {
        check(&[("let task = spawn { 1 + 1 }", "nil"), ("await(task)", "2")]);
    }

    #[test]
    fn types_of_expressions_are_told() {
        let mut session = session();
        session.enter("let a = 1\nlet names = [\"x\"]");
        let mut check = |expression: &str, expected: Result<&str, &str>| {
            let found = session.type_of(expression);
            assert_eq!(
                found.as_deref().map_err(String::as_str),
                expected,
                "{expression}"
            );
        };
        check("a", Ok("int"));
        check("a + 1.5", Ok("float"));
        check("names", Ok("list<string>"));
        check("json_parse(\"1\")", Ok("any"));
        check(
            "frobnicate(1)",
            Err("call target `frobnicate` is not defined or imported"),
        );
        assert!(session.type_of("1 +").is_err());
        assert!(session.names().eq(["a", "names"]));
    }
}
