/** Completes names of a query: properties after `properties.`, columns after a table, and everything else. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { SqlNames } from './sql-names.ts';

/** A source of completions that always asks for the current names. */
export function completionOf(namesNow: () => SqlNames) {
  return (context: CompletionContext): CompletionResult | null => {
    const path = context.matchBefore(/[\w$]+\.[\w$]*/);
    if (path !== null) return afterDot(path.text, path.from, namesNow());
    const word = context.matchBefore(/[\w$]+/);
    if (word === null && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options: everything(namesNow()), validFor: /^[\w$]*$/ };
  };
}

function afterDot(text: string, from: number, { properties, tables }: SqlNames): CompletionResult | null {
  const [owner = ''] = text.split('.');
  const options: Completion[] =
    owner.toLowerCase() === 'properties'
      ? properties.map((name) => ({ label: name, type: 'property', detail: 'seen in events' }))
      : columnsOf(tables.filter(({ name }) => name === owner));
  return options.length === 0 ? null : { from: from + owner.length + 1, options, validFor: /^[\w$]*$/ };
}

function columnsOf(tables: SqlNames['tables']): Completion[] {
  const columns = new Map(
    tables.flatMap((table) => table.columns.map((column) => [column.name, column] as const)),
  );
  return [...columns.values()].map(({ name, type, description }) => ({
    label: name,
    type: 'variable',
    detail: type,
    ...(description === undefined ? {} : { info: description }),
  }));
}

function everything({ functions, properties, tables }: SqlNames): Completion[] {
  return [
    ...tables.map(({ name }) => ({ label: name, type: 'class', detail: 'table', boost: 2 })),
    ...columnsOf(tables).map((column) => ({ ...column, boost: 1 })),
    ...properties.map((name) => ({
      label: `properties.${name}`,
      type: 'property',
      detail: 'seen in events',
    })),
    ...functions.map(({ name, signature, example, note, synonyms }) => ({
      label: callableName(name, synonyms, signature),
      type: 'function',
      detail: signature,
      info: [example, note].filter((text) => text !== null).join('\n'),
    })),
  ];
}

/** The name of a function as its signature spells it. */
function callableName(name: string, synonyms: readonly string[], signature: string): string {
  const written = /^\w+/.exec(signature)?.[0];
  return [name, ...synonyms].find((each) => each === written) ?? written ?? name;
}
