//! The command line, each command told as a story: the real binary, what it prints, and the code it ends with.

mod backup;
mod check;
mod endpoint;
mod help;
mod init;
mod operators;
mod receivers;
mod sends;
mod token;
mod verify;
