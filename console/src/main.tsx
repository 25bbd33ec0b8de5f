/** Starts the console in the page. */
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/queries.ts';
import { keyOf } from './api/resources.ts';
import { router } from './router.tsx';
import './styles/base.css';

const client = createQueryClient(
  () => void client.refetchQueries({ queryKey: keyOf('GET /console/session') }),
);

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no place for the console');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
