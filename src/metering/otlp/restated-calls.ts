/**
 * Finds spans that restate the counts of others: a workflow or a generation with the sums of its calls, an SDK and its
 * gateway, and an attempt without counts beside the call that has them.
 *
 * Compares the spans of one request, and stored spans of their traces: an exporter sends a span when it has ended, so
 * the spans of a trace arrive in several requests. Spans whose attributes show that they are not calls (`gen-ai.ts`)
 * are recognised without this. Pure.
 */
import { isAttempt } from './call-identity.ts';
import { answerOf, type CountedCall, type CountedTokens, formOf, spanKey } from './counted-call.ts';
import { isAroundCalls } from './gen-ai.ts';
import type { Span } from './span.ts';

/** The nesting depth of spans is set by programs. */
const DEPTH_MAX = 64;

/** A span of the request. */
export interface TakenSpan {
  readonly span: Span;
  /** Null: it is never billed by itself. */
  readonly call: CountedCall | null;
  /** Whether it has counts, even invalid ones. */
  readonly hasCounts: boolean;
}

export interface Restated {
  /** Not billed, because other spans are. */
  readonly spans: ReadonlySet<Span>;
  /** Doubts about spans that are billed. */
  readonly warnings: ReadonlyMap<Span, string>;
}

interface Node {
  /** Null if it is a stored span. */
  readonly span: Span | null;
  readonly key: string;
  readonly outerKey: string;
  readonly call: CountedCall | null;
  readonly hasCounts: boolean;
  readonly isAround: boolean;
  readonly isStored: boolean;
  /** The nearest enclosing span with counts. */
  outer: Node | null;
  /** The spans of which this one is the nearest outer span. */
  readonly inside: Node[];
  /** True if no agent or tool span lies between this span and the spans inside it. */
  isDirect: boolean;
  /** True if this span and another span with token counts are nested, with no agent or tool span in between. */
  isBesideCounts: boolean;
  /** Who is billed for the tokens of this span: itself and the spans inside it, only the spans inside, or only itself. */
  counted: 'itself' | 'inside' | 'instead';
  /** True if a stored call is already billed for its tokens. */
  hasStored: boolean;
  forms: ReadonlySet<string>;
}

export function restatedCalls(taken: readonly TakenSpan[], stored: readonly CountedCall[] = []): Restated {
  const nodes = nodesOf(taken, stored);
  for (const node of nodes.values()) findOuter(node, nodes);
  const warnings = new Map<Span, string>();
  const ordered = insideFirst([...nodes.values()].filter(({ call }) => call !== null));
  for (const node of ordered) settle(node, warnings);
  const spans = new Set<Span>();
  for (const node of nodes.values()) {
    if (node.span !== null && !node.hasCounts && (node.isBesideCounts || isAttempt(node.span)))
      spans.add(node.span);
  }
  leaveOut(ordered.reverse(), spans);
  warnOfUnlinked(nodes, stored, spans, warnings);
  return { spans, warnings };
}

function nodesOf(taken: readonly TakenSpan[], stored: readonly CountedCall[]): Map<string, Node> {
  const known = new Set(stored.map(spanKey));
  const nodes = new Map<string, Node>();
  for (const call of stored) nodes.set(spanKey(call), nodeOf(null, call, true, true));
  for (const { span, call, hasCounts } of taken)
    nodes.set(spanKey(span), nodeOf(span, call, hasCounts, known.has(spanKey(span))));
  return nodes;
}

function nodeOf(span: Span | null, call: CountedCall | null, hasCounts: boolean, isStored: boolean): Node {
  const place = span ?? call;
  const answer = call === null ? null : answerOf(call);
  return {
    ...{ span, call, hasCounts, isStored },
    key: place === null ? '' : spanKey(place),
    outerKey: place === null ? '' : spanKey({ traceId: place.traceId, spanId: place.parentSpanId }),
    isAround: span !== null && isAroundCalls(span.attributes),
    outer: null,
    inside: [],
    isDirect: true,
    isBesideCounts: false,
    counted: 'itself',
    hasStored: isStored,
    forms: new Set(answer === null ? [] : [formOf(answer)]),
  };
}

/** Finds the nearest enclosing span with counts. */
function findOuter(node: Node, nodes: ReadonlyMap<string, Node>): void {
  let isDirect = !node.isAround;
  let outer = nodes.get(node.outerKey);
  for (let depth = 0; outer !== undefined && outer !== node && depth < DEPTH_MAX; depth += 1) {
    isDirect &&= !outer.isAround;
    if (isDirect && node.call !== null) outer.isBesideCounts = true;
    if (outer.hasCounts) {
      if (isDirect) node.isBesideCounts = true;
      if (node.call === null || outer.call === null) return;
      node.outer = outer;
      outer.inside.push(node);
      outer.isDirect &&= isDirect;
      return;
    }
    outer = nodes.get(outer.outerKey);
  }
}

