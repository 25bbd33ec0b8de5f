/**
 * Transactions that survive the loss of their connection.
 *
 * postgres.js continues a transaction after its connection was lost. A statement on the closed socket ends the
 * process: `socket.write` of null, thrown from a timer. Once the driver has opened the connection again, the rest
 * of the lost transaction runs on it without a transaction, or inside that of another caller, which its
 * `rollback` then ends. So nothing may reach the driver after the loss, neither from the caller nor the
 * driver's own `rollback`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type postgres from 'postgres';
import { createKeptTexts, type KeptTexts } from './kept-texts.ts';

type TransactionSql = postgres.TransactionSql;
type Work = (sql: TransactionSql) => Promise<unknown>;

export interface GuardOptions {
  /**
   * The connection prepares statements, in transactions and outside them, with their plans. A prepared statement takes
   * one round trip instead of two, and statements that do not depend on one another are sent together. Called when a
   * transaction begins, and for each statement outside of one. Default: nothing is prepared.
   */
  readonly keepsStatements?: () => boolean;
  /** Called with each statement that is passed to the driver, in a transaction or outside of one. */
  readonly onStatement?: () => void;
}

/**
 * Replaces `client.begin`, which Drizzle uses for `db.transaction`. If the connection is lost, the transaction rejects
 * at once, and so does every later statement of its work. So does a statement after its end.
 */
export function guardTransactions(
  client: postgres.Sql,
  { keepsStatements = () => false, onStatement = () => {} }: GuardOptions = {},
): postgres.Sql {
  const texts = createKeptTexts();
  const begin: (work: Work) => Promise<unknown> = client.begin.bind(client);
  const guardedBegin = (work: Work) => {
    const connection = watchConnection(keepsStatements() ? texts : null, onStatement);
    const transaction = begin((sql) =>
      // Statements sent beside a failed one may follow later, in a transaction that then belongs to another caller.
      guardedWork(work, sql, connection).finally(() =>
        connection.lose(new Error('the transaction has ended')),
      ),
    );
    transaction.catch(connection.lose);
    return transaction;
  };
  return Object.assign(client, {
    begin: guardedBegin,
    unsafe: keptStatements(client, texts, { keepsStatements, onStatement }),
  });
}

/**
 * The function that Drizzle calls for a statement outside a transaction. The driver's `begin` calls it too, without
 * parameters: that is a simple query, which is not prepared.
 */
function keptStatements(
  client: postgres.Sql,
  texts: KeptTexts,
  { keepsStatements, onStatement }: Required<GuardOptions>,
): postgres.Sql['unsafe'] {
  const unsafe = client.unsafe.bind(client);
  return (text, parameters = [], options = {}) => {
    onStatement();
    const prepare = keepsStatements() && texts.isKept(text, parameters.length);
    return unsafe(text, parameters, { ...options, prepare });
  };
}

async function guardedWork(work: Work, sql: TransactionSql, connection: WatchedConnection): Promise<unknown> {
  try {
    return await work(guardedSql(sql, connection));
  } finally {
    // The driver sends `commit` or `rollback` when this returns.
    if (connection.isLost()) await new Promise<never>(() => {});
  }
}

interface WatchedConnection {
  /** Null: no statement is prepared. */
  readonly texts: KeptTexts | null;
  readonly onStatement: () => void;
  isLost(): boolean;
  lose(reason: unknown): void;
  /** Rejects when the connection is lost. */
  readonly lost: Promise<never>;
}

function watchConnection(texts: KeptTexts | null, onStatement: () => void): WatchedConnection {
  let isLost = false;
  let reject: (reason: unknown) => void = () => undefined;
  const lost = new Promise<never>((_, refuse) => {
    reject = refuse;
  });
  lost.catch(() => undefined);
  return {
    texts,
    onStatement,
    isLost: () => isLost,
    lose(reason) {
      isLost = true;
      reject(reason);
    },
    lost,
  };
}

/**
 * The part of a transaction that Drizzle uses: a statement with its parameters, and its rows as objects or as lists;
 * and savepoints, whose failed statements the driver does not count as failures of the transaction.
 */
function guardedSql(sql: TransactionSql, connection: WatchedConnection): TransactionSql {
  const unsafe = (...[text, parameters = [], options]: Parameters<TransactionSql['unsafe']>) => {
    if (connection.isLost()) {
      return Object.assign(connection.lost, { values: () => connection.lost });
    }
    // The driver sends it in the next microtask, so setting `values` here is in time.
    const prepare = connection.texts?.isKept(text, parameters.length) ?? false;
    const query = sql.unsafe(text, parameters, { ...options, prepare });
    connection.onStatement();
    const rows = answerOf(query, connection);
    return Object.assign(rows, {
      values: () => {
        query.values();
        return rows;
      },
    });
  };
  const savepoint = (work: Work) => {
    const inner = sql.savepoint((nested) => guardedWork(work, nested, connection));
    return Promise.race([inner, connection.lost]);
  };
  return { unsafe, savepoint } as unknown as TransactionSql;
}

async function answerOf<Rows>(query: Promise<Rows>, connection: WatchedConnection): Promise<Rows> {
  try {
    return await Promise.race([query, connection.lost]);
  } catch (error) {
    // The driver rejects the statement first and then reports the loss, in the same turn of the event loop.
    await nextTurn();
    throw error;
  }
}
