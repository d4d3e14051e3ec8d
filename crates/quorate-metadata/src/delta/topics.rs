//! Topics that are in one image only.

use crate::{Topic, Topics};

/// The topics of `these` whose ids `others` does not have.
pub(super) fn only_in<'a>(
    these: &'a Topics,
    others: &'a Topics,
) -> impl Iterator<Item = Topic<'a>> {
    others
        .topic_changes(these)
        .filter(|change| change.is_created())
        .filter_map(|change| change.after)
}
