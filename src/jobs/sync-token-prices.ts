/** The job that updates managed rate cards from the catalogue. Its work is in `billing/token-billing/`. */
import type { RowContext } from '../billing/billing-context.ts';
import { syncManagedCards, TOKEN_PRICES_JOB } from '../billing/token-billing/sync-cards.ts';
import { type JobKind, shortJobKind } from './job-kind.ts';

export function tokenPricesJobKind(context: RowContext): JobKind {
  return shortJobKind({
    kind: TOKEN_PRICES_JOB,
    batchMax: 1,
    run: (tx) => syncManagedCards(tx, context),
  });
}
