/**
 * The prose of a source file: its comments, the texts that it answers or prints, and the names of its tests. Each is
 * a Markdown page with as many lines as the file, so that a line of it is the line of the file.
 */
import { parseSync, Visitor } from 'oxc-parser';
import { calledName } from './test-names.ts';

export interface Prose {
  comments: string;
  /** Texts with at least three words, or names of tests. */
  texts: string;
}

/** Where tests get their names. */
const TEST_FUNCTIONS = new Set(['it', 'test', 'describe']);

class Lines {
  readonly #lines: string[];
  readonly #starts: number[] = [0];

  constructor(source: string) {
    for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) this.#starts.push(at + 1);
    this.#lines = this.#starts.map(() => '');
  }

  #lineOf(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  add(offset: number, text: string): void {
    const first = this.#lineOf(offset);
    for (const [index, line] of text.split('\n').entries()) {
      const before = this.#lines[first + index];
      this.#lines[first + index] = before ? `${before} · ${line.trim()}` : line.trim();
    }
  }

  get markdown(): string {
    return this.#lines.join('\n');
  }
}

const withoutMarks = (comment: string): string =>
  comment
    .split('\n')
    .map((line) => line.replace(/^\s*\*+\s?/, ''))
    .join('\n');

const hasWords = (text: string): boolean => /\S+\s+\S+\s+\S+/.test(text);

/** `isTest`: texts are the names of tests; else every text with at least three words. */
export function proseOf(path: string, source: string, isTest: boolean): Prose {
  const { program, comments, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const commentLines = new Lines(source);
  for (const { start, value } of comments) commentLines.add(start, withoutMarks(value));

  const textLines = new Lines(source);
  const add = (node: { start: number }, text: string) => {
    if (isTest || hasWords(text)) textLines.add(node.start, text);
  };
  const literals = {
    Literal: (node: { start: number; value: unknown }) => {
      if (typeof node.value === 'string') add(node, node.value);
    },
    TemplateElement: (node: { start: number; value: { raw: string } }) => add(node, node.value.raw),
    JSXText: (node: { start: number; value: string }) => add(node, node.value),
  };
  const names = {
    CallExpression: (node: { callee: unknown; arguments: readonly unknown[] }) => {
      const name = calledName(node.callee);
      const [first] = node.arguments as {
        type: string;
        start: number;
        value?: unknown;
        quasis?: unknown[];
      }[];
      if (name === undefined || !TEST_FUNCTIONS.has(name) || first === undefined) return;
      if (first.type === 'Literal' && typeof first.value === 'string') add(first, first.value);
      for (const part of (first.quasis ?? []) as { start: number; value: { raw: string } }[])
        add(part, part.value.raw);
    },
  };
  new Visitor(isTest ? names : literals).visit(program);
  return { comments: commentLines.markdown, texts: textLines.markdown };
}
