/** Parents and children on one rate card, with requests at 2 cents. */
import type { ApiAnswer, ApiClient } from './api-client.ts';
import { createdId } from './catalogue-api.ts';
import { completion, createScenarioCatalogue } from './scenario.ts';

export interface Member {
  readonly customerId: string;
  readonly contractId: string;
  readonly alias: string;
}

export interface HierarchyOptions {
  /** By the name of the child: members of its contract beside customer, card and hierarchy. */
  readonly children: Readonly<Record<string, Record<string, unknown>>>;
  readonly parent?: Record<string, unknown>;
  /** Members of the parent's customer. */
  readonly customer?: Record<string, unknown>;
  readonly startingAt: string;
  readonly endingBefore: string;
}

export interface Hierarchy {
  readonly parent: Member;
  readonly children: Readonly<Record<string, Member>>;
}

let hierarchies = 0;

/** A parent that concatenates, and children that consolidate unless their contract says otherwise. */
export async function createHierarchy(api: ApiClient, options: HierarchyOptions): Promise<Hierarchy> {
  hierarchies += 1;
  const named = (name: string) => `${name}-${hierarchies}`;
  const { rateCardId } = await createScenarioCatalogue(api);
  const member = async (name: string, terms: Record<string, unknown>, customer = {}): Promise<Member> => {
    const alias = named(name);
    const of = { name: alias, ingest_aliases: [alias], ...customer };
    const customerId = await createdId(api, '/v1/customers', of);
    const contractId = await createdId(api, '/v1/contracts/create', {
      customer_id: customerId,
      rate_card_id: rateCardId,
      starting_at: options.startingAt,
      ending_before: options.endingBefore,
      ...terms,
    });
    return { customerId, contractId, alias };
  };
  const concatenates = { parent_behavior: { invoice_consolidation_type: 'CONCATENATE' } };
  const terms = { hierarchy_configuration: concatenates, ...options.parent };
  const parent = await member('parent', terms, options.customer);
  const children: Record<string, Member> = {};
  for (const [name, terms] of Object.entries(options.children)) {
    const { hierarchy = {}, ...rest } = terms as { hierarchy?: object };
    children[name] = await member(name, {
      hierarchy_configuration: {
        parent: { contract_id: parent.contractId, customer_id: parent.customerId },
        ...{ payer: 'PARENT', usage_statement_behavior: 'CONSOLIDATE' },
        ...hierarchy,
      },
      ...rest,
    });
  }
  return { parent, children };
}

let events = 0;

/** So many requests at an instant. */
export async function request(
  api: ApiClient,
  { alias }: Pick<Member, 'alias'>,
  count: number,
  at: string,
): Promise<void> {
  const sent = Array.from({ length: count }, () => {
    events += 1;
    return completion(alias, { id: `request-${events}`, at, tokens: 0 });
  });
  await api.post('/v1/ingest', sent);
}

/** `USAGE_CONSOLIDATED 2026-11-01 FINALIZED 12` for each usage invoice of the customer, in the order of the list. */
export async function usageInvoices(
  api: ApiClient,
  { customerId }: Pick<Member, 'customerId'>,
  query: Record<string, string> = {},
): Promise<string[]> {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query: { limit: 100, ...query } });
  return answer
    .list('data')
    .map((_, index) => summary(answer, `data[${index}]`))
    .sort();
}

function summary(answer: ApiAnswer, path: string): string {
  const start = String(answer.at(`${path}.start_timestamp`)).slice(0, 10);
  const [type, status] = ['type', 'status'].map((name) => answer.text(`${path}.${name}`));
  return `${type} ${start} ${status} ${answer.digits(`${path}.total`)}`;
}

/** The id of the one invoice of this type and status whose period starts on the day; fails if there is none. */
export async function invoiceId(
  api: ApiClient,
  { customerId }: Pick<Member, 'customerId'>,
  { type, start, status }: { readonly type: string; readonly start: string; readonly status?: string },
): Promise<string> {
  const query = { type, limit: 100, ...(status === undefined ? {} : { status }) };
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query });
  const index = answer
    .list('data')
    .findIndex((_, at) => String(answer.at(`data[${at}].start_timestamp`)).startsWith(start));
  return answer.text(`data[${index}].id`);
}
