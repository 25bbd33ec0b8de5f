/**
 * The format of a frozen state, test/frozen/<name>: the rows of both stores as one version of the service wrote
 * them, and that version's answers. Created once by `npm run freeze-state`, never changed afterwards.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../src/api/base/json.ts';

export const FROZEN_FOLDER = join(import.meta.dirname, '..', 'frozen');

export interface FrozenRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

/** A request and the exact text of its answer, which was 200. */
export interface FrozenAnswer {
  readonly request: FrozenRequest;
  readonly answer: string;
}

const frozenAnswers = z.array(
  z.object({
    request: z.object({ method: z.string(), path: z.string(), body: z.unknown().optional() }),
    /** With numbers as `number` or `JsonNumber`. */
    answer: z.unknown(),
  }),
);

/** The facts that a service needs to answer the same questions. */
const frozenFacts = z.object({
  /** Where the sandbox clock stood. */
  now: z.string(),
  token: z.string(),
  /** Migrations that were applied, in order: tags of drizzle/, names of files in clickhouse/. */
  migrations: z.object({
    postgres: z.array(z.string()),
    clickhouse: z.array(z.string()),
    /** Whether ClickHouse had a record of its migrations; the first version kept none. */
    areRecorded: z.boolean().default(false),
  }),
});
export type FrozenFacts = z.output<typeof frozenFacts>;

/** A line with the names of the columns, then one for each row: JSON arrays that keep every digit. */
export interface FrozenTable {
  readonly name: string;
  readonly text: string;
}

export interface FrozenState {
  readonly facts: FrozenFacts;
  /** Each value as PostgreSQL's own text of it. */
  readonly postgres: readonly FrozenTable[];
  /** The last value of each identity column, by the name of its sequence. */
  readonly sequences: Readonly<Record<string, string>>;
  /** In ClickHouse's format JSONCompactEachRowWithNames. */
  readonly clickhouse: readonly FrozenTable[];
  readonly answers: readonly FrozenAnswer[];
}

const EXTENSION = '.rows';

export async function writeFrozenState(directory: string, state: FrozenState): Promise<void> {
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  for (const store of ['postgres', 'clickhouse'] as const) {
    await mkdir(join(directory, store), { recursive: true });
    for (const { name, text } of state[store]) {
      await writeFile(join(directory, store, `${name}${EXTENSION}`), text);
    }
  }
  await writeFile(join(directory, 'facts.json'), json(state.facts));
  await writeFile(join(directory, 'sequences.json'), json(state.sequences));
  // The text of an answer stands as it is, so that no digit of it is read and written again.
  const lines = state.answers.map(
    ({ request, answer }) => `{"request":${JSON.stringify(request)},\n"answer":${answer}}`,
  );
  await writeFile(join(directory, 'answers.json'), `[\n${lines.join(',\n')}\n]\n`);
}

/** Names of all frozen states, oldest first. */
export async function frozenStates(): Promise<string[]> {
  const entries = await readdir(FROZEN_FOLDER, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

export async function readFrozenFacts(name: string): Promise<FrozenFacts> {
  return frozenFacts.parse(JSON.parse(await readFile(join(FROZEN_FOLDER, name, 'facts.json'), 'utf8')));
}

export async function readFrozenAnswers(name: string): Promise<z.output<typeof frozenAnswers>> {
  return frozenAnswers.parse(parseJson(await readFile(join(FROZEN_FOLDER, name, 'answers.json'), 'utf8')));
}

export async function readFrozenSequences(name: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(join(FROZEN_FOLDER, name, 'sequences.json'), 'utf8');
  return z.record(z.string(), z.string()).parse(JSON.parse(text));
}

/** The names of the columns, and the line of each row. */
export interface FrozenRows {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly string[];
}

export async function readFrozenRows(name: string, store: 'postgres' | 'clickhouse'): Promise<FrozenRows[]> {
  const folder = join(FROZEN_FOLDER, name, store);
  const files = (await readdir(folder)).sort();
  return Promise.all(
    files.map(async (file) => {
      const [columns = '', ...rows] = (await readFile(join(folder, file), 'utf8')).trimEnd().split('\n');
      return {
        table: file.slice(0, -EXTENSION.length),
        columns: z.array(z.string()).parse(JSON.parse(columns)),
        rows,
      };
    }),
  );
}
