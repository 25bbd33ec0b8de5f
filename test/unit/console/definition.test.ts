import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AGGREGATIONS,
  CONDITIONS,
  type Draft,
  definitionIn,
  definitionOf,
  draftOf,
  NEW_DRAFT,
} from '../../../console/src/pages/metrics/definition.ts';

const names = fc.constantFrom('tokens', 'model', 'region', 'user', 'a.b');

describe('the form of a metric', () => {
  it('the form of a metric says with its filters that what is summed or grouped by has to be there, once', () => {
    const draft: Draft = {
      ...NEW_DRAFT,
      kind: 'form',
      form: {
        aggregation: 'SUM',
        key: ' tokens ',
        eventTypes: 'call, chat,',
        filters: [
          { name: 'model', condition: 'is one of', values: 'a, b' },
          { name: ' ', condition: 'exists', values: '' },
        ],
        groups: 'model, region\n\ntokens',
      },
    };
    expect(definitionOf(draft)).toEqual({
      aggregation_type: 'SUM',
      aggregation_key: 'tokens',
      event_type_filter: { in_values: ['call', 'chat'] },
      property_filters: [
        { name: 'model', in_values: ['a', 'b'] },
        { name: 'tokens', exists: true },
        { name: 'region', exists: true },
      ],
      group_keys: [['model', 'region'], ['tokens']],
    });
  });

  it('a definition is read from an address as it was written', () => {
    const form = fc.record({
      aggregation: fc.constantFrom(...AGGREGATIONS),
      key: names,
      eventTypes: fc.constantFrom('', 'call', 'call, chat'),
      filters: fc.uniqueArray(
        fc.record({ name: names, condition: fc.constantFrom(...CONDITIONS), values: fc.constant('x, y') }),
        { selector: ({ name }) => name },
      ),
      groups: fc.constantFrom('', 'model', 'model, region\nuser'),
    });
    fc.assert(
      fc.property(form, (each) => {
        const definition = definitionOf({ ...NEW_DRAFT, kind: 'form', form: each });
        const again = definitionIn(JSON.stringify(definition));
        expect(again === null ? null : definitionOf(again)).toEqual(definition);
      }),
    );
  });

  it('the form of a metric is that of a query where the definition is one, and nothing where an address has none', () => {
    expect(draftOf({ sql: 'SELECT 1' })).toMatchObject({ kind: 'sql', sql: 'SELECT 1' });
    for (const text of [undefined, '', '{', '3', 'null']) expect(definitionIn(text)).toBe(null);
  });
});
