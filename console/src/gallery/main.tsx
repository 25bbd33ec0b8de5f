/**
 * `/console/parts` of `npx vite console`: every part in every state, light and dark, without a service. Not in a build.
 */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import '../styles/base.css';
import { Gallery } from './gallery.tsx';

const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
const router = createRouter({
  routeTree: createRootRoute({ component: Gallery }),
  history: createMemoryHistory({ initialEntries: ['/'] }),
});

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no place for the parts');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>
  </StrictMode>,
);
