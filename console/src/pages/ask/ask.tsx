import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';

export function Ask() {
  return (
    <Page title="Ask">
      <Empty>This page is not built yet.</Empty>
    </Page>
  );
}
