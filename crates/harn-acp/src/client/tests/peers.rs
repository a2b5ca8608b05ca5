//! Connections that come and go.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::super::Peers;
use super::{FakePeer, Reply, settle};
use crate::peer::Peer;

fn answering(answer: &'static str) -> Arc<FakePeer> {
    FakePeer::new(json!({}), move |_, _| Reply::Ok(json!(answer)))
}

#[tokio::test(start_paused = true)]
async fn whoever_came_last_or_works_with_the_session_is_asked() {
    let peers = Peers::new(Duration::ZERO);
    let first = answering("first") as Arc<dyn Peer>;
    let second = answering("second") as Arc<dyn Peer>;
    peers.attach(Arc::clone(&first));
    peers.attach(Arc::clone(&second));
    let asked = async || peers.ask("m", json!({}), |_| true).await;
    assert_eq!(asked().await, Ok(json!("second")));
    peers.prefer(&first);
    assert_eq!(asked().await, Ok(json!("first")));
    peers.detach(&first);
    assert_eq!(asked().await, Ok(json!("second")));
    peers.detach(&second);
    assert!(peers.find(|_| true).is_none());
    assert!(asked().await.is_err_and(|error| error.is_gone));
}

#[tokio::test(start_paused = true)]
async fn a_question_is_put_to_whoever_comes_back() {
    let peers = Peers::new(Duration::from_secs(300));
    peers.attach(FakePeer::new(json!({}), |_, _| Reply::Gone) as Arc<dyn Peer>);
    let asking = tokio::spawn({
        let peers = Arc::clone(&peers);
        async move { peers.ask("m", json!({}), |_| true).await }
    });
    settle().await;
    assert!(!asking.is_finished());
    peers.attach(answering("back") as Arc<dyn Peer>);
    assert_eq!(asking.await.expect("it ends"), Ok(json!("back")));
}

#[tokio::test(start_paused = true)]
async fn nobody_who_comes_back_in_time_is_nobody() {
    let peers = Peers::new(Duration::from_secs(300));
    peers.attach(FakePeer::new(json!({}), |_, _| Reply::Gone) as Arc<dyn Peer>);
    let began = tokio::time::Instant::now();
    let asked = peers.ask("m", json!({}), |_| true).await;
    assert!(asked.is_err_and(|error| error.is_gone));
    // The session is closed before, which ends its turn; a no would let it go on.
    let waited = began.elapsed().as_secs();
    assert!((301..320).contains(&waited), "{waited}");
}
