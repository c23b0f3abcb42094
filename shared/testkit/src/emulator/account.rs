//! Accounts: the emulator takes a key id of twelve digits for one, and keeps what belongs to one from all others.

/// An account of the emulator; as a key id it opens the account to a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account(String);

impl Account {
    /// The account's id, which is its key id too.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// An account that nobody used before: tests that share an emulator do not see each other's tables and queues.
///
/// # Panics
///
/// When the machine gives no randomness.
pub fn fresh_account() -> Account {
    const FIRST: u64 = 100_000_000_000;
    // Several processes may share one emulator: a count or a seed would make the same accounts in each.
    let random = match getrandom::u64() {
        Ok(random) => random,
        #[expect(clippy::panic, reason = "a test fails by panicking")]
        Err(cause) => panic!("the machine gives no randomness: {cause}"),
    };
    Account((FIRST + random % (9 * FIRST)).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_twelve_digits_and_no_other_test_has_it() {
        let accounts: Vec<_> = std::iter::repeat_with(fresh_account).take(100).collect();
        for (number, account) in accounts.iter().enumerate() {
            let id = account.as_str();
            assert_eq!(id.len(), 12, "found: {id}");
            assert!(id.bytes().all(|digit| digit.is_ascii_digit()), "{id}");
            assert!(!accounts[..number].contains(account), "{id} comes twice");
        }
    }
}
