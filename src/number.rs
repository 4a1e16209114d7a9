//! Decimal numbers as M has them: 18 significant digits, magnitudes from 1E-43 to 1E47, and one canonical spelling each.

use std::cmp::Ordering;

use crate::error::{Error, Result};

/// How many significant digits a number keeps.
pub const PRECISION: usize = 18;
/// The decimal exponent of the smallest magnitude, 1E-43.
pub const MIN_EXPONENT: i16 = -43;
/// The decimal exponent of the largest magnitude, which is 1E47 itself and nothing above it.
pub const MAX_EXPONENT: i16 = 47;

/// The largest integer up to which every integer is a double of its own.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;
/// Powers of ten that a `u64` holds and that align 18 digits.
const POWERS: [u64; 19] = {
    let mut powers = [1; 19];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};
/// Powers of ten that are exact as doubles.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];
/// The smallest coefficient that has all 18 digits.
const ALIGNED: u64 = POWERS[PRECISION - 1];

/// A number: sign, the decimal exponent of its first digit, and 18 digits aligned to the left.
///
/// Each number has one representation, so `==` compares values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    exponent: i16,
    /// From 1E17 to below 1E18; 0 only for zero, whose exponent is 0 and which is not negative.
    digits: u64,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Decimal = Decimal { negative: false, exponent: 0, digits: 0 };
    /// One, the amount of an increment that names none.
    pub const ONE: Decimal = Decimal { negative: false, exponent: 0, digits: ALIGNED };

    /// The number with these parts, `digits` being 18 digits aligned to the left (or 0 for zero).
    ///
    /// Below 1E-43 a number is zero. `None` above 1E47, and for digits that are not aligned.
    #[must_use]
    pub fn from_parts(negative: bool, exponent: i16, digits: u64) -> Option<Decimal> {
        if digits == 0 || exponent < MIN_EXPONENT {
            return Some(Decimal::ZERO);
        }
        let aligned = (ALIGNED..ALIGNED * 10).contains(&digits);
        let in_range = exponent < MAX_EXPONENT || (exponent == MAX_EXPONENT && digits == ALIGNED);
        (aligned && in_range).then_some(Decimal { negative, exponent, digits })
    }

    /// An integer of at most 18 digits; `None` where it has more.
    #[must_use]
    pub fn from_integer(n: i64) -> Option<Decimal> {
        let magnitude = n.unsigned_abs();
        if magnitude == 0 {
            return Some(Decimal::ZERO);
        }
        let exponent = magnitude.ilog10() as usize;
        let digits = magnitude.checked_mul(*POWERS.get((PRECISION - 1).checked_sub(exponent)?)?)?;
        #[allow(clippy::cast_possible_truncation)] // at most 17
        Some(Decimal { negative: n < 0, exponent: exponent as i16, digits })
    }

    /// The number that `text` spells, if it is exactly the spelling M itself would give it.
    ///
    /// ```
    /// use caretdb::number::Decimal;
    /// assert!(Decimal::from_canonical(b"-.5").is_some());
    /// assert!(Decimal::from_canonical(b"1.0").is_none());
    /// ```
    #[must_use]
    pub fn from_canonical(text: &[u8]) -> Option<Decimal> {
        let (negative, body) = match text {
            [b'-', body @ ..] => (true, body),
            body => (false, body),
        };
        match body {
            [b'0'] if !negative => return Some(Decimal::ZERO),
            [b'1'..=b'9', ..] | [b'.', _, ..] => {}
            _ => return None,
        }
        let mut digits = Digits::default();
        let mut whole = None;
        for (at, byte) in body.iter().enumerate() {
            match byte {
                b'0'..=b'9' => digits.push(byte - b'0'),
                b'.' if whole.is_none() => whole = Some(at),
                _ => return None,
            }
        }
        let fraction_ends_in_zero = whole.is_some() && matches!(body.last(), Some(b'0' | b'.'));
        if fraction_ends_in_zero || digits.lost {
            return None;
        }
        let exponent = digits.exponent(whole.unwrap_or(body.len()))?;
        if exponent < MIN_EXPONENT {
            return None;
        }
        Decimal::from_parts(negative, exponent, digits.aligned())
    }

    /// What M's `+text` is: the number that `text` begins with, or zero; `"12abc"` is 12, `"--1"` is 1, `"1E3"` is 1000.
    ///
    /// Digits after the eighteenth are cut off.
    ///
    /// # Errors
    /// [`Error::BadValue`] where the number is above 1E47.
    ///
    /// ```
    /// use caretdb::number::Decimal;
    /// assert_eq!(Decimal::from_text_prefix("12abc").unwrap().to_f64(), 12.0);
    /// ```
    pub fn from_text_prefix<T: AsRef<[u8]> + ?Sized>(text: &T) -> Result<Decimal> {
        let text = text.as_ref();
        plain_integer(text).or_else(|| scan(text, b'E')).ok_or_else(overflow)
    }

    /// The shortest decimal that reads back as the same double.
    ///
    /// # Errors
    /// [`Error::BadValue`] for NaN, infinities, and magnitudes outside 1E-43 to 1E47.
    ///
    /// ```
    /// use caretdb::number::Decimal;
    /// assert_eq!(Decimal::from_f64(0.5).unwrap(), Decimal::from_canonical(b".5").unwrap());
    /// ```
    pub fn from_f64(n: f64) -> Result<Decimal> {
        if n.abs() <= MAX_SAFE_INTEGER && n.trunc() == n {
            #[allow(clippy::cast_possible_truncation)] // an integer within 53 bits
            return Decimal::from_integer(n as i64).ok_or_else(overflow);
        }
        let decimal = if n.is_finite() { scan(ryu_js::Buffer::new().format_finite(n).as_bytes(), b'e') } else { None };
        match decimal {
            Some(decimal) if !decimal.is_zero() => Ok(decimal),
            _ => Err(Error::BadValue(format!(
                "{} is no number of M: use a finite number from 1E-43 to 1E47",
                ryu_js::Buffer::new().format(n)
            ))),
        }
    }

    /// Whether this is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.digits == 0
    }

    /// Whether this is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// The decimal exponent of the first digit: 0 for 1 to 9, -1 for .1.
    #[must_use]
    pub fn exponent(&self) -> i16 {
        self.exponent
    }

    /// The 18 digits, aligned to the left; 0 for zero.
    #[must_use]
    pub fn digits(&self) -> u64 {
        self.digits
    }

    /// The sum as M computes it: the smaller operand is cut off where the 18 digits of the larger one end.
    ///
    /// # Errors
    /// [`Error::BadValue`] where the sum is above 1E47.
    ///
    /// ```
    /// use caretdb::number::Decimal;
    /// let tenth = Decimal::from_canonical(b".1").unwrap();
    /// let sum = tenth.add(&tenth).unwrap().add(&tenth).unwrap();
    /// assert_eq!(sum, Decimal::from_canonical(b".3").unwrap());
    /// ```
    pub fn add(&self, other: &Decimal) -> Result<Decimal> {
        if self.is_zero() || other.is_zero() {
            return Ok(if self.is_zero() { *other } else { *self });
        }
        let (large, small) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let apart = usize::from(large.exponent.abs_diff(small.exponent));
        if apart >= PRECISION {
            return Ok(*large);
        }
        let added = small.digits / POWERS[apart];
        if large.negative == small.negative {
            let sum = large.digits + added;
            let (exponent, digits) =
                if sum >= ALIGNED * 10 { (large.exponent + 1, sum / 10) } else { (large.exponent, sum) };
            return Decimal::from_parts(large.negative, exponent, digits).ok_or_else(overflow);
        }
        let negative = if large.digits >= added { large.negative } else { small.negative };
        Ok(align(negative, large.exponent, large.digits.abs_diff(added)))
    }

    /// Appends the one spelling M gives this number: no exponent, no leading zero, no zero at the end of a fraction.
    ///
    /// ```
    /// use caretdb::number::Decimal;
    /// let mut text = Vec::new();
    /// Decimal::from_f64(-0.25).unwrap().write_canonical(&mut text);
    /// assert_eq!(text, b"-.25");
    /// ```
    pub fn write_canonical(&self, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        if let Some(integer) = self.magnitude_as_integer() {
            return write_integer(integer, out);
        }
        let mut buffer = [0; PRECISION];
        let mut rest = self.digits;
        for place in buffer.iter_mut().rev() {
            *place = ascii_digit(rest);
            rest /= 10;
        }
        let significant = PRECISION - buffer.iter().rev().take_while(|digit| **digit == b'0').count();
        let digits = &buffer[..significant];
        let whole = usize::try_from(self.exponent + 1).unwrap_or(0);
        if whole >= significant {
            out.extend_from_slice(digits);
            out.resize(out.len() + whole - significant, b'0');
        } else {
            out.extend_from_slice(&digits[..whole]);
            out.push(b'.');
            out.resize(out.len() + usize::try_from(-1 - self.exponent).unwrap_or(0), b'0');
            out.extend_from_slice(&digits[whole..]);
        }
    }

    /// The double nearest to this number.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        let magnitude = match self.magnitude_as_integer() {
            #[allow(clippy::cast_precision_loss)] // rounds to the nearest double, as asked
            Some(integer) => integer as f64,
            None => self.magnitude_to_f64(),
        };
        if self.negative { -magnitude } else { magnitude }
    }

    /// The double that spells this very number and is no larger than the safe integers; `None` where none does.
    ///
    /// ```
    /// use caretdb::number::Decimal;
    /// let exact = |text: &str| Decimal::from_canonical(text.as_bytes()).unwrap().to_safe_f64();
    /// assert_eq!(exact("1.5"), Some(1.5));
    /// assert_eq!(exact("123456789012345678"), None);
    /// ```
    #[must_use]
    pub fn to_safe_f64(&self) -> Option<f64> {
        let n = self.to_f64();
        if n.abs() > MAX_SAFE_INTEGER {
            return None;
        }
        // Fifteen digits always survive the way through a double; more only sometimes.
        let short = self.digits.is_multiple_of(POWERS[PRECISION - 15]);
        (short || Decimal::from_f64(n).is_ok_and(|back| back == *self)).then_some(n)
    }

    /// The magnitude, where it is an integer of at most 18 digits.
    fn magnitude_as_integer(&self) -> Option<u64> {
        let places = usize::try_from(self.exponent).ok().and_then(|whole| (PRECISION - 1).checked_sub(whole))?;
        let integer = self.digits / POWERS[places];
        (integer * POWERS[places] == self.digits).then_some(integer)
    }

    fn magnitude_to_f64(&self) -> f64 {
        let mut coefficient = self.digits;
        let mut power = i32::from(self.exponent) - 17;
        while coefficient.is_multiple_of(10) && coefficient != 0 {
            coefficient /= 10;
            power += 1;
        }
        // One correctly rounded operation on two exact doubles is the nearest double.
        #[allow(clippy::cast_precision_loss)] // below 2^53
        if coefficient < (1 << 53) {
            match EXACT.get(power.unsigned_abs() as usize) {
                Some(scale) if power < 0 => return coefficient as f64 / scale,
                Some(scale) => return coefficient as f64 * scale,
                None => {}
            }
        }
        format!("{coefficient}e{power}").parse().unwrap_or(f64::NAN)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |n: &Decimal| match (n.is_zero(), n.negative) {
            (true, _) => 0,
            (false, negative) => 1 - 2 * i8::from(negative),
        };
        let magnitude = (self.exponent, self.digits).cmp(&(other.exponent, other.digits));
        sign(self).cmp(&sign(other)).then(if self.negative { magnitude.reverse() } else { magnitude })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What `$INCREMENT` leaves in a node that holds the text `old`: the number it begins with plus `by`.
///
/// # Errors
/// [`Error::BadValue`] where the number or the sum is above 1E47.
///
/// ```
/// use caretdb::number::{Decimal, increment};
/// let mut text = Vec::new();
/// increment(b"12abc", &Decimal::ONE).unwrap().write_canonical(&mut text);
/// assert_eq!(text, b"13");
/// ```
pub fn increment(old: &[u8], by: &Decimal) -> Result<Decimal> {
    Decimal::from_text_prefix(old)?.add(by)
}

/// Appends `n` in decimal.
pub(crate) fn write_integer(mut n: u64, out: &mut Vec<u8>) {
    let mut buffer = [0; 20];
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = ascii_digit(n);
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&buffer[at..]);
}

