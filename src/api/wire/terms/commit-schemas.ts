/** How commits and credits look on the wire. */
import { z } from 'zod';
import type { Commit, CommitInput } from '../../../core/terms/commits.ts';
import { customFields, enumIn, uuid } from '../fields.ts';
import { paymentGateFromWire, paymentGateInput } from './payment-gate-schemas.ts';
import {
  accessScheduleFromWire,
  accessScheduleInput,
  invoiceScheduleFromWire,
  invoiceScheduleInput,
  invoiceScheduleInputV2,
} from './schedule-schemas.ts';
import {
  applicabilityFromWire,
  applicabilityInput,
  fraction,
  hierarchyAccessFromWire,
  hierarchyAccessInput,
  priority,
  rateTarget,
} from './term-fields.ts';

/** What commits and credits have in common. */
const commonInput = {
  name: z.string().min(1).nullish().meta({ description: 'Shown on invoices.' }),
  description: z.string().nullish(),
  product_id: uuid.meta({ description: 'A FIXED product, under whose name it is shown.' }),
  priority: priority.nullish(),
  rate_type: rateTarget.nullish().meta({ description: 'Default: LIST_RATE.' }),
  rollover_fraction: fraction.nullish(),
  ...applicabilityInput,
  hierarchy_configuration: hierarchyAccessInput.nullish(),
  custom_fields: customFields.nullish(),
};

const commitOnly = {
  type: enumIn(['PREPAID', 'POSTPAID']),
  access_schedule: accessScheduleInput.nullish().meta({ description: 'Required.' }),
  temporary_id: z
    .string()
    .min(1)
    .nullish()
    .meta({ description: 'By which overrides of the same request name this commit.' }),
  spend_tracker_attributes: z.object({ counts_as_discounted: z.boolean() }).nullish(),
};

export const commitInput = z
  .object({
    ...commonInput,
    ...commitOnly,
    invoice_schedule: invoiceScheduleInput.nullish(),
    payment_gate_config: z
      .null('is for commits that an edit adds to a contract')
      .optional()
      .meta({ description: 'Not here: an edit can add a commit that is withheld until it is paid.' }),
  })
  .meta({ id: 'CommitInput' });

/** Of v2 edits: a commit may be withheld until it is paid. */
export const commitInputV2 = z
  .object({
    ...commonInput,
    ...commitOnly,
    invoice_schedule: invoiceScheduleInputV2.nullish(),
    payment_gate_config: paymentGateInput.nullish(),
  })
  .meta({ id: 'CommitInputV2' });

export const creditInput = z
  .object({ ...commonInput, access_schedule: accessScheduleInput })
  .meta({ id: 'CreditInput' });

export function commitFromWire(
  wire: z.output<typeof commitInput> | z.output<typeof commitInputV2>,
): CommitInput {
  const { payment_gate_config: gate } = wire;
  return {
    ...commonFromWire(wire),
    type: wire.type,
    invoiceSchedule: wire.invoice_schedule == null ? null : invoiceScheduleFromWire(wire.invoice_schedule),
    countsAsDiscounted: wire.spend_tracker_attributes?.counts_as_discounted ?? null,
    paymentGate: gate == null ? null : paymentGateFromWire(gate),
    temporaryId: wire.temporary_id ?? null,
  };
}

export function creditFromWire(wire: z.output<typeof creditInput>): CommitInput {
  return {
    ...commonFromWire(wire),
    type: 'CREDIT',
    invoiceSchedule: null,
    countsAsDiscounted: null,
    paymentGate: null,
    temporaryId: null,
  };
}

function commonFromWire(
  wire: z.output<z.ZodObject<typeof commonInput>> & {
    readonly access_schedule?: z.output<typeof accessScheduleInput> | null | undefined;
  },
) {
  return {
    name: wire.name ?? null,
    description: wire.description ?? null,
    productId: wire.product_id,
    priority: wire.priority ?? null,
    rateType: wire.rate_type ?? null,
    rolloverFraction: wire.rollover_fraction ?? null,
    accessSchedule: wire.access_schedule == null ? null : accessScheduleFromWire(wire.access_schedule),
    applicability: applicabilityFromWire(wire),
    hierarchyAccess: hierarchyAccessFromWire(wire.hierarchy_configuration),
    customFields: wire.custom_fields ?? {},
  };
}

/** A commit, as opposed to a credit. */
export function isCommit(commit: Commit): boolean {
  return commit.type !== 'CREDIT';
}
