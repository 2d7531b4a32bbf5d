//! Users that this machine takes over from others, or hands over to them, while the run goes on.

use super::Run;
use crate::run::crew::StartGroup;
use crate::run::fleet::Move;
use crate::run::program::GroupKind;
use crate::run::workers::Command;

impl Run<'_, '_> {
    /// Takes over users of other machines and starts them when they are due, and ends those that others take over. Returns the
    /// number of crews that start users.
    pub(super) fn adopt(&mut self, kind: GroupKind) -> usize {
        let Some(fleet) = self.shared.part.fleet.clone() else {
            return 0;
        };
        if kind != GroupKind::Main || self.shared.control.stopping() {
            return 0;
        }
        let mut crews = 0;
        for change in fleet.take_moves() {
            self.shared.part.announce(change.clone());
            if !change.kind.is_loss() {
                for start in self.running.clone() {
                    let start = StartGroup {
                        slots: change.slots.clone(),
                        moved: Some((change.from_ms, change.kind)),
                        ..start
                    };
                    crews += self.send_start(&start);
                }
            }
            self.moves.push(change);
        }
        let now_ms = self.shared.clock.now_ms();
        let moves = std::mem::take(&mut self.moves);
        let (due, later) = moves
            .into_iter()
            .partition(|change| change.from_ms <= now_ms);
        self.moves = later;
        let due: Vec<Move> = due;
        let has_due = !due.is_empty();
        for change in due {
            self.shared.part.carry_out(&change);
            if change.kind.is_loss() {
                for worker in &self.workers {
                    worker.send(Command::Release(change.slots.clone(), change.kind));
                }
            }
        }
        if has_due {
            self.shared.control.ring();
        }
        crews
    }
}
