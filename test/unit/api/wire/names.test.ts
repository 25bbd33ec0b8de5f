/** How names of the domain are spelled on the wire. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { wireName, wirePath } from '../../../../src/api/base/names.ts';
import type { FieldPath } from '../../../../src/core/errors.ts';

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
  ])('wireName spells %s in %s as %s', (name, place, wire) => {
    expect(wireName(name, place)).toBe(wire);
  });

  it('wireName has the wire word in its type', () => {
    expectTypeOf(wireName('multiplierPrioritization')).toEqualTypeOf<'multiplier_override_prioritization'>();
    expectTypeOf(
      wireName('scheduledChargesOnUsageInvoices'),
    ).toEqualTypeOf<'scheduled_charges_on_usage_invoices'>();
    const word = wireName('specifiers', 'overrides');
    expectTypeOf(word).toEqualTypeOf<'override_specifiers'>();
    expect(word).toBe('override_specifiers');
  });
});

describe('wirePath', () => {
  it.each<[FieldPath, string]>([
    [
      ['terms', 'commits', 2, 'accessSchedule', 'segments', 0, 'endingBefore'],
      'commits[2].access_schedule.schedule_items[0].ending_before',
    ],
    [['terms', 'credits', 0, 'applicability', 'productTags', 1], 'credits[0].applicable_product_tags[1]'],
    [
      ['terms', 'commits', 0, 'applicability', 'specifiers', 0, 'productTags'],
      'commits[0].specifiers[0].product_tags',
    ],
    [
      ['terms', 'overrides', 3, 'specifiers', 0, 'productId'],
      'overrides[3].override_specifiers[0].product_id',
    ],
    [
      ['commits', 0, 'hierarchyAccess', 'contractIds'],
      'commits[0].hierarchy_configuration.child_access.contract_ids',
    ],
    [['customFields', 'costCenter_1'], 'custom_fields.costCenter_1'],
    [['commits', 0, 'customFields', 'segments'], 'commits[0].custom_fields.segments'],
    [[], ''],
  ])('wirePath writes %j as %s', (path, wire) => {
    expect(wirePath(path)).toBe(wire);
  });

  it('wirePath takes the words of a route before those of all, and lets a word lead the next one', () => {
    const own = { additions: 'add_', updates: '', 'updateCommits.id': 'commit_id', segments: 'parts' };
    expect(wirePath(['additions', 'recurringCommits', 1, 'priority'], own)).toBe(
      'add_recurring_commits[1].priority',
    );
    expect(wirePath(['updates', 'updateCommits', 0, 'id'], own)).toBe('update_commits[0].commit_id');
    expect(wirePath(['accessSchedule', 'segments'], own)).toBe('access_schedule.parts');
  });

  it('wirePath spells the first name as it is spelled in a place', () => {
    expect(wirePath(['type'], {}, 'paymentGate')).toBe('payment_gate_type');
  });
});