/** Orders inner spans before outer ones. Spans in a cycle are left out. */
function insideFirst(nodes: readonly Node[]): Node[] {
  const waiting = new Map(nodes.map((node) => [node, node.inside.length]));
  const order = nodes.filter(({ inside }) => inside.length === 0);
  for (const { outer } of order) {
    if (outer === null) continue;
    const left = (waiting.get(outer) ?? 0) - 1;
    waiting.set(outer, left);
    if (left === 0) order.push(outer);
  }
  return order;
}

function settle(node: Node, warnings: Map<Span, string>): void {
  const { call, inside } = node;
  if (call === null || inside.length === 0) return;
  if (!hasTokensOf(call, inside)) {
    warn(node, warnings);
    return;
  }
  const answer = answerOf(call);
  if (answer !== null && !node.isDirect) return;
  const forms = new Set(inside.flatMap((one) => [...one.forms]));
  const isSame = inside.some((one) => one.call?.transactionId === call.transactionId);
  if (answer !== null && forms.has(formOf(answer)) && !isSame) {
    warn(node, warnings);
    return;
  }
  const hasStored = inside.some((one) => one.hasStored);
  // Several inner spans may be restated in several requests, in which their sum is not visible.
  const isOne = inside.length === 1 && inside[0]?.counted === 'itself';
  if (node.isStored || (isOne && !hasStored && answer !== null && forms.size === 0)) {
    node.counted = 'instead';
    return;
  }
  node.counted = 'inside';
  node.hasStored = hasStored;
  node.forms = forms;
}

/** True if a call's tokens are the sums of the calls inside it. Some senders leave cached tokens out of their sums. */
function hasTokensOf(call: CountedTokens, inside: readonly Node[]): boolean {
  let input = 0n;
  let uncached = 0n;
  let output = 0n;
  for (const { call: one } of inside) {
    input += one?.input ?? 0n;
    uncached += one?.uncached ?? 0n;
    output += one?.output ?? 0n;
  }
  return call.output === output && (call.input === input || call.input === uncached);
}

/** Two answers with known ids are two calls; for other nested calls this is uncertain. */
function warn(node: Node, warnings: Map<Span, string>): void {
  const { call, inside, isDirect } = node;
  if (call === null || !isDirect) return;
  const isSure =
    answerOf(call) !== null && inside.every((one) => one.call !== null && answerOf(one.call) !== null);
  if (isSure && !hasTokensOf(call, inside)) return;
  const doubted = [node, ...inside].filter(({ isStored }) => !isStored);
  for (const { span } of doubted.slice(0, 1)) if (span !== null) warnings.set(span, DOUBT);
}

const DOUBT =
  'has counts, and so have spans inside or around it: all of them are billed, because their sums or their answers differ';

/** Walks from the outermost span inwards: spans inside a span that is billed for them are left out. */
function leaveOut(outermostFirst: readonly Node[], spans: Set<Span>): void {
  const instead = new Set<Node>();
  for (const node of outermostFirst) {
    const isLeftOut = instead.has(node) || node.counted === 'inside';
    if (isLeftOut && node.span !== null && !node.isStored) spans.add(node.span);
    if (node.counted === 'instead' || (instead.has(node) && node.counted === 'inside'))
      for (const one of node.inside) instead.add(one);
  }
}

/** Warns of spans with the token counts of a stored span of their trace: unknown spans between may nest the two. */
function warnOfUnlinked(
  nodes: ReadonlyMap<string, Node>,
  stored: readonly CountedCall[],
  left: ReadonlySet<Span>,
  warnings: Map<Span, string>,
): void {
  const unlinked = stored.filter((call) => hasUnknownOuter(call, nodes));
  if (unlinked.length === 0) return;
  const byTokens = new Map(unlinked.map((call) => [tokensKey(call), call]));
  for (const { span, call, isStored, outer, inside } of nodes.values()) {
    if (span === null || call === null || isStored || left.has(span)) continue;
    if (outer !== null || inside.length > 0 || warnings.has(span)) continue;
    const other = byTokens.get(tokensKey(call));
    if (other === undefined || other.parentSpanId === call.parentSpanId || areTwoAnswers(call, other))
      continue;
    warnings.set(span, UNLINKED);
  }
}

const UNLINKED =
  'has the counts of a span of its trace that was stored before, and it is not known whether one is nested in the other: ' +
  'both are billed';

function hasUnknownOuter(call: CountedCall, nodes: ReadonlyMap<string, Node>): boolean {
  if (call.parentSpanId === '') return false;
  return !nodes.has(spanKey({ traceId: call.traceId, spanId: call.parentSpanId }));
}

function tokensKey({ traceId, input, output }: CountedCall): string {
  return `${traceId}:${input}:${output}`;
}

function areTwoAnswers(one: CountedCall, other: CountedCall): boolean {
  const [first, second] = [answerOf(one), answerOf(other)];
  return first !== null && second !== null && formOf(first) === formOf(second);
}
