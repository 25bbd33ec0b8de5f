import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { Page } from '../parts/page.tsx';
import { Empty, Failure } from '../parts/states.tsx';

export function NotFound() {
  return (
    <Page title="No such page">
      <Empty>
        The console has no page at this address. <Link to="/">To the start</Link>
      </Empty>
    </Page>
  );
}

export function PageFailure({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This page has failed">
      <Failure error={error} again={reset} />
    </Page>
  );
}
