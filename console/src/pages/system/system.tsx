/** The state of the service itself: arriving events, waiting and failed work, access rights, and the audit log. */
import { getRouteApi } from '@tanstack/react-router';
import { Page, Tabs } from '../../parts/page.tsx';
import { AuditLog } from './audit-log.tsx';
import { CustomFields } from './custom-fields.tsx';
import { Deliveries } from './deliveries.tsx';
import { Health } from './health.tsx';
import { Tokens } from './tokens.tsx';
import { Webhooks } from './webhooks.tsx';

const route = getRouteApi('/system');

const VIEWS = [
  ['health', 'Ingest and jobs'],
  ['webhooks', 'Webhooks'],
  ['deliveries', 'Deliveries'],
  ['tokens', 'Tokens'],
  ['fields', 'Custom fields'],
  ['audit', 'Audit log'],
] as const;

export function System() {
  const { view = 'health' } = route.useSearch();
  return (
    <Page title="System">
      <Tabs label="Views of the system" views={VIEWS} current={view} />
      {view === 'webhooks' ? (
        <Webhooks />
      ) : view === 'deliveries' ? (
        <Deliveries />
      ) : view === 'tokens' ? (
        <Tokens />
      ) : view === 'fields' ? (
        <CustomFields />
      ) : view === 'audit' ? (
        <AuditLog />
      ) : (
        <Health />
      )}
    </Page>
  );
}
