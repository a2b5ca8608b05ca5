//! What the store and checkpoints have in common: values by key, in one file.

use std::marker::PhantomData;
use std::path::PathBuf;

use harn_machine::{Context, Failure, Fault, Holds, Value, take};

use super::kept::{Change, Kept, Trouble};
use crate::expect::text;

/// Which file it is.
pub(super) trait Shelf: 'static {
    /// What its errors begin with.
    const NAME: &'static str;

    /// Where it is.
    fn path(context: &mut Context<'_>) -> PathBuf;
}

/// What is on a shelf, once it was looked at.
struct OnShelf<S>(Option<Kept>, PhantomData<S>);

impl<S> Default for OnShelf<S> {
    fn default() -> Self {
        Self(None, PhantomData)
    }
}

impl<S: 'static> Holds for OnShelf<S> {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        let kept = self.0.iter().flat_map(Kept::iter);
        kept.for_each(|(_, value)| each(value));
    }
}

/// Does something with what is on a shelf. It is taken out meanwhile, and stays out if that
/// fails: then the file is read again the next time.
fn with<S: Shelf, T>(
    context: &mut Context<'_>,
    act: impl FnOnce(&mut Kept, &mut Context<'_>) -> Result<T, Trouble>,
) -> Result<T, Failure> {
    let known = context.holding::<OnShelf<S>>().0.take();
    let kept = match known {
        Some(kept) => Ok(kept),
        None => {
            let path = S::path(context);
            Kept::read(context, path)
        }
    };
    let mut kept = kept.map_err(failure::<S>)?;
    let done = act(&mut kept, context).map_err(failure::<S>)?;
    context.holding::<OnShelf<S>>().0 = Some(kept);
    Ok(done)
}

pub(super) fn failure<S: Shelf>(Trouble(what, reason): Trouble) -> Failure {
    Fault::runtime(format!("{} {what} error: {reason}", S::NAME))
}

/// Forgets what is known of a file that has changed.
pub(super) fn forget<S: Shelf>(context: &mut Context<'_>) {
    context.holding::<OnShelf<S>>().0 = None;
}

pub(super) fn change<S: Shelf>(
    context: &mut Context<'_>,
    change: &Change,
) -> Result<Value, Failure> {
    with::<S, _>(context, |kept, context| kept.change(context, change))?;
    Ok(Value::Nil)
}

pub(super) fn set<S: Shelf>(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let (key, value) = (text(arguments, 0), take(arguments, 1));
    change::<S>(context, &Change::Set(key, value))
}

pub(super) fn remove<S: Shelf>(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    change::<S>(context, &Change::Remove(text(arguments, 0)))
}

pub(super) fn get<S: Shelf>(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let key = text(arguments, 0);
    with::<S, _>(context, |kept, _| {
        Ok(kept.get(&key).cloned().unwrap_or_default())
    })
}

pub(super) fn exists<S: Shelf>(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let key = text(arguments, 0);
    with::<S, _>(context, |kept, _| Ok(kept.get(&key).is_some().into()))
}

pub(super) fn list<S: Shelf>(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    with::<S, _>(context, |kept, _| {
        Ok(kept.keys().map(|key| Value::Text(key.clone())).collect())
    })
}
