/** The shares of seats in commits and credits with INDIVIDUAL allocation. */
import { z } from 'zod';
import { listSeatBalances, type SeatBalances } from '../../../billing/balance-queries/list-seat-balances.ts';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { sum } from '../../../core/decimal.ts';
import { groupBy } from '../../../core/group-by.ts';
import { ledgerEntryType } from '../../../core/terms/ledger.ts';
import { formatInstant } from '../../../core/time.ts';
import type { ShareBalance } from '../../../rating/balances/seat-balances.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { exactValue, timestamp, uuid, wholeNumber } from '../../wire/fields.ts';
import { cursor, pageToWire } from '../../wire/paging.ts';
import { isCommit } from '../../wire/terms/commits.ts';

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 25;
/** Ids in one request; clients page instead. */
const IDS_MAX = 1_000;

const record = z.object({
  id: uuid.meta({ description: 'The commit or credit.' }),
  balance: exactValue.meta({ type: 'number', description: 'The available share of the seat.' }),
  start_date: timestamp.meta({ description: 'Start of its access.' }),
  end_date: timestamp.nullable(),
  ledger_entries: z
    .array(z.object({ type: z.string(), amount: exactValue, timestamp }))
    .optional()
    .meta({ description: 'The ledger of the seat, with include_ledgers.' }),
});

const seatBalance = z
  .object({
    seat_id: z.string(),
    balances: z
      .array(z.object({ credit_type_id: uuid, balance: exactValue, starting_balance: exactValue }))
      .meta({
        description:
          'One entry per unit, over the commits and credits with access at the requested date or in the requested range.',
      }),
    commits: z.array(record).optional().meta({ description: 'With include_credits_and_commits.' }),
    credits: z.array(record).optional().meta({ description: 'With include_credits_and_commits.' }),
  })
  .meta({ id: 'SeatBalance' });

const body = z
  .object({
    customer_id: uuid,
    contract_id: uuid,
    subscription_ids: z.array(uuid).max(IDS_MAX).nullish().meta({
      description:
        'Return seats of these subscriptions. Default: all subscriptions of the contract with seats.',
    }),
    seat_ids: z.array(z.string()).max(IDS_MAX).nullish().meta({ description: 'Return these seats only.' }),
    skip_missing_seat_ids: z.boolean().nullish().meta({
      description: 'If true, unknown `seat_ids` are ignored. If false, the request fails with 400.',
    }),
    include_credits_and_commits: z.boolean().nullish(),
    include_ledgers: z.boolean().nullish().meta({ description: 'Needs include_credits_and_commits.' }),
    covering_date: timestamp.nullish().meta({
      description:
        'Commits and credits with access at this time. Default: now. Cannot be combined with a range.',
    }),
    starting_at: timestamp
      .nullish()
      .meta({ description: 'Commits and credits with access at or after this time.' }),
    effective_before: timestamp
      .nullish()
      .meta({ description: 'Commits and credits with access at or before this time.' }),
    limit: wholeNumber(1, LIMIT_MAX)
      .nullish()
      .meta({ description: `Seats, 1 to ${LIMIT_MAX}, by default ${LIMIT_DEFAULT}.` }),
    cursor: cursor(z.object({ seat: uuid })).nullish(),
  })
  .refine((sent) => sent.include_ledgers !== true || sent.include_credits_and_commits === true, {
    path: ['include_ledgers'],
    message: 'needs include_credits_and_commits',
  });

type Body = z.output<typeof body>;

export function seatBalancesRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/contracts/seatBalances/list',
    operationId: 'listSeatBalances',
    summary: 'List what the seats of a contract have of its commits and credits',
    description:
      'By id of the seat: all seats that have been assigned up to now, with their shares of commits and credits ' +
      'with INDIVIDUAL allocation. With include_credits_and_commits a page has no further seat once its seats have ' +
      '100 commits and credits.',
    tags: ['Balances'],
    scope: 'read',
    body,
    response: z.object({
      data: z.array(seatBalance),
      pagination: z.object({
        seats_included: z.int(),
        seats_available_for_next_page: z.int().meta({ description: 'How many follow.' }),
        next_page: z.string().nullable().meta({ description: 'Cursor of the next page; null at the end.' }),
      }),
    }),
    errors: [400, 404],
    async handler({ body: sent }) {
      const request = { after: sent.cursor ?? null, limit: sent.limit ?? LIMIT_DEFAULT };
      const { page, seatsAfter } = await listSeatBalances(context, inputOf(sent), request);
      const { data, next_page } = pageToWire(page, (seat) => seatToWire(seat, sent));
      const pagination = {
        seats_included: data.length,
        seats_available_for_next_page: seatsAfter,
        next_page,
      };
      return { data, pagination };
    },
  });
}

function inputOf(sent: Body): Parameters<typeof listSeatBalances>[1] {
  return {
    customerId: sent.customer_id,
    contractId: sent.contract_id,
    subscriptionIds: sent.subscription_ids ?? null,
    seatIds: sent.seat_ids ?? null,
    skipsMissingSeats: sent.skip_missing_seat_ids ?? false,
    coveringDate: sent.covering_date ?? null,
    startingAt: sent.starting_at ?? null,
    effectiveBefore: sent.effective_before ?? null,
    showsRecords: sent.include_credits_and_commits ?? false,
  };
}

function seatToWire({ seatId, shares }: SeatBalances, sent: Body): z.input<typeof seatBalance> {
  const byUnit = groupBy(shares, ({ commit }) => commit.accessSchedule.creditTypeId);
  const withLedger = sent.include_ledgers ?? false;
  const recordsOf = (wanted: boolean) =>
    shares.filter(({ commit }) => isCommit(commit) === wanted).map((one) => recordOf(one, withLedger));
  return {
    seat_id: seatId,
    balances: [...byUnit].map(([credit_type_id, own]) => ({
      credit_type_id,
      balance: sum(own.map(({ balance }) => balance)),
      starting_balance: sum(own.map(({ granted }) => granted)),
    })),
    ...(sent.include_credits_and_commits === true
      ? { commits: recordsOf(true), credits: recordsOf(false) }
      : {}),
  };
}

function recordOf(
  { commit, share: { segment }, balance, ledger }: ShareBalance,
  withLedger: boolean,
): z.input<typeof record> {
  return {
    id: commit.id,
    balance,
    start_date: formatInstant(segment.startingAt),
    end_date: formatInstant(segment.endingBefore),
    ...(withLedger
      ? {
          ledger_entries: ledger.map(({ kind, amount, timestamp: at }) => ({
            type: ledgerEntryType(commit.type, kind),
            amount,
            timestamp: formatInstant(at),
          })),
        }
      : {}),
  };
}
