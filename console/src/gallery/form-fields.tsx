/** The fields of forms: empty, filled in, refused, and in a list. */
import { useState } from 'react';
import type { FormField, Values } from '../forms/field.ts';
import { Fields } from '../forms/fields.tsx';
import { bodySchema, type Reference } from '../forms/schema.ts';
import { Section } from '../parts/page.tsx';
import styles from './gallery.module.css';
import { USD } from './samples.ts';

const text = { type: 'string' };
const REFERENCE: Reference = {
  components: { schemas: {} },
  paths: {
    '/samples': {
      post: {
        requestBody: {
          content: {
            'application/json': {
              schema: {
                required: ['name'],
                properties: {
                  name: text,
                  amount: { type: 'number' },
                  kind: { enum: ['PREPAID', 'POSTPAID'] },
                  day: { type: 'string', format: 'date-time' },
                  is_prorated: { type: 'boolean' },
                  aliases: { items: text },
                  messages: { items: { enum: ['contract.create', 'invoice.finalized'] } },
                  custom_fields: { additionalProperties: text },
                  credits: { items: { properties: { name: text, amount: { type: 'number' } } } },
                },
              },
            },
          },
        },
      },
    },
  },
};

const AMOUNT = { at: 'amount', label: 'Amount', kind: 'money' } as const;
const FIELDS: readonly FormField[] = [
  { at: 'name', label: 'Name', hint: 'As on invoices.' },
  AMOUNT,
  { at: 'kind', label: 'Kind' },
  { at: 'day', label: 'Last day', kind: 'lastDay' },
  { at: 'is_prorated', label: 'Prorated' },
  { at: 'aliases', label: 'Aliases' },
  { at: 'messages', label: 'Messages' },
  { at: 'custom_fields', label: 'Custom fields' },
  { at: 'credits', label: 'Credits', entry: 'credit', fields: [{ at: 'name', label: 'For' }, AMOUNT] },
];

const START: Values = { name: '', amount: '12,50', credits: [{ name: 'Goodwill', amount: '100' }] };
const PROBLEMS = new Map([
  ['name', 'is required'],
  ['amount', 'must be a number'],
  ['credits[0].amount', 'must not be negative'],
]);

export function FormFields() {
  const [values, setValues] = useState(START);
  return (
    <Section title="A form">
      <div className={styles.form}>
        <Fields
          fields={FIELDS}
          schema={bodySchema(REFERENCE, 'POST /samples')}
          values={values}
          unit={USD}
          today="2026-11-26"
          problems={PROBLEMS}
          set={(at, value) => setValues((before) => ({ ...before, [at]: value }))}
        />
      </div>
    </Section>
  );
}
