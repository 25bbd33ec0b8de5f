/** Access schedules and invoice schedules: with absolute dates, with relative dates, and as patches. */
import type { TermNames } from '../../../billing/contracts/term-names.ts';
import type { RelativeInvoiceSchedule } from '../../../core/terms/packages.ts';
import {
  AMOUNT_DISTRIBUTIONS,
  type InvoiceItem,
  SCHEDULE_FREQUENCIES,
} from '../../../core/terms/schedules.ts';
import {
  answered,
  called,
  decided,
  defaulted,
  described,
  kind,
  list,
  optional,
  optionalMany,
  patched,
  sent,
} from '../description.ts';
import { uuid } from '../fields.ts';
import { end, exact, flag, hour, id, instant, oneOf, reference, scheduleUnit, truth } from '../kinds.ts';
import { record, reshaped } from '../record.ts';
import { duration, offset } from './relative-dates.ts';

/** Ten years of days: more items in one schedule are a mistake. */
const ITEMS_MAX = 3_660;

const segment = { amount: exact({ min: '0' }), startingAt: hour, endingBefore: end };

export const accessSchedule = record(
  {
    creditTypeId: scheduleUnit,
    segments: list(record({ id: answered(id), ...segment }), { min: 1, max: ITEMS_MAX }),
  },
  { id: 'ScheduleDuration' },
);

/** Requests have an amount, or a unit price with a quantity. All three are stored. */
const amounts = { amount: decided(exact()), unitPrice: decided(exact()), quantity: decided(exact()) };

/** The issued invoice that an item is on, found by the id of the item. */
const invoiceOfItem = {
  ...optional(kind(uuid, uuid)),
  write: (itemId: string | null, { invoiceIds }: TermNames) => invoiceIds.get(itemId ?? ''),
};

function withInvoice(item: InvoiceItem) {
  return { ...item, invoiceId: item.id };
}

/** WEEKLY is for edits only. */
const CREATE_FREQUENCIES = ['MONTHLY', 'QUARTERLY', 'SEMI_ANNUAL', 'ANNUAL'] as const;

function invoiceScheduleOf<Frequency extends (typeof SCHEDULE_FREQUENCIES)[number]>(
  frequencies: readonly [Frequency, ...Frequency[]],
  sentId: string,
) {
  const recurring = record({
    startingAt: instant,
    endingBefore: instant,
    frequency: oneOf(frequencies),
    amountDistribution: oneOf(AMOUNT_DISTRIBUTIONS),
    ...amounts,
  });
  const item = record({
    id: answered(id),
    invoiceId: answered(invoiceOfItem),
    timestamp: instant,
    ...amounts,
  });
  return record(
    {
      creditTypeId: scheduleUnit,
      items: described(
        'Each with an amount, or a unit_price and a quantity.',
        decided(
          list(
            reshaped(item, (sent) => sent, withInvoice),
            { max: ITEMS_MAX },
          ),
        ),
      ),
      recurring: sent(described('Expanded into schedule_items; give one of the two.', optional(recurring))),
      doNotInvoice: described('Commits only: the amounts are on record, no invoice is issued.', flag),
    },
    { id: { sent: sentId, answered: 'SchedulePointInTime' } },
  );
}

export const invoiceSchedule = invoiceScheduleOf(CREATE_FREQUENCIES, 'SchedulePointInTimeInput');

/** v2 operations. */
export const invoiceScheduleV2 = {
  ...invoiceSchedule,
  input: invoiceScheduleOf(SCHEDULE_FREQUENCIES, 'SchedulePointInTimeInputV2').input,
};

export const relativeAccessSchedule = record(
  {
    creditTypeId: scheduleUnit,
    segments: list(record({ id: answered(id), amount: segment.amount, startingAtOffset: offset, duration }), {
      min: 1,
      max: ITEMS_MAX,
    }),
  },
  { id: 'RelativeScheduleDuration' },
);

const relativeItem = record({
  id: answered(id),
  dateOffset: offset,
  amount: sent(amounts.amount),
  unitPrice: amounts.unitPrice,
  quantity: amounts.quantity,
});

const relativeSchedule = {
  creditTypeId: scheduleUnit,
  items: described(
    'Each with a unit_price and a quantity, or an amount.',
    list(relativeItem, { min: 1, max: ITEMS_MAX }),
  ),
};

/** For scheduled charges. */
export const relativeInvoiceSchedule = reshaped(
  record(relativeSchedule, { id: 'RelativeSchedulePointInTime' }),
  (schedule) => ({ ...schedule, doNotInvoice: false }),
  ({ creditTypeId, items }: RelativeInvoiceSchedule) => ({ creditTypeId, items }),
);

export const relativeCommitInvoiceSchedule = record(
  {
    ...relativeSchedule,
    doNotInvoice: described('The amounts are on record, no invoice is issued.', defaulted(truth, false)),
  },
  { id: 'RelativeCommitInvoiceSchedule' },
);

const removedItems = called('remove_schedule_items', optionalMany(list(reference, { max: ITEMS_MAX }), []));

/** Applied in this order: removals, changes, additions. */
export const accessSchedulePatch = record(
  {
    add: called('add_schedule_items', optionalMany(list(record(segment), { max: ITEMS_MAX }), [])),
    update: called(
      'update_schedule_items',
      optionalMany(list(record({ id, ...patched(segment) }), { max: ITEMS_MAX }), []),
    ),
    remove: removedItems,
  },
  { id: { sent: 'UpdateAccessScheduleInput', answered: 'AccessScheduleUpdate' } },
);

export const invoiceSchedulePatch = record(
  {
    add: called(
      'add_schedule_items',
      optionalMany(list(record({ timestamp: instant, ...patched(amounts) }), { max: ITEMS_MAX }), []),
    ),
    update: called(
      'update_schedule_items',
      optionalMany(
        list(record({ id, ...patched({ timestamp: instant, ...amounts }) }), { max: ITEMS_MAX }),
        [],
      ),
    ),
    remove: removedItems,
  },
  { id: { sent: 'UpdateInvoiceScheduleInput', answered: 'InvoiceScheduleUpdate' } },
);
