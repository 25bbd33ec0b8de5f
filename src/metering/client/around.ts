/**
 * The only wrapper of a ClickHouse. Tracing, damage detection, waiting for acknowledged events, lanes, limits and
 * previews are hooks: each sees every statement, so none can miss a way in which statements reach the engine.
 */
import type { ClickHouse, RowsInsert, SelectStatement, StreamedSelect } from './clickhouse.ts';

/** `eventsOf` for statements that read no usage events and therefore wait for none. */
export const NO_EVENTS: readonly string[] = [];

/** A call of ClickHouse, after the changes of this hook. */
export type ClickHouseCall =
  | { readonly kind: 'select'; readonly statement: SelectStatement }
  | { readonly kind: 'command'; readonly eventsOf: readonly string[] | undefined }
  | { readonly kind: 'insert'; readonly insert: RowsInsert };

export interface ClickHouseHook {
  /** Changes a SELECT, such as its lane or its limits. Hooks inside see the changed statement. */
  change?<Statement extends SelectStatement>(statement: Statement): Statement;
  /**
   * Runs around the call and returns the result of `work`. It may wait first, refuse by throwing instead of calling
   * `work`, or replace the failure. `work` of a streamed SELECT ends when the reader has taken the last piece or stops.
   */
  run?<Result>(call: ClickHouseCall, work: () => Promise<Result>): Promise<Result>;
}

/** The same ClickHouse with `hook` around all of its operations. */
export function around(clickhouse: ClickHouse, { change, run }: ClickHouseHook): ClickHouse {
  const changed = <Statement extends SelectStatement>(statement: Statement): Statement =>
    change === undefined ? statement : change(statement);
  const ran = <Result>(call: ClickHouseCall, work: () => Promise<Result>): Promise<Result> =>
    run === undefined ? work() : run(call, work);
  return {
    ...clickhouse,
    query: (given) => {
      const statement = changed(given);
      return ran({ kind: 'select', statement }, () => clickhouse.query(statement));
    },
    queryBytes: (given) => {
      const statement = changed(given);
      return ran({ kind: 'select', statement }, () => clickhouse.queryBytes(statement));
    },
    queryStream: (given) => {
      const statement = changed(given);
      if (run === undefined) return clickhouse.queryStream(statement);
      return streamed(clickhouse, statement, (work) => run({ kind: 'select', statement }, work));
    },
    command: (sql, reads) =>
      ran({ kind: 'command', eventsOf: reads?.eventsOf }, () => clickhouse.command(sql, reads)),
    insertRows: (insert) => ran({ kind: 'insert', insert }, () => clickhouse.insertRows(insert)),
  };
}

/** The stream, inside of work that ends with it. */
async function* streamed(
  clickhouse: ClickHouse,
  statement: StreamedSelect,
  run: (work: () => Promise<void>) => Promise<void>,
): AsyncGenerator<Buffer, void, undefined> {
  let begin: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let end: () => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  const whole = run(() => {
    begin();
    return ended;
  });
  // A failure is thrown below; until then the rejection must not end the process.
  whole.catch(() => undefined);
  // A hook that refuses never begins.
  await Promise.race([begun, whole]);
  try {
    yield* clickhouse.queryStream(statement);
  } catch (error) {
    fail(error);
  } finally {
    end();
  }
  await whole;
}
