//! A template as a list of steps.
//!
//! Rendering may take long: a loop can go over billions of numbers. So it has to be possible
//! to stop in the middle and go on later, which is easy with a list and a position in it and
//! hard with a walk over a tree.
//!
//! ```text
//! {{ if a }} x {{ else }} y {{ end }}      {{ for v in e }} x {{ else }} y {{ end }}
//!
//!   0  unless a: go to 4                     0  begin a loop over e; if empty: go to 4
//!   1  begin a span                          1  x
//!   2  x                                     2  next turn: go to 1
//!   3  end the span, go to 7                 3  go to 5
//!   4  begin a span                          4  y
//!   5  y                                     5  …
//!   6  end the span
//!   7  …
//! ```

use harn_syntax::template::{Branch, Filtered, For, If, Include, LoopVariables, Node, NodeKind};
use harn_syntax::{Position, Template};
use smol_str::SmolStr;

/// A template as a list of steps.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
}

/// A step and the directive it belongs to.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) position: Position,
}

/// What is to be done.
#[derive(Debug)]
pub(super) enum Action {
    /// Copies.
    Text(SmolStr),
    /// Shows what a name is bound to, or the name in braces.
    Name(SmolStr),
    /// Shows a value.
    Value(Filtered),
    /// Goes elsewhere if a condition does not hold.
    Unless(Filtered, usize),
    /// Goes elsewhere.
    Jump(usize),
    /// Begins the first turn of a loop, or goes elsewhere if there are no items.
    Loop {
        variables: LoopVariables,
        items: Filtered,
        if_empty: usize,
    },
    /// Begins the next turn of the innermost loop at a step, if there is one.
    Again(usize),
    /// Renders another template.
    Include(Include),
    /// What follows comes from a branch of a conditional.
    BranchBegins,
    /// That is all that comes from it.
    BranchEnds,
}

impl Program {
    /// The steps of a template.
    pub(super) fn new(template: Template) -> Self {
        let mut program = Self::default();
        program.add_all(template.nodes);
        program
    }

    fn push(&mut self, action: Action, position: Position) -> usize {
        self.steps.push(Step { action, position });
        self.steps.len() - 1
    }

    /// Blocks nest to a bounded depth, so this may be recursive.
    fn add_all(&mut self, nodes: Vec<Node>) {
        for node in nodes {
            let action = match node.kind {
                NodeKind::Text(text) | NodeKind::Raw(text) => Action::Text(text),
                NodeKind::Name(name) => Action::Name(name),
                NodeKind::Value(value) => Action::Value(value),
                NodeKind::Include(include) => Action::Include(include),
                NodeKind::If(block) => {
                    self.add_if(block, node.position);
                    continue;
                }
                NodeKind::For(block) => {
                    self.add_for(block, node.position);
                    continue;
                }
            };
            self.push(action, node.position);
        }
    }

    fn add_if(&mut self, block: If, position: Position) {
        let mut exits = Vec::new();
        for Branch {
            condition,
            body,
            position,
        } in block.branches
        {
            let test = self.push(Action::Unless(condition, 0), position);
            self.add_branch(body, position);
            exits.push(self.push(Action::Jump(0), position));
            self.aim(test);
        }
        if !block.otherwise.is_empty() {
            self.add_branch(block.otherwise, position);
        }
        for exit in exits {
            self.aim(exit);
        }
    }

    fn add_branch(&mut self, body: Vec<Node>, position: Position) {
        self.push(Action::BranchBegins, position);
        self.add_all(body);
        self.push(Action::BranchEnds, position);
    }

    fn add_for(&mut self, block: For, position: Position) {
        let For {
            variables, items, ..
        } = block;
        let start = self.push(
            Action::Loop {
                variables,
                items,
                if_empty: 0,
            },
            position,
        );
        self.add_all(block.body);
        self.push(Action::Again(start + 1), position);
        let exit = self.push(Action::Jump(0), position);
        self.aim(start);
        self.add_all(block.otherwise);
        self.aim(exit);
    }

    /// Lets a step lead to what is added next.
    fn aim(&mut self, step: usize) {
        let next = self.steps.len();
        match &mut self.steps[step].action {
            Action::Unless(_, target) | Action::Jump(target) => *target = next,
            Action::Loop { if_empty, .. } => *if_empty = next,
            _ => {}
        }
    }
}
