/** Changes of access schedules and invoice schedules, item by item. Pure. */
import { ZERO } from '../../../core/decimal.ts';
import { type FieldPath, invalid } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import type { AccessSchedulePatch, InvoiceSchedulePatch } from '../../../core/terms/patches.ts';
import type { AccessSchedule, AccessSegment, InvoiceItem } from '../../../core/terms/schedules.ts';
import { given } from '../../../core/terms/values.ts';
import { resolveAmount } from '../terms/point-schedule.ts';
import { requireEndAfterStart } from '../terms/terms-context.ts';

/** Refuses (`invalid`) missing items, invalid ranges and amounts, and a patch that leaves no item. */
export function patchedAccess(
  schedule: AccessSchedule,
  patch: AccessSchedulePatch,
  path: FieldPath,
): AccessSchedule {
  const check = (segment: Omit<AccessSegment, 'id'>, field: FieldPath) => {
    requireEndAfterStart(segment, field);
    if (segment.amount.lt(ZERO)) throw invalid([...field, 'amount'], 'must not be negative');
  };
  const segments = removed(schedule.segments, patch.remove, path);
  for (const [index, change] of patch.update.entries()) {
    const field = [...path, 'update', index];
    const segment = required(segments, change.id, [...field, 'id']);
    const changed = { ...segment, ...given(change) };
    check(changed, field);
    segments.set(segment.id, changed);
  }
  for (const [index, segment] of patch.add.entries()) {
    check(segment, [...path, 'add', index]);
    const id = newId();
    segments.set(id, { id, ...segment });
  }
  if (segments.size === 0) throw invalid([...path, 'remove'], 'must leave at least 1 item');
  return { ...schedule, segments: [...segments.values()] };
}

/** The items by timestamp. Refuses (`invalid`) missing items and contradictory amounts. */
export function patchedItems(
  items: readonly InvoiceItem[],
  patch: InvoiceSchedulePatch,
  path: FieldPath,
): InvoiceItem[] {
  const byId = removed(items, patch.remove, path);
  for (const [index, change] of patch.update.entries()) {
    const field = [...path, 'update', index];
    const item = required(byId, change.id, [...field, 'id']);
    byId.set(item.id, {
      id: item.id,
      timestamp: change.timestamp ?? item.timestamp,
      ...patchedAmount(item, change, field),
    });
  }
  for (const [index, added] of patch.add.entries()) {
    const { timestamp, amount = null, unitPrice = null, quantity = null } = added;
    const field = [...path, 'add', index];
    const id = newId();
    byId.set(id, { id, timestamp, ...resolveAmount({ amount, unitPrice, quantity }, field) });
  }
  return [...byId.values()].sort((a, b) => a.timestamp - b.timestamp);
}

/** A new amount replaces price and quantity. Price or quantity can be changed separately. */
function patchedAmount(
  item: InvoiceItem,
  change: InvoiceSchedulePatch['update'][number],
  field: FieldPath,
): Omit<InvoiceItem, 'id' | 'timestamp'> {
  const { amount = null, unitPrice = null, quantity = null } = change;
  if (amount === null && unitPrice === null && quantity === null) {
    return { amount: item.amount, unitPrice: item.unitPrice, quantity: item.quantity };
  }
  if (amount !== null) return resolveAmount({ amount, unitPrice, quantity }, field);
  const changed = { unitPrice: unitPrice ?? item.unitPrice, quantity: quantity ?? item.quantity };
  return resolveAmount({ amount: null, ...changed }, field);
}

function removed<Item extends { readonly id: string }>(
  items: readonly Item[],
  ids: readonly string[],
  path: FieldPath,
): Map<string, Item> {
  const left = new Map(items.map((item) => [item.id, item]));
  for (const [index, id] of ids.entries()) {
    required(left, id, [...path, 'remove', index, 'id']);
    left.delete(id);
  }
  return left;
}

function required<Item>(items: ReadonlyMap<string, Item>, id: string, field: FieldPath): Item {
  const item = items.get(id);
  if (item === undefined) throw invalid(field, `the schedule has no item ${id}`);
  return item;
}
