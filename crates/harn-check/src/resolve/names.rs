//! Which names are visible, and what they stand for.
//!
//! All bindings of a name are on one stack, the innermost on top, so looking one up costs the
//! same however many scopes there are.

use std::collections::HashMap;

use smol_str::SmolStr;

use super::{Capture, Declared, Frame, FrameId, FrameKind, Place, Role, TopName};

/// A binding that is visible.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    frame: FrameId,
    /// The scope it is in, counted from the outermost.
    scope: usize,
    place: Place,
    pub(super) is_mutable: bool,
    /// Whether its place may be empty: a function that control has not passed, or something
    /// that a host may or may not provide.
    pub(super) may_be_empty: bool,
    /// Whether it is a function with a name.
    pub(super) is_function: bool,
    /// Whether it was bound before this file, so that it can be bound again.
    is_earlier: bool,
}

/// How a binding comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Let,
    /// Also the variable of a loop, which each iteration binds anew.
    Var,
    /// A function, announced when its block begins and there when control passes it.
    Function,
    /// Given by a host, or not.
    Offered,
    /// Typed before, and whether it may be assigned.
    Earlier(bool),
}

struct Scope {
    /// The names it binds, to be forgotten with it.
    names: Vec<SmolStr>,
    /// The slot that was free when it began.
    first_slot: u32,
    /// The scope that counts as the same when a name is bound again.
    same_as: usize,
    /// Whether its slots stay in use until the frame ends.
    keeps_slots: bool,
}

/// What is visible where the walk is.
pub(super) struct Names {
    role: Role,
    stacks: HashMap<SmolStr, Vec<Entry>>,
    scopes: Vec<Scope>,
    pub(super) frames: Vec<Frame>,
    pub(super) top: Vec<TopName>,
    /// The frames around, the innermost last, each with its next free slot.
    around: Vec<(FrameId, u32)>,
    /// What a frame has captured, by where it is in the frame around.
    captured: HashMap<(FrameId, Source), u32>,
    /// The slot that was set aside for the name that is just being bound.
    reserved: Option<u32>,
}

/// A place that can be captured.
type Source = (u8, u32);

impl Names {
    /// Nothing is bound, and we are in the file itself.
    pub(super) fn new(role: Role) -> Self {
        let mut names = Self {
            role,
            stacks: HashMap::new(),
            scopes: Vec::new(),
            frames: Vec::new(),
            top: Vec::new(),
            around: Vec::new(),
            captured: HashMap::new(),
            reserved: None,
        };
        names.enter_frame(FrameKind::Top, 0);
        names
    }

    fn frame(&self) -> FrameId {
        self.around.last().expect("the file is a frame").0
    }

    pub(super) fn enter_frame(&mut self, kind: FrameKind, start: u32) -> FrameId {
        let id = FrameId(narrow(self.frames.len()));
        self.frames.push(Frame {
            kind,
            parent: self.around.last().map(|(parent, _)| *parent),
            start,
            slots: 0,
            captures: Vec::new(),
        });
        self.around.push((id, 0));
        self.open();
        id
    }

    pub(super) fn leave_frame(&mut self) {
        self.close();
        self.around.pop();
    }

    pub(super) fn open(&mut self) {
        let same_as = self.scopes.len();
        self.open_as(same_as);
    }

    /// Opens a scope that goes on with the one around it.
    pub(super) fn open_continued(&mut self) {
        let same_as = self.scopes.last().map_or(0, |scope| scope.same_as);
        self.open_as(same_as);
    }

    fn open_as(&mut self, same_as: usize) {
        let (_, first_slot) = *self.around.last().expect("the file is a frame");
        self.scopes.push(Scope {
            names: Vec::new(),
            first_slot,
            same_as,
            keeps_slots: false,
        });
    }

    /// What is visible here is needed at the end of the frame: a deferred block sees it.
    pub(super) fn keep_slots(&mut self) {
        for scope in self.scopes.iter_mut().rev() {
            if std::mem::replace(&mut scope.keeps_slots, true) {
                break;
            }
        }
    }

    /// Ends a scope. Its slots are free again.
    pub(super) fn close(&mut self) {
        let scope = self.scopes.pop().expect("every scope is opened first");
        for name in scope.names {
            self.stacks.get_mut(&name).and_then(Vec::pop);
        }
        if !scope.keeps_slots {
            self.around.last_mut().expect("the file is a frame").1 = scope.first_slot;
        }
    }

    /// A slot that nothing else uses until the scope ends.
    pub(super) fn fresh_slot(&mut self) -> u32 {
        let (frame, next) = self.around.last_mut().expect("the file is a frame");
        let slot = *next;
        *next += 1;
        let frame = &mut self.frames[frame.0 as usize];
        frame.slots = frame.slots.max(*next);
        slot
    }

    /// Sets a slot aside for a name while its value is looked at: the value may be put there
    /// piece by piece, so no scope inside it may use that slot.
    pub(super) fn reserve(&mut self) -> Option<u32> {
        let is_top = self.scopes.len() == 1;
        (!is_top).then(|| self.fresh_slot())
    }

