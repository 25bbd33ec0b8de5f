/** Alerts, notifications, webhooks, tokens, and the service itself. */
import { USD_CENTS } from '../../../core/credit-types.ts';
import type { RequestExamples } from './example.ts';
import { EXAMPLE_INVITATION, EXAMPLE_JOB_ID, EXAMPLE_TOKEN, EXAMPLE_IDS as ids } from './ids.ts';

const alert = { customer_id: ids.customer, alert_id: ids.alert };

const alerts: RequestExamples = {
  createAlert: {
    body: {
      alert_type: 'spend_threshold_reached',
      name: 'Spend above 1,000 dollars',
      threshold: 100000,
      credit_type_id: USD_CENTS.id,
    },
  },
  archiveAlert: { body: { id: ids.alert } },
  getCustomerAlert: { body: alert },
  listCustomerAlerts: { body: { customer_id: ids.customer } },
  resetCustomerAlert: { body: alert },
};

const messages: RequestExamples = {
  editNotification: { body: { is_enabled: true, policy: { type: 'contract.create' } } },
  createOffsetNotification: {
    body: {
      name: 'A month before a contract ends',
      policy: { type: 'contract.end', offset: '-P1M' },
    },
  },
  getOffsetNotification: { body: { id: ids.notification } },
  listOffsetNotifications: { body: { archive_filter: 'NOT_ARCHIVED' } },
  archiveOffsetNotification: { body: { id: ids.notification } },
  createWebhook: { body: { name: 'Billing events', url: 'https://hooks.acme.example/billing' } },
  archiveWebhook: { body: { id: ids.webhook } },
  rotateWebhookSecret: { body: { id: ids.webhook } },
  testWebhook: { body: { id: ids.webhook } },
  redeliverWebhookMessages: { body: { id: ids.webhook, failed_since: '2026-11-09T00:00:00Z' } },
};

const service: RequestExamples = {
  createToken: { body: { name: 'Gateway', scope: 'ingest' } },
  invitePerson: { body: { email: 'kim@acme.example', name: 'Kim', role: 'finance' } },
  setRoleOfPerson: { body: { id: ids.person, role: 'support' } },
  disablePerson: { body: { id: ids.person } },
  resetPerson: { body: { id: ids.person } },
  erasePerson: { body: { id: ids.person } },
  endSession: { body: { id: ids.session } },
  createRole: { body: { name: 'auditor', permissions: ['invoices:read', 'settings:read'] } },
  archiveRole: { body: { name: 'auditor' } },
  revokeToken: { body: { id: ids.token } },
  rotateToken: { body: { id: ids.token } },
  beginPasskeySignIn: { body: {} },
  beginPasskey: { body: { link: EXAMPLE_INVITATION } },
  registerPasskey: {
    body: {
      link: EXAMPLE_INVITATION,
      passkey: {
        ...{ id: 'AAAA', rawId: 'AAAA', type: 'public-key', clientExtensionResults: {} },
        response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' },
      },
    },
  },
  signIn: { body: { token: EXAMPLE_TOKEN } },
  retryJob: { body: { id: EXAMPLE_JOB_ID } },
  moveSandboxClock: { body: { now: '2026-12-01T00:00:00Z' } },
};

const dashboards: RequestExamples = {
  getEmbeddableDashboardUrl: {
    body: {
      customer_id: ids.customer,
      dashboard: 'usage',
      dashboard_options: [{ key: 'language', value: 'de' }],
      color_overrides: [{ name: 'UsageLine_0', value: '#2b4fc7' }],
      bm_group_key_overrides: [
        { group_key_name: 'model', display_name: 'Model', value_display_names: { large: 'Our largest' } },
      ],
    },
  },
  listDashboardUsage: {
    query: {
      billable_metric_id: ids.metric,
      window_size: 'DAY',
      starting_on: '2026-11-01T00:00:00Z',
      ending_before: '2026-12-01T00:00:00Z',
    },
  },
};

export const operationExamples: RequestExamples = { ...alerts, ...messages, ...service, ...dashboards };
