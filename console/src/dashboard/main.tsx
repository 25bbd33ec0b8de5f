/**
 * Starts a dashboard in its page. The signed address is a bearer credential: each request of the page carries its text,
 * and the service answers only with what it allows, whatever the page requests.
 */
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError, speakAs } from '../api/client.ts';
import '../styles/base.css';
import { Dashboard } from './dashboard.tsx';

const FRESH_MS = 60_000;

function Started() {
  const [hasEnded, setEnded] = useState(false);
  const [client] = useState(
    () =>
      new QueryClient({
        defaultOptions: { queries: { staleTime: FRESH_MS, retry: false, refetchOnWindowFocus: false } },
        queryCache: new QueryCache({
          onError: (error) => {
            if (error instanceof ApiError && error.status === 403) setEnded(true);
          },
        }),
      }),
  );
  return (
    <QueryClientProvider client={client}>
      <Dashboard hasEnded={hasEnded} />
    </QueryClientProvider>
  );
}

speakAs(`Dashboard ${location.pathname.split('/').at(-1)}`);
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no place for the dashboard');
createRoot(root).render(
  <StrictMode>
    <Started />
  </StrictMode>,
);
