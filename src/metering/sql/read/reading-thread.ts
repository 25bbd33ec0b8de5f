/**
 * The worker thread that parses SQL metrics and queries across customers: receives a text, answers with the result or
 * the reason of the refusal.
 */
import { parentPort } from 'node:worker_threads';
import { assert, Refusal } from '../../../core/errors.ts';
import { type CheckedSqlMetric, readSqlMetric } from './read-metric.ts';
import { type CheckedReport, readReport } from './read-report.ts';

export interface ReadQuestion {
  readonly sql: string;
  /** Over the views of all customers, instead of the events of one. */
  readonly isAcross: boolean;
}

/** The messages of the thread: first that it is ready, then one answer to each text, in order. */
export type ReadAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'metric'; readonly metric: CheckedSqlMetric }
  | { readonly kind: 'report'; readonly report: CheckedReport }
  | { readonly kind: 'refused'; readonly problem: string }
  /** An internal error. */
  | { readonly kind: 'failed'; readonly reason: string };

function answerTo({ sql, isAcross }: ReadQuestion): ReadAnswer {
  try {
    if (isAcross) return { kind: 'report', report: readReport(sql) };
    return { kind: 'metric', metric: readSqlMetric(sql) };
  } catch (error) {
    // A query is refused in plain words, for the field `sql`.
    if (error instanceof Refusal && typeof error.problem === 'string') {
      return { kind: 'refused', problem: error.problem };
    }
    return {
      kind: 'failed',
      reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}

const port = parentPort;
assert(port !== null, 'this module runs on a separate thread');
const send = (answer: ReadAnswer) => port.postMessage(answer);
port.on('message', (question: ReadQuestion) => send(answerTo(question)));
send({ kind: 'ready' });
