//! Waits for several futures at once.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// A future that one can wait for together with others.
pub type Joined<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Waits for all of them; gives what they give, in their order.
pub async fn join<T>(mut futures: Vec<Joined<'_, T>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut is_waiting = false;
        for (future, slot) in futures.iter_mut().zip(&mut done) {
            if slot.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(result) => *slot = Some(result),
                    Poll::Pending => is_waiting = true,
                }
            }
        }
        match is_waiting {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    })
    .await;
    done.into_iter().flatten().collect()
}
