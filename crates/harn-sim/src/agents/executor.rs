//! Runs several futures on one thread, one step at a time, in an order that the seed decides.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::random::Random;

/// Something to run.
pub(super) type Script<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Runs scripts to their end. Whose turn it is, the seed decides.
pub(super) struct Interleaved<'a> {
    tasks: Vec<Task<'a>>,
    random: Random,
}

struct Task<'a> {
    script: Script<'a>,
    bell: Arc<Bell>,
}

/// Rings when a task can go on.
struct Bell {
    rung: AtomicBool,
    driver: Mutex<Option<Waker>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.store(true, Ordering::SeqCst);
        let driver = self.driver.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = &*driver {
            driver.wake_by_ref();
        }
    }
}

impl<'a> Interleaved<'a> {
    pub(super) fn new(scripts: Vec<Script<'a>>, random: Random) -> Self {
        let task = |script| Task {
            script,
            bell: Arc::new(Bell {
                rung: AtomicBool::new(true),
                driver: Mutex::default(),
            }),
        };
        Self {
            tasks: scripts.into_iter().map(task).collect(),
            random,
        }
    }

    /// The number of a task that can go on.
    fn choose(&mut self) -> Option<usize> {
        let is_ready = |task: &Task<'_>| task.bell.rung.load(Ordering::SeqCst);
        let tasks = self.tasks.iter().enumerate();
        let ready: Vec<usize> = tasks
            .filter(|(_, task)| is_ready(task))
            .map(|(at, _)| at)
            .collect();
        (!ready.is_empty()).then(|| *self.random.pick(&ready))
    }
}

impl Future for Interleaved<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        for task in &self.tasks {
            let mut driver = task
                .bell
                .driver
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *driver = Some(context.waker().clone());
        }
        while let Some(at) = self.choose() {
            let task = &mut self.tasks[at];
            task.bell.rung.store(false, Ordering::SeqCst);
            let waker = Waker::from(Arc::clone(&task.bell));
            let polled = task.script.as_mut().poll(&mut Context::from_waker(&waker));
            if polled.is_ready() {
                drop(self.tasks.remove(at));
            }
        }
        match self.tasks.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

/// How a future ended.
pub(super) enum Ended<T> {
    /// It was ready.
    Ready(T),
    /// It was dropped in the middle.
    Dropped,
    /// It panicked, which nothing here may.
    Panicked(String),
}

/// Runs a future until it is done or `is_enough` says so; it is asked whenever the future waits.
pub(super) async fn run_until<F: Future>(
    future: F,
    mut is_enough: impl FnMut() -> bool,
) -> Ended<F::Output> {
    let mut future = Some(Box::pin(future));
    std::future::poll_fn(move |context| {
        let Some(running) = &mut future else {
            return Poll::Ready(Ended::Dropped);
        };
        let polled = catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(context)));
        match polled {
            Ok(Poll::Ready(output)) => Poll::Ready(Ended::Ready(output)),
            Err(panic) => Poll::Ready(Ended::Panicked(words_of(&*panic))),
            Ok(Poll::Pending) if is_enough() => {
                let dropped = catch_unwind(AssertUnwindSafe(|| future = None));
                Poll::Ready(match dropped {
                    Ok(()) => Ended::Dropped,
                    Err(panic) => Ended::Panicked(words_of(&*panic)),
                })
            }
            Ok(Poll::Pending) => Poll::Pending,
        }
    })
    .await
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without words".to_owned())
}

/// Waits once.
pub(super) async fn step_aside() {
    let mut has_waited = false;
    std::future::poll_fn(|context| match std::mem::replace(&mut has_waited, true) {
        true => Poll::Ready(()),
        false => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}
