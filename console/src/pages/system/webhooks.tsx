/** Webhooks and their deliveries; messages can be sent again. */
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CreateLink } from '../../parts/create-link.tsx';
import { CopyId, Status, Time } from '../../parts/figures.tsx';
import { Field, Filters, Section } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Empty, Failure, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';

type Webhook = Schemas['Webhook'];
type Delivery = Schemas['WebhookDelivery'];
const route = getRouteApi('/system');

const COLUMNS: readonly Column<Webhook>[] = [
  {
    title: 'Name',
    cell: ({ id, name }) => (
      <Link to="/system" search={{ view: 'webhooks', webhook: id }}>
        {name}
      </Link>
    ),
  },
  { title: 'Address', cell: ({ url }) => <span className="mono">{url}</span> },
  { title: 'Messages', cell: ({ event_types }) => event_types?.join(', ') ?? 'all' },
  {
    title: 'State',
    cell: ({ archived_at }) => <Status state={archived_at === null ? 'active' : 'archived'} />,
  },
  { title: 'Id', cell: ({ id }) => <CopyId id={id} /> },
  { title: '', cell: (webhook) => <Actions webhook={webhook} /> },
];

export function Webhooks() {
  const { webhook } = route.useSearch();
  const query = useApi('GET /v1/webhooks', { query: { limit: '100' } });
  return (
    <Section title="Webhooks" aside={<CreateLink form="webhook" />}>
      <Loaded query={query} what="webhooks">
        {({ data }) =>
          data.length === 0 ? (
            <Empty action={<CreateLink form="webhook" />}>
              No webhooks yet: no program gets messages about invoices, alerts and contracts.
            </Empty>
          ) : (
            <>
              <Table label="Webhooks" columns={COLUMNS} rows={data} keyOf={({ id }) => id} />
              <Deliveries webhookId={data.find(({ id }) => id === webhook)?.id ?? data[0]?.id ?? ''} />
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

function Actions({ webhook: { id, name, archived_at } }: { readonly webhook: Webhook }) {
  const test = useChange('POST /v1/webhooks/test');
  const archive = useChange('POST /v1/webhooks/archive');
  if (archived_at !== null) return null;
  return (
    <span className="nowrap">
      <button type="button" disabled={test.isPending} onClick={() => test.mutate({ body: { id } })}>
        {test.isSuccess ? 'Test message sent' : 'Send a test message'}
      </button>{' '}
      <Confirm
        action="Archive"
        kind="danger"
        title={`Archive the webhook ${name}?`}
        run={() => archive.mutateAsync({ body: { id } })}
      >
        <p>It gets no more messages. Messages that wait for another attempt are canceled.</p>
      </Confirm>
      {test.isError ? <Failure error={test.error} /> : null}
    </span>
  );
}

function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const { status, page, cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useApi('GET /v1/webhooks/{webhook_id}/deliveries', {
    params: { webhook_id: webhookId },
    query: { status, next_page: cursor, limit: '25' },
  });
  const columns: Column<Delivery>[] = [
    { title: 'Stored', cell: ({ stored_at }) => <Time at={stored_at} /> },
    { title: 'Message', cell: ({ type }) => type },
    { title: 'State', cell: ({ status: state }) => <Status state={state} tone={TONES[state]} /> },
    { title: 'Attempts', kind: 'number', cell: ({ attempts }) => attempts },
    { title: 'Last answer', cell: ({ last_status, last_error }) => last_status ?? last_error ?? '' },
    { title: 'Next attempt', cell: ({ next_attempt_at: at }) => (at === null ? '' : <Time at={at} />) },
    { title: '', cell: ({ message_id }) => <Resend webhookId={webhookId} messageId={message_id} /> },
  ];
  return (
    <>
      <Filters>
        <Field label="Deliveries">
          <select
            value={status ?? ''}
            onChange={({ target }) =>
              void navigate({ search: { view: 'webhooks', webhook: webhookId, status: target.value } })
            }
          >
            <option value="">all</option>
            <option value="PENDING">pending</option>
            <option value="DELIVERED">delivered</option>
            <option value="FAILED">failed</option>
            <option value="CANCELED">canceled</option>
          </select>
        </Field>
        <Pager
          list={`deliveries ${webhookId} ${status}`}
          search={{ page, cursor }}
          next={query.data?.next_page}
        />
      </Filters>
      <Loaded query={query} what="deliveries">
        {({ data }) =>
          data.length === 0 ? (
            <Empty>No deliveries match. Deliveries are kept for 30 days.</Empty>
          ) : (
            <Table label="Deliveries" columns={columns} rows={data} keyOf={({ message_id }) => message_id} />
          )
        }
      </Loaded>
    </>
  );
}

const TONES: Readonly<Record<Delivery['status'], 'good' | 'bad' | 'warn' | 'quiet'>> = {
  DELIVERED: 'good',
  FAILED: 'bad',
  PENDING: 'warn',
  CANCELED: 'quiet',
};

function Resend({ webhookId, messageId }: { readonly webhookId: string; readonly messageId: string }) {
  const resend = useChange('POST /v1/webhooks/redeliver');
  if (resend.isError) return <Failure error={resend.error} />;
  return (
    <button
      type="button"
      disabled={resend.isPending}
      onClick={() => resend.mutate({ body: { id: webhookId, message_id: messageId } })}
    >
      Send again
    </button>
  );
}
