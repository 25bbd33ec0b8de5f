/**
 * Names of tests are understood without their `describe`: each begins with its subject. A name that begins with a verb
 * or a conjunction has its subject in the `describe` only.
 */
import { parseSync, Visitor } from 'oxc-parser';

export interface NamedTest {
  line: number;
  name: string;
}

/** No subject begins with one of these words. Verbs that are nouns too, such as `counts`, are not among them. */
const NEVER_FIRST = new Set(
  (
    'is are was were has have had does do can cannot could may might must will would should never that and but or ' +
    'than whose its also they says say keeps keep takes refuses writes gives tells finds gets sends loses lets knows ' +
    'adds moves belongs becomes makes'
  ).split(' '),
);
const TEST_FUNCTIONS = new Set(['it', 'test']);

interface Node {
  readonly type: string;
  readonly name?: string;
  readonly object?: Node;
  readonly callee?: Node;
  readonly tag?: Node;
  readonly start: number;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
}

/** `it`, `it.each(…)`, `test.skipIf(…)`: the name at the start. */
export function calledName(callee: unknown): string | undefined {
  let node = callee as Node | undefined;
  while (node !== undefined && node.type !== 'Identifier') node = node.object ?? node.callee ?? node.tag;
  return node?.name;
}

function firstText(node: Node | undefined): string | undefined {
  return typeof node?.value === 'string' ? node.value : node?.quasis?.[0]?.value.raw;
}

/** The tests of a file whose names begin with a verb or a conjunction. */
export function testsWithoutSubject(path: string, source: string): NamedTest[] {
  const found: NamedTest[] = [];
  new Visitor({
    CallExpression(node) {
      const [first] = node.arguments as readonly Node[];
      const name = firstText(first);
      if (name === undefined || !TEST_FUNCTIONS.has(calledName(node.callee) ?? '')) return;
      if (!NEVER_FIRST.has(name.split(/[\s,:;]/, 1)[0] ?? '')) return;
      found.push({ line: source.slice(0, first?.start).split('\n').length, name });
    },
  }).visit(parseSync(path, source).program);
  return found;
}
