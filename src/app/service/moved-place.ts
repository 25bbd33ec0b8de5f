/** The answers of a process whose stores have moved to servers: their new place, and that it accepts nothing. */
import { setTimeout as delay } from 'node:timers/promises';
import { movedText, readMove } from '../../embedded/move-record.ts';
import type { Logger } from '../../log.ts';
import type { Application } from '../application/application-parts.ts';
import type { Stores } from '../stores/stores.ts';

type Fetch = Application['fetch'];

export interface Place {
  /** The application, or the answer that it has moved. */
  fetch: Fetch;
  /** Stops using the stores permanently. Resolves when they are closed. */
  leave(): Promise<void>;
}

export interface PlaceParts {
  readonly dataDir: string;
  readonly log: Logger;
  readonly stores: Pick<Stores, 'clickhouse'>;
  readonly application: Pick<Application, 'fetch' | 'requestsEnded' | 'endJobs'>;
  /** How long requests and jobs may continue. */
  readonly waitMs: number;
  /** Functions that close the application and its stores, in this order. */
  readonly close: readonly (() => Promise<void>)[];
}

export function createPlace({ dataDir, log, stores, application, waitMs, close }: PlaceParts): Place {
  const place: Place = {
    fetch: application.fetch,
    async leave() {
      const record = await readMove(dataDir).catch(() => null);
      const text = record === null ? 'the stores here were moved to servers' : movedText(record);
      place.fetch = (request) => goneAnswer(request, text);
      log.warn(`${text}: nothing is taken here any more`);
      const ended = Promise.all([application.requestsEnded(), application.endJobs()]);
      await Promise.race([ended, delay(waitMs, undefined, { ref: false })]);
      await stores.clickhouse.cancelQueries();
      for (const step of close) await step();
    },
  };
  return place;
}

/** Clients keep unsent data until they are pointed to the new place. */
function goneAnswer(request: Request, text: string): Response {
  // The process is alive; after a restart it would refuse to start.
  if (new URL(request.url).pathname === '/healthz') return Response.json({ status: 'ok' });
  const message = `This service no longer accepts requests: ${text}. Send it there`;
  return Response.json({ message }, { status: 503, headers: { 'retry-after': '60' } });
}
