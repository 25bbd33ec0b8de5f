/**
 * The settings sent with every statement to a cluster, so that results do not depend on a server's profile.
 * docs/explanation/scaling.md explains how they work together; a `ch_<setting>` in CLICKHOUSE_URL overrides each of
 * them.
 */

type Settings = Readonly<Record<string, string>>;

/** Acknowledged means: on disk on the majority of the replicas of each shard that received rows. */
export const CLUSTER_INSERT_SETTINGS: Settings = {
  // Written to the shards before the answer, instead of queued on the node that took the insert.
  distributed_foreground_insert: '1',
  // With two replicas, both, so that either can be read at once, and can be lost.
  insert_quorum: 'auto',
  // Several processes insert concurrently.
  insert_quorum_parallel: '1',
  // The default is ten minutes, during which nothing else would be written. Rows that remain after the timeout are sent
  // again by the client and collapsed by FINAL.
  insert_quorum_timeout: '15000',
  distributed_insert_skip_read_only_replicas: '1',
};

/** An incomplete result is an error, because a number from some of the shards is wrong. */
export const CLUSTER_SELECT_SETTINGS: Settings = {
  skip_unavailable_shards: '0',
  // A lagging replica is not queried, even if all replicas of a shard lag.
  max_replica_delay_for_distributed_queries: '5',
  fallback_to_stale_replicas_for_distributed_queries: '0',
  // Groups from several shards are merged into one.
  distributed_group_by_no_merge: '0',
  // These two rely on the sharding key, which no longer determines the shard of a row once shards were added.
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
