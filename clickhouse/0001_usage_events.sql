-- Usage events exactly as they were acknowledged. One row per stored event; append only.
--
-- Read it through FINAL: rows with the same sorting key are one event, and the greatest `version`
-- (the earliest ingestion) is the one that counts. The partition is a function of the sorting key,
-- so FINAL never has to look across partitions (do_not_merge_across_partitions_select_final = 1 is safe).
--
-- fsync_after_insert and fsync_part_directory make an acknowledged insert survive a power cut, not
-- only a crash of the process. The default old_parts_lifetime keeps merged parts' sources for 8
-- minutes, long after the system has written the merged part, so merges need no fsync of their own.
CREATE TABLE IF NOT EXISTS usage_events${LOCAL} ${ON_CLUSTER}
(
  transaction_id String                              COMMENT 'Identity of the event',
  customer_ref   String                              COMMENT 'Customer id or ingest alias, exactly as sent; resolved when read',
  event_type     LowCardinality(String),
  timestamp      DateTime64(3, 'UTC')                COMMENT 'When the usage happened',
  properties     Map(LowCardinality(String), String) COMMENT 'Text of each value as sent; nested values as JSON text',
  ingested_at    DateTime64(6, 'UTC')                COMMENT 'When it was accepted',
  version        UInt64                              COMMENT 'Decreases with ingested_at: the first write wins',
  id_hash_a      UInt32                              COMMENT 'First 32 bits of the 96-bit hash of transaction_id' CODEC(NONE),
  id_hash_b      UInt32                              COMMENT 'Second 32 bits' CODEC(NONE),
  id_hash_c      UInt32                              COMMENT 'Third 32 bits' CODEC(NONE)
)
ENGINE = ${REPLICATED}ReplacingMergeTree(version)
PARTITION BY toYYYYMM(timestamp)
ORDER BY (customer_ref, event_type, timestamp, transaction_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- only on a cluster
-- Sharded by identity, so that copies of one event meet on one shard and FINAL can collapse them.
CREATE TABLE IF NOT EXISTS usage_events ${ON_CLUSTER}
AS usage_events${LOCAL}
ENGINE = Distributed(${CLUSTER}, currentDatabase(), usage_events${LOCAL}, sipHash64(transaction_id));
