/**
 * The imports of source files, and the rules of import-rules.ts that they break. `npm run floors` reads all of them.
 */
import { readdir, readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { ResolverFactory } from 'oxc-resolver';

/** `plain` runs the file, `type` is gone when compiled, `dynamic` is `import()`. */
type Form = 'plain' | 'type' | 'dynamic';

/** `package` is a dependency that is always installed, `undeclared` one that package.json does not have. */
type Origin = 'file' | 'node' | 'package' | 'optional' | 'peer' | 'development' | 'undeclared' | 'missing';

interface Import {
  /** The file imported, from the root of the project; as written if it is missing or a part of Node. */
  readonly to: string;
  readonly form: Form;
  readonly origin: Origin;
}

/** By file, from the root of the project. */
export type Imports = ReadonlyMap<string, readonly Import[]>;

/** Patterns are regular expressions; one that is left out fits all. */
interface Paths {
  readonly path?: string;
  readonly pathNot?: string | readonly string[];
}

/** Refuses the imports that fit `to` in files that fit `from`; without `to` the files themselves. */
export interface ImportRule {
  readonly name: string;
  readonly comment: string;
  readonly from: Paths;
  readonly to?: Paths & { readonly origins?: readonly Origin[]; readonly forms?: readonly Form[] };
}

export interface RefusedImport {
  readonly file: string;
  readonly rule: string;
  /** For a person: the file, the import and the rule. */
  readonly text: string;
}

export type Manifest = Readonly<Record<string, unknown>>;

const ORIGINS: readonly (readonly [member: string, origin: Origin])[] = [
  ['optionalDependencies', 'optional'],
  ['peerDependencies', 'peer'],
  ['dependencies', 'package'],
  ['devDependencies', 'development'],
];

const SOURCES = /[.][cm]?[jt]sx?$/;

/** Reads the imports of every source file in the folders, which are named from the root. */
export async function readImports(
  root: string,
  folders: readonly string[],
  manifest: Manifest,
): Promise<Imports> {
  const resolve = resolverIn(root, manifest);
  const files = new Map<string, readonly Import[]>();
  for (const folder of folders) {
    for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
      const path = relative(root, join(entry.parentPath, entry.name));
      if (!entry.isFile() || !SOURCES.test(path) || path.includes('node_modules/')) continue;
      const found = writtenImports(path, await readFile(join(root, path), 'utf8'));
      files.set(
        path,
        found.map(({ name, form }) => ({ form, ...resolve(path, name) })),
      );
    }
  }
  return files;
}

/** Returns what a source imports, as it is written there. Names that are put together at run time are left out. */
export function writtenImports(path: string, source: string): { name: string; form: Form }[] {
  const found: { name: string; form: Form }[] = [];
  const add = (form: Form, node: unknown) => {
    const name = textOf(node as Text | null | undefined);
    if (name !== undefined) found.push({ name, form });
  };
  const formOf = (kind: string | undefined): Form => (kind === 'type' ? 'type' : 'plain');
  new Visitor({
    ImportDeclaration: (node) => add(formOf(node.importKind), node.source),
    ExportNamedDeclaration: (node) => add(formOf(node.exportKind), node.source),
    ExportAllDeclaration: (node) => add(formOf(node.exportKind), node.source),
    ImportExpression: (node) => add('dynamic', node.source),
    TSImportType: (node) => add('type', node.source),
    TSExternalModuleReference: (node) => add('plain', node.expression),
    CallExpression(node) {
      if (node.callee.type === 'Identifier' && node.callee.name === 'require')
        add('plain', node.arguments[0]);
    },
  }).visit(parseSync(path, source).program);
  return found;
}

interface Text {
  readonly type: string;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly cooked: string | null } }[];
}

function textOf(node: Text | null | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  const [only, ...others] = node?.type === 'TemplateLiteral' ? (node.quasis ?? []) : [];
  return others.length > 0 ? undefined : (only?.value.cooked ?? undefined);
}

function resolverIn(root: string, manifest: Manifest) {
  const resolver = new ResolverFactory({
    conditionNames: ['import', 'node', 'default', 'types'],
    extensions: ['.ts', '.tsx', '.js'],
    extensionAlias: { '.js': ['.ts', '.js'], '.cjs': ['.cts', '.cjs'] },
    symlinks: false,
  });
  const originOf = (name: string): Origin => {
    if (name.startsWith('.')) return 'file';
    const known = ORIGINS.find(([member]) => Object.keys(manifest[member] ?? {}).includes(packageOf(name)));
    return known?.[1] ?? 'undeclared';
  };
  return (file: string, name: string): Pick<Import, 'to' | 'origin'> => {
    if (isBuiltin(name)) return { to: name, origin: 'node' };
    const { path } = resolver.resolveFileSync(join(root, file), name);
    return path === undefined
      ? { to: name, origin: 'missing' }
      : { to: relative(root, path), origin: originOf(name) };
  };
}

const packageOf = (name: string) => /^(?:@[^/]+[/])?[^/]+/.exec(name)?.[0] ?? name;

/** Returns what the rules refuse, in the order of files and rules. */
export function refusedImports(imports: Imports, rules: readonly ImportRule[]): RefusedImport[] {
  const refused: RefusedImport[] = [];
  const tests = rules.map((rule) => ({
    ...rule,
    isFrom: pathTest(rule.from),
    isTo: pathTest(rule.to ?? {}),
  }));
  for (const [file, found] of [...imports].sort(([one], [other]) => (one < other ? -1 : 1))) {
    for (const { name, comment, to, isTo, isFrom } of tests) {
      if (!isFrom(file)) continue;
      const tos = found.filter((one) => to !== undefined && isTo(one.to) && isOfKind(one, to));
      const texts =
        to === undefined ? [file] : [...new Set(tos.map((one) => `${file} imports ${one.to}`))].sort();
      for (const text of texts) refused.push({ file, rule: name, text: `${text} (${name}): ${comment}` });
    }
  }
  return refused;
}

function isOfKind({ form, origin }: Import, { origins, forms }: NonNullable<ImportRule['to']>): boolean {
  return (origins?.includes(origin) ?? true) && (forms?.includes(form) ?? true);
}

function pathTest({ path, pathNot = [] }: Paths): (path: string) => boolean {
  const wanted = path === undefined ? undefined : new RegExp(path);
  const unwanted = [pathNot].flat().map((pattern) => new RegExp(pattern));
  return (text) => (wanted?.test(text) ?? true) && !unwanted.some((one) => one.test(text));
}

/** Returns circles of imports, at least one if there is any: files in their order, the first again at the end. */
export function circlesOf(imports: Imports): string[][] {
  const circles: string[][] = [];
  const seen = new Set<string>();
  const way: string[] = [];
  const visit = (file: string) => {
    const start = way.indexOf(file);
    if (start >= 0) circles.push([...way.slice(start), file]);
    if (seen.has(file)) return;
    seen.add(file);
    way.push(file);
    for (const { to } of imports.get(file) ?? []) visit(to);
    way.pop();
  };
  for (const file of imports.keys()) visit(file);
  return circles;
}
