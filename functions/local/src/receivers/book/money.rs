//! Amounts in a currency's smallest unit as decimal text, by whole numbers only.

/// Currencies without a smaller unit (Stripe's list).
const WHOLE: [&str; 16] = [
    "bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "ugx", "vnd", "vuv",
    "xaf", "xof", "xpf",
];
/// Currencies with thousandths (Stripe's list).
const THOUSANDTHS: [&str; 5] = ["bhd", "jod", "kwd", "omr", "tnd"];

/// `5400` of `eur` as `54.00`.
pub(super) fn decimal(smallest: u64, currency: &str) -> String {
    let currency = currency.to_ascii_lowercase();
    if WHOLE.contains(&currency.as_str()) {
        smallest.to_string()
    } else if THOUSANDTHS.contains(&currency.as_str()) {
        format!("{}.{:03}", smallest / 1000, smallest % 1000)
    } else {
        format!("{}.{:02}", smallest / 100, smallest % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn each_currency_has_its_own_smallest_unit_and_no_digit_is_lost() {
        assert_eq!(decimal(5400, "eur"), "54.00");
        assert_eq!(decimal(5, "USD"), "0.05");
        assert_eq!(decimal(5400, "jpy"), "5400");
        assert_eq!(decimal(5400, "kwd"), "5.400");
        assert_eq!(decimal(u64::MAX, "eur"), "184467440737095516.15");
    }
}