#[allow(clippy::cast_possible_truncation)] // below 10
fn ascii_digit(n: u64) -> u8 {
    b'0' + (n % 10) as u8
}

/// The number with first digit at `exponent` whose leading digits may have been cancelled.
fn align(negative: bool, exponent: i16, digits: u64) -> Decimal {
    if digits == 0 {
        return Decimal::ZERO;
    }
    let shift = PRECISION - 1 - digits.ilog10() as usize;
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // at most 17
    Decimal::from_parts(negative, exponent - shift as i16, digits * POWERS[shift]).unwrap_or(Decimal::ZERO)
}

fn overflow() -> Error {
    Error::BadValue("the number is above 1E47, the largest that M arithmetic holds: use a smaller amount".into())
}

/// Digits as they are read, the first 18 significant ones kept.
#[derive(Default)]
struct Digits {
    kept: u64,
    count: usize,
    /// Zeros before the first significant digit.
    leading: usize,
    /// Whether a digit other than zero was cut off.
    lost: bool,
}

impl Digits {
    fn push(&mut self, digit: u8) {
        if self.count == 0 && digit == 0 {
            self.leading += 1;
        } else if self.count < PRECISION {
            self.kept = self.kept * 10 + u64::from(digit);
            self.count += 1;
        } else {
            self.lost |= digit != 0;
        }
    }

