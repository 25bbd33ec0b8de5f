/**
 * The settings sent with every statement to a cluster, so that results do not depend on a server's profile.
 * docs/explanation/scaling.md explains how they work together; a `ch_<setting>` in CLICKHOUSE_URL overrides each of them.
 */

type Settings = Readonly<Record<string, string>>;

/** Acknowledged means: on disk on the majority of the replicas of each shard that got rows. */
export const CLUSTER_INSERT_SETTINGS: Settings = {
  // Written to the shards before the answer, instead of queued on the node that took the insert.
  distributed_foreground_insert: '1',
  // Of two replicas both, so that either of them can be read from at once, and can be lost.
  insert_quorum: 'auto',
  // Several processes insert side by side.
  insert_quorum_parallel: '1',
  // The default is ten minutes, in which nothing else would be written. Rows that are left when it
  // runs out are sent again by the client and collapsed by FINAL.
  insert_quorum_timeout: '15000',
  distributed_insert_skip_read_only_replicas: '1',
};

/** An incomplete result is an error, because a number from some of the shards is wrong. */
export const CLUSTER_SELECT_SETTINGS: Settings = {
  skip_unavailable_shards: '0',
  // A replica that lags is asked neither, nor when all of a shard do.
  max_replica_delay_for_distributed_queries: '5',
  fallback_to_stale_replicas_for_distributed_queries: '0',
  // Groups of several shards are one group.
  distributed_group_by_no_merge: '0',
  // These two trust the sharding key, which no longer tells where a row is once shards were added.
  optimize_skip_unused_shards: '0',
  optimize_distributed_group_by_sharding_key: '0',
  // A subquery sees the events of all shards, wherever it runs.
  distributed_product_mode: 'global',
};

/** Statements without a result. A node that is down runs DDL when it is back, without a long wait. */
export const CLUSTER_COMMAND_SETTINGS: Settings = {
  distributed_foreground_insert: '1',
  distributed_ddl_task_timeout: '10',
  distributed_ddl_output_mode: 'null_status_on_timeout',
};
