/**
 * Answers whether usage is allowed now, from the numbers that holds are granted from. Creates no hold
 * (docs/explanation/holds.md, "Check").
 */
import type { Decimal } from '../../core/decimal.ts';
import { namesNothing, Refusal } from '../../core/errors.ts';
import type { AccountSeen } from '../../core/hold.ts';
import { type Instant, SECOND_MS } from '../../core/time.ts';
import { standing as standingOf } from '../../rating/holds/family-state.ts';
import type { Standing } from '../../rating/holds/hold-book.ts';
import type { NotCharged } from '../../rating/holds/price-event.ts';
import { createBatcher } from '../../runtime/batcher.ts';
import type { Database } from '../../store/base/database.ts';
import { READ_TOGETHER_MAX, readAccounts } from '../../store/holds/holds.ts';
import { findProduct } from '../../store/products/products.ts';
import { unitOf } from './facts-of-parts.ts';
import type { Asked } from './family-prices.ts';
import type { HoldFamily } from './hold-family.ts';
import type { HoldParts } from './hold-parts.ts';
import { preparedEvent } from './prepare-holds.ts';
import { type Freshness, freshnessOf } from './reserve.ts';

export interface CheckRequest {
  /** Id or ingest alias. */
  readonly customerRef: string;
  /** Alternative to an event type. */
  readonly productId: string | null;
  readonly eventType: string | null;
  /** JSON, with the digits as they were sent. */
  readonly properties: string;
  readonly quantity: Decimal | null;
}

export interface CheckAnswer {
  /** Null: allowed. */
  readonly reason: NotCharged | 'balance' | 'spend_limit' | 'customer_not_found' | null;
  /** Null: no price. */
  readonly creditTypeName: string | null;
  readonly creditTypeId: string | null;
  readonly standing: Standing | null;
}

/** The age up to which clients may cache an answer, and with other processes the maximum age of an evaluation. */
export const CHECK_AGE_SECONDS = 1;
const ATTEMPTS_MAX = 5;
/** The number of evaluations that confirm a refusal if usage has arrived since the last one. */
const CONFIRMED_MAX = 2;

interface Parts extends HoldParts {
  /** The present accounts of these customers. */
  readAccounts(customerIds: readonly string[]): Promise<readonly AccountSeen[]>;
}

export function createCheck(context: HoldParts): (request: CheckRequest) => Promise<CheckAnswer> {
  const parts: Parts = { ...context, readAccounts: createAccountReads(context.db) };
  return async (request) => {
    const begunAt = performance.now();
    const begunAfter = context.isShared ? performance.now() - CHECK_AGE_SECONDS * SECOND_MS : 0;
    const { customerRef, productId, quantity, properties } = request;
    // If a product is asked about, the properties are its group values only.
    const event = preparedEvent(context, {
      customerRef,
      properties,
      eventType: request.eventType ?? 'check',
    });
    const asked: Asked = { event, productId, quantity };
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const current = await currentFamily(parts, customerRef, freshnessOf(attempt, { begunAfter, begunAt }));
      if (current === null) return refused('customer_not_found');
      if (current === 'again') continue;
      const answer = await judged(parts, current, asked);
      const { family } = current;
      const isInDoubt = answer.standing?.reason != null && attempt < CONFIRMED_MAX && family.hasStoredUsage();
      if (!isInDoubt) return answer;
      // Usage since the evaluation is priced conservatively; that alone refuses nobody.
      await context.families.renew(family, performance.now());
    }
    throw new Refusal('unavailable', 'what the answer depends on keeps changing: try again in a moment');
  };
}

function createAccountReads(db: Database): Parts['readAccounts'] {
  const work = async (asked: readonly (readonly string[])[]) => {
    const accounts = await readAccounts(db, [...new Set(asked.flat())]);
    const byId = new Map(accounts.map((account) => [account.customerId, account]));
    return asked.map((customerIds) => customerIds.flatMap((id) => byId.get(id) ?? []));
  };
  return createBatcher({ name: 'accounts of holds', work, sizeMax: READ_TOGETHER_MAX }).ask;
}

interface Current {
  readonly customerId: string;
  readonly family: HoldFamily;
}

/** The family of a customer, including everything that was answered before. Null: no customer can hold under this name. */
async function currentFamily(
  { families, writer, readAccounts: read, clock, isShared }: Parts,
  customerRef: string,
  { begunAfter, needsPrices }: Freshness,
): Promise<Current | 'again' | null> {
  const found = await families.find(customerRef);
  if (found === null) return null;
  const { family } = found;
  if (!family.isValidAt(clock.now(), begunAfter)) {
    await families.renew(family, begunAfter);
    // The customer may have been archived, erased or renamed.
    if ((await families.find(customerRef))?.family !== family) return 'again';
  }
  if (hasEnded(family, clock.now())) await writer.endOver(family);
  const { evaluated } = family;
  const seen = await read(evaluated.customerIds);
  if (family.evaluated !== evaluated || !family.isValidAt(clock.now(), begunAfter)) return 'again';
  if (family.isAsSeen(seen, { isShared, needsPrices })) return found;
  // Only holds of other processes have to be read.
  if (isShared) family.send({ kind: 'overtaken' });
  await families.renew(family, performance.now());
  return 'again';
}

/** Synchronous, so that nothing changes between reading the state and deciding. */
async function judged(
  { db, nameOf }: Parts,
  { customerId, family }: Current,
  asked: Asked,
): Promise<CheckAnswer> {
  const parts = family.prices.partsOfAsked(customerId, asked);
  if (parts === 'unknown_product') return refused(await reasonOfUnknown(db, asked.productId ?? ''));
  if (typeof parts === 'string') return refused(parts);
  const standing = standingOf(family.state, parts);
  const creditTypeId = unitOf(parts);
  return {
    ...{ reason: standing.reason, standing, creditTypeId },
    creditTypeName: await nameOf(creditTypeId),
  };
}

function hasEnded(family: HoldFamily, now: Instant): boolean {
  for (const { hold } of family.active.values()) if (hold.expiresAt <= now) return true;
  return false;
}

function refused(reason: NotCharged | 'customer_not_found'): CheckAnswer {
  return { reason, standing: null, creditTypeId: null, creditTypeName: null };
}

/** Refuses an unknown id (`not_found`). */
async function reasonOfUnknown(db: Database, productId: string): Promise<NotCharged> {
  if ((await findProduct(db, productId)) === null)
    throw namesNothing(['productId'], `product ${productId} not found`);
  return 'unpriced';
}
