//! What all fibers of an isolate share.

use std::rc::Rc;

use hashbrown::HashMap;

use crate::budget::Budget;
use crate::closure::Closure;
use crate::code::Source;
use crate::context::{Context, LibraryState};
use crate::effects::{Answer, Effects, Request};
use crate::exports::Exports;
use crate::fault::{Failure, Fault};
use crate::fiber::Strand;
use crate::methods::Methods;
use crate::registry::Registry;
use crate::run::Group;
use crate::scheduler::Scheduler;
use crate::sync::{FiberId, Task};
use crate::value::Value;

/// What all fibers of an isolate share.
pub(crate) struct Machine {
    /// The top-level values of all files.
    pub(crate) globals: Vec<Value>,
    pub(crate) registry: Rc<Registry>,
    pub(crate) methods: Methods,
    pub(crate) scheduler: Scheduler,
    pub(crate) effects: Box<dyn Effects>,
    pub(crate) library: LibraryState,
    pub(crate) exports: Exports,
    /// The functions of the library that were used, by file and name.
    pub(crate) library_functions: HashMap<(&'static str, &'static str), Rc<Closure>>,
    /// The functions of each file that were found by name, for pipes into a text.
    pub(crate) names: Vec<HashMap<String, u32>>,
    /// Which of these are the names of the file that the program starts with.
    pub(crate) entry_module: Option<u32>,
    pub(crate) interner: crate::compile::Interner,
    /// The files whose lines are counted, if they are.
    pub(crate) covered: Option<Vec<Rc<Source>>>,
    /// Whether the program wants to see spans.
    pub(crate) is_traced: bool,
}

impl Machine {
    /// What a builtin sees that is called by a strand from a file, so deep in its calls.
    pub(crate) fn context<'a>(
        &'a mut self,
        strand: &'a mut Strand,
        source: &'a Rc<Source>,
        depth: u32,
    ) -> Context<'a> {
        Context {
            effects: &mut *self.effects,
            library: &mut self.library,
            exports: &mut self.exports,
            scheduler: &mut self.scheduler,
            strand,
            source,
            depth,
            refusal: None,
        }
    }

    /// What the program may still use.
    #[inline]
    pub(crate) fn budget(&mut self) -> &mut Budget {
        &mut self.scheduler.budget
    }

    /// Stops all tasks of a group.
    pub(crate) fn stop_group(&mut self, group: &Rc<Group>) {
        group.backlog.borrow_mut().clear();
        for task in group.tasks.take() {
            self.stop_task(&task);
        }
    }

    /// Stops a task where it is.
    pub(crate) fn stop_task(&mut self, task: &Rc<Task>) {
        for effect in self.scheduler.stop(task) {
            self.effects.cancel(effect);
        }
    }

    /// Stops the fiber of a call from outside where it is.
    pub(crate) fn stop_call(&mut self, fiber: FiberId) {
        for effect in self.scheduler.stop_fiber(fiber) {
            self.effects.cancel(effect);
        }
    }

    /// Milliseconds of the clock that fibers sleep by.
    pub(crate) fn elapsed(&mut self) -> i64 {
        match self.effects.perform(&Request::Elapsed) {
            Answer::Number(now) => now,
            _ => 0,
        }
    }

    /// A function of the library, compiled when it is wanted for the first time.
    pub(crate) fn library_function(
        &mut self,
        file: &'static str,
        function: &'static str,
    ) -> Result<Rc<Closure>, Failure> {
        if let Some(known) = self.library_functions.get(&(file, function)) {
            return Ok(known.clone());
        }
        crate::load::load_library_file(self, file)?;
        let found = self.library_functions.get(&(file, function));
        found.cloned().ok_or_else(|| {
            Fault::runtime(format!(
                "the library file `{file}` has no function `{function}`"
            ))
        })
    }
}
