-- What corrections change of stored events (docs/explanation/corrections.md): one row for every version of an event that is
-- taken away, and one for every version that counts instead. Written once, before a set is applied, and inert until
-- PostgreSQL has the set as applied; rows of an application that did not finish are of an `attempt` that no set names.
--
-- Rows lie beside the events that they are about: a version that is taken away in the order of that version, a new
-- version in its own.
CREATE TABLE IF NOT EXISTS corrected_events${LOCAL} ${ON_CLUSTER}
(
  attempt        LowCardinality(String)              COMMENT 'The application that wrote the row',
  is_given       UInt8                               COMMENT '1: this version counts instead; 0: this version is taken away',
  of_attempt     LowCardinality(String)              COMMENT 'Of a version that is taken away: the application that gave it; empty: as it was sent',
  transaction_id String                              COMMENT 'Identity of the event',
  customer_ref   String                              COMMENT 'Customer id or ingest alias',
  event_type     LowCardinality(String),
  timestamp      DateTime64(3, 'UTC')                COMMENT 'When the usage happened',
  properties     Map(String, String)                 COMMENT 'As in usage_events; empty where a version is taken away',
  ingested_at    DateTime64(6, 'UTC')                COMMENT 'When the event was accepted: a correction does not change it',
  INDEX by_id transaction_id TYPE bloom_filter(0.01) GRANULARITY 4
)
ENGINE = ${REPLICATED}MergeTree
PARTITION BY toYYYYMM(timestamp)
ORDER BY (customer_ref, event_type, timestamp, transaction_id, attempt)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1,
  min_compressed_bytes_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_fetch = 1,
  remove_empty_parts = 0;

-- only on a cluster
-- On the shard of the event.
CREATE TABLE IF NOT EXISTS corrected_events ${ON_CLUSTER}
AS corrected_events${LOCAL}
ENGINE = Distributed(${CLUSTER}, currentDatabase(), corrected_events${LOCAL}, sipHash64(transaction_id));
