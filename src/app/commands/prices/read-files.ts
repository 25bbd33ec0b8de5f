/** Reads the files of prices that a command is called with, as one catalogue. */
import { readFile, stat } from 'node:fs/promises';
import { joinPath } from '../../../api/base/names.ts';
import { messageOf } from '../../../core/failures.ts';
import { CommandFailure } from '../../failures/command-failure.ts';
import { type Catalogue, catalogueForm, KEY_FIELD } from './catalogue-file.ts';
import { fileJsonSchema, fileSchema } from './file-schema.ts';
import { type FileProblem, knownMembers } from './known-members.ts';
import { readYaml } from './read-yaml.ts';

/** Far above any price list. */
const FILE_BYTES_MAX = 200_000_000;
/** Problems that are printed. */
const SHOWN_MAX = 20;

/** Throws a `CommandFailure` with every problem, each with its file and line. */
export async function readFiles(paths: readonly string[]): Promise<Catalogue> {
  const read = await Promise.all(paths.map(readOne));
  const problems = read.flatMap((one) => one.problems);
  refuse(problems.length > 0 ? problems : repeated(read));
  return catalogueForm.parse({
    pricing_units: read.flatMap(({ catalogue }) => catalogue.pricing_units),
    custom_field_keys: read.flatMap(({ catalogue }) => catalogue.custom_field_keys),
    metrics: read.flatMap(({ catalogue }) => catalogue.metrics),
    products: read.flatMap(({ catalogue }) => catalogue.products),
    rate_cards: read.flatMap(({ catalogue }) => catalogue.rate_cards),
  });
}

/** Throws a `CommandFailure` that lists the problems, if there are any. */
export function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const rest = problems.length - SHOWN_MAX;
  const shown = [...problems.slice(0, SHOWN_MAX), ...(rest > 0 ? [`and ${rest} more`] : [])];
  throw new CommandFailure(shown.join('\n'));
}

interface ReadFile {
  readonly catalogue: Catalogue;
  readonly problems: readonly string[];
  placeOf(path: readonly (string | number)[]): string;
}

const NOTHING = catalogueForm.parse({});

async function readOne(file: string): Promise<ReadFile> {
  const yaml = readYaml(await textOf(file));
  const placeOf = (path: readonly (string | number)[]) => `${file}:${yaml.lineOf(path)}`;
  const unread = yaml.problems.map(({ line, message }) => `${file}:${line}: ${message}`);
  if (unread.length > 0) return { catalogue: NOTHING, problems: unread, placeOf };
  const found: FileProblem[] = [];
  const value = knownMembers(yaml.value ?? {}, fileJsonSchema(), found);
  const { error } = fileSchema.safeParse(value);
  const wrong = error?.issues.map(({ path, message }) => {
    const names = path.map((part) => (typeof part === 'number' ? part : String(part)));
    return { path: names, message: `${joinPath(names)}: ${message}` };
  });
  const told = new Set(found.map(({ path }) => JSON.stringify(path)));
  const others = (wrong ?? []).filter(({ path }) => !told.has(JSON.stringify(path)));
  const problems = [...found, ...others, ...fieldProblems(value)].map(
    ({ path, message }) => `${placeOf(path)}: ${message}`,
  );
  if (problems.length > 0) return { catalogue: NOTHING, problems, placeOf };
  return { catalogue: catalogueForm.parse(withoutNulls(value)), problems: [], placeOf };
}

async function textOf(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > FILE_BYTES_MAX) throw new Error(`it has more than ${FILE_BYTES_MAX} bytes`);
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read: ${messageOf(error)}`);
  }
}

/** The key of an object is not one of the custom fields that a file lists. */
function fieldProblems(value: unknown): FileProblem[] {
  const form = catalogueForm.safeParse(withoutNulls(value)).data;
  if (form === undefined) return [];
  return (['metrics', 'products', 'rate_cards'] as const).flatMap((list) =>
    form[list].flatMap(({ custom_fields: fields }, index) =>
      Object.hasOwn(fields, KEY_FIELD)
        ? [
            {
              path: [list, index, 'custom_fields', KEY_FIELD],
              message: `custom_fields.${KEY_FIELD} holds the key of the object: state it as ${KEY_FIELD}`,
            },
          ]
        : [],
    ),
  );
}

/** Null means that there is none. In an update it takes a term away, so it stays there. */
function withoutNulls(value: unknown, isUpdate = false): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutNulls(item, isUpdate));
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => isUpdate || member !== null)
      .map(([name, member]) => [name, withoutNulls(member, name === 'updates')]),
  );
}

/** Keys and names that two objects of the files have. */
function repeated(read: readonly ReadFile[]): string[] {
  const places = new Map<string, string>();
  const problems: string[] = [];
  const claim = (what: string, place: string) => {
    const before = places.get(what);
    if (before === undefined) places.set(what, place);
    else problems.push(`${place}: ${what} is in ${before} already`);
  };
  for (const { catalogue, placeOf } of read) {
    for (const list of ['metrics', 'products', 'rate_cards'] as const) {
      for (const [index, { key }] of catalogue[list].entries()) {
        claim(`${list}: ${key}`, placeOf([list, index]));
      }
    }
    for (const [index, { name }] of catalogue.pricing_units.entries()) {
      claim(`pricing_units: ${name}`, placeOf(['pricing_units', index]));
    }
    for (const [index, { entity, key }] of catalogue.custom_field_keys.entries()) {
      claim(`custom_field_keys: ${entity} ${key}`, placeOf(['custom_field_keys', index]));
    }
  }
  return problems;
}
