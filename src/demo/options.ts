/** The options of the demo: their defaults and limits. */

export interface DemoOptions {
  /** The running server to use, or null for one of our own on temporary data. */
  readonly server: { readonly url: URL; readonly token: string } | null;
  /** A CSV file of real requests to replay instead of the simulated traffic. */
  readonly traceFile: string | null;
  readonly events: number;
  readonly customers: number;
  /** Keep the data of the server started by the demo. */
  readonly keep: boolean;
}

export const EVENTS_DEFAULT = 500_000;
export const CUSTOMERS_DEFAULT = 20;
/** Ten million events take a quarter of an hour; use the benchmarks for more. */
export const EVENTS_MAX = 10_000_000;
/** The proof reads usage, invoice and breakdown of every customer one by one. */
export const CUSTOMERS_MAX = 500;
