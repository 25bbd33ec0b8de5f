/** Cost bases of commits: the price paid per granted unit. A rollover has the cost basis of its source. */
import type { Decimal } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { Commit } from '../../core/terms/commits.ts';
import { costBasis } from '../../rating/balances/cost-basis.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import type { Database } from '../../store/base/database.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import { loadRateCards, type RateCard } from '../../store/rate-cards/rate-cards.ts';

/** By commit; absent if unknown. `rateCardId`: the card of the contract that invoices the commit. */
export async function costBasesOf(
  db: Database,
  priced: readonly { readonly commit: Commit; readonly rateCardId: string | null }[],
  cards: ReadonlyMap<string, RateCard>,
): Promise<Map<string, Decimal>> {
  const bases = new Map<string, Decimal>();
  const rolledOver: Commit[] = [];
  for (const { commit, rateCardId } of priced) {
    if (commit.rolledOverFrom !== null) rolledOver.push(commit);
    else put(bases, commit.id, commit, cards.get(rateCardId ?? ''));
  }
  if (rolledOver.length > 0) await putRolledOver(db, rolledOver, bases);
  return bases;
}

/** Follows chains of rollovers, one link per renewal, to the commit that was purchased. */
async function putRolledOver(
  db: Database,
  rolledOver: readonly Commit[],
  bases: Map<string, Decimal>,
): Promise<void> {
  const bought = new Map(rolledOver.map((commit) => [commit.id, commit]));
  for (;;) {
    const ids = new Set([...bought.values()].flatMap((one) => one.rolledOverFrom?.commitId ?? []));
    if (ids.size === 0) break;
    const sources = await loadCommits(db, { ids: [...ids], includeArchived: true });
    const byId = new Map(sources.map((source) => [source.id, source]));
    for (const [id, commit] of bought) {
      if (commit.rolledOverFrom === null) continue;
      const source = byId.get(commit.rolledOverFrom.commitId);
      assert(source !== undefined, `commit ${commit.rolledOverFrom.commitId}, which rolled over, is there`);
      bought.set(id, source);
    }
  }
  const owners = new Set([...bought.values()].flatMap((commit) => commit.contractId ?? []));
  const contracts = await loadContracts(db, { ids: [...owners], includeArchived: true });
  const cardIds = new Map(contracts.map(({ id, rateCardId }) => [id, rateCardId ?? '']));
  const cards = await loadRateCards(db, [...new Set([...cardIds.values()].filter((id) => id !== ''))]);
  for (const [id, commit] of bought) {
    put(bases, id, commit, cards.get(cardIds.get(commit.contractId ?? '') ?? ''));
  }
}

/** Custom units are converted at the rate card's conversion rate. */
function put(bases: Map<string, Decimal>, id: string, commit: Commit, card: RateCard | undefined): void {
  const conversion = card?.conversions.find(
    (one) => one.customCreditTypeId === commit.accessSchedule.creditTypeId,
  );
  const isConverted = commit.invoiceSchedule?.creditTypeId === card?.fiatCreditTypeId;
  const basis = costBasis(commit, isConverted ? (conversion?.fiatPerCustomCredit ?? null) : null);
  if (basis !== null) bases.set(id, basis);
}
