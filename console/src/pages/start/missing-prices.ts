/** The prices that usage of drafts lacks, by their warnings. Pure. */
import type { Schemas } from '../../api/operations.gen.d.ts';
import { rateKey } from '../prices/price-draft.ts';

type Draft = Pick<Schemas['Invoice'], 'type' | 'warnings' | 'customer_id' | 'contract_id'>;

interface MissingPrice {
  readonly key: string;
  readonly product: string;
  readonly values: Readonly<Record<string, string>>;
  /** `Tokens, model wren-mini`. */
  readonly name: string;
  readonly drafts: readonly Draft[];
}

/** Those that the most drafts lack come first. */
export function missingPrices(drafts: readonly Draft[]): MissingPrice[] {
  const found = new Map<string, MissingPrice>();
  for (const draft of drafts) {
    // A consolidated invoice repeats the warnings of others.
    if (draft.type === 'USAGE_CONSOLIDATED') continue;
    for (const {
      code,
      product_id: product,
      product_name,
      pricing_group_values: values = {},
    } of draft.warnings) {
      if (code !== 'unpriced_usage' || product === undefined) continue;
      const key = rateKey({ product, values });
      const pairs = Object.entries(values).map(([name, value]) => `${name} ${value}`);
      const known = found.get(key);
      const before = known?.drafts ?? [];
      found.set(key, {
        ...{ key, product, values },
        name: known?.name ?? [product_name ?? product, ...pairs].join(', '),
        drafts: before.includes(draft) ? before : [...before, draft],
      });
    }
  }
  return [...found.values()].sort((one, other) => other.drafts.length - one.drafts.length);
}
