//! What a running daemon may be asked: one line there, one line of JSON back.

use crate::{GovernError, Status};
use flyball_host::{Host, HostKind};
use flyball_units::Nanos;
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where the daemon listens unless it is told otherwise.
pub const SOCKET: &str = "/run/flyball/govern.sock";

/// The usual place for orders, on a machine that runs, for one who may make its folder.
pub fn usual_socket(host: &dyn Host) -> Option<PathBuf> {
    // Under a service manager the folder is there, and /run itself is read-only.
    let may_write = |path: &str| host.writable(Path::new(path)).unwrap_or(false);
    let may = host.kind() == HostKind::Real && (may_write("/run/flyball") || may_write("/run"));
    may.then(|| PathBuf::from(SOCKET))
}
/// How long an answer is waited for: the loop may sleep for a second between two polls.
const PATIENCE: Nanos = Nanos::from_secs(10);

/// An order to a daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Where it stands.
    Status,
    /// Another governor.
    Switch {
        /// Its name.
        governor: String,
    },
    /// Another value of a tunable.
    Set {
        /// The tunable.
        name: String,
        /// The value.
        value: i64,
    },
    /// End, and restore.
    Stop,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Status => f.write_str("status"),
            Order::Switch { governor } => write!(f, "switch {governor}"),
            Order::Set { name, value } => write!(f, "set {name}={value}"),
            Order::Stop => f.write_str("stop"),
        }
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Order, String> {
        let (word, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let rest = rest.trim();
        match (word, rest.is_empty()) {
            ("status", true) => Ok(Order::Status),
            ("stop", true) => Ok(Order::Stop),
            ("switch", false) => Ok(Order::Switch { governor: rest.to_owned() }),
            ("set", false) => {
                let pair = rest.split_once('=').and_then(|(name, value)| {
                    Some(Order::Set {
                        name: name.trim().to_owned(),
                        value: value.trim().parse().ok()?,
                    })
                });
                pair.ok_or_else(|| format!("expected set NAME=WHOLE NUMBER, found {text:.80}"))
            }
            _ => {
                let expected = "status, switch POLICY, set NAME=VALUE or stop";
                Err(format!("expected {expected}, found {text:.80}"))
            }
        }
    }
}

/// The answer to an order, as it goes back.
pub(crate) fn answer(result: Result<Option<Status>, String>) -> String {
    let value = match result {
        Ok(Some(status)) => json!({ "ok": true, "status": status }),
        Ok(None) => json!({ "ok": true }),
        Err(error) => json!({ "ok": false, "error": error }),
    };
    value.to_string()
}

/// Gives an order to the daemon at `socket`, and its answer.
///
/// # Errors
/// Nobody listens there, no permission, or what the daemon refuses.
pub fn ask(host: &dyn Host, socket: &Path, order: &Order) -> Result<Value, GovernError> {
    let said = host
        .ask(socket, &order.to_string(), PATIENCE)
        .map_err(GovernError::host("asking the daemon"))?;
    let value: Value = serde_json::from_str(&said).unwrap_or_default();
    let refused = |message: &str| GovernError::Refused { message: message.to_owned() };
    match value.get("ok").and_then(Value::as_bool) {
        Some(true) => Ok(value),
        Some(false) => {
            Err(refused(value.get("error").and_then(Value::as_str).unwrap_or("it gave no reason")))
        }
        // It closes the connection of whoever may not command it.
        None => Err(refused("expected an answer, found none: are you the user it runs as?")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn orders_are_what_they_print() {
        let set = Order::Set { name: "poll_ival".to_owned(), value: -5 };
        for order in
            [Order::Status, Order::Stop, set, Order::Switch { governor: "tick".to_owned() }]
        {
            assert_eq!(order.to_string().parse(), Ok(order));
        }
        for wrong in ["", "switch", "set a", "set a=b", "stop now", "statu"] {
            assert!(wrong.parse::<Order>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in ".{0,200}") {
            let _ = text.parse::<Order>();
        }
    }
}
