/** Loads the facts that ledgers need beyond the terms, and computes the balances of commits and credits. */
import type { Commit } from '../../core/terms/commits.ts';
import type { FullContract, Transition } from '../../core/terms/contract.ts';
import type { Balance } from '../../core/terms/ledger.ts';
import type { Instant } from '../../core/time.ts';
import { balanceOf } from '../../rating/balances/ledger.ts';
import type { Database } from '../../store/database.ts';
import { amountsTaken, loadRolloverTargets } from './rollovers.ts';
import { loadWithheld } from './withheld.ts';

/** A commit or credit in its contract. */
interface Owned {
  readonly commit: Commit;
  readonly owner: FullContract['contract'];
}

/** By commit or credit. `transitions` are those of the contracts, on either side. */
export async function balancesOf(
  db: Database,
  states: readonly FullContract[],
  transitions: ReadonlyMap<string, readonly Transition[]>,
  now: Instant,
): Promise<Map<string, Balance>> {
  const owned = states.flatMap(({ contract: owner, terms }) =>
    terms.commits.map((commit): Owned => ({ commit, owner })),
  );
  const renewals = states.flatMap(({ contract: { id } }) =>
    (transitions.get(id) ?? []).filter((one) => one.fromContractId === id),
  );
  const targets = await loadRolloverTargets(db, renewals);
  const isWithheld = await loadWithheld(
    db,
    owned.map(({ commit }) => commit),
  );
  return new Map(
    owned.map(({ commit, owner }) => {
      const facts = {
        now,
        contractEnd: owner.endingBefore,
        isWithheld: isWithheld(commit),
        rolledOver: amountsTaken(commit, targets.get(owner.id)),
      };
      return [commit.id, balanceOf(commit, facts)];
    }),
  );
}
