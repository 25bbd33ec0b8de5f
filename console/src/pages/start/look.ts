/** The sources of tasks that the start page shows. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

export interface Matter {
  readonly key: string;
  readonly text: ReactNode;
}

/** One source of tasks, and its findings. */
export interface Look {
  readonly at: string;
  readonly query: UseQueryResult<unknown>;
  readonly matters: readonly Matter[];
}
