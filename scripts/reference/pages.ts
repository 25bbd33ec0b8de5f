/** The reference of docs/reference/, from the tables of the code. `npm run reference` writes it, a test compares it. */

import { statusOf } from '../../src/api/http/errors.ts';
import { permissionOf } from '../../src/api/http/permissions.ts';
import type { RouteDefinition } from '../../src/api/http/route.ts';
import { TAGS } from '../../src/api/http/tags.ts';
import { SETTINGS } from '../../src/config.ts';
import type { RefusalCode, RefusalKind } from '../../src/core/errors.ts';
import type { InvoiceWarning } from '../../src/core/invoice.ts';
import {
  BUILT_IN_ROLES,
  PERMISSIONS,
  type Permission,
  SCOPE_PERMISSIONS,
} from '../../src/core/permissions.ts';
import { TOKEN_SCOPES } from '../../src/core/token-scopes.ts';
import { isLifecycleType, MESSAGE_TYPES } from '../../src/notifications/message-types.ts';
import { everyFigure, everyRouteOfApp } from './every-route.ts';

/** By path from the root of the project. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries({
      operations: operationsPage(),
      roles: rolesPage(),
      configuration: configurationPage(),
      metrics: metricsPage(),
      warnings: warningsPage(),
      errors: errorsPage(),
      webhooks: webhooksPage(),
    }).map(([name, lines]) => [`docs/reference/${name}.md`, `${lines.join('\n')}\n`]),
  );
}

export const GENERATED = '<!-- Written by `npm run reference` from the code. -->';

function head(title: string, ...text: readonly string[]): string[] {
  return [`# ${title}`, '', GENERATED, '', ...text.flatMap((each) => [each, ''])];
}

function table(columns: readonly string[], rows: ReadonlyArray<readonly string[]>): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map(cellOf).join(' | ')} |`;
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(line), ''];
}

/** A bar would end the cell; what looks like an element would be one. */
function cellOf(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ').trim();
}

function operationsPage(): string[] {
  const routes = everyRouteOfApp();
  const sections = TAGS.flatMap(({ name, description }) => {
    const rows = routes
      .filter(({ tags }) => tags[0] === name)
      .map((route) => [
        `\`${route.method.toUpperCase()} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}\``,
        route.summary,
        permissionText(route),
      ]);
    return [`## ${name}`, '', description, '', ...table(['operation', 'what it does', 'permission'], rows)];
  });
  return [
    ...head(
      'Operations of the API',
      `All ${routes.length} operations, in the order of work. Fields, examples and a form to try each out are in the API reference of your service, \`/docs\`; the document itself is \`/openapi.json\`, as one text \`/llms.txt\`.`,
      'Each operation needs one permission, which a token has by its scope or by its list, and a person by a role ([roles](roles.md), [access](access.md)).',
    ),
    ...sections,
  ];
}

function permissionText(route: RouteDefinition): string {
  if (route.scope === 'public') return '–';
  const permission = permissionOf(route);
  return permission === null ? 'any' : `\`${permission}\``;
}

/** Which role and which scope of tokens has which permission. */
function rolesPage(): string[] {
  const holders = [
    ...BUILT_IN_ROLES.map(({ name, permissions }) => ({ name, held: new Set<Permission>(permissions) })),
    ...TOKEN_SCOPES.map((name) => ({ name: `scope ${name}`, held: SCOPE_PERMISSIONS[name] })),
  ];
  const rows = PERMISSIONS.map((permission) => [
    `\`${permission}\``,
    ...holders.map(({ held }) => (held.has(permission) ? 'yes' : '')),
  ]);
  return [
    ...head(
      'Roles and permissions',
      'Each operation needs one permission ([operations](operations.md), `x-permission` in `/openapi.json`). A person has those of all roles together, a token those of its scope or of its list. Own roles: `POST /v1/roles/create`.',
    ),
    ...table(
      ['role', 'for'],
      BUILT_IN_ROLES.map(({ name, meaning }) => [`\`${name}\``, meaning]),
    ),
    ...table(['permission', ...holders.map(({ name }) => name)], rows),
  ];
}

