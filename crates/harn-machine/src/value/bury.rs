//! Dropping values that may be nested very deeply.
//!
//! A list that contains a list that contains … would be dropped by as many nested calls, and
//! a program can make one that is deeper than any stack. So whoever drops a container hands
//! what is in it to [`bury`], which keeps a list of what is left.

use std::rc::Rc;

use super::Value;
use crate::iterate::{Generator, Iter};
use crate::sync::{Channel, Task};

impl Value {
    /// Whether it can contain values that contain values.
    pub(crate) fn is_container(&self) -> bool {
        matches!(
            self,
            Self::List(_)
                | Self::Dict(_)
                | Self::Struct(_)
                | Self::Enum(_)
                | Self::Closure(_)
                | Self::Set(_)
                | Self::Pair(_)
                | Self::Iter(_)
                | Self::Generator(_)
                | Self::Task(_)
                | Self::Channel(_)
        )
    }
}

/// Drops values, and what is in them, without recursion.
pub(crate) fn bury(values: Vec<Value>) {
    let mut left = values;
    while let Some(value) = left.pop() {
        match value {
            Value::List(mut list) => left.extend(list.take_if_last().into_iter().flatten()),
            Value::Dict(mut dict) => dict.take_if_last(&mut left),
            Value::Set(mut set) => set.take_if_last(&mut left),
            Value::Struct(mut value) => {
                let body = Rc::get_mut(&mut value);
                left.extend(body.into_iter().flat_map(|body| body.values.drain(..)));
            }
            Value::Enum(mut value) => {
                let body = Rc::get_mut(&mut value);
                left.extend(body.into_iter().flat_map(|body| body.payload.drain(..)));
            }
            Value::Pair(mut pair) => {
                if let Some(pair) = Rc::get_mut(&mut pair) {
                    left.push(std::mem::take(&mut pair.first));
                    left.push(std::mem::take(&mut pair.second));
                }
            }
            Value::Closure(mut closure) => {
                let body = Rc::get_mut(&mut closure);
                left.extend(body.into_iter().flat_map(|body| body.captures.drain(..)));
            }
            Value::Iter(mut iter) => {
                let body = Rc::get_mut(&mut iter);
                left.extend(body.and_then(Iter::take_source));
            }
            Value::Generator(mut generator) => {
                let body = Rc::get_mut(&mut generator);
                left.extend(body.into_iter().flat_map(Generator::take_values));
            }
            Value::Channel(mut channel) => {
                let body = Rc::get_mut(&mut channel);
                left.extend(body.into_iter().flat_map(Channel::take_values));
            }
            Value::Task(mut task) => {
                let body = Rc::get_mut(&mut task);
                left.extend(body.and_then(Task::take_value));
            }
            _ => {}
        }
    }
}
