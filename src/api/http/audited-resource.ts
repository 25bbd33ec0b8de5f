/**
 * The name of the resource of an operation in the audit log, and where its id is found: in the path, in the body, or
 * for a new resource in the answer. It follows from the paths of the API, so that a new operation needs nothing.
 */
import { z } from 'zod';
import type { RouteDefinition } from './route.ts';

/** The first pattern that matches the path names the resource. */
const TYPES: readonly (readonly [pattern: RegExp, type: string])[] = [
  [/customerCommits|\/commits\//, 'commit'],
  [/customerCredits|\/credits\//, 'credit'],
  [/\/subscriptions?\//, 'subscription'],
  [/\/creditNotes/, 'credit_note'],
  [/events\/corrections/, 'correction'],
  [/\/invoices?\/|InvoiceIssueDate/, 'invoice'],
  [/BillingProviderConfigurations/, 'customer'],
  [/BillingProvider/, 'billing_provider'],
  [/customFields\/\w+Key/, 'custom_field_key'],
  [/contract-pricing\/products/, 'product'],
  [/contract-pricing\/rate-cards/, 'rate_card'],
  [/billable-metrics/, 'billable_metric'],
  [/packages/, 'package'],
  [/credit-types/, 'credit_type'],
  [/alerts|notifications/, 'alert'],
  [/sql\/queries/, 'saved_query'],
  [/sandbox/, 'sandbox_clock'],
  [/webhooks/, 'webhook'],
  [/tokens/, 'token'],
  [/roles/, 'role'],
  [/people/, 'person'],
  [/sessions/, 'session'],
  [/system\//, 'job'],
  [/contracts/, 'contract'],
  [/customers/, 'customer'],
];

const PARSED_CHARACTERS_MAX = 100_000;
const created = z.object({ data: z.object({ id: z.string() }) });
const members = z.record(z.string(), z.unknown());

interface Exchanged {
  readonly params: Readonly<Record<string, string>>;
  /** The parsed body, checked or not. */
  readonly body: unknown;
  /** The JSON of the answer; null if it was refused or has no body. */
  readonly answer: string | null;
}

export interface AuditedResource {
  readonly type: string;
  /** Null where the request is about none, or about many. */
  readonly id: string | null;
}

export function auditedResource(
  { path }: RouteDefinition,
  { params, body, answer }: Exchanged,
): AuditedResource {
  const sent = members.safeParse(body).data ?? {};
  const { entity, entity_id: entityId } = sent;
  // Custom fields are set on objects of any kind, which the body names.
  if (typeof entity === 'string' && typeof entityId === 'string') return { type: entity, id: entityId };
  const type = TYPES.find(([pattern]) => pattern.test(path))?.[1] ?? 'unknown';
  const own = `${type}_id`;
  const candidates = [params[own], sent[own], sent.id, createdId(answer), Object.values(params)[0]];
  return { type, id: candidates.find((id) => typeof id === 'string') ?? null };
}

function createdId(answer: string | null): string | undefined {
  if (answer === null || answer.length > PARSED_CHARACTERS_MAX) return undefined;
  return created.safeParse(JSON.parse(answer)).data?.data.id;
}
