import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';

export function Metrics() {
  return (
    <Page title="Metrics">
      <Empty>This page is not built yet.</Empty>
    </Page>
  );
}
