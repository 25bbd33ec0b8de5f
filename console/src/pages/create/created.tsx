/** Every form of the console by its name in the address: the operation that it asks, and where it leads. */

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FormPage, type Known, Once } from './form-page.tsx';
import { ALERT, CUSTOMER, FIELD_KEY, PRODUCT, TOKEN, WEBHOOK } from './forms.ts';

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
      leave={(navigate) => {
        const { customer_id: customerId } = known;
        if (customerId === undefined) void navigate({ to: '/customers' });
        else
          void navigate({ to: '/customers/$customerId', params: { customerId }, search: { view: 'alerts' } });
      }}
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
};
