//! Programs at the socket: who they are, what they say, and how much of it is heeded.

use crate::limits::Limits;
use crate::message::{LONGEST, Message};
use crate::users::users_of;
use flyball_host::{Guest, Host, HostError, Knock, ProcessIdentity, ProgramSocket, Task};
use flyball_units::{Mismatch, Nanos};
use std::collections::BTreeMap;
use std::path::Path;

/// Connections of all users together.
const GUESTS: usize = 256;
/// Newcomers in a second; the others wait.
const NEWCOMERS: u32 = 200;
/// Bytes of one guest that are read at a time, and pieces of them at once: nobody keeps the others waiting.
const PIECE: usize = 1024;
const PIECES: usize = 4;
/// Over this time messages are counted.
const WINDOW: Nanos = Nanos::from_secs(1);

/// The socket, and who is at it.
#[derive(Debug)]
pub(crate) struct Programs {
    socket: ProgramSocket,
    pub limits: Limits,
    /// Whose service this is.
    user: u32,
    clients: BTreeMap<u64, Client>,
    /// Messages of users, and newcomers.
    spent: BTreeMap<u32, Window>,
    newcomers: Window,
    /// Newcomers are not looked at before.
    closed_until: Option<Nanos>,
    /// Connections that were refused, of all time.
    pub sent_away: u64,
    /// Messages that were refused, of all time.
    pub refused: u64,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Client {
    guest: Guest,
    /// Its process, held.
    task: Task,
    pub process: ProcessIdentity,
    pub user: u32,
    /// The begin of a message whose end has not come.
    begun: Vec<u8>,
    /// What comes up to the next end of a line belongs to a message that is too long, or to none.
    skips: bool,
    /// Not looked at before.
    deaf_until: Option<Nanos>,
    pub messages: u64,
    pub refused: u64,
    /// Why the last one was.
    pub because: Option<String>,
}

/// How much of something there was in the last second.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    since: Nanos,
    count: u32,
}

impl Window {
    /// Whether there may be `more` of it.
    fn spend(&mut self, now: Nanos, more: u32, most: u32) -> bool {
        if now.since(self.since) >= WINDOW {
            *self = Window { since: now, count: 0 };
        }
        self.count = self.count.saturating_add(more);
        self.count <= most
    }

    fn end(self) -> Nanos {
        self.since + WINDOW
    }
}

/// What was heard of a client, by its number.
#[derive(Debug)]
pub(crate) enum Heard {
    Said(u64, Message),
    /// It says so much that it is not listened to for a while.
    Silenced(u64),
    Left(u64),
}

impl Programs {
    /// Listens at `path`, for every user where this is root's.
    pub fn listen(
        host: &dyn Host,
        path: &Path,
        locked: bool,
        limits: &Limits,
    ) -> Result<Programs, HostError> {
        let this = ProcessIdentity::this(host)?;
        let user = users_of(host, this.pid).map_or(u32::MAX, |[_, effective, ..]| effective);
        Ok(Programs {
            socket: host.listen_to_programs(path, user == 0, locked)?,
            user,
            limits: limits.clone(),
            clients: BTreeMap::new(),
            spent: BTreeMap::new(),
            newcomers: Window::default(),
            closed_until: None,
            sent_away: 0,
            refused: 0,
        })
    }

    pub fn socket(&self) -> &ProgramSocket {
        &self.socket
    }

    pub fn clients(&self) -> impl Iterator<Item = (u64, &Client)> {
        self.clients.iter().map(|(number, client)| (*number, client))
    }

    /// Whether a user may know what another one's programs have.
    pub fn shows(&self, user: u32, other: u32) -> bool {
        user == 0 || user == self.user || user == other
    }

    /// When somebody is to be looked at again who is not now.
    pub fn next(&self) -> Option<Nanos> {
        let deaf = self.clients.values().filter_map(|client| client.deaf_until);
        deaf.chain(self.closed_until).min()
    }

    /// What came; nobody is waited for.
    pub fn hear(&mut self, host: &dyn Host) -> Vec<Heard> {
        let now = host.now();
        let mut heard = Vec::new();
        self.resume(now, &mut heard);
        // What cannot be looked at is looked at the next time.
        for knock in self.socket.knocks().unwrap_or_default() {
            match knock {
                Knock::New => self.let_in(host, now),
                Knock::Guest(number) => self.listen_to(number, now, &mut heard),
            }
        }
        heard
    }

    /// A client.
    pub fn client(&self, number: u64) -> Option<&Client> {
        self.clients.get(&number)
    }