function configurationPage(): string[] {
  const rows = SETTINGS.map(({ name, meaning, defaultText }) => [
    `\`${name}\``,
    defaultText === null || defaultText === '' ? '–' : `\`${defaultText}\``,
    meaning,
  ]);
  return [
    ...head(
      'Configuration',
      'Environment variables, all optional. A file `.env` in the working directory has them too, or the one that `--env-file` names; the environment wins. `tallyhouse start --help` prints this list. A variable that is nearly called like one of them is named at the start. A value that cannot be used ends the start with a sentence that names it.',
    ),
    ...table(['variable', 'default', 'meaning'], rows),
    'How they are used: [operations](../how-to/operations.md), [limits](limits.md), [payments](../explanation/payments.md), [exports](exports.md).',
  ];
}

function metricsPage(): string[] {
  const rows = everyFigure().map(({ name, type, labels, help }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', ') || '–',
    help,
  ]);
  return [
    ...head(
      'Figures of /metrics',
      '`GET /metrics` answers in the text format of Prometheus, without a token: do not show it to everybody. Node’s own figures (`process_…`, `nodejs_…`) stand beside these; they count from the first request. Those to watch are in [operations](../how-to/operations.md); `deploy/` has alert rules and a dashboard.',
    ),
    ...table(['figure', 'type', 'labels', 'meaning'], rows),
  ];
}

/** A meaning, and a remedy. */
type Explained = readonly [string, string];

const WARNINGS: Readonly<Record<InvoiceWarning['kind'], Explained>> = {
  unpriced_usage: [
    'Usage of a product that has no rate at its time and group values. It has no line.',
    'Add a rate with the group values to the rate card, or an override; drafts have a line at once. An issued invoice can be voided and regenerated ([unpriced usage](../explanation/invoices.md#unpriced-usage)).',
  ],
  unpriced_subscription: [
    'A billing period of a subscription whose product has no rate. Nothing is charged for it.',
    'Add a rate of type SUBSCRIPTION ([subscriptions](../explanation/subscriptions.md)).',
  ],
  usage_filter_without_group_key: [
    'The contract counts only events with a property by which the metric of a product cannot be grouped, so its usage is not seen.',
    'Create a metric with this property among its group keys, and give it to the product ([unpriced usage](../explanation/invoices.md#unpriced-usage)).',
  ],
  uncounted_events: [
    'Events over which a SQL metric cannot be evaluated, named by their transaction ids. Everything else is counted.',
    'Send the usage again under new transaction ids, with values that can be counted ([events that cannot be counted](../explanation/invoices.md#events-that-cannot-be-counted)).',
  ],
  too_many_lines: [
    'A product with more lines than an invoice may have. None of them is on it.',
    'Raise `INVOICE_LINES_MAX`, or take a group key away from the product ([many lines](../explanation/invoices.md#many-lines)).',
  ],
  unrated_terms: [
    'Terms that an earlier version stored and did not bill. New invoices never have it.',
    'Void and regenerate the invoice to bill them ([terms that were not billed](../explanation/invoices.md#terms-that-were-not-billed)).',
  ],
  metric_not_evaluated: [
    'On drafts only: a metric takes more time or memory than it may. Products that need it have no lines.',
    'Make its query cheaper, or preview it to see the cost ([SQL metrics](../explanation/sql-metrics.md)). The invoice is not issued before.',
  ],
  not_computed: [
    'On drafts only: the invoice as a whole could not be computed; its lines are missing.',
    'The log says why. The invoice is not issued before ([what cannot be computed](../explanation/invoices.md#what-cannot-be-computed)).',
  ],
};

function warningsPage(): string[] {
  const rows = Object.entries(WARNINGS).map(([code, [meaning, remedy]]) => [`\`${code}\``, meaning, remedy]);
  return [
    ...head(
      'Warnings of invoices',
      '`warnings` of an invoice lists what is not billed although nobody decided so. Every invoice has it; it is empty where everything has a price. `GET /v1/invoices?has_warnings=true` finds issued ones, `tallyhouse_invoice_warnings_total` counts them, and the console shows them at the month end. The rules are in [invoices](../explanation/invoices.md#warnings).',
    ),
    ...table(['code', 'meaning', 'what to do'], rows),
  ];
}

