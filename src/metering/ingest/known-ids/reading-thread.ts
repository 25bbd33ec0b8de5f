/** The thread that reads pages of known ids: it receives numbered requests and answers with the results. */
import { parentPort } from 'node:worker_threads';
import { assert } from '../../../core/errors.ts';
import { type PageReads, type PagesRead, readPages } from './page-reads.ts';

export interface PagesQuestion {
  readonly number: number;
  readonly reads: PageReads;
}

export interface PagesAnswer {
  readonly number: number;
  readonly read: PagesRead;
}

const port = parentPort;
assert(port !== null, 'this module runs on a separate thread');
port.on('message', ({ number, reads }: PagesQuestion) => {
  const answer: PagesAnswer = { number, read: readPages(reads) };
  port.postMessage(answer);
});