    /// Binds a name in the innermost scope, to the slot that was set aside for it.
    pub(super) fn declare_in(&mut self, slot: Option<u32>, name: &SmolStr, kind: Kind) -> Declared {
        let (_, next) = self.around.last_mut().expect("the file is a frame");
        match slot {
            // Nothing after it is still in use.
            Some(slot) if *next == slot + 1 => *next = slot,
            slot => self.reserved = slot,
        }
        let declared = self.declare(name, kind);
        self.reserved = None;
        declared
    }

    /// Binds a name in the innermost scope.
    pub(super) fn declare(&mut self, name: &SmolStr, kind: Kind) -> Declared {
        match self.in_this_scope(name) {
            Some(old) if kind == Kind::Function => match old.is_function && old.may_be_empty {
                true => self.pass(name),
                false => Declared::Again,
            },
            Some(old) if !old.is_mutable && !old.may_be_empty && kind == Kind::Let => {
                Declared::Again
            }
            _ => Declared::In(self.bind(name, kind)),
        }
    }

    /// Binds a name in the innermost scope, whatever else it stands for there.
    pub(super) fn bind(&mut self, name: &SmolStr, kind: Kind) -> Place {
        let place = match self.scopes.len() {
            1 => self.new_top(name, false),
            _ => Place::Local(match self.reserved.take() {
                Some(slot) => slot,
                None => self.fresh_slot(),
            }),
        };
        self.bind_to(name, kind, place);
        place
    }

    /// A place at the top level.
    pub(super) fn new_top(&mut self, name: &SmolStr, is_imported: bool) -> Place {
        self.top.push(TopName {
            name: name.clone(),
            is_imported,
        });
        Place::Top(narrow(self.top.len() - 1))
    }

    pub(super) fn bind_to(&mut self, name: &SmolStr, kind: Kind, place: Place) {
        let entry = Entry {
            frame: self.frame(),
            scope: self.scopes.len() - 1,
            place,
            is_mutable: matches!(kind, Kind::Var | Kind::Earlier(true)),
            may_be_empty: matches!(kind, Kind::Function | Kind::Offered),
            is_function: kind == Kind::Function,
            is_earlier: matches!(kind, Kind::Earlier(_)),
        };
        let stack = self.stacks.entry(name.clone()).or_default();
        match stack.last_mut() {
            // The new binding replaces the old.
            Some(last) if last.scope == entry.scope => *last = entry,
            _ => {
                stack.push(entry);
                let scope = self.scopes.last_mut().expect("the file is a scope");
                scope.names.push(name.clone());
            }
        }
    }

    /// Control passes a function that was announced: from here on it is there.
    fn pass(&mut self, name: &SmolStr) -> Declared {
        let stack = self.stacks.get_mut(name);
        let entry = stack.and_then(|stack| stack.last_mut());
        let entry = entry.expect("it was found just now");
        entry.may_be_empty = false;
        Declared::In(entry.place)
    }

    /// What a name stands for in this very scope.
    pub(super) fn in_this_scope(&self, name: &SmolStr) -> Option<Entry> {
        let same_as = self.scopes.last().map_or(0, |scope| scope.same_as);
        let entry = self.stacks.get(name).and_then(|stack| stack.last());
        let entry = entry.copied().filter(|entry| !entry.is_earlier);
        entry.filter(|entry| entry.scope >= same_as)
    }

    /// A binding of a name: the innermost, or so many further out.
    pub(super) fn visible(&self, name: &str, further: usize) -> Option<Entry> {
        let stack = self.stacks.get(name)?;
        stack.iter().rev().nth(further).copied()
    }

    /// Where the frame we are in finds a binding. What is not its own it captures, and so do
    /// the frames in between.
    pub(super) fn reach(&mut self, entry: Entry, name: &SmolStr, is_assigned: bool) -> Place {
        let is_top = matches!(entry.place, Place::Top(_));
        // Functions of a file are found by name, wherever the use is, and only the first file
        // of a program does not share its variables.
        let is_shared = is_top && (entry.is_function || self.role != Role::Entry);
        if entry.frame == self.frame() || is_shared {
            return entry.place;
        }
        let owner = self
            .around
            .iter()
            .position(|(frame, _)| *frame == entry.frame);
        let first = owner.map_or(0, |owner| owner + 1);
        let mut place = entry.place;
        for at in first..self.around.len() {
            let is_assigned_here = is_assigned && at + 1 == self.around.len();
            let capture = Capture {
                name: name.clone(),
                from: place,
                is_late: entry.is_function,
                is_assigned: is_assigned_here,
            };
            place = self.capture(self.around[at].0, capture);
        }
        place
    }

    fn capture(&mut self, frame: FrameId, capture: Capture) -> Place {
        let captures = &mut self.frames[frame.0 as usize].captures;
        let source = source(capture.from);
        let at = *self.captured.entry((frame, source)).or_insert_with(|| {
            captures.push(Capture {
                is_assigned: false,
                ..capture.clone()
            });
            narrow(captures.len() - 1)
        });
        captures[at as usize].is_assigned |= capture.is_assigned;
        Place::Captured(at)
    }
}

fn source(place: Place) -> Source {
    match place {
        Place::Local(slot) => (0, slot),
        Place::Captured(at) => (1, at),
        Place::Top(at) => (2, at),
        Place::Global(_) | Place::Builtin(_) => unreachable!("they are everywhere"),
    }
}

/// There are fewer names in a file than bytes.
fn narrow(count: usize) -> u32 {
    u32::try_from(count).expect("a text is smaller than 4 GiB")
}
