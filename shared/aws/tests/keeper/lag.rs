//! Indexes that lag behind the table.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_dynamodb::config::interceptors::{
    BeforeSerializationInterceptorContextMut, BeforeSerializationInterceptorContextRef,
    FinalizerInterceptorContextMut,
};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept};
use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::operation::query::{QueryInput, QueryOutput};
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use switchboard_aws::keeper::KeeperIntervals;
use switchboard_core::time::Clock;
use switchboard_testkit::clock::HandClock;

use crate::fuse::with;
use crate::scene::{PLENTY, Scene, minutes};
use crate::support::START;

/// How long an index takes to show what was written.
const LAG: Duration = Duration::from_mins(1);

/// Hides the events of the last minute from the index of recent events.
#[derive(Clone, Debug)]
struct Late(Arc<HandClock>);

impl Intercept for Late {
    fn name(&self) -> &'static str {
        "late"
    }

    fn modify_before_serialization(
        &self,
        context: &mut BeforeSerializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Some(query) = context.input_mut().downcast_mut::<QueryInput>() else {
            return Ok(());
        };
        if query.index_name.as_deref() != Some("recent") {
            return Ok(());
        }
        let lag = i64::try_from(LAG.as_millis())?;
        let shown = format!("{:013}~", self.0.now().millis() - lag);
        let values = query.expression_attribute_values.as_mut();
        let values = values.ok_or("a query has values")?;
        let first = values.get(":first").and_then(|value| value.as_s().ok());
        let first = first.cloned().ok_or("a walk begins somewhere")?;
        let end = values.get(":end").and_then(|value| value.as_s().ok());
        let end = end.cloned().ok_or("a walk has an end")?;
        // A range that ends before it begins is refused; at its beginning there is nothing.
        let end = end.min(shown).max(first);
        values.insert(":end".to_owned(), AttributeValue::S(end));
        Ok(())
    }
}

/// Events come every 7 seconds, a keeper every minute, at these distances; how many deliveries it found.
async fn found(near: Duration, far: Duration) -> (u32, u32) {
    let scene = Scene::new().await;
    let clients = with(
        &scene.ground.clients,
        &Late(Arc::clone(&scene.ground.clock)),
    );
    let intervals = KeeperIntervals {
        near,
        far,
        ..KeeperIntervals::default()
    };
    let (mut stored, mut found) = (0, 0);
    for second in 0..600 {
        if second % 7 == 0 && second < 240 {
            let event = scene.event(&second.to_string());
            scene.accept_cut(&event, &["chat"]).await;
            stored += 1;
        }
        if second % 60 == 0 {
            let keeper = scene.keeper_with(&clients, intervals);
            let kept = keeper.run(scene.now(), PLENTY).await;
            assert_eq!(kept.failed, []);
            found += kept.near.queued + kept.far.queued;
        }
        scene.advance(Duration::from_secs(1));
    }
    (stored, found)
}

#[tokio::test]
async fn the_distance_of_the_walks_is_more_than_an_index_lags() {
    let usual = KeeperIntervals::default();
    let (stored, all) = found(usual.near, usual.far).await;
    assert_eq!((stored, all), (35, 35));
    let (stored, some) = found(LAG / 2, LAG / 2).await;
    assert!(some < stored, "a walk too close to the present loses some");
    let (stored, all) = found(LAG / 2, minutes(4)).await;
    assert_eq!(
        (stored, all),
        (35, 35),
        "the far one finds what the near one lost"
    );
}

/// Shows of the waiting deliveries what the one query before saw.
#[derive(Clone, Debug, Default)]
struct Stale(Arc<Mutex<Shown>>);

#[derive(Debug, Default)]
struct Shown {
    /// The part that is being asked for.
    asked: Option<AttributeValue>,
    /// What each part held when it was last asked for.
    held: Vec<(AttributeValue, QueryOutput)>,
}

impl Intercept for Stale {
    fn name(&self) -> &'static str {
        "stale"
    }

    fn read_before_execution(
        &self,
        context: &BeforeSerializationInterceptorContextRef<'_>,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let query = context.input().downcast_ref::<QueryInput>();
        let query = query.filter(|query| query.index_name.as_deref() == Some("waiting"));
        let part = query.and_then(|query| query.expression_attribute_values.as_ref()?.get(":p"));
        self.0.lock().expect("a lock").asked = part.cloned();
        Ok(())
    }

    fn modify_before_completion(
        &self,
        context: &mut FinalizerInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let mut shown = self.0.lock().expect("a lock");
        let Some(part) = shown.asked.take() else {
            return Ok(());
        };
        let Some(Ok(output)) = context.output_or_error_mut() else {
            return Ok(());
        };
        let output = output.downcast_mut::<QueryOutput>();
        let output = output.ok_or("a query answers so")?;
        let at = shown.held.iter().position(|(of, _)| *of == part);
        let before = at.map_or_else(
            || QueryOutput::builder().build(),
            |at| shown.held.remove(at).1,
        );
        let now = std::mem::replace(output, before);
        shown.held.push((part, now));
        Ok(())
    }
}

#[tokio::test]
async fn a_delivery_that_an_index_still_shows_as_overdue_gets_no_second_hint() {
    let scene = Scene::new().await;
    let clients = with(&scene.ground.clients, &Stale::default());
    let planned = scene.accept(&scene.event("1001"), &["chat"]).await;
    let key = &planned[0].key;
    let attempt = scene.go(key, START).await;
    scene.record_cut(&attempt, scene.now()).await;
    scene.drain_hints().await;
    scene.advance(minutes(2));
    let mut queued = Vec::new();
    for _ in 0..12 {
        let kept = scene.keeper(&clients).run(scene.now(), PLENTY).await;
        assert_eq!(kept.failed, []);
        queued.push(kept.overdue);
        scene.advance(minutes(1));
    }
    // The index shows a minute late: in minutes 1 and 12 it is found, in minute 2 it is shown again.
    assert_eq!(queued, [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let kept = scene.keeper(&clients).run(scene.now(), PLENTY).await;
    assert_eq!(kept.overdue, 1, "its next look");
}
