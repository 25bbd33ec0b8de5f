import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';

export function System() {
  return (
    <Page title="System">
      <Empty>This page is not built yet.</Empty>
    </Page>
  );
}
