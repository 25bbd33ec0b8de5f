/** The options of `tallyhouse backup` and `restore`. */

export interface BackupOptions {
  /** A directory, absolute, or `s3://bucket/prefix`. */
  readonly place: string;
  /** Maximum megabytes read per second. */
  readonly rateMb: number;
  /** How many backups are kept in the place; null: all. */
  readonly keep: number | null;
  /** Whether a ClickHouse server writes everything again, instead of an increment. */
  readonly isFull: boolean;
  readonly json: boolean;
}

/** An ordinary disk and core sustain this beside ingest. */
export const RATE_MB_DEFAULT = 50;
export const RATE_MB_MAX = 10_000;
export const KEEP_MAX = 10_000;

export interface RestoreOptions {
  readonly place: string;
  /** Null: the last one. */
  readonly name: string | null;
  /** Whether the backup is only read and checked. */
  readonly isCheck: boolean;
}
