import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { everyRouteOfApp } from '../../../scripts/reference/every-route.ts';
import { PACKAGE_ROOT } from '../../../src/core/package-root.ts';
import { NOT_DRIVEN } from '../../support/at-limits/not-driven.ts';
import { OPERATIONS_AT_LIMITS } from '../../support/at-limits/operations.ts';

const documented = everyRouteOfApp().map(({ operationId }) => operationId);
const driven = new Set(OPERATIONS_AT_LIMITS.map(({ operation }) => operation));
const excused = NOT_DRIVEN.flatMap(({ operations }) => operations);

describe('every operation of the OpenAPI document', () => {
  it('every operation of the OpenAPI document is driven at its limits, or has a reason why it is not', () => {
    const missing = documented.filter((id) => !driven.has(id) && !excused.includes(id));
    expect(missing).toEqual([]);
  });

  it('every operation is in one list of those that are driven and those that are not, once', () => {
    expect(excused.filter((id) => driven.has(id))).toEqual([]);
    expect(excused.filter((id, place) => excused.indexOf(id) !== place)).toEqual([]);
  });

  it('every operation has the name in these lists that it has in the document', () => {
    expect([...driven, ...excused].filter((id) => !documented.includes(id))).toEqual([]);
  });

  it('an operation that is driven elsewhere is so in a file that exists', () => {
    const files = NOT_DRIVEN.flatMap(({ drivenBy }) => drivenBy ?? []);
    expect(files.filter((file) => !existsSync(join(PACKAGE_ROOT, file)))).toEqual([]);
  });
});
