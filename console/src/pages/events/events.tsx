import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';

export function Events() {
  return (
    <Page title="Events">
      <Empty>This page is not built yet.</Empty>
    </Page>
  );
}
