//! Which errors say that a client's metadata is out of date.

use quorate_types::ErrorCode;

/// Whether the error, in whatever answer, means that who leads or exists has changed, so that an
/// update is wanted. A connection that was lost counts as `NETWORK_EXCEPTION`.
pub fn asks_for_update(error: ErrorCode) -> bool {
    matches!(
        error,
        ErrorCode::LeaderNotAvailable
            | ErrorCode::UnknownTopicOrPartition
            | ErrorCode::UnknownTopicId
            | ErrorCode::NotLeaderOrFollower
            | ErrorCode::ListenerNotFound
            | ErrorCode::ReplicaNotAvailable
            | ErrorCode::FencedLeaderEpoch
            | ErrorCode::KafkaStorageError
            | ErrorCode::InconsistentTopicId
            | ErrorCode::NetworkException
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_about_leadership_ask_for_an_update_and_others_do_not() {
        let asking: Vec<i16> = (-1..140)
            .filter(|code| asks_for_update(ErrorCode::from_code(*code)))
            .collect();
        assert_eq!(asking, [3, 5, 6, 9, 13, 56, 72, 74, 100, 103]);
    }
}
