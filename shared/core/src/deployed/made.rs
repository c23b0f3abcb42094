//! What is made of a configuration, such as a router or what makes attempts, made again when that changes.

use std::sync::{Arc, Mutex, PoisonError};

use super::Current;
use crate::configuration::Configuration;

/// Makes a thing of each configuration once.
pub struct Made<T> {
    make: Box<dyn Fn(&Current) -> T + Send + Sync>,
    last: Mutex<Option<(Arc<Configuration>, T)>>,
}

impl<T: Clone> Made<T> {
    /// Things that `make` makes. Nothing is made yet.
    pub fn new(make: impl Fn(&Current) -> T + Send + Sync + 'static) -> Self {
        Self {
            make: Box::new(make),
            last: Mutex::default(),
        }
    }

    /// The thing of that configuration: the last one while it is the same, with its secrets.
    pub fn of(&self, current: &Current) -> T {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((configuration, made)) = &*last
            && Arc::ptr_eq(configuration, &current.configuration)
        {
            return made.clone();
        }
        let made = (self.make)(current);
        *last = Some((Arc::clone(&current.configuration), made.clone()));
        made
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_thing_is_made_once_of_each_configuration() {
        let count = AtomicU32::new(0);
        let made = Made::new(move |_| count.fetch_add(1, Ordering::SeqCst));
        let empty = || Current {
            configuration: Arc::new(Configuration::empty()),
            applied: None,
        };
        let (first, second) = (empty(), empty());
        assert_eq!((made.of(&first), made.of(&first.clone())), (0, 0));
        assert_eq!((made.of(&second), made.of(&second)), (1, 1));
    }
}
