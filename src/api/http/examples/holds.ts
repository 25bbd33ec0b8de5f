/** Holds, from the question to the event. */
import type { RequestExamples } from './example.ts';
import { EXAMPLE_IDS as ids } from './ids.ts';

export const holdExamples: RequestExamples = {
  reserveHolds: {
    body: {
      holds: [
        {
          customer_id: ids.customer,
          transaction_id: 'request-0001',
          event: { event_type: 'completion', properties: { model: 'large', tokens: 4096 } },
          ttl_seconds: 120,
        },
      ],
    },
  },
  settleHolds: {
    body: {
      settlements: [{ transaction_id: 'request-0001', properties: { model: 'large', tokens: 1250 } }],
    },
  },
  releaseHolds: { body: { holds: [{ transaction_id: 'request-0002' }] } },
  extendHolds: { body: { holds: [{ hold_id: '5c10fade-1c9e-4d6c-8275-c52c36731d3c', ttl_seconds: 600 }] } },
  checkUsage: {
    params: { customer_id: ids.customer },
    body: { event_type: 'completion', properties: { model: 'large' }, quantity: 4096 },
  },
  listHolds: { query: { customer_id: ids.customer, status: 'active' } },
};
