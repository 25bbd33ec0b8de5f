import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';

export function MonthEnd() {
  return (
    <Page title="MonthEnd">
      <Empty>This page is not built yet.</Empty>
    </Page>
  );
}
