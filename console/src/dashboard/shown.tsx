/** The context of every part of a dashboard: its content, its customer and its words. */
import { createContext, useContext } from 'react';
import type { AnswerOf } from '../api/client.ts';
import { WORDS, type Words } from './words.ts';

export type View = AnswerOf<'GET /v1/dashboards/view'>['data'];

export interface Shown {
  readonly view: View;
  readonly words: Words;
}

const context = createContext<Shown | null>(null);
export const ShownProvider = context.Provider;

export function useShown(): Shown {
  const shown = useContext(context);
  if (shown === null) throw new Error('the dashboard is not loaded');
  return shown;
}

export function useWords(): Words {
  return useContext(context)?.words ?? WORDS.en;
}
