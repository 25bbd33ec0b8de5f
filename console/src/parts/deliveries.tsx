/** Invoices by their state at the billing provider, with a retry. */
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../api/operations.gen.d.ts';
import { useChange } from '../api/queries.ts';
import { deliveryText } from '../format/words.ts';
import { useWriteRefusal } from '../session/session.ts';
import { Day, Money, Status } from './figures.tsx';
import { Failure } from './states.tsx';
import { type Column, Table } from './table.tsx';

type Invoice = Schemas['Invoice'];
export type DeliveryStatus = NonNullable<Schemas['ExternalInvoice']['external_status']>;

/** In the order of a delivery, then the failures. */
export const DELIVERY_STATUSES = [
  ...(['QUEUED', 'DRAFT', 'FINALIZED', 'SENT', 'PARTIALLY_PAID', 'PAID', 'SKIPPED', 'VOID'] as const),
  ...(['INVALID_REQUEST_ERROR', 'PAYMENT_FAILED', 'UNCOLLECTIBLE', 'DELETED'] as const),
] as const satisfies readonly DeliveryStatus[];

/** Deliveries that need attention. */
export const FAILED_DELIVERIES = [
  'INVALID_REQUEST_ERROR',
  'PAYMENT_FAILED',
  'UNCOLLECTIBLE',
  'DELETED',
] as const;

/** In place of a status: invoices that are voided here and were paid there. */
export const REFUND_DUE = 'REFUND_DUE';

/** Deliveries that `POST /v1/invoices/deliver` restarts. */
export function isDeliverable(status: string | undefined): boolean {
  return ['QUEUED', 'INVALID_REQUEST_ERROR', 'DELETED', 'SKIPPED'].includes(status ?? '');
}

const TONES: Readonly<Partial<Record<DeliveryStatus, 'good' | 'bad' | 'warn'>>> = {
  PAID: 'good',
  INVALID_REQUEST_ERROR: 'bad',
  PAYMENT_FAILED: 'bad',
  UNCOLLECTIBLE: 'bad',
  DELETED: 'warn',
  QUEUED: 'warn',
};

export function DeliveryState({ status }: { readonly status: string }) {
  const tone = TONES[status as DeliveryStatus];
  return <Status state={deliveryText(status)} {...(tone === undefined ? {} : { tone })} />;
}

const COLUMNS: readonly Column<Invoice>[] = [
  {
    title: 'Invoice',
    cell: ({ id, customer_id, invoice_number }) => (
      <Link to="/invoices/$customerId/$invoiceId" params={{ customerId: customer_id, invoiceId: id }}>
        {invoice_number ?? id.slice(0, 8)}
      </Link>
    ),
  },
  {
    title: 'Customer',
    cell: ({ customer_id, customer_name }) => (
      <Link to="/customers/$customerId" params={{ customerId: customer_id }}>
        {customer_name ?? customer_id}
      </Link>
    ),
  },
  { title: 'Issued', cell: ({ issued_at }) => <Day at={issued_at} /> },
  {
    title: 'Amount',
    kind: 'number',
    cell: ({ payable_amount, credit_type }) => <Money amount={payable_amount} unit={credit_type} />,
  },
  { title: 'Provider', cell: ({ external_invoice }) => external_invoice?.billing_provider_type ?? '' },
  {
    title: 'State there',
    cell: ({ external_invoice }) => (
      <DeliveryState status={external_invoice?.external_status ?? 'not sent'} />
    ),
  },
  {
    title: 'Error',
    cell: ({ external_invoice: external }) =>
      external?.billing_provider_error ?? external?.payment_error ?? '',
  },
  {
    title: '',
    cell: ({ id, external_invoice }) =>
      isDeliverable(external_invoice?.external_status) ? <DeliverAgain ids={[id]} /> : null,
  },
];

export function DeliveryTable({
  label,
  invoices,
}: {
  readonly label: string;
  readonly invoices: readonly Invoice[];
}) {
  return <Table label={label} columns={COLUMNS} rows={invoices} keyOf={({ id }) => id} />;
}

/** Another attempt, with the current billing configuration of each contract. */
export function DeliverAgain({ ids }: { readonly ids: readonly string[] }) {
  const refusal = useWriteRefusal();
  const deliver = useChange('POST /v1/invoices/deliver');
  const run = () => deliver.mutate({ body: { invoice_ids: ids } });
  if (deliver.isError) return <Failure error={deliver.error} again={run} />;
  return (
    <button type="button" disabled={refusal !== undefined || deliver.isPending} title={refusal} onClick={run}>
      Try again
    </button>
  );
}
