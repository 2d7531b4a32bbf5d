//! Renames an element; what refers to it by its name follows.

use drumfire_refactor::{Joined, PlanFile, rename_one};

use crate::refused::{Refused, no_element};
use crate::tree::{Id, Model, Piece, Step, step};

/// Gives an element another name. Module Controllers that lead to it, and others that name it, follow.
///
/// # Errors
/// The element is not there, the name is empty, or a Module Controller would find another element.
pub fn rename(model: &Model, id: Id, name: &str) -> Result<Step, Refused> {
    let node = model.node(id).ok_or_else(|| no_element(id))?;
    let at = model.outline().index(id).ok_or_else(|| no_element(id))?;
    if node.name == name {
        return Ok(Step::default());
    }
    let tree = model.tree();
    let label = format!("Rename {} to {name}", node.name);
    let plan = PlanFile::new(tree.source.path.clone(), tree.clone());
    let renamed = rename_one(&Joined::of(vec![plan]), 0, at, name).map_err(|refused| Refused {
        hint: refused.hint.clone(),
        ..Refused::unfit(refused.message.clone()).of(id)
    })?;
    let edits = renamed.changes.into_iter().flat_map(|change| change.edits);
    let mut pieces: Vec<Piece> = edits.map(Piece::from).collect();
    // An element without the attribute, or with a property of the same meaning, which outweighs it.
    let splices = drumfire_jmx::set_name(tree, node, name);
    let is_covered = |piece: &Piece| {
        pieces
            .iter()
            .any(|other| (other.start, other.end) == (piece.start, piece.end))
    };
    let missing: Vec<Piece> = splices
        .into_iter()
        .map(Piece::from)
        .filter(|piece| !is_covered(piece))
        .collect();
    pieces.extend(missing);
    Ok(step(label, model.text(), pieces))
}
