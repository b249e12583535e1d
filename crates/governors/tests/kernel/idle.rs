//! The idle governors of one CPU: `Menu`, `Teo` and `Haltpoll`.

use super::{Event, Player};
use flyball_governors::idle::{Haltpoll, IdleAsk, IdleEnd, IdleState, Menu, Teo};
use flyball_governors::units::{KernelRules, Nanos};

pub enum Kind {
    Menu,
    Teo,
    Haltpoll,
}

enum Which {
    Menu(Menu),
    Teo(Teo),
    Haltpoll(Haltpoll),
}

pub struct Idle {
    kind: Kind,
    rules: KernelRules,
    which: Option<Which>,
    states: Vec<IdleState>,
    tick: Nanos,
}

impl Idle {
    pub fn new(kind: Kind, rules: KernelRules) -> Idle {
        Idle { kind, rules, which: None, states: Vec::new(), tick: Nanos::ZERO }
    }

    fn start(&mut self, event: &Event) {
        let count = (event[1] & 0xff) as usize;
        let of = |word: &u64| IdleState::new(Nanos(word & 0xffff_ffff), Nanos(word >> 32));
        self.states = event[2..].iter().take(count).map(of).collect();
        self.states[0].polling = event[1] >> 8 & 1 == 1;
        self.tick = Nanos(event[1] >> 32);
        self.which = Some(match self.kind {
            Kind::Menu => Which::Menu(Menu::new(self.rules)),
            Kind::Teo => Which::Teo(Teo::new(self.rules, count)),
            Kind::Haltpoll => Which::Haltpoll(Haltpoll::new(self.rules)),
        });
    }
}

impl Player for Idle {
    fn play(&mut self, event: &Event, values: &mut Vec<u64>) {
        if event[0] & 0xff == 0 {
            self.start(event);
            values.push(0);
            return;
        }
        let flag = |bit: u64| event[4] >> bit & 1 == 1;
        for (at, state) in self.states.iter_mut().enumerate() {
            state.disabled = flag(at as u64);
        }
        let ask = IdleAsk {
            next_timer: Nanos(event[1]),
            next_event: Nanos(event[2]),
            tick: self.tick,
            tick_stopped: flag(16),
            latency_limit: Nanos(event[3]),
            io_waiters: (event[4] >> 8 & 0xff) as u32,
        };
        let choice = match &mut self.which {
            Some(Which::Menu(menu)) => menu.select(&self.states, &ask),
            Some(Which::Teo(teo)) => teo.select(&self.states, &ask),
            Some(Which::Haltpoll(haltpoll)) => haltpoll.select(&ask),
            None => return,
        };
        values.extend([choice.state as u64, u64::from(choice.stops_tick)]);
        let state = if flag(19) { choice.state.saturating_sub(1) } else { choice.state };
        let polled_out = flag(18) && self.states[state].polling;
        let ended = IdleEnd { state, length: Nanos(event[5]), by_tick: flag(17), polled_out };
        match &mut self.which {
            Some(Which::Menu(menu)) => {
                values.extend(menu.state());
                menu.reflect(ended);
            }
            Some(Which::Teo(teo)) => {
                values.extend(teo.state());
                teo.reflect(ended);
            }
            Some(Which::Haltpoll(haltpoll)) => {
                values.extend(haltpoll.state());
                haltpoll.reflect(ended);
            }
            None => {}
        }
    }
}
