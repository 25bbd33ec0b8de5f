/** Forms of the console against the reference of the API: their fields, the bodies that they send, and refusals. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CURRENCIES } from '../../../console/src/format/currencies.ts';
import { bodyOf } from '../../../console/src/forms/body.ts';
import { type FormField, startOf, USD, type Values } from '../../../console/src/forms/field.ts';
import { entriesIn, hasUnusedRows, rowsAt } from '../../../console/src/forms/paste.ts';
import { problemsOf } from '../../../console/src/forms/problems.ts';
import { bodySchema, type FieldSchema, type Reference, schemaAt } from '../../../console/src/forms/schema.ts';
import * as ON_CONTRACT from '../../../console/src/pages/create/contract-forms.ts';
import * as OBJECTS from '../../../console/src/pages/create/forms.ts';
import * as TERMS from '../../../console/src/pages/create/terms.ts';
import { bodyFields, WAYS } from '../../../console/src/pages/invoice/credit-values.ts';
import { everyRouteOfApp } from '../../../scripts/reference/every-route.ts';
import { openApiDocument } from '../../../src/api/http/openapi.ts';

const reference = JSON.parse(JSON.stringify(openApiDocument(everyRouteOfApp(), '0'))) as Reference;
const { form: _make, ...specs } = { ...OBJECTS, ...TERMS, ...ON_CONTRACT };
const forms = [
  ...Object.values(specs).flatMap(({ title, operation, fields, next }) => [
    { name: title, operation, fields },
    ...(next === undefined ? [] : [{ name: `${title}, then ${next.operation}`, ...next }]),
  ]),
  ...WAYS.map(([way, title]) => ({
    ...{ name: `Credit…, ${title}`, operation: 'POST /v1/invoices/creditNotes/create' },
    fields: bodyFields(way),
  })),
];

/** The fields that the API has, by place; throws for a field that it has not. */
function placesOf(schema: FieldSchema, fields: readonly FormField[]): string[] {
  return fields.flatMap(({ at, fields: inner = [], unitAt }) => {
    const own = schemaAt(schema, at);
    if (unitAt !== undefined) schemaAt(schema, unitAt);
    return [at, ...(own.items === null ? [] : placesOf(own.items, inner).map((each) => `${at}[].${each}`))];
  });
}

