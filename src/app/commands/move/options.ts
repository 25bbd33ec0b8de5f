/** A call of `tallyhouse move`. */
export type MoveOptions =
  /** Discard a move that has not ended. */
  | { readonly kind: 'abort' }
  | {
      readonly kind: 'move';
      readonly postgres: string;
      readonly clickhouse: string;
      /** Name of the cluster at the ClickHouse URL; null: one node. */
      readonly cluster: string | null;
      /** Whether invoices are recomputed from the events of the servers before these are used. */
      readonly reconciles: boolean;
      /** One JSON document at the end instead of lines. */
      readonly json: boolean;
    };
