import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';

export function InvoicePage() {
  return (
    <Page title="InvoicePage">
      <Empty>This page is not built yet.</Empty>
    </Page>
  );
}
