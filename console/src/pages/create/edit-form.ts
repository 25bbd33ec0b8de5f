/** The parts of forms that edit a contract. */
import type { FormField } from '../../forms/field.ts';
import { type FormSpec, form } from './forms.ts';

/** A change of a contract, which can be previewed. */
export function edit(title: string, fields: readonly FormField[]): FormSpec<'POST /v2/contracts/edit'> {
  return { ...form('POST /v2/contracts/edit', title, fields), showsCosts: true };
}

export const KEPT = 'Empty: it stays as it is.';

export const CHARGED = { label: 'For', kind: 'charged', hint: 'As on invoices.' } as const;

export const SPEND_LIMIT_FIELD: FormField = {
  at: 'spend_limit.amount',
  label: 'Spend limit',
  kind: 'money',
  unitAt: 'spend_limit.credit_type_id',
  hint: 'The most that usage beyond balances may charge in a billing period: holds beyond it are refused.',
};
