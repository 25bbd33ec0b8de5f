/**
 * Overrides as PostgreSQL's JSON. The driver's work for a row of 14 columns, and for the rows of specifiers, takes
 * several times as long as for one text.
 */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { TiersMode } from '../../core/catalogue.ts';
import { decimal } from '../../core/decimal.ts';
import { freezeDeeply } from '../../core/freeze-deeply.ts';
import {
  type Override,
  type OverrideSpecifier,
  overrideTier,
  overwriteRate,
} from '../../core/terms/overrides.ts';
import { objectOf, textMap } from '../../core/terms/values.ts';
import { overrideSpecifiers } from './overrides.tables.ts';

/** The document of each row of a common table expression that has the columns of `overrides`, and its sequence. */
export function documentsOf(table: SQL): SQL {
  return sql`
    select json_build_object(
      'id', o.id, 'contractId', o.contract_id,
      'startingAt', ${milliseconds(sql`o.starting_at`)}, 'endingBefore', ${milliseconds(sql`o.ending_before`)},
      'entitled', o.entitled, 'type', o.type, 'multiplier', o.multiplier::text, 'priority', o.priority::text,
      'overwriteRate', o.overwrite_rate, 'tiers', o.tiers, 'tiersMode', o.tiers_mode, 'productId', o.product_id,
      'applicableProductTags', o.applicable_product_tags, 'isCommitSpecific', o.is_commit_specific,
      'target', o.target, 'createdAt', ${milliseconds(sql`o.created_at`)},
      'specifiers', coalesce(s.specifiers, '[]')
    )::text as document, o.place, o.sequence
    from ${table} o left join (
      select s.override_id, json_agg(json_build_object(
        'productId', s.product_id, 'productTags', s.product_tags,
        'pricingGroupValues', s.pricing_group_values, 'presentationGroupValues', s.presentation_group_values,
        'billingFrequency', s.billing_frequency, 'commitIds', s.commit_ids,
        'recurringCommitIds', s.recurring_commit_ids, 'anyCommitOrCreditIds', s.any_commit_or_credit_ids,
        'exclude', s.exclude
      ) order by s.position) as specifiers
      from ${overrideSpecifiers} s join ${table} o on o.id = s.override_id
      group by s.override_id
    ) s on s.override_id = o.id`;
}

/** Unchangeable. */
export function overrideOf(document: string): Override {
  return freezeDeeply(fromStored(JSON.parse(document) as StoredOverride));
}

/** An `Instant`: the column has whole milliseconds. */
function milliseconds(column: SQL): SQL {
  return sql`(extract(epoch from ${column}) * 1000)::bigint`;
}

/** The columns as JSON: decimals are text, and the columns of JSON are not checked. */
type StoredOverride = Omit<
  Override,
  'multiplier' | 'priority' | 'overwriteRate' | 'tiers' | 'tiersMode' | 'specifiers'
> & {
  readonly multiplier: string | null;
  readonly priority: string | null;
  readonly overwriteRate: unknown;
  readonly tiers: unknown;
  readonly tiersMode: TiersMode | null;
  readonly specifiers: readonly StoredSpecifier[];
};

type StoredSpecifier = Omit<OverrideSpecifier, 'pricingGroupValues' | 'presentationGroupValues'> & {
  readonly pricingGroupValues: object;
  readonly presentationGroupValues: object;
};

const overwriteRateColumn = objectOf({ rate: overwriteRate, creditTypeId: z.string().nullable() });
const tiersColumn = z.array(overrideTier);

/** Changes the parsed JSON in place; the caller must own it. */
function fromStored(stored: StoredOverride): Override {
  const { multiplier, priority, overwriteRate, tiers, tiersMode, specifiers } = stored;
  return Object.assign(stored, {
    multiplier: multiplier === null ? null : decimal(multiplier),
    priority: priority === null ? null : decimal(priority),
    overwriteRate: overwriteRate === null ? null : overwriteRateColumn.parse(overwriteRate),
    tiers: tiersColumn.parse(tiers),
    tiersMode: tiersMode ?? undefined,
    specifiers: specifiers.map(fromStoredSpecifier),
  });
}

function fromStoredSpecifier(stored: StoredSpecifier): OverrideSpecifier {
  return Object.assign(stored, {
    pricingGroupValues: textMap.parse(stored.pricingGroupValues),
    presentationGroupValues: textMap.parse(stored.presentationGroupValues),
  });
}
