/** Accounts of Stripe, and Stripe's messages. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import {
  archiveStripeAccount,
  createStripeAccount,
  findStripeAccount,
  listStripeAccounts,
} from '../../../billing/billing-providers/stripe-accounts.ts';
import { stripeEvent, takeStripeEvent } from '../../../billing/payments/provider-events.ts';
import { Refusal } from '../../../core/errors.ts';
import { verifiedEvent } from '../../../payments/stripe/verify-event.ts';
import { parseJson } from '../../base/json.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { uuid } from '../../wire/fields.ts';

const common = { method: 'post', tags: ['Billing providers'] } as const;

export function stripeRoutes(context: BillingContext): RouteDefinition[] {
  return [createRoute(context), listRoute(context), archiveRoute(context), webhookRoute(context)];
}

const key = z
  .string()
  .regex(/^[\x21-\x7e]{8,512}$/, 'must be printable ASCII without spaces, of 8 to 512 characters');

function createRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/providers/stripe/accounts/create',
    operationId: 'createStripeAccount',
    summary: 'Connect a further account of Stripe',
    description:
      'Its keys are stored encrypted and never returned. The service needs SECRETS_KEY. Configurations of customers name ' +
      'the delivery method.',
    scope: 'write',
    body: z.object({
      name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be lower-case letters, digits, - and _'),
      api_key: key,
      webhook_secret: key.nullish(),
    }),
    response: z.object({ data: z.object({ delivery_method_id: uuid }) }),
    errors: [400, 409, 503],
    async handler({ body }) {
      const account = { name: body.name, apiKey: body.api_key, webhookSecret: body.webhook_secret ?? null };
      return { data: { delivery_method_id: await createStripeAccount(context, account) } };
    },
  });
}

function listRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/providers/stripe/accounts/list',
    operationId: 'listStripeAccounts',
    summary: 'List the accounts of Stripe that are connected',
    scope: 'read',
    response: z.object({
      data: z.array(
        z.object({ delivery_method_id: uuid, name: z.string(), stripe_account_id: z.string().optional() }),
      ),
    }),
    async handler() {
      const accounts = await listStripeAccounts(context);
      return {
        data: accounts.map(({ deliveryMethodId, name, stripeAccountId }) => ({
          delivery_method_id: deliveryMethodId,
          name,
          ...(stripeAccountId === null ? {} : { stripe_account_id: stripeAccountId }),
        })),
      };
    },
  });
}

function archiveRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/providers/stripe/accounts/archive',
    operationId: 'archiveStripeAccount',
    summary: 'End the connection to an account of Stripe',
    description: 'Removes the keys of the account and stops deliveries to it. Archiving is idempotent.',
    scope: 'write',
    body: z.object({ delivery_method_id: uuid }),
    response: z.object({ data: z.object({ delivery_method_id: uuid }) }),
    errors: [400, 404],
    async handler({ body }) {
      await archiveStripeAccount(context, body.delivery_method_id);
      return { data: { delivery_method_id: body.delivery_method_id } };
    },
  });
}

const SIGNATURE = 'stripe-signature';

const ACCOUNT_NAME = /^[\x20-\x7e]{1,200}$/;

function webhookRoute(context: BillingContext): RouteDefinition {
  const documented = route({
    ...common,
    path: '/v1/providers/stripe/webhook/{name}',
    operationId: 'takeStripeEvent',
    summary: 'Take an event of Stripe',
    description:
      'The address of a webhook endpoint at Stripe; `default` is the account of the environment. It needs no token: the ' +
      'signature over the bytes of the body is the access, for five minutes. What the event is about is asked for.',
    scope: 'public',
    params: z.object({ name: z.string() }),
    response: z.object({ received: z.literal(true) }),
    errors: [400, 404],
    async handler() {
      throw new Error('the route of events takes bytes');
    },
  });
  return {
    ...documented,
    bodyKind: 'bytes',
    body: z.unknown(),
    async run({ http, body }) {
      const name = http.req.param('name') ?? '';
      // Requests need no token, so the name is not repeated.
      const account = ACCOUNT_NAME.test(name) ? await findStripeAccount(context, name) : null;
      if (account === null) throw new Refusal('not_found', 'there is no account with this name');
      const secret = context.accounts.webhookSecret(account);
      if (secret === null) throw new Refusal('invalid', `the account ${name} has no webhook secret`);
      const text = await verifiedEvent(Buffer.from(body as Buffer), http.req.header(SIGNATURE) ?? '', secret);
      if (text === null) throw new Refusal('invalid', 'the signature of the event is not valid, or too old');
      const event = stripeEvent.safeParse(parseJson(text));
      if (!event.success) throw new Refusal('invalid', 'the event is not one of Stripe');
      await takeStripeEvent(context, account.id, event.data);
      return { received: true };
    },
  };
}
