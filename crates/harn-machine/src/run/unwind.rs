//! Errors on their way to whoever catches them.

use crate::fault::{Failure, TraceStep};
use crate::fiber::{BOUNDARY, Fiber, Frame};
use crate::iterate::GeneratorState;
use crate::value::Value;

use super::call::leave;
use super::each;

/// Takes an error to the handler that is nearest, or gives it back if nobody handles it. The
/// frames' counters must be past the instructions that they are executing.
pub(crate) fn unwind(fiber: &mut Fiber, mut failure: Failure) -> Result<(), Failure> {
    if failure.line == 0 {
        failure.line = line(fiber);
    }
    while let Some(frame) = fiber.frames.last_mut() {
        let at = frame.pc.saturating_sub(1);
        if failure.is_catchable()
            && let Some(handler) = frame
                .closure
                .function
                .handlers
                .iter()
                .find(|handler| (handler.start..handler.end).contains(&at))
        {
            frame.pc = handler.target;
            let register = frame.base as usize + usize::from(handler.register);
            fiber.stack[register] = Value::Fault(std::rc::Rc::new(*failure));
            return Ok(());
        }
        trace(frame, at, &mut failure);
        let Some(frame) = leave(fiber) else {
            break;
        };
        if frame.flags & each::EACH != 0 {
            each::abandon(fiber, frame.base as usize);
        }
        if let Some(generator) = &frame.generator {
            generator.state.replace(GeneratorState::Done);
            fiber.woken.extend(generator.waiters.take());
        }
        if frame.flags & BOUNDARY != 0 {
            let outer = line(fiber);
            failure.annotate(outer);
        }
    }
    Err(failure)
}

/// Remembers where an error came through. The library does not show.
fn trace(frame: &Frame, at: u32, failure: &mut Failure) {
    let function = &frame.closure.function;
    if !function.is_library {
        failure.trace.push(TraceStep {
            function: function.name.clone(),
            source: function.source.clone(),
            offset: function.offsets.get(at as usize).copied().unwrap_or(0),
        });
    }
}

/// The line that the program is at, the library not counted.
fn line(fiber: &Fiber) -> u32 {
    let mut frames = fiber.frames.iter().rev();
    let Some(frame) = frames.find(|frame| !frame.closure.function.is_library) else {
        return 0;
    };
    let function = &frame.closure.function;
    let at = frame.pc.saturating_sub(1) as usize;
    let offset = function.offsets.get(at).copied().unwrap_or(0);
    let source = &function.source;
    source.lines.position(&source.text, offset).line
}
