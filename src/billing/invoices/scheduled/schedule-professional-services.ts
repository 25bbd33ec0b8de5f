/** Requests an invoice of professional services (docs/explanation/invoices.md, "Professional services"). */
import { USD_CENTS } from '../../../core/credit-types.ts';
import { type Decimal, sum, ZERO } from '../../../core/decimal.ts';
import { assert, type FieldPath, invalid, namesNothing } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import type { Invoice } from '../../../core/invoice.ts';
import type { FullContract } from '../../../core/terms/contract.ts';
import type { ProfessionalService, RequestedItem } from '../../../core/terms/professional-services.ts';
import type { AmountInput } from '../../../core/terms/schedules.ts';
import type { Instant } from '../../../core/time.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { findContract } from '../../../store/contracts/contracts.ts';
import { findRateCard } from '../../../store/rate-cards/rate-cards.ts';
import type { BillingContext } from '../../billing-context.ts';
import { type ContractReference, changeContract } from '../../contracts/change-contract.ts';
import { requireNotArchived } from '../../contracts/contract-changes.ts';
import { resolveAmount } from '../../contracts/terms/point-schedule.ts';
import { loadOpenSchedules } from '../../invoice-queue/open-items.ts';
import { scheduledDrafts } from './drafts.ts';

/** An amount, a quantity at a price, or a quantity at the price of the service. */
interface ServiceLineInput extends AmountInput {
  readonly professionalServiceId: string;
  readonly metadata: string | null;
}

export interface ServiceInvoiceInput extends ContractReference {
  readonly issuedAt: Instant;
  readonly lineItems: readonly ServiceLineInput[];
  readonly requestedBy: string;
}

/**
 * Returns the draft of the invoice, which is issued at `issuedAt`, at once if that has passed. Its currency is that of
 * the rate card, US dollars without one. Refuses an unknown contract or service (`not_found`), an archived contract and
 * an invalid amount (`invalid`), and more than the maximum of a service.
 */
export async function scheduleProfessionalServices(
  context: BillingContext,
  input: ServiceInvoiceInput,
): Promise<Invoice> {
  const now = context.clock.now();
  const invoiceId = newId();
  return context.db.transaction(async (tx) => {
    const origin = { now, changedBy: input.requestedBy };
    await changeContract(tx, context, input, origin, async (full) => {
      requireNotArchived(full);
      const creditTypeId = await currencyOf(tx, full);
      const professionalServices = withItems(full.terms.professionalServices, input, {
        invoiceId,
        timestamp: input.issuedAt,
        creditTypeId,
      });
      return {
        after: { ...full, terms: { ...full.terms, professionalServices } },
        changes: { scheduleProfessionalServicesInvoice: invoiceId },
      };
    });
    return draftOf(tx, input.contractId, invoiceId, now);
  });
}

async function currencyOf(tx: Transaction, { contract }: FullContract): Promise<string> {
  const card = contract.rateCardId === null ? null : await findRateCard(tx, contract.rateCardId);
  return card?.fiatCreditTypeId ?? USD_CENTS.id;
}

/** A service with the items that are added to it. */
interface Growing {
  readonly service: ProfessionalService;
  readonly items: RequestedItem[];
  /** Total of all its items. Items of voided invoices count too, because they can be regenerated. */
  total: Decimal;
}

/** Line by line, so that the line that exceeds a maximum is named. */
function withItems(
  services: readonly ProfessionalService[],
  { lineItems }: ServiceInvoiceInput,
  invoice: Pick<RequestedItem, 'invoiceId' | 'timestamp' | 'creditTypeId'>,
): ProfessionalService[] {
  const byId = new Map(services.map((service) => [service.id, growing(service)]));
  for (const [index, line] of lineItems.entries()) {
    const path = ['lineItems', index];
    const one = byId.get(line.professionalServiceId);
    if (one === undefined) {
      const text = `the contract has no professional service ${line.professionalServiceId}`;
      throw namesNothing([...path, 'professionalServiceId'], text);
    }
    const item = { ...invoice, id: newId(), ...amountOf(line, one.service, path), metadata: line.metadata };
    one.items.push(item);
    one.total = one.total.plus(item.amount);
    requireWithinMaximum(one, path);
  }
  return [...byId.values()].map(({ service, items }) => ({ ...service, items }));
}

function growing(service: ProfessionalService): Growing {
  return { service, items: [...service.items], total: sum(service.items.map(({ amount }) => amount)) };
}

function amountOf(
  { amount, unitPrice, quantity }: ServiceLineInput,
  service: ProfessionalService,
  path: FieldPath,
): Pick<RequestedItem, 'amount' | 'unitPrice' | 'quantity'> {
  const price = amount === null && quantity !== null ? (unitPrice ?? service.unitPrice) : unitPrice;
  const resolved = resolveAmount({ amount, unitPrice: price, quantity }, path);
  if (resolved.amount.lt(ZERO)) throw invalid([...path, 'amount'], 'must not be negative');
  return resolved;
}

function requireWithinMaximum({ service, total }: Growing, path: FieldPath): void {
  if (total.lte(service.maxAmount)) return;
  throw invalid(
    path,
    `brings professional service ${service.id} to ${total.toFixed()}, above its maximum of ${service.maxAmount.toFixed()}`,
  );
}

async function draftOf(
  tx: Transaction,
  contractId: string,
  invoiceId: string,
  now: Instant,
): Promise<Invoice> {
  const contract = await findContract(tx, contractId);
  assert(contract !== null, 'the contract is locked');
  const schedule = (await loadOpenSchedules(tx, [contract], now)).get(contractId);
  const targets = (schedule?.targets ?? []).filter((target) => target.invoiceId === invoiceId);
  const [draft] = await scheduledDrafts(tx, targets, now);
  assert(draft !== undefined, 'a requested invoice is a draft');
  return draft;
}
