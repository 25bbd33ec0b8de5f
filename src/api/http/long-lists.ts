/**
 * Checks bodies with long lists in parts, between which other requests are answered.
 *
 * The items of a long list are parsed one by one with the list's schema of items. The body is then parsed with a schema
 * that is the same but takes items of such lists as they are.
 */
import { z } from 'zod';
import { afterOtherWork, CHUNK_ITEMS, eachInChunks } from '../../core/in-chunks.ts';
import { perObject } from '../../core/per-object.ts';
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
  const lists = longLists(schema, body, []);
  if (lists.length === 0) return checkInput(schema, 'body', body);
  // Reading such a body has taken a while.
  await afterOtherWork();
  let parsed = body;
  const issues: z.core.$ZodIssue[] = [];
  for (const list of lists) parsed = withItems(parsed, list.path, await parseItems(list, issues));
  if (issues.length > 0) throw refusalOf(issues, 'body', body);
  await afterOtherWork();
  const paths = lists.map(({ path }) => path);
  return checkInput(takingItems(schema, paths), 'body', parsed) as z.output<Schema>;
}

/** The body with another list at the path. */
function withItems(body: unknown, [name, ...rest]: Path, items: readonly unknown[]): unknown {
  if (name === undefined) return items;
  const record = Object(body) as Readonly<Record<string, unknown>>;
  return { ...record, [name]: withItems(record[name], rest, items) };
}

/** The outputs of the items. Adds the issues of the list or, if its length is allowed, of its items. */
async function parseItems({ path, items, schema }: LongList, issues: z.core.$ZodIssue[]): Promise<unknown[]> {
  const add = (found: readonly z.core.$ZodIssue[] = [], at: readonly PropertyKey[] = []) => {
    for (const issue of found) issues.push({ ...issue, path: [...path, ...at, ...issue.path] });
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

/** The names of objects, one in another, and of a list in the last of them. */
type Path = readonly string[];

interface LongList {
  readonly path: Path;
  readonly items: readonly unknown[];
  readonly schema: z.ZodArray;
}

/** The long lists of the body, and of objects in it. */
function longLists(schema: unknown, body: unknown, at: Path): LongList[] {
  const own = objectSchemaOf(schema);
  if (own === null || typeof body !== 'object' || body === null) return [];
  return Object.entries(body).flatMap(([name, member]): LongList[] => {
    if (!Object.hasOwn(own.shape, name)) return [];
    const path = [...at, name];
    if (!Array.isArray(member)) return longLists(own.shape[name], member, path);
    const list = isLong(member) ? listSchemaOf(own.shape[name]) : null;
    return list === null ? [] : [{ path, items: member, schema: list }];
  });
}

/** The schema of an object that may be absent, null or transformed; null for anything else. */
function objectSchemaOf(schema: unknown): z.ZodObject | null {
  if (schema instanceof z.ZodObject) return schema;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return objectSchemaOf(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? objectSchemaOf(schema.in) : null;
}

/** Few items with long lists inside take as much time as many items. */
function isLong(items: readonly unknown[]): boolean {
  let left = CHUNK_ITEMS - items.length;
  for (const item of items) {
    if (left < 0) break;
    if (typeof item !== 'object' || item === null) continue;
    for (const member of Object.values(item)) if (Array.isArray(member)) left -= member.length;
  }
  return left < 0;
}

/** The schema of a list that may be absent, null or transformed; null for anything else. */
function listSchemaOf(schema: unknown): z.ZodArray | null {
  if (schema instanceof z.ZodArray) return schema;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return listSchemaOf(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? listSchemaOf(schema.in) : null;
}

/** By the paths of the long lists. */
const madeOf = perObject((_schema: z.ZodType) => new Map<string, z.ZodType>());

/** The schema with lists whose items are parsed already. */
function takingItems(schema: z.ZodType, paths: readonly Path[]): z.ZodType {
  const own = madeOf(schema);
  const key = paths
    .map((path) => path.join('.'))
    .sort()
    .join();
  const one = own.get(key) ?? madeFor(schema, paths);
  own.set(key, one);
  return one;
}

function madeFor(schema: z.ZodType, paths: readonly Path[]): z.ZodType {
  if (paths.some((path) => path.length === 0)) return withAnyItems(schema);
  if (schema instanceof z.ZodPipe) {
    return changed(schema, { in: madeFor(schema.in as z.ZodType, paths) });
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return changed(schema, { innerType: madeFor(schema.unwrap() as z.ZodType, paths) });
  }
  if (!(schema instanceof z.ZodObject)) return schema;
  const shape = Object.entries(schema.shape).map(([name, member]) => {
    const inMember = paths.filter(([first]) => first === name).map(([, ...rest]) => rest);
    return [name, inMember.length === 0 ? member : madeFor(member as z.ZodType, inMember)];
  });
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
