import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';

export function Customer() {
  return (
    <Page title="Customer">
      <Empty>This page is not built yet.</Empty>
    </Page>
  );
}
