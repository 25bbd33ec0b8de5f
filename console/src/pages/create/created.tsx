/** Every form of the console by its name in the address: the operation that it asks, and where it leads. */

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { versionOf } from '../../api/client.ts';
import { useApi } from '../../api/queries.ts';
import type { ChangeKey } from '../../api/resources.ts';
import type { Values } from '../../forms/field.ts';
import { Loaded } from '../../parts/states.tsx';
import { CHANGED_SPEND_THRESHOLD, SEATS, SPEND_LIMIT, SPEND_THRESHOLD } from './contract-forms.ts';
import { FormPage, type FormPageProps, type Known, Once } from './form-page.tsx';
import { ALERT, CUSTOMER, FIELD_KEY, type FormSpec, PRODUCT, TOKEN, WEBHOOK } from './forms.ts';
import {
  CHANGED_CONTRACT,
  CHANGED_CUSTOMER,
  CHANGED_PRODUCT,
  CHARGE,
  COMMITMENT,
  CONTRACT,
  CREDIT,
  PACKAGE,
  RATE_CARD,
} from './terms.ts';

export const FORMS: Readonly<Record<string, (known: Known) => ReactNode>> = {
  customer: (known) => (
    <FormPage
      {...{ form: CUSTOMER, known }}
      leave={(navigate, { data }) =>
        void navigate({ to: '/customers/$customerId', params: { customerId: data.id } })
      }
    />
  ),
  product: (known) => (
    <FormPage
      {...{ form: PRODUCT, known }}
      leave={(navigate) => void navigate({ to: '/prices', search: { view: 'products' } })}
    />
  ),
  alert: (known) => (
    <FormPage
      {...{ form: ALERT, known }}
      leave={(navigate) => toCustomer(navigate, known.customer_id, 'alerts')}
    />
  ),
  webhook: (known) => (
    <FormPage
      {...{ form: WEBHOOK, known }}
      shown={({ data }) => (
        <>
          <Once name="secret of its signatures" secret={data.secret} />
          <p>
            <Link to="/system" search={{ view: 'webhooks', webhook: data.id }}>
              Send a test message
            </Link>
          </p>
        </>
      )}
    />
  ),
  token: (known) => (
    <FormPage {...{ form: TOKEN, known }} shown={({ data }) => <Once name="token" secret={data.token} />} />
  ),
  'custom-field': (known) => (
    <FormPage
      {...{ form: FIELD_KEY, known }}
      leave={(navigate) => void navigate({ to: '/system', search: { view: 'fields' } })}
    />
  ),
  'rate-card': (known) => (
    <FormPage
      {...{ form: RATE_CARD, known }}
      leave={(navigate, { data }) => void navigate({ to: '/prices', search: { card: data.id } })}
    />
  ),
  package: (known) => (
    <FormPage
      {...{ form: PACKAGE, known }}
      leave={(navigate) => void navigate({ to: '/prices', search: { view: 'packages' } })}
    />
  ),
  contract: (known) => (
    <FormPage
      {...{ form: CONTRACT, known }}
      leave={(navigate, { data }) => toCustomer(navigate, data.contract.customer_id, 'overview')}
    />
  ),
  charge: (known) => (
    <FormPage
      {...{ form: CHARGE, known }}
      leave={(navigate) => toCustomer(navigate, known.customer_id, 'overview')}
    />
  ),
  commit: (known) => (
    <FormPage
      {...{ form: COMMITMENT, known }}
      leave={(navigate) => toCustomer(navigate, known.customer_id, 'balances')}
    />
  ),
  credit: (known) => (
    <FormPage
      {...{ form: CREDIT, known }}
      leave={(navigate) => toCustomer(navigate, known.customer_id, 'balances')}
    />
  ),
  'change-contract': (known) => (
    <FormPage
      {...{ form: CHANGED_CONTRACT, known }}
      leave={(navigate) => toCustomer(navigate, known.customer_id, 'contracts')}
    />
  ),
  'spend-limit': (known) => <OnContract form={SPEND_LIMIT} known={known} />,
  'spend-threshold': (known) => <OnContract form={SPEND_THRESHOLD} known={known} />,
  'change-spend-threshold': (known) => <OnContract form={CHANGED_SPEND_THRESHOLD} known={known} />,
  seats: (known) => (
    <OnContract
      form={SEATS}
      known={known}
      start={{ 'update_subscriptions[0].subscription_id': known.subscription_id ?? '' }}
    />
  ),
  'change-customer': (known) => <ChangeCustomer known={known} />,
  'change-product': (known) => (
    <FormPage
      {...{ form: CHANGED_PRODUCT, known }}
      leave={(navigate) => void navigate({ to: '/prices', search: { view: 'products' } })}
    />
  ),
};

/** A change of the terms of one contract. */
function OnContract(props: {
  readonly form: FormSpec<'POST /v2/contracts/edit'>;
  readonly known: Known;
  readonly start?: Values;
}) {
  const { known } = props;
  return <FormPage {...props} leave={(navigate) => toCustomer(navigate, known.customer_id, 'contracts')} />;
}

function ChangeCustomer({ known }: { readonly known: Known }) {
  const read = { params: { customer_id: known.customer_id ?? '' } };
  const query = useApi('GET /v1/customers/{customer_id}', read);
  return (
    <Loaded query={query} what="the customer">
      {({ data: { name, ingest_aliases } }) => (
        <FormPage
          {...{ form: CHANGED_CUSTOMER, known }}
          start={{ name, ingest_aliases: ingest_aliases.join('\n') }}
          version={versionOf('GET /v1/customers/{customer_id}', read)}
          leave={(navigate) => toCustomer(navigate, known.customer_id, 'overview')}
        />
      )}
    </Loaded>
  );
}

function toCustomer(
  navigate: Parameters<NonNullable<FormPageProps<ChangeKey>['leave']>>[0],
  customerId: string | undefined,
  view: string,
): void {
  if (customerId === undefined) void navigate({ to: '/customers' });
  else void navigate({ to: '/customers/$customerId', params: { customerId }, search: { view } });
}