    /// A client whose process still is the one that connected, and its user's.
    ///
    /// # Errors
    /// It is not.
    pub fn vouched(&self, host: &dyn Host, number: u64) -> Result<&Client, Mismatch> {
        let gone = || Mismatch::value("the process that connected", "one that has ended");
        let client = self.clients.get(&number).ok_or_else(gone)?;
        if client.guest.has_ended().unwrap_or(!client.task.is_alive(host)) {
            return Err(gone());
        }
        is_users(host, client.process.pid, client.user).map(|()| client)
    }

    /// Whether a client may cost as much as so many messages more.
    pub fn spend(&mut self, host: &dyn Host, number: u64, more: u32) -> Result<(), Mismatch> {
        let Some(client) = self.clients.get(&number) else { return Ok(()) };
        let most = self.limits.messages;
        match self.spent.entry(client.user).or_default().spend(host.now(), more, most) {
            true => Ok(()),
            false => Err(too_many(most)),
        }
    }

    /// Notes what became of a message, and answers it where that is asked for. A client that does not read its
    /// answers is let go, because part of one would pass for another: false.
    pub fn answer(&mut self, number: u64, asks: bool, outcome: Result<String, Mismatch>) -> bool {
        let Some(client) = self.clients.get_mut(&number) else { return true };
        let text = match outcome {
            Ok(text) => text,
            Err(slip) => {
                self.refused += 1;
                client.refuse(&slip)
            }
        };
        let taken = !asks || client.guest.answer(&(text + "\n")).is_ok();
        if !taken {
            self.clients.remove(&number);
        }
        taken
    }

    /// Who may be looked at again: what piled up meanwhile is too old to be heeded.
    fn resume(&mut self, now: Nanos, heard: &mut Vec<Heard>) {
        if self.closed_until.is_some_and(|until| until <= now) {
            self.closed_until = self.socket.heed_newcomers(true).err().map(|_| now + WINDOW);
        }
        // A user is forgotten once what it said is: there are not many at a time.
        self.spent.retain(|_, window| now < window.end());
        let mut gone = Vec::new();
        for (number, client) in &mut self.clients {
            if client.deaf_until.is_none_or(|until| until > now) {
                continue;
            }
            match client.pass_over() {
                Ok(lines) => {
                    client.refused += lines;
                    self.refused += lines;
                    let heeded = self.socket.heed(&client.guest, true);
                    client.deaf_until = heeded.err().map(|_| now + WINDOW);
                }
                Err(()) => gone.push(*number),
            }
        }
        gone.into_iter().for_each(|number| self.leave(number, heard));
    }

    fn leave(&mut self, number: u64, heard: &mut Vec<Heard>) {
        self.clients.remove(&number);
        heard.push(Heard::Left(number));
    }

    fn let_in(&mut self, host: &dyn Host, now: Nanos) {
        while self.newcomers.spend(now, 1, NEWCOMERS) {
            match self.socket.accept() {
                Ok(Some(guest)) => match self.welcome(host, &guest) {
                    Ok((task, process)) => {
                        let user = guest.user;
                        let client = Client {
                            guest,
                            task,
                            process,
                            user,
                            begun: Vec::new(),
                            skips: false,
                            deaf_until: None,
                            messages: 0,
                            refused: 0,
                            because: None,
                        };
                        self.clients.insert(client.guest.number, client);
                    }
                    Err(slip) => {
                        self.sent_away += 1;
                        let _ = guest.answer(&format!("no: {slip}\n"));
                    }
                },
                Ok(None) => return,
                // No descriptor is left, or the like: they wait, and so does this.
                Err(_) => break,
            }
        }
        if self.socket.heed_newcomers(false).is_ok() {
            self.closed_until = Some(now + WINDOW);
        }
    }

    /// The process of a newcomer, held, where it may stay.
    fn welcome(&self, host: &dyn Host, guest: &Guest) -> Result<(Task, ProcessIdentity), Mismatch> {
        let most = self.limits.programs as usize;
        let own = self.clients.values().filter(|client| client.user == guest.user).count();
        if own >= most || self.clients.len() >= GUESTS {
            let expected = format!("{most} connections of a user or fewer, {GUESTS} of all");
            return Err(Mismatch::value(expected, "one more"));
        }
        let gone = |_| Mismatch::value("a process that this service sees", "another");
        let task = host.open_task(guest.pid, guest.pid).map_err(gone)?;
        // Its number was looked up: it still has to mean the one that connected.
        if guest.has_ended() == Some(true) {
            return Err(Mismatch::value("the process that connected", "one that has ended"));
        }
        is_users(host, guest.pid, guest.user)?;
        let process = ProcessIdentity { pid: guest.pid, start: task.identity().start };
        Ok((task, process))
    }