describe('forms of the console', () => {
  it.each(forms)(
    'the form $name has fields of its operation only, and all that the API requires',
    ({ operation, fields }) => {
      const schema = bodySchema(reference, operation);
      const places = placesOf(schema, fields);
      const missing = (schema.raw.required ?? []).filter(
        (name) => !places.some((place) => place.split(/[.[]/)[0] === name),
      );
      expect(missing).toEqual([]);
    },
  );

  it('a body has the fields that are filled in, numbers in the units of the API, and the day after a last day', () => {
    const { operation, fields } = OBJECTS.ALERT;
    const schema = bodySchema(reference, operation);
    const values = { name: ' Low ', alert_type: 'low_credit_balance_reached', threshold: '1,200.50' };
    const sent = { schema, unit: USD, products: new Map() };
    expect(JSON.parse(JSON.stringify(bodyOf(fields, values, sent)))).toMatchObject({
      ...{ name: 'Low', alert_type: 'low_credit_balance_reached', threshold: { value: '120050' } },
    });
    const token = { name: 'A', scope: 'read', expires_at: '2028-02-28' };
    const body = bodyOf(OBJECTS.TOKEN.fields, token, {
      ...sent,
      schema: bodySchema(reference, OBJECTS.TOKEN.operation),
    });
    expect(body).toEqual({ ...token, expires_at: '2028-02-29T00:00:00.000Z' });
  });

  it('text that is no number is sent as it is, so that the refusal of the API stands at its field', () => {
    const { operation, fields } = OBJECTS.ALERT;
    const values = { alert_type: 'spend_threshold_reached', threshold: '1.200,50' };
    const sent = { schema: bodySchema(reference, operation), unit: USD, products: new Map() };
    expect(bodyOf(fields, values, sent)).toMatchObject({ threshold: '1.200,50' });
  });

  it('rows of a sheet become entries by the names of products, and each row that is left out is named', () => {
    const fields: readonly FormField[] = [
      { at: 'product_id', label: 'Product' },
      { at: 'price', label: 'Price', kind: 'money' },
      { at: 'starting_at', label: 'From', start: (day) => day },
    ];
    const twice = [
      { id: 'id of tokens', name: 'Tokens' },
      { id: 'another id', name: 'Tokens' },
    ];
    const products = [{ id: 'id of seats', name: 'Seats' }, ...twice];
    const text = 'seats\t$1,200.50\n\nOther\t3\nSeats; 7\nTokens\t1\n';
    const sheet = { columns: ['product_id', 'price'], fields, objects: products, today: '2026-11-26' };
    const entry = { product_id: 'id of seats', starting_at: '2026-11-26' };
    expect(entriesIn(text, { ...sheet, unit: USD })).toEqual({
      entries: [
        { ...entry, price: '1,200.50' },
        { ...entry, price: '7' },
      ],
      problems: ['No product is named Other', 'Several products are named Tokens'],
      unused: 'Other\t3\nTokens\t1',
    });
  });

  it.each([
    ['USD', '$3', '3'],
    ['USD', 'USD 3', '3'],
    ['USD', '3 USD', '3'],
    ['USD', '€3', '€3'],
    ['EUR', 'EUR 3', '3'],
    ['EUR', '3 eur', '3'],
    ['EUR', '$3', '$3'],
  ])(
    'a pasted amount in %s that reads %s becomes %s: with the sign of another currency it stays a text',
    (code, cell, text) => {
      const unit = {
        id: Object.entries(CURRENCIES).find(([, [own]]) => own === code)?.[0] ?? '',
        name: code,
      };
      const fields: readonly FormField[] = [
        { at: 'product_id', label: 'Product' },
        { at: 'price', label: 'Price', kind: 'money' },
      ];
      const columns = ['product_id', 'price'];
      const sheet = { columns, fields, objects: [{ id: 'id', name: 'Seats' }], today: '2026-11-26', unit };
      expect(entriesIn(`Seats\t${cell}`, sheet).entries).toEqual([{ product_id: 'id', price: text }]);
    },
  );

  it('rows of a sheet that are pasted and not added are found wherever the list is', () => {
    const rates: FormField = { at: 'rates', label: 'Prices', pasted: ['product_id'] };
    const fields: readonly FormField[] = [rates, { at: 'cards', label: 'Cards', fields: [rates] }];
    expect(hasUnusedRows(fields, { rates: [{}] })).toBe(false);
    expect(hasUnusedRows(fields, { [rowsAt('rates')]: ' \n' })).toBe(false);
    expect(hasUnusedRows(fields, { [rowsAt('rates')]: 'Seats\t3' })).toBe(true);
    expect(hasUnusedRows(fields, { cards: [{}, { [rowsAt('rates')]: 'Seats\t3' }] })).toBe(true);
  });

  it('every problem that a refusal names is shown once: at its field, or below the form', () => {
    const fields: readonly FormField[] = [
      { at: 'name', label: 'Name' },
      { at: 'access.items[0].amount', label: 'Amount' },
      { at: 'credits', label: 'Credits', fields: [{ at: 'priority', label: 'Priority' }] },
    ];
    const values: Values = { ...startOf(fields, '2026-11-26'), credits: [{}, {}] };
    const named = fc.constantFrom(
      ...['name', 'access', 'access.items[0].amount', 'access.items[0].starting_at', 'credits[1].priority'],
      ...['credits', 'credits[0].name', 'other', 'nothing[3].inside'],
    );
    const text = fc.stringMatching(/^[a-z][a-z ]{0,20}(; [A-Z][a-z]{1,5})?$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(named, text), { minLength: 1, maxLength: 5 }), (problems) => {
        const message = problems.map(([field, problem]) => `${field}: ${problem}`).join('; ');
        const { byField, rest } = problemsOf(message, fields, values);
        const shown = [...byField.values(), ...rest].join('; ');
        for (const [field, problem] of problems) {
          expect(shown).toContain(problem);
          if (field === 'name') expect(byField.get('name')).toContain(problem);
          if (field === 'credits[1].priority') expect(byField.get(field)).toContain(problem);
          if (field === 'other') expect(rest.join()).toContain(problem);
        }
      }),
    );
  });
});
