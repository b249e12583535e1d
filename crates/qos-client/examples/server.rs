//! A server's requests: a connection's thread is idle until one comes, and the answer is to be there within 20 ms.
//!
//! ```text
//! flyball qos --socket &
//! cargo run --release --example server [REQUESTS]
//! ```
#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use flyball_qos_client as qos;
use std::io::{BufRead, BufReader, Error, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

fn main() -> Result<(), Error> {
    let requests: u64 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(200);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let server = std::thread::spawn(move || serve(listener.accept()?.0));
    let mut times = Vec::new();
    let mut stream = TcpStream::connect(address)?;
    let mut answers = BufReader::new(stream.try_clone()?).lines();
    for request in 0..requests {
        std::thread::sleep(Duration::from_millis(10));
        let begin = Instant::now();
        writeln!(stream, "{request}")?;
        if answers.next().transpose()?.is_none() {
            break;
        }
        times.push(begin.elapsed());
    }
    stream.shutdown(std::net::Shutdown::Both)?;
    let _ = server.join();
    times.sort();
    let slow = times.len().saturating_sub(1) * 99 / 100;
    let service = if qos::is_connected() { "with" } else { "without" };
    let p99 = times.get(slow).copied().unwrap_or_default();
    println!("{service} a service: {} requests, 99 % within {p99:?}", times.len());
    Ok(())
}

fn serve(mut stream: TcpStream) -> Result<(), Error> {
    qos::deadline_ms(20);
    for request in BufReader::new(stream.try_clone()?).lines() {
        let request = request?;
        let answer = {
            let _work = qos::work();
            answer(&request)
        };
        writeln!(stream, "{answer}")?;
    }
    Ok(())
}

/// Stands for what a request takes: one in twenty much more than the others.
fn answer(request: &str) -> u64 {
    let number: u64 = request.parse().unwrap_or(0);
    let steps = if number.is_multiple_of(20) { 8_000_000 } else { 100_000 };
    (0..steps).fold(number, |sum, step| std::hint::black_box(sum.wrapping_mul(31) ^ step))
}
