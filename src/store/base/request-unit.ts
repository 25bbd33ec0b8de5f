/**
 * One request, one transaction: the writes of a request are committed together with the record of the request.
 *
 * A use case opens its transaction as usual (`db.transaction`). Inside a unit the transaction is not committed when the
 * work of the use case ends, but when the unit does, which first adds the rows of the request: the audit log entry and
 * the stored answer of an idempotency key. Until then the request reads through its transaction, and so sees its own
 * writes. A later transaction of the same request is a savepoint.
 *
 * Does not own: the added rows (`access/`). Transactions with options (snapshots) write nothing and are not affected.
 */
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { createScopeKey } from '../../runtime/request-scope.ts';
import { createSerialQueue } from '../../runtime/serial-queue.ts';

/** As in `database.ts`, which imports this file. */
type Database = PostgresJsDatabase;
type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];

/** Runs on the transaction of the request, or in a separate one. */
type Write = (tx: Transaction) => Promise<void>;

export interface RequestUnit {
  /** Runs the use case. Its first transaction stays open. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Commits the writes of the use case together with those of `write`. Rejects if either is not committed. */
  commit(write: Write): Promise<void>;
  /** Rolls back the writes of the use case. */
  rollBack(): Promise<void>;
}

/** `recording`: the request has been executed, and has written nothing. */
const current = createScopeKey<Unit | 'reading' | 'identifying' | 'recording'>('transaction of the request');

/** Whether the current work belongs to a request, as opposed to a job. */
export function isOfRequest(): boolean {
  return current.get() !== undefined;
}

/** Opens a unit over `db`, which must come from `withUnits`. */
export function openUnit(db: Database): RequestUnit {
  const unit = new Unit(db);
  return {
    run: (work) => current.run(unit, work),
    commit: (write) => unit.commit(write),
    rollBack: () => unit.rollBack(),
  };
}

/** Calls `work` when the transaction of this request is committed; at once outside a request. */
export function afterCommit(work: () => void): void {
  const unit = current.get();
  if (unit instanceof Unit) unit.afterCommit.push(work);
  else work();
}

/** How a transaction of a request has ended. `unknown`: its commit may have taken effect. */
export type UnitEnd = 'committed' | 'rolled back' | 'unknown';

/** Calls `work` when the transaction of this request has ended; at once, as committed, outside a request. */
export function whenEnded(work: (end: UnitEnd) => void): void {
  const unit = current.get();
  if (unit instanceof Unit) unit.whenEnded.push(work);
  else work('committed');
}

/**
 * Runs a read-only request on separate connections: changes and jobs do not wait for reads, however many or slow they
 * are.
 */
export function asRead<Result>(work: () => Promise<Result>): Promise<Result> {
  return current.run('reading', work);
}

/**
 * Looks up the sender of a request on separate connections: every request begins with it, so it must not wait for
 * others' queries.
 */
export function asIdentification<Result>(work: () => Promise<Result>): Promise<Result> {
  return current.run('identifying', work);
}

/**
 * The same database, which joins the units that are opened over it, and serves reads and identifications from separate
 * pools.
 */
export function withUnits(db: Database, others: { reading: Database; identifying: Database }): Database {
  const joined: Database = new Proxy(db, {
    get(target, name) {
      const unit = current.get();
      if (unit === 'reading' || unit === 'identifying') return memberOf(others[unit], name);
      const own = unit instanceof Unit && unit.db === joined ? unit : undefined;
      if (own !== undefined && name === 'transaction') {
        return (...call: Parameters<Database['transaction']>) => own.transaction(target, ...call);
      }
      return memberOf(own?.held ?? target, name);
    },
  });
  return joined;
}

function memberOf(from: object, name: string | symbol): unknown {
  const member: unknown = Reflect.get(from, name, from);
  return typeof member === 'function' ? member.bind(from) : member;
}

/** Rolls back the transaction without reporting an error. */
class RolledBack extends Error {}

class Unit {
  readonly db: Database;
  readonly afterCommit: (() => void)[] = [];
  readonly whenEnded: ((end: UnitEnd) => void)[] = [];
  held: Transaction | undefined;
  /** Settles when the transaction is committed or rolled back. */
  #ended: Promise<void> | undefined;
  /** Ends the wait of the transaction: with the write before the commit, or with null to roll back. */
  #end: ((write: Write | null) => void) | undefined;
  /** Transactions of one request run one after another. */
  readonly #transactions = createSerialQueue();

  constructor(db: Database) {
    this.db = db;
  }

  transaction<Result>(
    db: Database,
    work: (tx: Transaction) => Promise<Result>,
    options?: Parameters<Database['transaction']>[1],
  ): Promise<Result> {
    if (options !== undefined)
      return this.held === undefined ? db.transaction(work, options) : work(this.held);
    return this.#transactions.run(() =>
      this.held === undefined ? this.#open(db, work) : this.held.transaction(work),
    );
  }

  #open<Result>(db: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const ended = db.transaction(async (tx) => {
        const result = await work(tx);
        const write = new Promise<Write | null>((end) => {
          this.#end = end;
        });
        this.held = tx;
        resolve(result);
        const beforeCommit = await write;
        if (beforeCommit === null) throw new RolledBack();
        await beforeCommit(tx);
      });
      this.#ended = ended;
      // The work has failed, or nobody waits any longer: `commit` and `rollBack` wait for `ended` themselves.
      ended.catch(reject);
    });
  }

  async commit(write: Write): Promise<void> {
    try {
      if (this.held === undefined) await current.run('recording', () => this.db.transaction(write));
      else {
        this.#end?.(write);
        await this.#ended;
      }
    } catch (error) {
      this.#tell('unknown');
      throw error;
    }
    this.#tell('committed');
    for (const work of this.afterCommit) work();
  }

  async rollBack(): Promise<void> {
    if (this.held !== undefined) {
      this.#end?.(null);
      await this.#ended?.catch(() => undefined);
    }
    this.#tell('rolled back');
  }

  #tell(end: UnitEnd): void {
    for (const work of this.whenEnded.splice(0)) work(end);
  }
}
