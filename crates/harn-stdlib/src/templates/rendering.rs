//! Rendering: from a template and bindings to text.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Value};
use harn_syntax::Position;
use harn_syntax::template::{Filtered, Include, LoopVariables};
use smol_str::{SmolStr, format_smolstr};

use super::expression::{Trouble, filtered, is_true, wrong};
use super::files::{Found, calling_folder, locate, read};
use super::parsed::{parse, place};
use super::program::{Action, Program};
use super::provenance::{Origin, Spans};
use super::scope::{Items, Scopes};

/// How many files may be included in each other.
const INCLUDES_MAX: usize = 32;

/// A text that is being rendered.
pub(super) struct Rendering {
    /// The templates that are being rendered, each included by the one before.
    frames: Vec<Frame>,
    scopes: Scopes,
    text: String,
    /// Where its parts come from, if anybody wants to know.
    spans: Option<Spans>,
    /// What was read already.
    programs: HashMap<PathBuf, Rc<Program>>,
}

struct Frame {
    program: Rc<Program>,
    /// The next step.
    at: usize,
    /// Where it comes from, unless it is a text of the program.
    file: Option<PathBuf>,
    /// What was bound outside.
    scopes: usize,
}

impl Rendering {
    /// Begins to render a text that came from a file, or from the program.
    pub(super) fn new(
        context: &mut Context<'_>,
        text: &Text,
        file: Option<PathBuf>,
        bindings: Dict,
    ) -> Result<Self, Failure> {
        let program = parse(context, text, file.as_deref()).map_err(Fault::thrown)?;
        let frame = Frame {
            program,
            at: 0,
            file,
            scopes: 0,
        };
        Ok(Self {
            frames: vec![frame],
            scopes: Scopes::new(bindings),
            text: String::with_capacity(text.len()),
            spans: None,
            programs: HashMap::new(),
        })
    }

    /// Notes from here on where things come from.
    pub(super) fn note_spans(&mut self) {
        self.spans = Some(Spans::default());
    }

    /// The text, and where its parts come from.
    pub(super) fn finish(self) -> (String, Option<Spans>) {
        (self.text, self.spans)
    }

    /// Takes so many steps at most; whether the end was reached.
    pub(super) fn advance(
        &mut self,
        context: &mut Context<'_>,
        steps: usize,
    ) -> Result<bool, Failure> {
        for _ in 0..steps {
            let Some(frame) = self.frames.last_mut() else {
                return Ok(true);
            };
            let program = frame.program.clone();
            let Some(step) = program.steps.get(frame.at) else {
                self.leave();
                continue;
            };
            frame.at += 1;
            if let Err(trouble) = self.take(context, &step.action, step.position) {
                return Err(self.failure(trouble, step.position));
            }
        }
        Ok(self.frames.is_empty())
    }

