//! The stories: each brings a Switchboard to a fail point, and says what must hold when it is started again.

mod backup;
mod counting;
mod expiry;
mod many;
mod opening;
mod operators;
mod posting;
mod receivers;

use switchboard_tests::setting;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Start;

use crate::book::{Book, Manner};
use crate::death::Death;

/// What is going on when it dies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Story {
    /// Events are posted and delivered.
    Posting,
    /// What is posted is refused.
    Refused,
    /// The store takes nothing for a while, and then takes events again.
    Counting,
    /// The destination of many deliveries is not configured any more.
    Burying,
    /// A destination is held while events for it come in.
    Holding,
    /// A destination is held that many deliveries wait for.
    Shelving,
    /// An operator asks for something.
    Wishing(Wish),
    /// An operator sends so many dead letters again.
    Redriving(u32),
    /// An operator replays so many events.
    Replaying(u32),
    /// An operator releases so many deliveries.
    Releasing(u32),
    /// An operator clears your endpoint, with so many copies open.
    Clearing(u32),
    /// So many deliveries are held of a destination that is not.
    Recovering(u32),
    /// Many events are past their life.
    Expiring,
    /// A fresh folder is opened.
    Opening,
    /// The first version's folder is opened.
    Upgrading,
    /// The admin token is made.
    Token,
    /// It is asked to end.
    Stopping,
    /// A backup is made while it serves.
    BackingUp,
    /// The built-in sample delivers to its own receivers.
    Sample,
    /// A receiver gets again what it has applied.
    SampleCopy,
}

/// What an operator asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wish {
    Hold,
    Release,
    SetEndpoint,
    RotateEndpoint,
    ClearEndpoint,
}

/// Tells a story to its end.
pub(crate) async fn tell(story: Story, death: Death) {
    match story {
        Story::Posting => posting::posting(death).await,
        Story::Counting => counting::counting(death).await,
        Story::Releasing(held) => many::releasing(death, held).await,
        Story::Clearing(open) => many::clearing(death, open).await,
        Story::Refused => posting::refused(death).await,
        Story::Shelving => many::shelving(death).await,
        Story::Upgrading => opening::upgrading(death).await,
        Story::Burying => many::burying(death).await,
        Story::Holding => operators::holding(death).await,
        Story::Wishing(wish) => operators::wishing(death, wish).await,
        Story::Redriving(dead) => many::redriving(death, dead).await,
        Story::Replaying(events) => many::replaying(death, events).await,
        Story::Recovering(held) => many::recovering(death, held).await,
        Story::Expiring => expiry::expiring(death).await,
        Story::Opening => opening::opening(death).await,
        Story::Token => opening::token(death).await,
        Story::Stopping => opening::stopping(death).await,
        Story::BackingUp => backup::backing_up(death).await,
        Story::Sample => receivers::sample(death).await,
        Story::SampleCopy => receivers::copy(death).await,
    }
}

/// Destinations that keep a book, and how a Switchboard that delivers to them is started.
pub(crate) struct Scene {
    pub(crate) sink: Sink,
    pub(crate) book: Book,
    pub(crate) start: Start,
}

impl Scene {
    pub(crate) async fn new(manner: Manner) -> Self {
        let (sink, book) = (Sink::start().await, Book::default());
        book.keep(&sink, manner);
        let start = setting::start(&setting::configuration(&sink));
        Self { sink, book, start }
    }
}
