-- Usage events exactly as they were acknowledged. One row per stored event; append only.
--
-- Read it through FINAL: rows with the same sorting key are one event, and the greatest `version`
-- (the earliest ingestion) is the one that counts. The partition is a function of the sorting key,
-- so FINAL never has to look across partitions (do_not_merge_across_partitions_select_final = 1 is safe).
--
-- The fsync settings make an acknowledged insert survive a power cut, not only a crash of the process. A
-- merge needs its own, because the parts it was made of are removed at once (old_parts_lifetime is 0 by
-- default in some versions), and so does a part that a replica fetches.
--
-- `by_id` finds an event by its id: the hashes in order, each with the place of its row. It is built by
-- merges alone, so an insert does nothing for it; the few parts that no merge has touched yet are small,
-- and a search reads their hashes instead. A merge that drops copies builds it anew ('rebuild').
--
-- `by_acceptance` lets a process that asks for what was stored in the last seconds skip all older parts.
CREATE TABLE IF NOT EXISTS usage_events${LOCAL} ${ON_CLUSTER}
(
  transaction_id String                              COMMENT 'Identity of the event',
  customer_ref   String                              COMMENT 'Customer id or ingest alias, exactly as sent; resolved when read',
  event_type     LowCardinality(String),
  timestamp      DateTime64(3, 'UTC')                COMMENT 'When the usage happened',
  properties     Map(String, String)                 COMMENT 'Text of each value as sent; nested values as JSON text',
  ingested_at    DateTime64(6, 'UTC')                COMMENT 'When it was accepted',
  version        UInt64                              COMMENT 'Decreases with ingested_at: the first write wins',
  id_hash_a      UInt32                              COMMENT 'First 32 bits of the 96-bit hash of transaction_id' CODEC(NONE),
  id_hash_b      UInt32                              COMMENT 'Second 32 bits' CODEC(NONE),
  id_hash_c      UInt32                              COMMENT 'Third 32 bits' CODEC(NONE),
  PROJECTION by_id (SELECT id_hash_a, _part_offset ORDER BY id_hash_a),
  INDEX by_acceptance ingested_at TYPE minmax GRANULARITY 16
)
ENGINE = ${REPLICATED}ReplacingMergeTree(version)
PARTITION BY toYYYYMM(timestamp)
ORDER BY (customer_ref, event_type, timestamp, transaction_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1,
  min_compressed_bytes_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_fetch = 1,
  materialize_projections_on_insert = 0, materialize_projections_on_merge = 1,
  deduplicate_merge_projection_mode = 'rebuild', lightweight_mutation_projection_mode = 'rebuild';

-- only on a cluster
-- Sharded by identity, so that copies of one event meet on one shard and FINAL can collapse them.
CREATE TABLE IF NOT EXISTS usage_events ${ON_CLUSTER}
AS usage_events${LOCAL}
ENGINE = Distributed(${CLUSTER}, currentDatabase(), usage_events${LOCAL}, sipHash64(transaction_id));
