/** One invoice: its lines, the reasons, its course over time, and how to correct it. */
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useChange } from '../../api/queries.ts';
import { webLink } from '../../format/links.ts';
import { growthText } from '../../format/money.ts';
import { periodText } from '../../format/time.ts';
import { countText } from '../../format/words.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DeliverAgain, DeliveryState, isDeliverable } from '../../parts/deliveries.tsx';
import { Download } from '../../parts/download.tsx';
import { CopyId, Day, Money, Status } from '../../parts/figures.tsx';
import { Fact, Facts, Page, Section, Tabs } from '../../parts/page.tsx';
import { Empty, Loaded, Note } from '../../parts/states.tsx';
import { useSession, useWriteRefusal } from '../../session/session.ts';
import { ByProperty } from './by-property.tsx';
import { ChangeView } from './change-table.tsx';
import { CollectAgain } from './collect-again.tsx';
import { CreditNotes } from './credit-notes.tsx';
import styles from './invoice.module.css';
import type { Invoice } from './line.ts';
import { Lines } from './lines.tsx';
import { OverTime } from './over-time.tsx';

const route = getRouteApi('/invoices/$customerId/$invoiceId');
const READ = 'GET /v1/customers/{customer_id}/invoices/{invoice_id}';

const VIEWS = [
  ['lines', 'Lines'],
  ['time', 'Over time'],
  ['property', 'By property'],
  ['change', 'Change'],
] as const;

export function InvoicePage() {
  const { customerId, invoiceId } = route.useParams();
  const query = useApi(READ, {
    params: { customer_id: customerId, invoice_id: invoiceId },
    query: { include_list_prices: 'true' },
  });
  if (query.data === undefined) {
    return (
      <Page title="Invoice">
        <Loaded query={query} what="the invoice">
          {() => null}
        </Loaded>
      </Page>
    );
  }
  return <ShownInvoice invoice={query.data.data} />;
}

function ShownInvoice({ invoice }: { readonly invoice: Invoice }) {
  const { view = 'lines', line, window, property } = route.useSearch();
  return (
    <Page
      title={titleOf(invoice)}
      about={<About invoice={invoice} />}
      actions={<Actions invoice={invoice} />}
    >
      <InvoiceFacts invoice={invoice} />
      <Warnings invoice={invoice} />
      <LateUsage invoice={invoice} />
      <CreditNotes invoice={invoice} />
      <Tabs label="Views of the invoice" views={VIEWS} current={view} />
      <Section title={VIEWS.find(([each]) => each === view)?.[1] ?? 'Lines'}>
        {view === 'time' ? (
          <OverTime invoice={invoice} size={window === 'hour' ? 'hour' : 'day'} />
        ) : view === 'property' ? (
          <ByProperty invoice={invoice} property={property} />
        ) : view === 'change' ? (
          <ChangeView invoice={invoice} />
        ) : invoice.line_items.length === 0 ? (
          <Empty>There is nothing to bill in this period.</Empty>
        ) : (
          <Lines invoice={invoice} explained={line} />
        )}
      </Section>
    </Page>
  );
}

function titleOf({ invoice_number, status, type }: Invoice): string {
  if (invoice_number !== undefined) return `Invoice ${invoice_number}`;
  return status === 'DRAFT'
    ? `Draft ${type === 'SCHEDULED' ? 'of a scheduled invoice' : 'invoice'}`
    : 'Invoice';
}

function About({ invoice }: { readonly invoice: Invoice }) {
  const { customer_id, start_timestamp, end_timestamp, id, status } = invoice;
  return (
    <>
      <Link to="/customers/$customerId" params={{ customerId: customer_id }}>
        {invoice.customer_name ?? 'Customer'}
      </Link>
      <Status state={status} />
      {start_timestamp === undefined || end_timestamp === undefined ? null : (
        <span>{periodText(start_timestamp, end_timestamp)}, UTC</span>
      )}
      <CopyId id={id} />
    </>
  );
}

