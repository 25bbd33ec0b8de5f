/** How often the properties of usage are tried. */
import { inject } from 'vitest';

/** All times on the embedded engine; half of them where the same is tried again over HTTP. */
export function runs(count: number): number {
  return inject('clickhouse') === undefined ? count : Math.ceil(count / 2);
}