    /// The template on top is at its end.
    fn leave(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.scopes.leave_to(frame.scopes);
        }
        if self.frames.len() == 1 {
            self.end_span();
        }
    }

    fn failure(&self, trouble: Trouble, position: Position) -> Failure {
        match trouble {
            Trouble::Failure(failure) => failure,
            Trouble::Message(message) => {
                let file = self.frames.last().and_then(|frame| frame.file.as_deref());
                let place = place(file);
                Fault::thrown(format!("{place}at {position}: {message}"))
            }
        }
    }

    fn take(
        &mut self,
        context: &mut Context<'_>,
        action: &Action,
        position: Position,
    ) -> Result<(), Trouble> {
        match action {
            Action::Text(text) => self.write(context, Origin::Text, position, text, None)?,
            Action::Name(name) => self.name(context, name, position)?,
            Action::Value(value) => {
                let value = self.evaluate(context, value)?;
                self.show(context, Origin::Value, position, &value)?;
            }
            Action::Unless(condition, target) => {
                if !is_true(&self.evaluate(context, condition)?) {
                    self.jump(*target);
                }
            }
            Action::Jump(target) => self.jump(*target),
            Action::Loop {
                variables,
                items,
                if_empty,
            } => {
                if !self.enter_loop(context, variables, items, position)? {
                    self.jump(*if_empty);
                }
            }
            Action::Again(start) => {
                self.end_span();
                if self.scopes.next_turn() {
                    self.begin_turn(position);
                    self.jump(*start);
                }
            }
            Action::Include(include) => self.include(context, include, position)?,
            Action::BranchBegins => self.begin_span(Origin::Branch, position, None),
            Action::BranchEnds => self.end_span(),
        }
        Ok(())
    }

    fn jump(&mut self, target: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = target;
        }
    }

    fn evaluate(&self, context: &mut Context<'_>, value: &Filtered) -> Result<Value, Trouble> {
        filtered(value, &self.scopes, &mut |bytes| context.reserve(bytes))
    }

    /// What a name is bound to, or the name in braces.
    fn name(
        &mut self,
        context: &mut Context<'_>,
        name: &SmolStr,
        position: Position,
    ) -> Result<(), Trouble> {
        match self.scopes.get(name) {
            Some(value) => self.show(context, Origin::Name, position, &value),
            None => {
                let text = format!("{{{{{name}}}}}");
                self.write(context, Origin::Name, position, &text, None)
            }
        }
    }

    fn show(
        &mut self,
        context: &mut Context<'_>,
        origin: Origin,
        position: Position,
        value: &Value,
    ) -> Result<(), Trouble> {
        match value {
            Value::Nil => self.write(context, origin, position, "", None),
            Value::Text(text) => {
                let bound = self.spans.is_some().then(|| value.clone());
                self.write(context, origin, position, text, bound)
            }
            Value::Int(number) if self.spans.is_none() => {
                let text = format_smolstr!("{number}");
                self.write(context, origin, position, &text, None)
            }
            value => {
                let text = value.show();
                let bound = self.spans.is_some().then(|| text.as_str().into());
                self.write(context, origin, position, &text, bound)
            }
        }
    }

    fn write(
        &mut self,
        context: &mut Context<'_>,
        origin: Origin,
        position: Position,
        text: &str,
        bound: Option<Value>,
    ) -> Result<(), Trouble> {
        let needed = self.text.len().saturating_add(text.len());
        if needed > self.text.capacity() {
            let room = needed.max(self.text.capacity().saturating_mul(2));
            context.reserve(room)?;
            self.text.reserve(room - self.text.len());
        }
        self.begin_span(origin, position, bound);
        self.text.push_str(text);
        if let Some(spans) = &mut self.spans {
            spans.grow(text);
        }
        self.end_span();
        Ok(())
    }

    /// Begins the first turn of a loop; whether there is one.
    fn enter_loop(
        &mut self,
        context: &mut Context<'_>,
        variables: &LoopVariables,
        items: &Filtered,
        position: Position,
    ) -> Result<bool, Trouble> {
        let value = self.evaluate(context, items)?;
        let name = value.type_name();
        let Some(items) = Items::of(value) else {
            return wrong(format!(
                "cannot iterate over {name} — expected list, dict, set, or range"
            ));
        };
        let enters = items.len() > 0;
        if enters {
            self.scopes.enter_loop(variables.clone(), items);
            self.begin_turn(position);
        }
        Ok(enters)
    }

    fn begin_turn(&mut self, position: Position) {
        if self.spans.is_some() {
            let item = Value::Text(self.scopes.item().to_text());
            self.begin_span(Origin::Turn, position, Some(item));
        }
    }

    fn begin_span(&mut self, origin: Origin, position: Position, bound: Option<Value>) {
        // Places in an included file would mean nothing: only the include itself is noted.
        if self.frames.len() == 1
            && let Some(spans) = &mut self.spans
        {
            spans.begin(origin, position, bound);
        }
    }

    fn end_span(&mut self) {
        if self.frames.len() == 1
            && let Some(spans) = &mut self.spans
        {
            spans.end();
        }
    }

    fn include(
        &mut self,
        context: &mut Context<'_>,
        include: &Include,
        position: Position,
    ) -> Result<(), Trouble> {
        let name = match self.evaluate(context, &include.path)? {
            Value::Text(name) => name,
            other => {
                let name = other.type_name();
                return wrong(format!("include path must be a string (got {name})"));
            }
        };
        let mut bindings = Vec::with_capacity(include.bindings.len());
        for binding in &include.bindings {
            let value = self.evaluate(context, &binding.value)?;
            bindings.push((binding.key.clone(), value));
        }
        let path = self.find(context, &name)?;
        self.check_chain(&path)?;
        let program = self.program(context, &path)?;
        self.begin_span(Origin::Include, position, None);
        let scopes = self.scopes.depth();
        self.scopes.enter_with(bindings);
        self.frames.push(Frame {
            program,
            at: 0,
            file: Some(path),
            scopes,
        });
        Ok(())
    }

    /// Where an included template is. It is relative to the template that includes it and lies
    /// below the folder of the top one; a text of the program is where its function is.
    fn find(&self, context: &mut Context<'_>, name: &str) -> Result<PathBuf, Trouble> {
        let calling = calling_folder(context);
        let folder_of = |frame: Option<&Frame>| {
            let file = frame.and_then(|frame| frame.file.as_deref());
            file.and_then(Path::parent).unwrap_or(&calling).to_owned()
        };
        let (folder, root) = (
            folder_of(self.frames.last()),
            folder_of(self.frames.first()),
        );
        let found = locate(context, name, &folder, &calling);
        let Found { path, is_asset } = found.map_err(Trouble::Message)?;
        if !is_asset && !path.starts_with(&root) {
            let (path, root) = (path.display(), root.display());
            return wrong(format!("include path {path} escapes template root {root}"));
        }
        Ok(path)
    }

    /// A file must not include itself, nor be included too deeply.
    fn check_chain(&self, path: &Path) -> Result<(), Trouble> {
        let files = self.frames.iter().filter_map(|frame| frame.file.as_deref());
        let mut chain: Vec<&Path> = files.collect();
        if chain.contains(&path) {
            chain.push(path);
            let chain: Vec<_> = chain
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            let chain = chain.join(" → ");
            return wrong(format!("circular include detected: {chain}"));
        }
        match self.frames.len() > INCLUDES_MAX {
            true => wrong(format!("include depth exceeded ({INCLUDES_MAX} levels)")),
            false => Ok(()),
        }
    }

    fn program(&mut self, context: &mut Context<'_>, path: &Path) -> Result<Rc<Program>, Trouble> {
        if let Some(known) = self.programs.get(path) {
            return Ok(known.clone());
        }
        let text = read(context, path).map_err(|reason| {
            let path = path.display();
            Trouble::Message(format!("failed to read included template {path}: {reason}"))
        })?;
        let program = parse(context, &text.into(), Some(path));
        let program = program.map_err(|message| Trouble::Failure(Fault::thrown(message)))?;
        self.programs.insert(path.to_owned(), program.clone());
        Ok(program)
    }
}
