import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';

export function Prices() {
  return (
    <Page title="Prices">
      <Empty>This page is not built yet.</Empty>
    </Page>
  );
}
