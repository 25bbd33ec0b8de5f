-- Which files of known ids (DATA_DIR/known-ids) belong to the stored events, as one JSON document: the row
-- with the greatest version counts. It lies here so that it is restored, copied and lost with the events.
CREATE TABLE IF NOT EXISTS known_id_runs${LOCAL} ${ON_CLUSTER}
(
  key     UInt8   COMMENT 'Always 1',
  version UInt64  COMMENT 'Increases with every change',
  runs    String  COMMENT 'The files, the seconds of acceptance that each covers, and how many ids it has'
)
ENGINE = ${REPLICATED}ReplacingMergeTree(version)
ORDER BY key
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1,
  min_compressed_bytes_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_fetch = 1;

-- only on a cluster
CREATE TABLE IF NOT EXISTS known_id_runs ${ON_CLUSTER}
AS known_id_runs${LOCAL}
ENGINE = Distributed(${CLUSTER}, currentDatabase(), known_id_runs${LOCAL}, sipHash64(key));
