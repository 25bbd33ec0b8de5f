import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';

export function Start() {
  return (
    <Page title="Start">
      <Empty>This page is not built yet.</Empty>
    </Page>
  );
}
