//! Statements one behind the other, without a wait between them.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

/// Begins all of the work in order, then answers the results in the same order. The server gets it in this order, all in
/// one round trip.
pub async fn in_order<F: Future>(work: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut begun: Vec<Pin<Box<F>>> = work.map(Box::pin).collect();
    let mut results: Vec<Option<F::Output>> = Vec::with_capacity(begun.len());
    poll_fn(|context| {
        for work in &mut begun {
            results.push(match work.as_mut().poll(context) {
                Poll::Ready(result) => Some(result),
                Poll::Pending => None,
            });
        }
        Poll::Ready(())
    })
    .await;
    let mut all = Vec::with_capacity(begun.len());
    for (work, result) in begun.into_iter().zip(results) {
        all.push(match result {
            Some(result) => result,
            None => work.await,
        });
    }
    all
}

/// Does two things at a time, the first one begun first, so that both go out together and in this order.
pub async fn pair<A: Future, B: Future>(first: A, second: B) -> (A::Output, B::Output) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let (mut one, mut other) = (None, None);
    poll_fn(|context| {
        if one.is_none()
            && let Poll::Ready(result) = first.as_mut().poll(context)
        {
            one = Some(result);
        }
        if other.is_none()
            && let Poll::Ready(result) = second.as_mut().poll(context)
        {
            other = Some(result);
        }
        match (one.take(), other.take()) {
            (Some(one), Some(other)) => Poll::Ready((one, other)),
            (left, right) => {
                (one, other) = (left, right);
                Poll::Pending
            }
        }
    })
    .await
}
