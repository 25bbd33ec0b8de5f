/** The steps of a plan: what is created, changed and archived, and the calls of the API that do it. */
import type { KeyedKind, Terms } from './catalogue-file.ts';

type StepKind = KeyedKind | 'pricing unit' | 'custom field key' | 'rate';

/** Stands in a body for the id of an object, which may only exist when the call is sent. */
export class Reference {
  readonly kind: KeyedKind | 'pricing unit';
  /** The name of a pricing unit. */
  readonly key: string;

  constructor(kind: KeyedKind | 'pricing unit', key: string) {
    this.kind = kind;
    this.key = key;
  }

  toString(): string {
    return `${this.kind} ${this.key}`;
  }
}

export interface Call {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly body: Terms;
}

export interface Step {
  readonly action: 'create' | 'change' | 'archive';
  readonly kind: StepKind;
  /** For a rate, the key of its card. */
  readonly key: string;
  /** When the change takes effect, RFC 3339. Null: at once. */
  readonly from: string | null;
  /** When it ends, if it does. */
  readonly to: string | null;
  /** The terms that change, or of which the new object consists; null: none. */
  readonly before: Terms | null;
  readonly after: Terms | null;
  readonly calls: readonly Call[];
  /** The object that the last call creates. */
  readonly makes: Reference | null;
  /** The rate that is added, with many in one call. */
  readonly rate: Terms | null;
}

export interface Plan {
  readonly steps: readonly Step[];
  /** Ids of the objects of the service, by the text of their references. */
  readonly ids: ReadonlyMap<string, string>;
  /** Objects that the service has and the files do not. */
  readonly unnamed: readonly Reference[];
}

type Given = Pick<Step, 'action' | 'kind' | 'key'> & Partial<Step>;

export function step(given: Given): Step {
  const nothing = { from: null, to: null, before: null, after: null, calls: [], makes: null, rate: null };
  return { ...nothing, ...given };
}

export function post(path: string, body: Terms): Call {
  return { method: 'POST', path, body };
}
