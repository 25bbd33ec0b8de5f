/** How names of the domain are spelled on the wire. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { wireName } from '../../../../src/api/wire/names.ts';

describe('wireName', () => {
  it.each([
    ['startingAt', undefined, 'starting_at'],
    ['name', undefined, 'name'],
    ['segments', undefined, 'schedule_items'],
    ['hierarchyAccess', undefined, 'hierarchy_configuration'],
    ['specifiers', undefined, 'specifiers'],
    ['specifiers', 'overrides', 'override_specifiers'],
    ['productTags', 'specifiers', 'product_tags'],
    ['productTags', 'applicability', 'applicable_product_tags'],
  ])('spells %s in %s as %s', (name, place, wire) => {
    expect(wireName(name, place)).toBe(wire);
  });

  it('has the wire word in its type', () => {
    expectTypeOf(wireName('multiplierPrioritization')).toEqualTypeOf<'multiplier_override_prioritization'>();
    expectTypeOf(
      wireName('scheduledChargesOnUsageInvoices'),
    ).toEqualTypeOf<'scheduled_charges_on_usage_invoices'>();
    expectTypeOf(wireName('specifiers', 'overrides')).toEqualTypeOf<'override_specifiers'>();
  });
});