    fn aligned(&self) -> u64 {
        self.kept * POWERS[PRECISION - self.count]
    }

    /// The decimal exponent of the first significant digit, `whole` digits standing before the point.
    fn exponent(&self, whole: usize) -> Option<i16> {
        i16::try_from(i64::try_from(whole).ok()? - i64::try_from(self.leading).ok()? - 1).ok()
    }
}

/// The number, where `text` is one to sixteen digits and nothing else, as the text of most counters is.
fn plain_integer(text: &[u8]) -> Option<Decimal> {
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    let mut integer = 0;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        integer = integer * 10 + i64::from(digit);
    }
    Decimal::from_integer(integer)
}

/// Reads signs, digits, a fraction and an exponent as far as they go; `None` on overflow.
fn scan(text: &[u8], exponent_letter: u8) -> Option<Decimal> {
    let signs = text.iter().take_while(|byte| matches!(byte, b'+' | b'-')).count();
    let negative = text[..signs].iter().filter(|byte| **byte == b'-').count() % 2 == 1;
    let body = &text[signs..];
    let mut digits = Digits::default();
    let whole = push_run(&mut digits, body);
    let mut rest = &body[whole..];
    if let [b'.', fraction @ ..] = rest {
        rest = &fraction[push_run(&mut digits, fraction)..];
    }
    if digits.count == 0 {
        return Some(Decimal::ZERO);
    }
    let scale = match rest {
        [letter, exponent @ ..] if *letter == exponent_letter => scan_exponent(exponent),
        _ => 0,
    };
    let exponent = i64::try_from(whole).ok()? - i64::try_from(digits.leading).ok()? - 1 + scale;
    let exponent = exponent.clamp(i64::from(i16::MIN), i64::from(i16::MAX));
    Decimal::from_parts(negative, i16::try_from(exponent).ok()?, digits.aligned())
}

/// Pushes the digits that `text` begins with and says how many there were.
fn push_run(digits: &mut Digits, text: &[u8]) -> usize {
    let run = text.iter().take_while(|byte| byte.is_ascii_digit());
    run.map(|byte| digits.push(byte - b'0')).count()
}

/// The exponent that `text` begins with, or 0; far outside the range it stops growing.
fn scan_exponent(text: &[u8]) -> i64 {
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    let run = digits.iter().take_while(|byte| byte.is_ascii_digit());
    sign * run
        .fold(0, |so_far: i64, byte| so_far.saturating_mul(10).saturating_add(i64::from(byte - b'0')).min(1 << 40))
}