const REFUSALS: Readonly<Record<RefusalKind, Explained>> = {
  invalid: [
    'A field is wrong, or the whole request. The message begins with the name of the field.',
    'Correct it; nothing was stored.',
  ],
  unauthenticated: [
    'No token, or one that is not known, was revoked or has expired.',
    'Send `Authorization: Bearer …` ([access](access.md)).',
  ],
  forbidden: [
    'The scope of the token does not cover the operation.',
    'Use a token of the scope that the message names.',
  ],
  not_found: [
    'There is no such object, or no such operation; of the client’s operations that are left out, the reason.',
    'See [compatibility](compatibility.md).',
  ],
  conflict: [
    'It contradicts the present state, or another object has the key. `conflicting_id` names that one.',
    'Read the object that is in the way.',
  ],
  running: [
    'The same request, by its `Idempotency-Key`, is being carried out.',
    'Wait for `Retry-After`, then send it again.',
  ],
  changed: [
    'The object has another version than `If-Match` names. `changed` lists the members that differ, `version` is the present `ETag`.',
    'Read the object again, decide, and send the change with its new version ([versions](access.md#versions-of-objects)).',
  ],
  too_large: [
    'The body, or an answer that cannot be divided, is larger than its limit.',
    'Send less at once ([limits](limits.md)).',
  ],
  unsupported: [
    'The media type or the encoding of the body is not taken.',
    'Send JSON, or what the operation names.',
  ],
  overloaded: [
    'A limit of requests, memory or connections is reached.',
    'Wait for `Retry-After`, then send it again ([limits](limits.md)).',
  ],
  unavailable: [
    'A store is away or full, or the service starts or stops. The message says which.',
    'Wait for `Retry-After`, then send it again; `tallyhouse doctor` says more ([operations](../how-to/operations.md#what-is-wrong)).',
  ],
};

const CODES: Readonly<Record<RefusalCode, string>> = {
  ContractNotFound: 'There is no such contract of this customer.',
  CustomerNotFound: 'There is no such customer.',
  PackageNotFound: 'There is no such package.',
  SubscriptionNotFound: 'There is no such subscription of this contract.',
  NotificationConfigNotFound: 'There is no such notification.',
  InvalidArgument: 'A field is wrong; the message names it.',
};

function errorsPage(): string[] {
  const rows = Object.entries(REFUSALS).map(([kind, [meaning, remedy]]) => [
    String(statusOf(kind as RefusalKind)),
    meaning,
    remedy,
  ]);
  return [
    ...head(
      'Errors',
      'A refused request stores nothing. The body is JSON with `message`, a sentence that names the field by its path, and on some operations `code`. Every answer has `x-request-id`, under which the log has what belongs to it; a refusal has a `Link` to this page.',
    ),
    ...table(
      ['status', 'meaning', 'what to do'],
      [
        ...rows,
        [
          '500',
          'A fault of the service. The log has it under the request id.',
          'Report it with the log record. The request may be sent again with the same `Idempotency-Key` or `transaction_id`.',
        ],
      ],
    ),
    '## Codes of contract operations',
    '',
    ...table(
      ['code', 'meaning'],
      Object.entries(CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
    '## What is safe to send again',
    '',
    'Events always: `transaction_id` tells a repetition from a new one ([deduplication](../explanation/deduplication.md)). Everything else with an `Idempotency-Key`, whose answer is kept for 24 hours ([access](access.md)).',
  ];
}

function webhooksPage(): string[] {
  const subjectOf = (type: string) => type.split('.')[0] ?? type;
  const subjects = [...new Set(MESSAGE_TYPES.map(subjectOf))];
  const sections = subjects.flatMap((subject) => {
    const rows = MESSAGE_TYPES.filter((type) => subjectOf(type) === subject).map((type) => [
      `\`${type}\``,
      isLifecycleType(type) ? 'when it is switched on' : 'always',
    ]);
    return [`## ${subject}`, '', ...table(['type', 'is sent'], rows)];
  });
  return [
    ...head(
      'Webhook messages',
      `All ${MESSAGE_TYPES.length} types of messages that an endpoint can subscribe to, and \`webhook.test\`, which is sent on request. Endpoints, signatures, retries and what each message contains are in [notifications](../explanation/notifications.md).`,
    ),
    ...sections,
  ];
}
