/** The parts of an example of a request. */

interface RequestExample {
  /** Members of the path that are not those of `PATH_EXAMPLES`. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
}

export type RequestExamples = Readonly<Record<string, RequestExample>>;
