//! The roles there are: a file and a row each.

use std::future::Future;
use std::io;

use clap::Subcommand;
use tokio::runtime::Builder;

use crate::{
    booked_sender, booked_sink, cold_start, floor_client, floor_function, floor_server, isolation,
    mix, package, seed, send, sink, viewers, warm,
};

/// What this process is.
#[derive(Subcommand)]
pub(crate) enum Role {
    /// Posts events over many connections, as fast as they are answered or at a rate, and says how it went.
    Send(send::Send),
    /// Posts a mixture of all that comes in everyday life, at a steady rate, and says each second how it went.
    Mix(mix::Mix),
    /// Pages that stand open, each reading the overview again and again.
    Viewers(viewers::Viewers),
    /// A destination that counts what comes, with a gate that can be shut.
    Sink(sink::Sink),
    /// The least that a durable ingress costs: checks the HMAC and appends the body to a file, synced in groups.
    FloorServer(floor_server::FloorServer),
    /// The least that a delivery costs: a loop of posts.
    FloorClient(floor_client::FloorClient),
    /// Fills a data folder with events that are delivered.
    Seed(seed::Seed),
    /// Senders that write down every answer 200, and send again what has none.
    BookedSender(booked_sender::BookedSender),
    /// Destinations that fail 30 of 100 requests and write down what they applied.
    BookedSink(booked_sink::BookedSink),
    /// Starts functions over and over, each for one invocation, and says how long that takes and where the time goes.
    ColdStart(cold_start::ColdStart),
    /// Invokes running functions over and over, and says what processor time an invocation takes.
    Warm(warm::Warm),
    /// Gives batches of hints to workers, some for a dead destination, and says when the others arrive at theirs.
    Isolation(isolation::Isolation),
    /// The least that a function costs: answers every invocation at once.
    FloorFunction(floor_function::FloorFunction),
    /// Makes a package of a function's binary and says how big it is.
    Package(package::Package),
}

/// Plays a role to its end.
pub(crate) fn play(role: Role) -> io::Result<()> {
    match role {
        // One thread for what only plays its part: the cores are for what is measured.
        Role::Send(send) => on_one_thread(send.play()),
        Role::Mix(mix) => on_one_thread(mix.play()),
        Role::Viewers(viewers) => on_one_thread(viewers.play()),
        Role::Sink(sink) => on_one_thread(sink.play()),
        Role::BookedSender(sender) => on_one_thread(sender.play()),
        Role::BookedSink(sink) => on_one_thread(sink.play()),
        Role::ColdStart(start) => on_one_thread(start.play()),
        Role::Warm(warm) => on_one_thread(warm.play()),
        Role::Isolation(isolation) => on_one_thread(isolation.play()),
        Role::Package(package) => package.play(),
        // As the functions themselves.
        Role::FloorFunction(function) => on_one_thread(function.play()),
        // The floors get what the binary gets.
        Role::FloorServer(server) => on_every_core(server.play()),
        Role::FloorClient(client) => on_every_core(client.play()),
        Role::Seed(seed) => on_every_core(seed.play()),
    }
}

fn on_one_thread(role: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(role)
}

fn on_every_core(role: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(role)
}
