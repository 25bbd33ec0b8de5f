import { bigint, index, jsonb, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';
import { contracts } from './contracts.tables.ts';

/** Every change of a contract, as requested. Rows are added, never changed. */
export const contractEdits = pgTable(
  'contract_edits',
  {
    /** Order of the changes. */
    sequence: bigint('sequence', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    id: uuid('id').notNull(),
    contractId: uuid('contract_id')
      .notNull()
      .references(() => contracts.id),
    timestamp: instant('timestamp').notNull(),
    /** A separate key space from those of contracts and commits. */
    uniquenessKey: text('uniqueness_key'),
    amendmentStartingAt: instant('amendment_starting_at'),
    createdBy: text('created_by').notNull(),
    /** `ContractChanges` in JSON; decimals are text, instants milliseconds. */
    changes: jsonb('changes').notNull(),
  },
  (table) => [
    unique('contract_edits_id_unique').on(table.id),
    unique('contract_edits_uniqueness_key_unique').on(table.uniquenessKey),
    index('contract_edits_contract').on(table.contractId, table.sequence),
  ],
);
