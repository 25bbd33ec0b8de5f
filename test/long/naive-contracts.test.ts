/**
 * The rating engine against the naive one on 100,000 random contracts, of which 20,000 have composite products.
 * NAIVE_CONTRACTS is another number of them.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { billingCase } from '../support/billing-cases.ts';
import { compositeCase } from '../support/composite-cases.ts';
import { checkCompositeCase } from '../support/composite-comparison.ts';
import { checkBillingCase } from '../support/naive-comparison.ts';

const CONTRACTS = Number(process.env.NAIVE_CONTRACTS ?? 100_000);
/** Contracts of one test, which reports the seed of what fails. */
const PER_TEST = Math.min(2_000, CONTRACTS);
const parts = Array.from({ length: Math.ceil(CONTRACTS / PER_TEST) }, (_, index) => index + 1);

describe.each(parts)('part %i', (part) => {
  // Every fifth part has composite products, whose naive engine takes twice as long.
  const hasComposites = part % 5 === 0;
  test(`${PER_TEST} contracts ${hasComposites ? 'with' : 'without'} composite products are rated as the naive engine does`, () => {
    expect.hasAssertions();
    if (hasComposites) fc.assert(fc.property(compositeCase, checkCompositeCase), { numRuns: PER_TEST });
    else fc.assert(fc.property(billingCase, checkBillingCase), { numRuns: PER_TEST });
  });
});
