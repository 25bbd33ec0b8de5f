/** The parameters that the lists of commits, credits and balances share on the wire. */
import { z } from 'zod';
import type { ListBalancesInput } from '../../../billing/balance-queries/list-balances.ts';
import type { PageRequest } from '../../../core/paging.ts';
import type { CommitPosition } from '../../../store/balances/commit-list.ts';
import { timestamp, uuid, wholeNumber } from '../../wire/fields.ts';
import { cursor, keysetPosition } from '../../wire/paging.ts';

const LIMIT_MAX = 25;

/** With a priority in lists that are ordered by it. */
const balancePosition = keysetPosition.extend({
  priority: z
    .string()
    .regex(/^-?\d{1,40}(?:\.\d{1,40})?$/)
    .optional(),
});

/** The members that the bodies of all three lists have. */
export const listMembers = {
  customer_id: uuid,
  covering_date: timestamp.nullish().meta({ description: 'Balances with access at this time.' }),
  starting_at: timestamp.nullish().meta({ description: 'Balances with access at or after this time.' }),
  effective_before: timestamp.nullish().meta({ description: 'Balances with access before this time.' }),
  include_archived: z.boolean().nullish(),
  include_ledgers: z.boolean().nullish(),
  include_balance: z.boolean().nullish(),
  next_page: cursor(balancePosition).nullish(),
  limit: wholeNumber(1, LIMIT_MAX)
    .nullish()
    .meta({ description: `1 to ${LIMIT_MAX}, by default ${LIMIT_MAX}.` }),
};

type ListBody = z.output<z.ZodObject<typeof listMembers>>;

/** The differences of the lists. */
type Kind = Pick<
  ListBalancesInput,
  'types' | 'id' | 'includeOfContracts' | 'excludeZeroBalances' | 'sortsByPriority'
>;

export function listInput(body: ListBody, kind: Kind): ListBalancesInput {
  return {
    ...kind,
    customerId: body.customer_id,
    includeArchived: body.include_archived ?? false,
    coveringDate: body.covering_date ?? null,
    startingAt: body.starting_at ?? null,
    effectiveBefore: body.effective_before ?? null,
    withBalances: (body.include_balance ?? false) || (body.include_ledgers ?? false),
  };
}

export function pageOfBody({ limit, next_page: after }: ListBody): PageRequest<CommitPosition> {
  return { limit: limit ?? LIMIT_MAX, after: after ?? null };
}

export function shownParts(body: ListBody) {
  return { includeBalance: body.include_balance ?? false, includeLedgers: body.include_ledgers ?? false };
}
