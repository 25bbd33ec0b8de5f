/**
 * Operations of the official client that this version does not have, with the reason. A call is answered with 404 and
 * the reason; docs/reference/compatibility.md lists them.
 */

export interface AbsentOperation {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With parameters in braces. */
  readonly path: string;
  /** Completes the sentence "The service does not have it: …". */
  readonly reason: string;
}

const PLANS = 'plans are the predecessors of contracts, which the service has instead';
const GRANTS = 'credit grants are the predecessors of credits on contracts, which the service has instead';
const VENDOR = 'it belongs to a product of the vendor';

export const ABSENT_OPERATIONS: readonly AbsentOperation[] = [
  ...because(PLANS, [
    'GET /v1/customers/{customer_id}/plans/{customer_plan_id}/priceAdjustments',
    'POST /v1/customers/{customer_id}/plans/add',
    'POST /v1/customers/{customer_id}/plans/{customer_plan_id}/end',
    'GET /v1/planDetails/{plan_id}',
    'GET /v1/planDetails/{plan_id}/charges',
    'GET /v1/planDetails/{plan_id}/customers',
  ]),
  ...because(GRANTS, [
    'POST /v1/credits/createGrant',
    'POST /v1/credits/editGrant',
    'POST /v1/credits/voidGrant',
  ]),
  ...because(VENDOR, ['POST /v1/upsertAvalaraCredentials']),
];

type Line = `${AbsentOperation['method']} ${string}`;

function because(reason: string, lines: readonly Line[]): AbsentOperation[] {
  return lines.map((line) => {
    const [method, path] = line.split(' ') as [AbsentOperation['method'], string];
    return { method, path, reason };
  });
}
