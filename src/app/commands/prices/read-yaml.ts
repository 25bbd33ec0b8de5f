/** Reads YAML, and JSON with it, into plain values that keep the digits of numbers and know their lines. */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
  type Scalar,
} from 'yaml';
import { JsonNumber } from '../../../api/base/json.ts';

export interface ReadYaml {
  readonly value: unknown;
  /** The text cannot be read. */
  readonly problems: readonly { readonly line: number; readonly message: string }[];
  /** The line of a member or of an item, or of what holds it. */
  lineOf(path: readonly (string | number)[]): number;
}

/** More values than any file has; a few aliases of aliases would stand for billions. */
const VALUES_MAX = 5_000_000;

export function readYaml(text: string): ReadYaml {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: true });
  const problems = document.errors.map(({ pos, message }) => ({
    line: counter.linePos(pos[0]).line,
    message: message.split('\n')[0] ?? message,
  }));
  const lines = new Map<string, number>();
  const value = problems.length === 0 ? treeOf(document, counter, lines) : null;
  return {
    value,
    problems,
    lineOf(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const line = lines.get(JSON.stringify(path.slice(0, length)));
        if (line !== undefined) return line;
      }
      return 1;
    },
  };
}

function treeOf(document: Document<ParsedNode>, counter: LineCounter, lines: Map<string, number>): unknown {
  let count = 0;
  const note = (path: readonly (string | number)[], node: Node | null) => {
    const [start] = node?.range ?? [];
    if (start !== undefined) lines.set(JSON.stringify(path), counter.linePos(start).line);
  };
  const visit = (node: unknown, path: readonly (string | number)[]): unknown => {
    count += 1;
    if (count > VALUES_MAX) throw new RangeError(`the file has more than ${VALUES_MAX} values`);
    if (isAlias(node)) return visit(node.resolve(document), path);
    if (isScalar(node)) return scalarOf(node);
    if (isSeq<Node | null>(node)) {
      return node.items.map((item, index) => {
        note([...path, index], item);
        return visit(item, [...path, index]);
      });
    }
    if (!isMap<Node, Node | null>(node)) return null;
    return Object.fromEntries(
      node.items.map((pair) => {
        const name = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
        note([...path, name], pair.key);
        return [name, visit(pair.value, [...path, name])];
      }),
    );
  };
  return visit(document.contents, []);
}

/** Every literal of up to 15 digits survives the conversion to a double and back. */
const SAFE_DIGITS_MAX = 15;

function scalarOf({ value, source }: Scalar): unknown {
  if (typeof value === 'bigint') return new JsonNumber(String(value));
  const digits = source?.replace(/\D/g, '').length ?? 0;
  const isExact = typeof value !== 'number' || digits <= SAFE_DIGITS_MAX;
  return isExact || source === undefined || !/^[-+]?[\d.]+$/.test(source)
    ? value
    : new JsonNumber(source.replace(/^\+/, ''));
}
