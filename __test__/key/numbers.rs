//! M's decimal arithmetic beyond what the oracle's rows reach: sums, limits, and the way to and from doubles.

use caretdb::number::{Decimal, increment};
use proptest::prelude::*;

fn number(text: &str) -> Decimal {
    Decimal::from_canonical(text.as_bytes()).unwrap_or_else(|| panic!("{text:?} is not canonical"))
}

fn counted(text: &str) -> String {
    spelt(&Decimal::from_text_prefix(text).unwrap())
}

fn spelt(number: &Decimal) -> String {
    let mut text = Vec::new();
    number.write_canonical(&mut text);
    String::from_utf8(text).unwrap()
}

fn sum(a: &str, b: &str) -> String {
    spelt(&number(a).add(&number(b)).unwrap())
}

/// `n` hundred-millionths as M spells them, by the formatter of integers.
fn hundred_millionths(n: i64) -> String {
    let (whole, fraction) = (n.unsigned_abs() / 100_000_000, n.unsigned_abs() % 100_000_000);
    let whole = if whole == 0 { String::new() } else { whole.to_string() };
    let text = format!("{}{whole}.{fraction:08}", if n < 0 { "-" } else { "" });
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() { "0".into() } else { text.into() }
}

/// Doubles of all magnitudes from just below 1E-43 to just above 1E47.
fn any_double() -> impl Strategy<Value = f64> {
    let parts = (any::<bool>(), -143_i32..=156, 1.0..2.0_f64);
    parts.prop_map(|(negative, power, n)| if negative { -n } else { n } * 2_f64.powi(power))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sums_that_fit_eighteen_digits_are_exact(
        a in -400_000_000_000_000_000_i64..400_000_000_000_000_000,
        b in prop_oneof![-400_000_000_000_000_000_i64..400_000_000_000_000_000, -99_999_i64..99_999],
    ) {
        prop_assert_eq!(sum(&hundred_millionths(a), &hundred_millionths(b)), hundred_millionths(a + b));
        prop_assert_eq!(spelt(&Decimal::from_integer(a).unwrap().add(&Decimal::from_integer(b).unwrap()).unwrap()),
            (a + b).to_string());
    }

    #[test]
    fn order_is_that_of_the_values(a in -999_999_999_999_999_999_i64..1_000_000_000_000_000_000, b in any::<i32>()) {
        let (left, right) = (hundred_millionths(a), hundred_millionths(i64::from(b)));
        prop_assert_eq!(number(&left).cmp(&number(&right)), a.cmp(&i64::from(b)));
    }

    #[test]
    fn the_double_is_the_nearest_one(text in "-?[1-9][0-9]{0,15}(\\.[0-9]{0,1}[1-9])?|-?\\.0{0,30}[0-9]{0,16}[1-9]|[1-9][0-9]{0,17}0{0,28}") {
        prop_assume!(Decimal::from_canonical(text.as_bytes()).is_some());
        prop_assert_eq!(number(&text).to_f64(), text.parse::<f64>().unwrap());
    }

    #[test]
    fn doubles_become_the_shortest_decimal(n in any_double()) {
        prop_assume!((1e-43..=1e47).contains(&n.abs()));
        let decimal = Decimal::from_f64(n).unwrap();
        prop_assert_eq!(decimal.to_f64(), n);
        let shortest = format!("{n:e}").split('e').next().unwrap().bytes().filter(u8::is_ascii_digit).count();
        let digits = decimal.digits().to_string();
        prop_assert_eq!(digits.trim_end_matches('0').len(), shortest);
    }

    #[test]
    fn any_text_counts_as_something_or_overflows(bytes in prop::collection::vec(any::<u8>(), 0..40), text in "[-+]{0,3}[0-9]{0,70}\\.?[0-9]{0,70}(E[-+]?[0-9]{0,30})?") {
        for text in [&bytes[..], text.as_bytes()] {
            match Decimal::from_text_prefix(text) {
                Ok(number) => prop_assert_eq!(Decimal::from_canonical(spelt(&number).as_bytes()), Some(number)),
                Err(error) => prop_assert_eq!(error.code(), "ERR_BAD_VALUE"),
            }
        }
    }
}

#[test]
fn a_tenth_three_times_is_three_tenths() {
    let by = Decimal::from_f64(0.1).unwrap();
    let mut value = Vec::new();
    for _ in 0..3 {
        let next = increment(&value, &by).unwrap();
        value.clear();
        next.write_canonical(&mut value);
    }
    assert_eq!(value, b".3");
}

