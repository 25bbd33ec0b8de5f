/**
 * Signed addresses of dashboards: the data of one customer that a visitor may see, until an end, in a tamper-proof
 * text.
 *
 * Owns: the form of the text, its signature and its end. Does not own: the content of a dashboard
 * (`core/dashboards.ts`), and pages (`api/http/dashboard-page.ts`). Nothing is stored for an address, so there may be
 * any number of them. The key is in PostgreSQL, shared by all processes, and is never shown.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { DASHBOARD_MINUTES, DASHBOARDS, type DashboardView, isDashboardOption } from '../core/dashboards.ts';
import { Refusal } from '../core/errors.ts';
import { type Instant, MINUTE_MS } from '../core/time.ts';
import { findPerson } from '../store/access/people.ts';
import { findToken } from '../store/access/tokens.ts';
import type { Database } from '../store/base/database.ts';
import { asIdentification, asRead } from '../store/base/request-unit.ts';
import { keepServiceKey } from '../store/service/service-keys.ts';
import { isUsable } from './tokens.ts';

/** It has to fit into a URL, which proxies limit to 8 KB. */
const CLAIMS_BYTES_MAX = 4_000;
const KEY_BYTES = 32;

/** Short member names keep the address short. */
const claims = z.object({
  customer: z.string(),
  dashboard: z.enum(DASHBOARDS),
  /** The expiry. */
  end: z.int(),
  /** The id of the token or the person that requested it. */
  token: z.string(),
  options: z.record(z.string(), z.string()).default({}),
  colors: z.record(z.string(), z.string()).default({}),
  groups: z
    .array(
      z.object({
        key: z.string(),
        name: z.string().optional(),
        values: z.record(z.string(), z.string()).optional(),
      }),
    )
    .default([]),
});

export interface OpenDashboard extends DashboardView {
  readonly expiresAt: Instant;
}

export interface DashboardLinks {
  /** The text of an address. Refuses (`invalid`) a view that is too long for it. */
  sign(view: DashboardView, tokenId: string): Promise<string>;
  /**
   * The invoices and balances that a signed text grants access to. Refuses (`forbidden`) a text with a wrong signature,
   * and one that has expired or whose token has.
   */
  open(text: string): Promise<OpenDashboard>;
  /** Reads for a visitor, on the connections for reads. */
  read<Result>(work: () => Promise<Result>): Promise<Result>;
}

const NOT_SIGNED = 'The address of this dashboard is not one that the service has signed';
const ENDED = 'The address of this dashboard has ended: ask for another one';

export function createDashboardLinks({
  db,
  clock,
}: {
  readonly db: Database;
  readonly clock: Clock;
}): DashboardLinks {
  let key: Promise<Buffer> | undefined;

  function keyOf(): Promise<Buffer> {
    key ??= asIdentification(() =>
      keepServiceKey(db, 'dashboard_links', randomBytes(KEY_BYTES), clock.now()),
    ).catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    return key;
  }

  async function signatureOf(written: string): Promise<string> {
    return createHmac('sha256', await keyOf())
      .update(written)
      .digest('base64url');
  }

  /** Whether the token, or the person, that asked for an address may still do so. */
  async function isAskerThere(id: string, now: Instant): Promise<boolean> {
    const token = await asIdentification(() => findToken(db, id));
    if (token !== null) return isUsable(token, now);
    const person = await asIdentification(() => findPerson(db, id));
    return person !== null && person.disabledAt === null;
  }

  return {
    async sign(view, tokenId) {
      const minutes = Number(view.options.expires_in_minutes ?? DASHBOARD_MINUTES.default);
      const { customerId: customer, dashboard, options, colors, groups } = view;
      const end = clock.now() + minutes * MINUTE_MS;
      const text = JSON.stringify({ customer, dashboard, end, token: tokenId, options, colors, groups });
      if (Buffer.byteLength(text) > CLAIMS_BYTES_MAX) {
        throw new Refusal(
          'invalid',
          `The options, colours and names of groups have more than ${CLAIMS_BYTES_MAX} bytes together, which is too long for an address`,
        );
      }
      const written = Buffer.from(text).toString('base64url');
      return `${written}.${await signatureOf(written)}`;
    },
    async open(text) {
      const [written = '', signature = '', ...others] = text.split('.');
      const isSigned = others.length === 0 && isSame(signature, await signatureOf(written));
      if (!isSigned) throw new Refusal('forbidden', NOT_SIGNED);
      const { customer, dashboard, end, token, options, colors, groups } = claims.parse(
        JSON.parse(Buffer.from(written, 'base64url').toString()),
      );
      const now = clock.now();
      if (end <= now || !(await isAskerThere(token, now))) throw new Refusal('forbidden', ENDED);
      const known = Object.entries(options).filter(([name]) => isDashboardOption(name));
      return {
        ...{ customerId: customer, dashboard, options: Object.fromEntries(known), colors, groups },
        expiresAt: end,
      };
    },
    read: asRead,
  };
}

/** Compares the texts themselves, since base64 has several texts for the same bytes. */
function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
