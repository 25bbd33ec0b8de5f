/** How amendments look in answers of v1, and terms as they were when they were added. */
import { z } from 'zod';
import type { ContractChanges, ContractEdit } from '../../../core/terms/contract-edits.ts';
import { formatInstant } from '../../../core/time.ts';
import { timestamp, uuid } from '../../wire/fields.ts';
import {
  type CommitContext,
  commitOutput,
  commitToWire,
  creditOutput,
  creditToWire,
} from '../../wire/terms/commit-output.ts';
import { isCommit } from '../../wire/terms/commit-schemas.ts';
import { overrideOutput, overrideToWire } from '../../wire/terms/override-schemas.ts';
import { scheduledChargeOutput, scheduledChargeToWire } from '../../wire/terms/scheduled-charge-schemas.ts';
import type { TermNames } from '../../wire/terms/term-fields.ts';

export const amendmentOutput = z
  .object({
    id: uuid,
    starting_at: timestamp,
    commits: z.array(commitOutput),
    credits: z.array(creditOutput),
    overrides: z.array(overrideOutput),
    scheduled_charges: z.array(scheduledChargeOutput),
    created_at: timestamp,
    created_by: z.string(),
  })
  .meta({ id: 'ContractAmendment' });

/** `edit` must be an amendment. */
export function amendmentToWire(edit: ContractEdit, names: TermNames): z.input<typeof amendmentOutput> {
  const { changes, timestamp: at, amendmentStartingAt } = edit;
  const context = addedCommitContext(names, changes);
  return {
    id: edit.id,
    starting_at: formatInstant(amendmentStartingAt ?? at),
    commits: changes.addCommits.filter(isCommit).map((one) => commitToWire(one, context)),
    credits: changes.addCommits.filter((one) => !isCommit(one)).map((one) => creditToWire(one, context)),
    overrides: changes.addOverrides.map((one) => overrideToWire(one, names)),
    scheduled_charges: changes.addScheduledCharges.map((one) => scheduledChargeToWire(one, names)),
    created_at: formatInstant(at),
    created_by: edit.createdBy,
  };
}

/** Commits as they were added have no balances. */
export function addedCommitContext(
  names: TermNames,
  { addRecurringCommits }: ContractChanges,
): CommitContext {
  return {
    names,
    recurringCommits: new Map(addRecurringCommits.map((one) => [one.id, one])),
    balances: null,
    includeBalance: false,
    includeLedgers: false,
    costBases: new Map(),
  };
}
