//! How a number is obtained, as one line that a reader can check:
//! `100 * (mean('medium', 'car') / mean('idle', 'car') - 1)`.
//!
//! ```text
//! sum     = product (('+' | '-') product)*
//! product = factor (('*' | '/') factor)*
//! factor  = '-' factor | number | 'text' | name '(' [sum (',' sum)*] ')' | '(' sum ')'
//! ```

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    /// A number.
    Number(f64),
    /// A text argument.
    Text(String),
    /// A function of the evaluators.
    Call(String, Vec<Expression>),
    /// Arithmetic.
    Binary(Operator, Box<(Expression, Expression)>),
}

/// The four operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl Operator {
    pub(crate) fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
        }
    }
}

/// Nesting that nobody writes; more would only overflow the stack.
const DEPTH_MAX: u32 = 50;

/// Parses one expression.
///
/// # Errors
/// What was expected, and what stands there.
pub(crate) fn parse(text: &str) -> Result<Expression, String> {
    let mut parser = Parser { rest: text.trim(), depth: 0 };
    let parsed = parser.sum()?;
    match parser.rest {
        "" => Ok(parsed),
        rest => Err(format!("expected the end, found `{rest}`")),
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn take(&mut self, symbol: char) -> bool {
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, symbol: char) -> Result<(), String> {
        match self.take(symbol) {
            true => Ok(()),
            false => Err(format!("expected `{symbol}`, found `{}`", self.rest)),
        }
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        taken
    }

    fn sum(&mut self) -> Result<Expression, String> {
        let mut left = self.product()?;
        loop {
            let operator = match () {
                () if self.take('+') => Operator::Add,
                () if self.take('-') => Operator::Subtract,
                () => break,
            };
            left = Expression::Binary(operator, Box::new((left, self.product()?)));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, String> {
        let mut left = self.factor()?;
        loop {
            let operator = match () {
                () if self.take('*') => Operator::Multiply,
                () if self.take('/') => Operator::Divide,
                () => break,
            };
            left = Expression::Binary(operator, Box::new((left, self.factor()?)));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("expected fewer brackets".to_owned());
        }
        let factor = self.operand()?;
        self.depth -= 1;
        Ok(factor)
    }

    fn operand(&mut self) -> Result<Expression, String> {
        if self.take('-') {
            let zero = Expression::Number(0.0);
            let operand = self.factor()?;
            return Ok(Expression::Binary(Operator::Subtract, Box::new((zero, operand))));
        }
        if self.take('(') {
            let inner = self.sum()?;
            self.expect(')')?;
            return Ok(inner);
        }
        if let Some(rest) = self.rest.strip_prefix('\'') {
            let (text, rest) = rest.split_once('\'').ok_or("expected a closing '")?;
            self.rest = rest.trim_start();
            return Ok(Expression::Text(text.to_owned()));
        }
        let number = self.take_while(|c| c.is_ascii_digit() || c == '.');
        if !number.is_empty() {
            let value =
                number.parse().map_err(|_| format!("expected a number, found `{number}`"))?;
            return Ok(Expression::Number(value));
        }
        self.call()
    }

    fn call(&mut self) -> Result<Expression, String> {
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() {
            return Err(format!("expected a number, a text or a function, found `{}`", self.rest));
        }
        self.expect('(')?;
        let mut arguments = Vec::new();
        if !self.take(')') {
            loop {
                arguments.push(self.sum()?);
                if self.take(')') {
                    break;
                }
                self.expect(',')?;
            }
        }
        Ok(Expression::Call(name.to_owned(), arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(expression: &Expression) -> f64 {
        match expression {
            Expression::Number(value) => *value,
            Expression::Binary(operator, sides) => operator.apply(value(&sides.0), value(&sides.1)),
            Expression::Call(name, arguments) if name == "twice" => 2.0 * value(&arguments[0]),
            _ => f64::NAN,
        }
    }

    #[test]
    fn arithmetic_binds_as_usual() {
        for (text, want) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("10 - 4 - 3", 3.0),
            ("-2 * -3", 6.0),
            ("250 * (1 + 75 / 100)", 437.5),
            ("twice(1 + .5) / 3", 1.0),
        ] {
            assert_eq!(value(&parse(text).unwrap()), want, "{text}");
        }
        let call = parse("median('powersave', 'car')").unwrap();
        let text = |t: &str| Expression::Text(t.to_owned());
        assert_eq!(call, Expression::Call("median".into(), vec![text("powersave"), text("car")]));
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in ["", "1 +", "f(1", "f(1,)", "'open", "1 2", "1..2", "name", "(1))", "é"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"(".repeat(10_000)).is_err());
        assert!(parse(&"-".repeat(100_000)).is_err());
    }
}