function InvoiceFacts({ invoice }: { readonly invoice: Invoice }) {
  const { total, payable_amount, credited, credit_type, issued_at, due_at, status, previous_invoice } =
    invoice;
  const { now } = useSession();
  const isRunning = invoice.end_timestamp !== undefined && now < invoice.end_timestamp;
  const change = previous_invoice === undefined ? null : growthText(total, previous_invoice.total);
  return (
    <Facts>
      <Fact
        label="Total"
        note={
          previous_invoice === undefined || change === null ? undefined : isRunning ? (
            <>
              the last invoice: <Money amount={previous_invoice.total} unit={credit_type} />, of its whole
              period
            </>
          ) : (
            `${change} against the last invoice`
          )
        }
      >
        <Money amount={total} unit={credit_type} />
      </Fact>
      <Fact
        label="To pay"
        note={
          credited === undefined ? undefined : (
            <>
              <Money amount={credited} unit={credit_type} /> credited
            </>
          )
        }
      >
        <Money amount={payable_amount} unit={credit_type} />
      </Fact>
      <Fact label={status === 'DRAFT' ? 'Expected' : 'Issued'}>
        <Day at={issued_at} />
      </Fact>
      {due_at === undefined ? null : (
        <Fact label="Due">
          <Day at={due_at} />
        </Fact>
      )}
      <Fact label="Lines">{invoice.line_items.length}</Fact>
      <Delivery invoice={invoice} />
    </Facts>
  );
}

/** The state of the invoice at the billing provider, with its errors and a link. */
function Delivery({ invoice }: { readonly invoice: Invoice }) {
  const { id, external_invoice: external } = invoice;
  if (external === null) return null;
  const {
    billing_provider_type: provider,
    external_status: status,
    billing_provider_error: error,
    payment_error: paymentError,
  } = external;
  const link = webLink(external.payment_url) ?? webLink(external.pdf_url);
  return (
    <Fact
      label={`Delivery to ${provider}`}
      note={
        <>
          {external.invoice_number ?? external.invoice_id ?? ''}{' '}
          {link === undefined ? null : (
            <a href={link} rel="noreferrer" target="_blank">
              Open it there
            </a>
          )}
          {error === undefined ? null : <span className="bad"> {error} </span>}
          {paymentError === undefined || paymentError === error ? null : (
            <span className="bad"> Last payment: {paymentError} </span>
          )}
          {external.refund_due === true ? <span className="bad"> It was paid: a refund is due. </span> : null}
          {isDeliverable(status) ? <DeliverAgain ids={[id]} /> : null}
          <CollectAgain invoice={invoice} />
        </>
      }
    >
      <DeliveryState status={status ?? 'not sent'} />
    </Fact>
  );
}

function Warnings({ invoice: { warnings } }: { readonly invoice: Invoice }) {
  if (warnings.length === 0) return null;
  return (
    <Note>
      {warnings.length === 1
        ? 'Something is not billed:'
        : `${countText(warnings.length, 'thing')} are not billed:`}
      <ul className={styles.warnings}>
        {warnings.map(({ code, message, starting_at }) => (
          <li key={`${code} ${message} ${starting_at}`}>{message}</li>
        ))}
      </ul>
      <a href="/guide/reference/warnings">What to do about warnings</a>
    </Note>
  );
}

function LateUsage({ invoice: { unbilled_late_usage: late } }: { readonly invoice: Invoice }) {
  if (late === undefined || late === null || late.length === 0) return null;
  return (
    <Note>
      Usage that came after the invoice was issued is not on it:
      <ul className={styles.warnings}>
        {late.map(({ product_name, pricing_group_values = {}, quantity, total, credit_type }) => (
          <li key={`${product_name} ${JSON.stringify(pricing_group_values)}`}>
            {[product_name, ...Object.values(pricing_group_values)].join(' · ')}: {quantity}
            {total === undefined || credit_type === undefined ? null : (
              <>
                {' '}
                for <Money amount={total} unit={credit_type} />
              </>
            )}
          </li>
        ))}
      </ul>
    </Note>
  );
}

function Actions({ invoice }: { readonly invoice: Invoice }) {
  const { id, customer_id, invoice_number, status } = invoice;
  const input = { params: { customer_id, invoice_id: id } };
  const name = invoice_number ?? `draft-${id}`;
  return (
    <>
      <Download operation={READ} input={input} mediaType="text/csv" fileName={`${name}.csv`}>
        CSV
      </Download>
      <Download
        operation="GET /v1/customers/{customer_id}/invoices/{invoice_id}/pdf"
        input={input}
        mediaType="application/pdf"
        fileName={`${name}.pdf`}
      >
        PDF
      </Download>
      {status === 'FINALIZED' ? (
        <>
          <Link
            className="button"
            to="/invoices/$customerId/$invoiceId/credit"
            params={{ customerId: customer_id, invoiceId: id }}
          >
            Credit…
          </Link>
          <VoidInvoice invoice={invoice} />
        </>
      ) : null}
      {status === 'VOID' ? <Regenerate invoice={invoice} /> : null}
      {invoice.external_invoice?.refund_due === true ? <ReportRefund invoice={invoice} /> : null}
    </>
  );
}

