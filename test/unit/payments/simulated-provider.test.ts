import { expect, test } from 'vitest';
import { USD_CENTS } from '../../../src/core/credit-types.ts';
import { Decimal } from '../../../src/core/decimal.ts';
import type { Progress } from '../../../src/payments/provider.ts';
import { simulatedProvider } from '../../../src/payments/simulated/simulated-provider.ts';
import { documentOf } from '../../support/payment-documents.ts';

const GATE = { type: 'STRIPE', taxType: null, stripe: null, precalculatedTax: null } as const;
const written = () => Promise.reject(new Error('it writes nothing down'));

test.each([
  ['10001', 'PAID'],
  ['10002', 'FAILED'],
] as const)('the simulated provider decides by the amount alone: %s is %s', async (total, outcome) => {
  const document = {
    ...documentOf([], USD_CENTS.id),
    total: new Decimal(total),
    payable: new Decimal(total),
  };
  const charge = { document, gate: GATE, commitId: 'commit' };
  const progress = {} as Progress;
  expect(await simulatedProvider.charge(charge, progress, written)).toMatchObject({ outcome });
  const status = outcome === 'PAID' ? 'PAID' : 'PAYMENT_FAILED';
  expect(await simulatedProvider.deliver(document, progress, written)).toMatchObject({ status });
  expect(await simulatedProvider.status(document, progress, written)).toMatchObject({ status });
  expect(await simulatedProvider.void(document, progress, written)).toMatchObject({ status: 'VOID' });
});
