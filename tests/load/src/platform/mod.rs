//! The platform that the functions on AWS run on, as a measurement needs it: it starts a function's binary, gives it
//! invocations over the API that functions take them from, and stands in for the services behind them. All of it answers at
//! once, so that what is measured is the function.

mod aws;
mod destinations;
mod function;
mod gateway;
mod invocations;
mod marks;
mod stage;

pub(crate) use function::{Function, Program};
pub(crate) use marks::Mark;
pub(crate) use stage::{Beside, Destination, Stage};