function VoidInvoice({ invoice }: { readonly invoice: Invoice }) {
  const refusal = useWriteRefusal();
  const change = useChange('POST /v1/invoices/void');
  return (
    <Confirm
      action="Void"
      kind="danger"
      title={`Void ${invoice.invoice_number ?? 'this invoice'}?`}
      disabled={refusal !== undefined}
      reason={refusal}
      run={() => change.mutateAsync({ body: { id: invoice.id } })}
    >
      <p>
        The invoice keeps its lines and number but no longer bills anything{' '}
        <span className="nowrap">
          (−
          <Money amount={invoice.total} unit={invoice.credit_type} />
          ).
        </span>{' '}
        Its deductions are returned to the commits and credits. The period gets no new draft. Voiding cannot
        be undone; regenerating creates a new invoice in its place.
      </p>
      <PaidThere invoice={invoice} />
    </Confirm>
  );
}

/** The payment of the customer for it at the provider, which neither voiding nor regenerating refunds. */
function PaidThere({ invoice: { external_invoice: external, credit_type } }: { readonly invoice: Invoice }) {
  if (external === null || !isPaidThere(external)) return null;
  return (
    <p className="bad">
      Its customer has {external.external_status === 'PARTIALLY_PAID' ? 'partly paid' : 'paid'} it at{' '}
      {external.billing_provider_type} ({external.invoice_id ?? 'without an id'}
      {external.invoiced_total === undefined ? null : (
        <>
          , <Money amount={external.invoiced_total} unit={credit_type} />
        </>
      )}
      ). Voiding does not refund this payment: refund it there.
    </p>
  );
}

function ReportRefund({ invoice }: { readonly invoice: Invoice }) {
  const refusal = useWriteRefusal();
  const change = useChange('POST /v1/invoices/refunded');
  return (
    <Confirm
      action="Report refund"
      title={`Was the payment for ${invoice.invoice_number ?? 'this invoice'} refunded?`}
      disabled={refusal !== undefined}
      reason={refusal}
      run={() => change.mutateAsync({ body: { id: invoice.id } })}
    >
      <p>
        Nothing is done at {invoice.external_invoice?.billing_provider_type}: issue the refund there first.
        Afterwards the invoice is regenerated like any other.
      </p>
    </Confirm>
  );
}

function isPaidThere({
  external_status: status,
  refund_due: isDue,
}: NonNullable<Invoice['external_invoice']>) {
  return isDue === true || status === 'PAID' || status === 'PARTIALLY_PAID';
}

function Regenerate({ invoice }: { readonly invoice: Invoice }) {
  const refusal = useWriteRefusal();
  const change = useChange('POST /v1/invoices/regenerate');
  const [collectsAgain, setCollectsAgain] = useState(false);
  const navigate = useNavigate();
  return (
    <Confirm
      action="Regenerate"
      title={`Regenerate ${invoice.invoice_number ?? 'this invoice'}?`}
      disabled={refusal !== undefined}
      reason={refusal}
      run={async () => {
        const { data } = await change.mutateAsync({
          body: { id: invoice.id, ...(collectsAgain ? { collect_again: true } : {}) },
        });
        await navigate({
          to: '/invoices/$customerId/$invoiceId',
          params: { customerId: invoice.customer_id, invoiceId: data.id },
        });
      }}
    >
      <p>
        A new invoice for the same period is issued at once, with its own number. It has the usage of today,
        late events too, and the prices, terms and custom fields of today. This one stays void.
      </p>
      {invoice.external_invoice?.refund_due === true ? (
        <>
          <PaidThere invoice={invoice} />
          <label>
            <input
              type="checkbox"
              checked={collectsAgain}
              onChange={({ target }) => setCollectsAgain(target.checked)}
            />{' '}
            Collect the new invoice although this one was paid
          </label>
        </>
      ) : null}
    </Confirm>
  );
}
