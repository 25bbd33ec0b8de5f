/**
 * Checks bodies with long lists in parts, between which other requests are answered.
 *
 * The items of a long list are parsed one by one with the list's schema of items. The body is then parsed with a schema
 * that is the same but takes items of such lists as they are.
 */
import { z } from 'zod';
import { afterOtherWork, CHUNK_ITEMS, eachInChunks } from '../../core/in-chunks.ts';
import { checkInput, parseInput, refusalOf } from './problems.ts';

/** Like `checkInput`. Where a long list or items of it are invalid only that is named. */
export async function checkBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): Promise<z.output<Schema>> {
  if (isPrepared(schema)) {
    const prepared = parseInput(schema.in as z.ZodType, body);
    if (prepared.success)
      return (await checkBody(schema.out as z.ZodType, prepared.data)) as z.output<Schema>;
  }
  const lists = longLists(schema, body);
  if (lists.length === 0) return checkInput(schema, 'body', body);
  // It has taken a while to read such a body.
  await afterOtherWork();
  const parsed: Record<string, unknown[]> = {};
  const issues: z.core.$ZodIssue[] = [];
  for (const list of lists) parsed[list.name] = await parseItems(list, issues);
  if (issues.length > 0) throw refusalOf(issues, 'body', body);
  await afterOtherWork();
  const rest = takingItems(schema, Object.keys(parsed));
  return checkInput(rest, 'body', { ...Object(body), ...parsed }) as z.output<Schema>;
}

/** The outputs of the items. Adds what is wrong with the list or, if its length is allowed, with its items. */
async function parseItems({ name, items, schema }: LongList, issues: z.core.$ZodIssue[]): Promise<unknown[]> {
  const add = (found: readonly z.core.$ZodIssue[] = [], at: readonly PropertyKey[] = []) => {
    for (const issue of found) issues.push({ ...issue, path: [name, ...at, ...issue.path] });
  };
  const outputs: unknown[] = [];
  const asList = parseInput(withAnyItems(schema), items);
  if (!asList.success) {
    add(asList.error.issues);
    return outputs;
  }
  await eachInChunks(items, (item, index) => {
    const result = parseInput(schema.element as z.ZodType, item);
    add(result.error?.issues, [index]);
    outputs.push(result.data);
  });
  return outputs;
}

/** Whether the schema transforms the body as it was sent, and then parses it. */
function isPrepared(schema: z.ZodType): schema is z.ZodPipe {
  return schema instanceof z.ZodPipe && schema.in instanceof z.ZodTransform;
}

interface LongList {
  readonly name: string;
  readonly items: readonly unknown[];
  readonly schema: z.ZodArray;
}

function longLists(schema: unknown, body: unknown): LongList[] {
  if (schema instanceof z.ZodPipe) return longLists(schema.in, body);
  if (!(schema instanceof z.ZodObject) || typeof body !== 'object' || body === null) return [];
  return Object.entries(body).flatMap(([name, items]) => {
    if (!Array.isArray(items) || !isLong(items) || !Object.hasOwn(schema.shape, name)) return [];
    const list = listSchemaOf(schema.shape[name]);
    return list === null ? [] : [{ name, items, schema: list }];
  });
}

/** Few items with long lists inside take as long as many. */
function isLong(items: readonly unknown[]): boolean {
  let left = CHUNK_ITEMS - items.length;
  for (const item of items) {
    if (left < 0) break;
    if (typeof item !== 'object' || item === null) continue;
    for (const member of Object.values(item)) if (Array.isArray(member)) left -= member.length;
  }
  return left < 0;
}

/** Of a list that may be absent, null or transformed; null for anything else. */
function listSchemaOf(schema: unknown): z.ZodArray | null {
  if (schema instanceof z.ZodArray) return schema;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return listSchemaOf(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? listSchemaOf(schema.in) : null;
}

/** By the names of the long lists. */
const made = new WeakMap<z.ZodType, Map<string, z.ZodType>>();

/** The schema with lists whose items are parsed already. */
function takingItems(schema: z.ZodType, names: readonly string[]): z.ZodType {
  const own = made.get(schema) ?? new Map<string, z.ZodType>();
  const key = names.toSorted().join();
  const one = own.get(key) ?? madeFor(schema, new Set(names));
  made.set(schema, own.set(key, one));
  return one;
}

function madeFor(schema: z.ZodType, names: ReadonlySet<string>): z.ZodType {
  if (schema instanceof z.ZodPipe) {
    return changed(schema, { in: madeFor(schema.in as z.ZodType, names) });
  }
  if (!(schema instanceof z.ZodObject)) return schema;
  const shape = Object.entries(schema.shape).map(([name, member]) => [
    name,
    names.has(name) ? withAnyItems(member as z.ZodType) : member,
  ]);
  return changed(schema, { shape: Object.fromEntries(shape) });
}

/** The other checks of the list, as of its length, stay. */
function withAnyItems(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodArray) return changed(schema, { element: z.any() });
  if (schema instanceof z.ZodPipe) {
    return changed(schema, { in: withAnyItems(schema.in as z.ZodType) });
  }
  if (!(schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)) return schema;
  return changed(schema, { innerType: withAnyItems(schema.unwrap() as z.ZodType) });
}

function changed(schema: z.ZodType, definition: object): z.ZodType {
  return z.core.clone(schema, { ...schema.def, ...definition });
}
