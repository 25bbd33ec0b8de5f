/**
 * Reads properties of single events by literal name or by path into a nested value.
 *
 * A literal name is looked up here. A path is read by ClickHouse with the same expression as in usage queries, so that
 * event search and metrics agree.
 */
import { z } from 'zod';
import { assert } from '../../core/errors.ts';
import { NO_EVENTS } from '../client/around.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { createParameters } from '../query/parameters.ts';
import { propertySql } from '../query/property-sql.ts';
import type { StoredEvent } from './stored-event.ts';

/** The text of a property of an event, null if it is absent. Supports the names that it was created for. */
export type PropertyReader = (event: StoredEvent, name: string) => string | null;

/** Each path is some 500 characters of query; a server accepts 256 KB unless configured otherwise. */
const PATHS_PER_QUERY = 100;

const pathsRow = z.object({
  /** Index in the list of documents, from 1. */
  document: z.string().transform(Number),
  values: z.array(z.string().nullable()),
});

/** Queries ClickHouse only if one of `names` is a path into a value of one of the events. */
export async function readProperties(
  clickhouse: ClickHouse,
  events: readonly StoredEvent[],
  names: Iterable<string>,
): Promise<PropertyReader> {
  const paths = [...new Set(names)].filter((name) => events.some((event) => leadsInto(event, name)));
  const documents = events.filter((event) => paths.some((path) => leadsInto(event, path)));
  const values = new Map<string, string | null>();
  for (let from = 0; from < paths.length; from += PATHS_PER_QUERY) {
    const some = paths.slice(from, from + PATHS_PER_QUERY);
    for (const row of await queryPaths(clickhouse, documents, some)) {
      const event = documents[row.document - 1];
      assert(event !== undefined, 'every row belongs to a document');
      for (const [index, path] of some.entries()) {
        values.set(valueKey(event, path), row.values[index] ?? null);
      }
    }
  }
  return (event, name) => {
    const literal = event.properties.get(name);
    if (literal !== undefined) return literal;
    if (!leadsInto(event, name)) return null;
    const value = values.get(valueKey(event, name));
    assert(value !== undefined, `property ${name} was read`);
    return value;
  };
}

/** Whether the name is not one of the event's own but leads into one of its values. */
export function leadsInto({ properties }: Pick<StoredEvent, 'properties'>, name: string): boolean {
  const dot = name.indexOf('.');
  return dot >= 0 && !properties.has(name) && properties.has(name.slice(0, dot));
}

function valueKey(event: StoredEvent, path: string): string {
  return JSON.stringify([event.transactionId, event.tick, path]);
}

async function queryPaths(
  clickhouse: ClickHouse,
  documents: readonly StoredEvent[],
  paths: readonly string[],
): Promise<z.output<typeof pathsRow>[]> {
  const parameters = createParameters();
  const properties = paths.map((path) => propertySql(parameters, path));
  // Only the values at the beginning of paths are sent; the literal names are known to be absent.
  const heads = new Set(paths.map((path) => path.slice(0, path.indexOf('.'))));
  return await clickhouse.query({
    eventsOf: NO_EVENTS,
    sql: `
SELECT
  toString(document) AS document,
  [${properties.map(({ value }) => value).join(', ')}] AS values
FROM (
  SELECT
    arrayJoin(arrayEnumerate({documents:Array(Map(String, String))})) AS document,
    {documents:Array(Map(String, String))}[document] AS properties
)`,
    params: {
      ...parameters.values(),
      documents: documents.map((event) => new Map([...event.properties].filter(([name]) => heads.has(name)))),
    },
    schema: pathsRow,
  });
}
