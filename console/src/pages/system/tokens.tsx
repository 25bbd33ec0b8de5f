/** API tokens: their scopes, and when each was last used. */
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CreateLink } from '../../parts/create-link.tsx';
import { CopyId, Status, Time } from '../../parts/figures.tsx';
import { Section } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useSession } from '../../session/session.ts';

type Token = Schemas['Token'];
const route = getRouteApi('/system');

const COLUMNS: readonly Column<Token>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Scope', cell: ({ scope }) => scope },
  { title: 'State', cell: (token) => <TokenState token={token} /> },
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Last used', cell: ({ last_used_at: at }) => (at === null ? 'never' : <Time at={at} />) },
  { title: 'Expires', cell: ({ expires_at: at }) => (at === null ? 'never' : <Time at={at} />) },
  { title: 'Id', cell: ({ id }) => <CopyId id={id} /> },
  { title: '', cell: (token) => <Revoke token={token} /> },
];

export function Tokens() {
  const { page, cursor } = route.useSearch();
  const query = useApi('GET /v1/tokens', { query: { limit: '50', next_page: cursor } });
  return (
    <Section
      title="API tokens"
      aside={
        <>
          <Pager list="tokens" search={{ page, cursor }} next={query.data?.next_page} />
          <CreateLink form="token" />
        </>
      }
    >
      <Loaded query={query} what="tokens">
        {({ data }) => <Table label="API tokens" columns={COLUMNS} rows={data} keyOf={({ id }) => id} />}
      </Loaded>
    </Section>
  );
}

function TokenState({ token: { revoked_at, expires_at } }: { readonly token: Token }) {
  const { now } = useSession();
  if (revoked_at !== null) return <Status state="revoked" />;
  if (expires_at !== null && expires_at <= now) return <Status state="expired" />;
  return <Status state="works" tone="good" />;
}

function Revoke({ token }: { readonly token: Token }) {
  const revoke = useChange('POST /v1/tokens/revoke');
  if (token.revoked_at !== null || token.origin === 'api_token') return null;
  return (
    <Confirm
      action="Revoke"
      kind="danger"
      title={`Revoke the token ${token.name}?`}
      run={() => revoke.mutateAsync({ body: { id: token.id } })}
    >
      <p>
        It stops working at once, in every process, and its sessions of the console end. It cannot be undone.
      </p>
    </Confirm>
  );
}