    /// Reads what a client said.
    fn listen_to(&mut self, number: u64, now: Nanos, heard: &mut Vec<Heard>) {
        let Some(client) = self.clients.get_mut(&number) else { return };
        let most = self.limits.messages;
        let mut piece = [0; PIECE];
        for _ in 0..PIECES {
            let length = match client.guest.read(&mut piece) {
                Ok(None) => return,
                Ok(Some(length)) if length > 0 => length,
                Ok(Some(_)) | Err(_) => return self.leave(number, heard),
            };
            for byte in piece.iter().take(length) {
                let Some(line) = client.take(*byte) else { continue };
                let window = self.spent.entry(client.user).or_default();
                if !window.spend(now, 1, most) {
                    self.refused += 1;
                    client.refuse(&too_many(most));
                    client.begun.clear();
                    client.deaf_until = Some(window.end());
                    // Where it goes on being told, it is silenced again.
                    let _ = self.socket.heed(&client.guest, false);
                    heard.push(Heard::Silenced(number));
                    return;
                }
                client.messages += 1;
                match line.and_then(|line| Message::read(&line)) {
                    Ok(message) => heard.push(Heard::Said(number, message)),
                    Err(slip) => {
                        self.refused += 1;
                        let text = client.refuse(&slip);
                        if client.guest.answer(&(text + "\n")).is_err() {
                            return self.leave(number, heard);
                        }
                    }
                }
            }
            // What comes meanwhile is told again.
            if length < PIECE {
                return;
            }
        }
    }
}

impl Client {
    /// Takes a byte; a message, or why it is none, where that was its end.
    fn take(&mut self, byte: u8) -> Option<Result<Vec<u8>, Mismatch>> {
        if byte != b'\n' {
            match self.begun.len() < LONGEST && !self.skips {
                true => self.begun.push(byte),
                false => self.skips = true,
            }
            return None;
        }
        let line = std::mem::take(&mut self.begun);
        Some(match std::mem::take(&mut self.skips) {
            false => Ok(line),
            true => Err(Mismatch::value(format!("at most {LONGEST} bytes a line"), "more")),
        })
    }

    /// Notes a refusal; the answer.
    fn refuse(&mut self, slip: &Mismatch) -> String {
        self.refused += 1;
        // It may quote what a program said, and is shown on terminals.
        let text = slip.to_string().replace(char::is_control, "?");
        let answer = format!("no: {text}");
        self.because = Some(text);
        answer
    }

    /// Reads what piled up, without heeding it: how many messages, as far as it does not go on.
    fn pass_over(&mut self) -> Result<u64, ()> {
        let mut lines = 0;
        let mut piece = [0; PIECE];
        // More than a socket holds.
        for _ in 0..512 {
            let length = match self.guest.read(&mut piece) {
                Ok(None) => return Ok(lines),
                Ok(Some(length)) if length > 0 => length,
                Ok(Some(_)) | Err(_) => return Err(()),
            };
            let read = piece.get(..length).unwrap_or_default();
            lines += read.iter().filter(|byte| **byte == b'\n').count() as u64;
            self.skips = read.last() != Some(&b'\n');
        }
        Ok(lines)
    }
}

fn too_many(most: u32) -> Mismatch {
    Mismatch::value(format!("at most {most} messages of a user in a second"), "more")
}

/// Whether a process is a user's alone: one that took on another user's rights since is not.
fn is_users(host: &dyn Host, pid: u32, user: u32) -> Result<(), Mismatch> {
    let expected = || format!("a process of user {user} alone");
    match users_of(host, pid) {
        Some(users) if user == 0 || users == [user; 4] => Ok(()),
        Some(users) => Err(Mismatch::value(expected(), format!("one of users {users:?}"))),
        None => Err(Mismatch::value(expected(), "one that has ended")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_gives_so_much_in_a_second() {
        let mut window = Window::default();
        let at = Nanos::from_millis;
        assert!(window.spend(at(1_500), 2, 3) && window.spend(at(1_600), 1, 3));
        assert!(!window.spend(at(2_400), 1, 3));
        assert_eq!(window.end(), at(2_500));
        assert!(window.spend(at(2_500), 3, 3));
        assert!(!window.spend(at(2_600), u32::MAX, 3) && !window.spend(at(2_700), 1, 3));
    }

    #[test]
    fn a_process_with_rights_of_others_is_no_users() {
        let listing = "/proc/5/status = Uid:\t1000\t1000\t1000\t1000\n\n\
                       /proc/6/status = Uid:\t1000\t0\t0\t0\n";
        let host = flyball_host::RecordedHost::from_listing(listing).unwrap();
        assert!(is_users(&host, 5, 1000).is_ok() && is_users(&host, 6, 0).is_ok());
        let error = is_users(&host, 6, 1000).unwrap_err().to_string();
        assert!(
            error.contains("a process of user 1000 alone, found one of users [1000, 0"),
            "{error}"
        );
        assert!(is_users(&host, 5, 1001).is_err() && is_users(&host, 7, 1000).is_err());
    }
}
