/**
 * Mechanisms that only src/runtime/ may have (src/runtime/README.md): timers that repeat, values of a request, chains of
 * promises by hand, state of a module; and functions that are exempt from the limits of lines and complexity.
 * `npm run floors` refuses them elsewhere. Exceptions are in one list, which only gets shorter: a file that no longer
 * needs its entry is refused until the entry is removed.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly name?: string;
  readonly kind?: string;
  readonly computed?: boolean;
  readonly object?: Node;
  readonly callee?: Node;
  readonly property?: Node;
  readonly declaration?: Node | null;
  readonly declarations?: readonly { readonly id: Node; readonly init: Node | null }[];
}

/** By rule, what is wrong with a file that breaks it. */
const RULES: Readonly<Record<string, string>> = {
  interval: 'repeats work by setInterval: use createPoll of src/runtime/poll.ts',
  scope: 'imports node:async_hooks: use createScopeKey of src/runtime/request-scope.ts',
  chain: 'chains promises by hand: use createSerialQueue of src/runtime/serial-queue.ts',
  state:
    'keeps state at the level of the module: keep it in an object that its owner creates, or use perObject of src/core/per-object.ts',
  length: 'has a function of more than 50 lines: split it into parts with names',
  complexity: 'has a function with a complexity of more than 15: split it into parts with names',
};

/** Only lists of routes, full tables of kinds and loops over single bytes keep theirs. */
const EXEMPTIONS: Readonly<Record<string, string>> = {
  length: 'biome-ignore lint/complexity/noExcessiveLinesPerFunction',
  complexity: 'biome-ignore lint/complexity/noExcessiveCognitiveComplexity',
};

/** Functions of src/runtime/ that create a mechanism with state. The key of a scope has none. */
const CREATES = /^create(?:Poll|SerialQueue|Batcher|Cache|RightOfWay)$/;

const WRITES = new Set(['set', 'add', 'push', 'unshift', 'delete', 'clear', 'splice', 'pop', 'shift']);

/** Returns the names of the rules that the source breaks, sorted. */
export function brokenRules(path: string, source: string): string[] {
  const { program } = parseSync(path, source);
  const body = program.body as unknown as readonly Node[];
  const found = new Set<string>();
  const assigned = new Set<string>();
  const chained = new Set<string>();
  const collections = collectionsOf(body);
  const textOf = (node: Node | undefined) => source.slice(node?.start, node?.end);
  for (const statement of body) if (isLet(statement) || isMechanism(statement)) found.add('state');
  for (const [rule, exemption] of Object.entries(EXEMPTIONS)) if (source.includes(exemption)) found.add(rule);
  new Visitor({
    ImportDeclaration(node) {
      if (/^(?:node:)?async_hooks$/.test(node.source.value)) found.add('scope');
    },
    AssignmentExpression(node) {
      assigned.add(textOf(node.left as Node));
    },
    CallExpression(node) {
      const callee = node.callee as Node;
      if (callee.name === 'setInterval') found.add('interval');
      if (callee.type !== 'MemberExpression' || callee.computed === true) return;
      const method = callee.property?.name ?? '';
      if (method === 'then') chained.add(textOf(callee.object));
      if (WRITES.has(method) && collections.has(textOf(callee.object))) found.add('state');
    },
  }).visit(program);
  if ([...chained].some((promise) => assigned.has(promise))) found.add('chain');
  return [...found].sort();
}

const declarationOf = (statement: Node) =>
  statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;

function isLet(statement: Node): boolean {
  const declaration = declarationOf(statement);
  return declaration?.type === 'VariableDeclaration' && declaration.kind === 'let';
}

/** Whether it creates a mechanism that nobody closes. */
function isMechanism(statement: Node): boolean {
  const declaration = declarationOf(statement);
  const declared = declaration?.type === 'VariableDeclaration' ? (declaration.declarations ?? []) : [];
  return declared.some(
    ({ init }) => init?.type === 'CallExpression' && CREATES.test(init.callee?.name ?? ''),
  );
}

/** The names of collections at the level of the module. */
function collectionsOf(body: readonly Node[]): Set<string> {
  const names = new Set<string>();
  for (const statement of body) {
    const declaration = declarationOf(statement);
    if (declaration?.type !== 'VariableDeclaration') continue;
    for (const { id, init } of declaration.declarations ?? []) {
      const isCollection = init?.type === 'NewExpression' || init?.type === 'ArrayExpression';
      if (id.type === 'Identifier' && isCollection) names.add(id.name ?? '');
    }
  }
  return names;
}

/** A line for each file that breaks a rule without an exception, and for each exception that nothing needs. */
export async function mechanismProblems(
  root: string,
  exceptions: Readonly<Record<string, readonly string[]>>,
): Promise<string[]> {
  const problems: string[] = [];
  const unused = new Set(
    Object.entries(exceptions).flatMap(([rule, files]) => files.map((file) => `${rule} ${file}`)),
  );
  for (const entry of await readdir(join(root, 'src'), { recursive: true, withFileTypes: true })) {
    const path = relative(root, join(entry.parentPath, entry.name));
    if (!entry.isFile() || !/[.]c?ts$/.test(path) || path.startsWith('src/runtime/')) continue;
    for (const rule of brokenRules(path, await readFile(join(root, path), 'utf8'))) {
      if (!unused.delete(`${rule} ${path}`)) problems.push(`${path} ${RULES[rule]}`);
    }
  }
  for (const entry of unused)
    problems.push(`"${entry}" is no exception any more: remove it from scripts/mechanisms.json`);
  return problems.sort();
}
