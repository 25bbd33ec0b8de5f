import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';

export function Customers() {
  return (
    <Page title="Customers">
      <Empty>This page is not built yet.</Empty>
    </Page>
  );
}
