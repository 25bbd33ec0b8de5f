/** Collects an open invoice at its billing provider, and shows why a payment was refused. */
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useChange } from '../../api/queries.ts';
import { Failure } from '../../parts/states.tsx';
import { useWriteRefusal } from '../../session/session.ts';

const OPEN: readonly (string | undefined)[] = ['FINALIZED', 'SENT', 'PARTIALLY_PAID', 'PAYMENT_FAILED'];

export function CollectAgain({ invoice }: { readonly invoice: Schemas['Invoice'] }) {
  const { id, status, external_invoice: external } = invoice;
  const refusal = useWriteRefusal();
  const collect = useChange('POST /v1/invoices/collect');
  const isOpen = external?.billing_provider_type === 'stripe' && OPEN.includes(external.external_status);
  const result = collect.data?.data;
  const run = () => collect.mutate({ body: { invoice_id: id } });
  if (status !== 'FINALIZED' || (!isOpen && result === undefined)) return null;
  return (
    <>
      {collect.isError ? <Failure error={collect.error} again={run} /> : null}
      {result === undefined ? null : (
        <span role="status" className={result.payment_error === null ? 'good' : 'bad'}>
          {' '}
          {outcomeText(result)}{' '}
        </span>
      )}
      {isOpen && !collect.isError ? (
        <button
          type="button"
          disabled={refusal !== undefined || collect.isPending}
          title={refusal}
          onClick={run}
        >
          Collect again
        </button>
      ) : null}
    </>
  );
}

function outcomeText({ external_status: status, payment_error: error }: Schemas['CollectedInvoice']): string {
  if (error !== null) return `Not collected. ${error}`;
  return status === 'PAID' ? 'Collected.' : 'The payment is under way.';
}
