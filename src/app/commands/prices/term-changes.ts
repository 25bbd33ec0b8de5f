/** Which updates of a product make its terms those that are wanted, from an instant on. Pure. */
import { formatInstant, type Instant, parseRfc3339 } from '../../../core/time.ts';
import { canonicalText } from './canonical.ts';
import type { Terms } from './catalogue-file.ts';

export interface TermHistory {
  readonly initial: Terms;
  /** Each sets some terms from `starting_at` on. */
  readonly updates: readonly (Terms & { readonly starting_at: string })[];
}

export interface TermChange {
  readonly start: Instant;
  readonly before: Terms;
  readonly after: Terms;
}

/** The value by which an update takes a term away. Terms that are not here can change, but not be taken away. */
const WITHOUT_TERM: Terms = {
  tags: [],
  pricing_group_key: [],
  presentation_group_key: [],
  composite_products: [],
  composite_tags: [],
  exclude_free_usage: false,
  include_composite_spend: false,
  quantity_conversion: null,
  quantity_rounding: null,
};

/** One change for each instant at which terms would be others than wanted. Terms before `from` stay. */
export function termChanges(held: TermHistory, wanted: TermHistory, from: Instant): TermChange[] {
  const starts = [...startsOf(held), ...startsOf(wanted)].filter((start) => start > from);
  const changes: TermChange[] = [];
  for (const start of [...new Set([from, ...starts])].sort((a, b) => a - b)) {
    const added = changes.map((change) => ({ ...change.after, starting_at: formatInstant(change.start) }));
    const current = termsAt({ ...held, updates: [...held.updates, ...added] }, start);
    const wish = termsAt(wanted, start);
    const names = differingTerms(current, wish);
    if (names.length === 0) continue;
    const picked = (terms: Terms) => Object.fromEntries(names.map((name) => [name, termOf(terms, name)]));
    changes.push({ start, before: picked(current), after: picked(wish) });
  }
  return changes;
}

/** The names of the terms that are not the same in both. */
export function differingTerms(a: Terms, b: Terms): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(
    (name) => canonicalText(termOf(a, name)) !== canonicalText(termOf(b, name)),
  );
}

export function startsOf({ updates }: TermHistory): Instant[] {
  return updates.map(({ starting_at: start }) => parseRfc3339(start) ?? 0);
}

/** The terms at an instant. The last one of updates with the same start wins. */
export function termsAt({ initial, updates }: TermHistory, at: Instant): Terms {
  const due = updates
    .map(({ starting_at: start, ...terms }) => ({ start: parseRfc3339(start) ?? 0, terms }))
    .filter(({ start }) => start <= at)
    .sort((a, b) => a.start - b.start);
  return Object.assign({}, initial, ...due.map(({ terms }) => terms));
}

function termOf(terms: Terms, name: string): unknown {
  return terms[name] ?? WITHOUT_TERM[name];
}
