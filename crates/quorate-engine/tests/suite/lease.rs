//! A lease service: who holds which name, until they stop renewing. It shares no line with Kafka, so
//! what it needs of the engine is what any domain needs.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_engine::{Bracket, Domain, Draft, Halt, Machine};
use quorate_types::{MonoTime, Offset};

/// How long a lease lives without a renewal.
pub const TTL: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leases {
    pub founded: bool,
    /// Each lease with its owner and its fencing token: the offset at which it was granted.
    pub held: BTreeMap<String, (u32, Offset)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    Founded,
    Granted { name: String, owner: u32 },
    Released { name: String },
    Begin,
    End,
    Abort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    #[error("founded twice")]
    Founded,
    #[error("granted while held")]
    Held,
    #[error("released while free")]
    Free,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Acquire {
        name: String,
        owner: u32,
    },
    /// Would `Acquire` be granted?
    Probe {
        name: String,
        owner: u32,
    },
    Renew {
        name: String,
    },
    Look {
        name: String,
    },
    /// Takes all the names at once or, piece by piece, as many batches as it needs.
    AcquireAll {
        names: Vec<String>,
        owner: u32,
        atomic: bool,
    },
    /// Opens and closes transactions that reach over several commands.
    Begin,
    Close {
        abort: bool,
    },
    /// Pushes what cannot be applied, if decided at that offset or later.
    Bug {
        owner: u32,
        from: Offset,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    Granted { token: Offset },
    Held { by: u32, token: Offset },
    Free,
    Renewed,
    Took(usize),
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    Expire,
}

/// When each lease was renewed last, and where the last decision ended.
#[derive(Debug, Default)]
pub struct Sessions {
    pub renewed: BTreeMap<String, MonoTime>,
    pub last_end: Option<Offset>,
    /// The records followed, with their offsets.
    pub followed: Vec<(Offset, Record)>,
}

pub struct LeaseService;

impl Machine for LeaseService {
    type State = Leases;
    type Record = Record;
    type Misfit = Misfit;

    fn apply(state: &mut Leases, record: &Record, at: Offset) -> Result<(), Misfit> {
        match record {
            Record::Founded if state.founded => return Err(Misfit::Founded),
            Record::Founded => state.founded = true,
            Record::Granted { name, owner } => {
                if state.held.insert(name.clone(), (*owner, at)).is_some() {
                    return Err(Misfit::Held);
                }
            }
            Record::Released { name } => {
                state.held.remove(name).ok_or(Misfit::Free)?;
            }
            Record::Begin | Record::End | Record::Abort => unreachable!("a bracket was applied"),
        }
        Ok(())
    }

    fn bracket(record: &Record) -> Bracket {
        match record {
            Record::Begin => Bracket::Begin,
            Record::End => Bracket::End,
            Record::Abort => Bracket::Abort,
            _ => Bracket::No,
        }
    }
}

impl Domain for LeaseService {
    type Command = Command;
    type Reply = Reply;
    type Soft = Sessions;
    type Task = Task;

    fn claim(&self, state: &Leases, now: MonoTime) -> Sessions {
        Sessions {
            renewed: state.held.keys().map(|name| (name.clone(), now)).collect(),
            last_end: None,
            followed: Vec::new(),
        }
    }

    fn open(&self, draft: &mut Draft<'_, Self>) -> Result<(), Halt> {
        if draft.transaction().is_some() {
            draft.push(Record::Abort)?;
        }
        if !draft.state().founded {
            draft.push(Record::Founded)?;
        }
        Ok(())
    }

    fn decide(&self, draft: &mut Draft<'_, Self>, command: &Command) -> Result<Reply, Halt> {
        match command {
            Command::Acquire { name, owner } => acquire(draft, name, *owner),
            Command::Probe { name, owner } => {
                draft.dry_run();
                acquire(draft, name, *owner)
            }
            Command::Renew { name } if draft.state().held.contains_key(name) => {
                let now = draft.now();
                draft.soft_mut().renewed.insert(name.clone(), now);
                Ok(Reply::Renewed)
            }
            Command::Renew { name } | Command::Look { name } => Ok(look(draft.state(), name)),
            Command::AcquireAll {
                names,
                owner,
                atomic,
            } => {
                if !atomic {
                    draft.cut_anywhere();
                }
                let before = draft.records().len();
                for name in names {
                    acquire(draft, name, *owner)?;
                }
                Ok(Reply::Took(draft.records().len() - before))
            }
            Command::Begin if draft.transaction().is_none() => {
                draft.push(Record::Begin)?;
                Ok(Reply::Done)
            }
            Command::Close { abort } if draft.transaction().is_some() => {
                draft.push(if *abort { Record::Abort } else { Record::End })?;
                Ok(Reply::Done)
            }
            Command::Begin | Command::Close { .. } => Ok(Reply::Done),
            Command::Bug { from, .. } if draft.next_offset() < *from => Ok(Reply::Done),
            Command::Bug { owner, .. } => {
                let name = format!("bug-{owner}");
                draft.push(Record::Granted {
                    name: name.clone(),
                    owner: *owner,
                })?;
                draft.push(Record::Granted {
                    name,
                    owner: *owner,
                })?;
                Ok(Reply::Done)
            }
        }
    }

    fn tasks(&self) -> Vec<(Task, Duration)> {
        vec![(Task::Expire, TTL / 10)]
    }

    fn run(&self, draft: &mut Draft<'_, Self>, _: Task) -> Result<Option<Duration>, Halt> {
        let deadline = draft.now() - TTL;
        let soft = draft.soft();
        let alive = |name: &String| soft.renewed.get(name).is_some_and(|at| *at > deadline);
        let held = draft.state().held.keys();
        let expired: Vec<String> = held.filter(|name| !alive(name)).cloned().collect();
        draft.cut_anywhere();
        for name in expired {
            draft.push(Record::Released { name })?;
        }
        Ok(Some(TTL / 10))
    }

    fn follow(&self, soft: &mut Sessions, _: &Leases, record: &Record, at: Offset, now: MonoTime) {
        soft.followed.push((at, record.clone()));
        match record {
            Record::Granted { name, .. } => drop(soft.renewed.insert(name.clone(), now)),
            Record::Released { name } => drop(soft.renewed.remove(name)),
            _ => {}
        }
    }

    fn appended(&self, soft: &mut Sessions, _: &Command, _: &Reply, end: Offset) {
        soft.last_end = Some(end);
    }
}

fn acquire(draft: &mut Draft<'_, LeaseService>, name: &str, owner: u32) -> Result<Reply, Halt> {
    let held = look(draft.state(), name);
    if held != Reply::Free {
        return Ok(held);
    }
    let token = draft.next_offset();
    let name = name.to_string();
    draft.push(Record::Granted { name, owner })?;
    Ok(Reply::Granted { token })
}

fn look(state: &Leases, name: &str) -> Reply {
    match state.held.get(name) {
        Some((by, token)) => Reply::Held {
            by: *by,
            token: *token,
        },
        None => Reply::Free,
    }
}