#[test]
fn the_smaller_operand_is_cut_off_where_the_digits_of_the_larger_end() {
    assert_eq!(sum("1", ".000000000000000001"), "1");
    assert_eq!(sum("1", "-.000000000000000001"), "1");
    assert_eq!(sum("1", "-.00000000000000001"), ".99999999999999999");
    assert_eq!(sum("999999999999999999", "1"), "1000000000000000000");
    assert_eq!(sum("999999999999999999", "9"), "1000000000000000000");
    assert_eq!(sum("1.5", "-1.5"), "0");
    assert_eq!(sum("-.5", ".25"), "-.25");
    assert_eq!(sum(".25", "-.5"), "-.25");
    assert_eq!(sum("5", "-7"), "-2");
    assert_eq!(sum("0", "-7"), "-7");
    assert_eq!(sum("-7", "0"), "-7");
}

#[test]
fn the_range_ends_at_1e47_and_at_1e_minus_43() {
    let largest = format!("1{}", "0".repeat(47));
    let smallest = format!(".{}1", "0".repeat(42));
    assert_eq!(spelt(&number(&largest)), largest);
    assert_eq!(spelt(&number(&smallest)), smallest);
    assert_eq!(counted("1E47"), largest);
    assert_eq!(counted("1E-43"), smallest);
    assert_eq!(counted("9E-44"), "0");
    assert_eq!(counted("1E-99999999999999999999999999"), "0");
    assert_eq!(Decimal::from_canonical(format!(".{}1", "0".repeat(43)).as_bytes()), None);
    assert_eq!(Decimal::from_canonical(format!("2{}", "0".repeat(47)).as_bytes()), None);
    for text in ["1.1E47", "-1E48", "1E99999999999999999999999999"] {
        assert_eq!(Decimal::from_text_prefix(text).unwrap_err().code(), "ERR_BAD_VALUE", "{text}");
    }
    assert_eq!(number(&largest).add(&number(&largest)).unwrap_err().code(), "ERR_BAD_VALUE");
    assert_eq!(increment(b"9E46", &number(&largest)).unwrap_err().code(), "ERR_BAD_VALUE");
    assert_eq!(sum(&smallest, &format!("-{smallest}")), "0");
    // The difference of two small numbers may fall below the range: then it is zero, as in M.
    assert_eq!(sum(&format!(".{}11", "0".repeat(42)), &format!("-{smallest}")), "0");
}

#[test]
fn numbers_no_decimal_of_m_can_hold_are_refused() {
    for n in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e48, 5e-324] {
        assert_eq!(Decimal::from_f64(n).unwrap_err().code(), "ERR_BAD_VALUE", "{n:e}");
    }
    assert_eq!(Decimal::from_integer(i64::MIN), None);
    assert_eq!(Decimal::from_integer(i64::MAX), None);
    assert_eq!(
        Decimal::from_integer(999_999_999_999_999_999).map(|n| spelt(&n)).as_deref(),
        Some("999999999999999999")
    );
    assert_eq!(Decimal::from_parts(false, 0, 1), None);
    assert_eq!(Decimal::from_parts(true, 0, 0), Some(Decimal::ZERO));
}

#[test]
fn text_counts_as_far_as_it_is_a_number() {
    for (text, counts_as) in [
        ("", "0"),
        ("E5", "0"),
        (".E5", "0"),
        ("1E", "1"),
        ("1E+", "1"),
        ("1E+2", "100"),
        ("1.5E-1x", ".15"),
        ("-+-2", "2"),
        ("-+2", "-2"),
        ("1e3", "1"),
        ("0000", "0"),
        ("-0.0", "0"),
        ("1,5", "1"),
        ("\u{661}", "0"),
        ("5\n", "5"),
    ] {
        assert_eq!(counted(text), counts_as, "{text:?}");
    }
}

#[test]
fn a_double_comes_out_only_where_it_spells_the_number() {
    for (text, double) in [
        ("1", Some(1.0)),
        ("-.5", Some(-0.5)),
        ("9007199254740991", Some(9_007_199_254_740_991.0)),
        ("9007199254740992", None),
        ("1234567.8901234567", Some(1_234_567.890_123_456_7)),
        ("1.23456789012345678", None),
        ("-123456789012345678", None),
        (".1", Some(0.1)),
        ("0", Some(0.0)),
    ] {
        assert_eq!(number(text).to_safe_f64(), double, "{text}");
    }
}
