/**
 * A lease on a place in an S3-compatible store: an object that only one process can create (`If-None-Match`), and that
 * its holder renews while it works. A lease that was not renewed for minutes belongs to a process that was killed.
 *
 * All times are those of the store, so clocks may differ.
 */
import { randomUUID } from 'node:crypto';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { createPoll, ignoreFailure, type Poll } from '../../runtime/poll.ts';
import { createSerialQueue } from '../../runtime/serial-queue.ts';
import { CommandFailure } from '../failures/command-failure.ts';
import type { S3Requests } from '../s3/s3-requests.ts';

export interface S3Lease {
  /** False: the store does not support conditions, so two that begin at the same moment are not excluded. */
  readonly isSafe: boolean;
  /** Throws a `CommandFailure` if another process has taken the lease. */
  check(): Promise<void>;
  /** Does not throw. */
  release(): Promise<void>;
}

export interface LeaseTimes {
  readonly renewMs: number;
  readonly expiresMs: number;
}

const TIMES: LeaseTimes = { renewMs: 30 * SECOND_MS, expiresMs: 5 * MINUTE_MS };

/** Throws a `CommandFailure` if another process holds it. `name`: the name of the place. */
export async function takeLease(
  requests: S3Requests,
  key: string,
  name: string,
  times: LeaseTimes = TIMES,
): Promise<S3Lease> {
  const lease = new Lease(requests, key, name);
  const found = await lease.find();
  if (found !== null && found.ageMs < times.expiresMs)
    throw new CommandFailure(
      `another backup into ${name} is running, or was killed less than ${times.expiresMs / MINUTE_MS} minutes ago`,
    );
  if (found !== null) await requests.send({ method: 'DELETE', key });
  await lease.take();
  lease.keep(times.renewMs);
  return lease;
}

/** The condition does not hold, or another process writes at this moment. */
const REFUSED = [412, 409];

interface FoundLease {
  readonly holder: string;
  readonly etag: string | null;
  readonly ageMs: number;
}

class Lease implements S3Lease {
  isSafe = true;
  readonly #requests: S3Requests;
  readonly #key: string;
  readonly #name: string;
  readonly #holder = randomUUID();
  readonly #looks = createSerialQueue('lease of a backup');
  #renewals: Poll | undefined;

  constructor(requests: S3Requests, key: string, name: string) {
    this.#requests = requests;
    this.#key = key;
    this.#name = name;
  }

  async find(): Promise<FoundLease | null> {
    const { status, body, headers } = await this.#requests.send({ key: this.#key, accepted: [404] });
    if (status === 404) return null;
    const age = Date.parse(headers.get('date') ?? '') - Date.parse(headers.get('last-modified') ?? '');
    // Without a write time from the store, the lease may have been taken now.
    return { holder: body.toString(), etag: headers.get('etag'), ageMs: Number.isFinite(age) ? age : 0 };
  }

  async take(): Promise<void> {
    await this.#write({ 'if-none-match': '*' });
    // A store that ignores the condition accepts a second write.
    if (this.isSafe) this.isSafe = REFUSED.includes(await this.#put({ 'if-none-match': '*' }));
    await this.check();
  }

  keep(everyMs: number): void {
    const work = () => this.#looks.run(() => this.#renewed());
    // If a renewal fails, the check before the manifest says so.
    this.#renewals = createPoll({
      name: 'lease of a backup',
      intervalMs: everyMs,
      work,
      onFailure: ignoreFailure,
    });
    this.#renewals.start();
  }

  async check(): Promise<void> {
    await this.#looks.run(() => this.#held());
  }

  async release(): Promise<void> {
    await this.#renewals?.close();
    await this.check()
      .then(() => this.#requests.send({ method: 'DELETE', key: this.#key }))
      .catch(() => undefined);
  }

  async #renewed(): Promise<void> {
    const { etag } = await this.#held();
    await this.#write(etag === null ? {} : { 'if-match': etag });
  }

  async #held(): Promise<FoundLease> {
    const found = await this.find();
    if (found?.holder !== this.#holder)
      throw new CommandFailure(`another backup into ${this.#name} has begun meanwhile: this one has ended`);
    return found;
  }

  async #write(condition: Readonly<Record<string, string>>): Promise<void> {
    const status = await this.#put(condition);
    // 412 may answer a retry after the first attempt succeeded: `check` reads the holder.
    if (status !== 501) return;
    this.isSafe = false;
    await this.#put({});
  }

  async #put(headers: Readonly<Record<string, string>>): Promise<number> {
    const body = Buffer.from(this.#holder);
    const { status } = await this.#requests.send({
      method: 'PUT',
      key: this.#key,
      headers,
      body,
      accepted: [...REFUSED, 501],
    });
    return status;
  }
}
